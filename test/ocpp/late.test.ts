import { expect } from 'chai';
import { loadedBy } from '../support/module-graph.ts';

describe('a process without OCPP', () => {
  it('loads nothing of it, and no library of its parts', () => {
    const loaded = [...loadedBy('src/main.ts'), ...loadedBy('src/app/cli/program.ts')];
    expect(loaded).to.include('src/core/device-adapter.ts');
    const parts = [...new Set(loaded)].filter((path) => path.startsWith('src/ocpp/'));
    expect(parts).to.deep.equal([]);
    for (const library of ['ocpp-rpc/lib/client.js', 'ajv', 'ajv-formats/dist/formats.js', '@peculiar/x509'])
      expect(loaded).to.not.include(library);
    const started = [...loadedBy('src/ocpp/adapter.ts')];
    expect(started).to.include.members(['src/ocpp/v16/stack.ts', 'ocpp-rpc/lib/client.js']);
    // the validator of schemas comes with the first check
    expect(started).to.not.include('ajv');
  });
});
