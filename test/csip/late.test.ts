import { expect } from 'chai';
import { loadedBy } from '../support/module-graph.ts';

describe('a process without CSIP', () => {
  it('loads the adapter alone: not its parts, and no library of theirs', () => {
    const loaded = [...loadedBy('src/main.ts'), ...loadedBy('src/app/cli/program.ts')];
    expect(loaded).to.include('src/csip/adapter.ts');
    const parts = [...new Set(loaded)].filter((path) => path.startsWith('src/csip/'));
    expect(parts.sort()).to.deep.equal(['src/csip/adapter.ts']);
    for (const library of ['undici', 'fast-xml-parser', 'multicast-dns']) expect(loaded).to.not.include(library);
    expect([...loadedBy('src/csip/assembly.ts')]).to.include('src/csip/walk/walk.ts');
  });
});
