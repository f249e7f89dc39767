import { expect } from 'chai';
import type { RunningSimulator } from '../support/process.ts';
import { programCommand, startSimulator } from '../support/process.ts';
import { blocksOf, pasted } from './support/documents.ts';

/** `derbench` as the command of the program, so that blocks run as they stand. */
const preamble = (url: string) =>
  `derbench() { ${programCommand.join(' ')} "$@"; }\nexport DERBENCH_URL=${url}\nset -eu -o pipefail\n`;

describe('docs/troubleshooting.md', function () {
  this.timeout(60_000);
  let simulator: RunningSimulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.stop());

  it('has commands that work, in their order', async () => {
    const blocks = blocksOf('docs/troubleshooting.md').filter(({ language }) => language === 'sh');
    expect(blocks.length).to.be.greaterThan(3);
    const url = `http://127.0.0.1:${simulator.httpPort}`;
    const outputs: string[] = [];
    for (const { text } of blocks)
      outputs.push(await pasted(['bash'], preamble(url) + text.replaceAll('8111', String(simulator.httpPort))));
    expect(outputs.join('\n'))
      .to.include('"foreign":')
      .and.to.include('5000 W')
      .and.to.include('limit of active power');
  });
});
