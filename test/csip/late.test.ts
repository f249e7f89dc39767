import { expect } from 'chai';
import { loadedBy } from '../support/module-graph.ts';

describe('a process without CSIP', () => {
  it('loads nothing of it, and no library of its parts', () => {
    const loaded = [...loadedBy('src/main.ts'), ...loadedBy('src/app/cli/program.ts')];
    expect(loaded).to.include('src/core/device-adapter.ts');
    const parts = [...new Set(loaded)].filter((path) => path.startsWith('src/csip/'));
    expect(parts).to.deep.equal([]);
    for (const library of ['undici', 'fast-xml-parser', 'multicast-dns']) expect(loaded).to.not.include(library);
    expect([...loadedBy('src/csip/adapter.ts')]).to.include('src/csip/walk/walk.ts');
  });
});
