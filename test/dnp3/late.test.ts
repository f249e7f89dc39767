import { expect } from 'chai';
import { loadedBy } from '../support/module-graph.ts';

describe('a process without DNP3', () => {
  it('loads nothing of it', () => {
    const loaded = [...loadedBy('src/main.ts'), ...loadedBy('src/app/cli/program.ts')];
    expect(loaded).to.include('src/core/device-adapter.ts');
    const parts = [...new Set(loaded)].filter((path) => path.startsWith('src/dnp3/'));
    expect(parts).to.deep.equal([]);
    const started = loadedBy('src/dnp3/adapter.ts');
    expect([...started]).to.include.members(['src/dnp3/stack/outstation/outstation.ts']);
  });
});
