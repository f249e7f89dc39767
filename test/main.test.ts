import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { ask } from './support/http.ts';
import { fromSource, startSimulator } from './support/process.ts';

describe('the process', () => {
  it('outlives a full disk under its log; GET logs still has the lines', async function () {
    if (!existsSync('/dev/full')) this.skip();
    this.timeout(30_000);
    const simulator = await startSimulator([], ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh', ...fromSource]);
    try {
      const { logs } = (await ask(simulator.httpPort, '/api/sim/logs?limit=5')).json;
      expect(logs.map(({ message }: { message: string }) => message).join()).to.contain('runs with 1 device');
    } finally {
      expect(await simulator.stop()).to.equal(0);
    }
  });
});
