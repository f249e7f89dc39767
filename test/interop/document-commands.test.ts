import { expect } from 'chai';
import type { RunningSimulator } from '../support/process.ts';
import { programCommand, startSimulator } from '../support/process.ts';
import { blocksOf, pasted } from './support/documents.ts';

/** `derbench` as the command of the program, so that blocks run as they stand. */
const preamble = (url: string) =>
  `derbench() { ${programCommand.join(' ')} "$@"; }\nexport DERBENCH_URL=${url}\nset -eu -o pipefail\n`;

/** Pages whose commands work, in their order, with a simulator of the defaults, and texts that they must show. */
const pages: Readonly<Record<string, readonly string[]>> = {
  'docs/troubleshooting.md': ['"foreign":', '5000 W', 'limit of active power'],
  'docs/concepts/answers.md': ['{'],
  'docs/concepts/consistency.md': ['{'],
  'docs/concepts/holds.md': ['{'],
};

describe('commands of documents', function () {
  this.timeout(60_000);
  let simulator: RunningSimulator;
  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.stop());

  for (const [path, texts] of Object.entries(pages))
    it(`of ${path} work`, async () => {
      const { httpPort } = simulator;
      let output = '';
      for (const { text } of blocksOf(path).filter(({ language }) => language === 'sh'))
        output += await pasted(
          ['bash'],
          preamble(`http://127.0.0.1:${httpPort}`) + text.replaceAll('8111', String(httpPort)),
        );
      for (const text of texts) expect(output).to.include(text);
      expect(output).not.to.include('urn:derbench:problem');
    });
});
