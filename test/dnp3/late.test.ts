import { expect } from 'chai';
import { loadedBy } from '../support/module-graph.ts';

describe('a process without DNP3', () => {
  it('loads the adapter alone, and none of its parts', () => {
    const loaded = [...loadedBy('src/main.ts'), ...loadedBy('src/app/cli/program.ts')];
    const parts = [...new Set(loaded)].filter((path) => path.startsWith('src/dnp3/'));
    expect(parts.sort()).to.deep.equal(['src/dnp3/adapter.ts']);
    const started = loadedBy('src/dnp3/assembly.ts');
    expect([...started]).to.include.members(['src/dnp3/runtime.ts', 'src/dnp3/stack/outstation/outstation.ts']);
  });
});
