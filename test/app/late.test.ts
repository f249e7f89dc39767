import { expect } from 'chai';
import { loadedBy } from '../support/module-graph.ts';

describe('a simulator that has started', () => {
  const loaded = [...loadedBy('src/main.ts'), ...loadedBy('src/app/cli/program.ts')];

  it('has loaded of REST what answers frequent reads', () => {
    expect(loaded).to.include('src/api/http/hot-reads.ts');
    for (const late of ['src/api/routes.ts', 'src/api/http/operations.ts', 'express']) {
      expect(loaded).to.not.include(late);
      expect([...loadedBy('src/api/http/operations.ts')]).to.include(late);
    }
  });

  it('has loaded no library that only some runs need', () => {
    expect(loaded).to.include('src/ws/telemetry.ts').and.to.include('src/core/yaml.ts');
    for (const library of ['ws', 'yaml', 'prom-client', 'modbus-serial', 'serialport', 'swagger-ui-express'])
      expect(loaded).to.not.include(library);
  });

  it('has loaded the rules for scenarios with none of their code', () => {
    expect(loaded).to.not.include('src/app/scenarios/checks.ts');
    expect(loaded).to.not.include('src/scenario/assembly.ts');
  });
});
