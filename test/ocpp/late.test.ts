import { expect } from 'chai';
import { loadedBy } from '../support/module-graph.ts';

describe('a process without OCPP', () => {
  it('loads the adapter alone: not its parts, and no library of theirs', () => {
    const loaded = [...loadedBy('src/main.ts'), ...loadedBy('src/app/cli/program.ts')];
    expect(loaded).to.include('src/ocpp/adapter.ts');
    const parts = [...new Set(loaded)].filter((path) => path.startsWith('src/ocpp/'));
    expect(parts.sort()).to.deep.equal(['src/ocpp/adapter.ts']);
    for (const library of ['ocpp-rpc/lib/client.js', 'ajv', 'ajv-formats/dist/formats.js', '@peculiar/x509'])
      expect(loaded).to.not.include(library);
    const started = [...loadedBy('src/ocpp/assembly.ts')];
    expect(started).to.include.members(['src/ocpp/v16/stack.ts', 'ocpp-rpc/lib/client.js']);
    // the validator of schemas comes with the first check
    expect(started).to.not.include('ajv');
  });
});
