/** An outstation whose slots have values that no outstation writes. */
import { expect } from 'chai';
import { replaceContents } from '../../../src/state/contents.ts';
import type { Contents } from '../../../src/state/contents.ts';
import { journalFile } from '../../../src/state/journal.ts';
import { replay } from '../../../src/state/record.ts';
import { oddContents, oddTexts } from '../../support/odd-values.ts';
import { holdsAsync } from '../../support/property.ts';
import { TestFolder } from '../../support/state-folder.ts';
import { Process } from './rig.ts';

const writeTime = '32 01 07 01 00 68 e5 cf 8b 01';
const isOfOutstation = (name: string) => name.startsWith('dnp3/');

/** Of an outstation with events, operated outputs, a state for a limited time and a clock that a master has set. */
async function richState(): Promise<Contents> {
  const process = await Process.start();
  await process.ask(2, writeTime);
  await process.operate(['BO17', true], ['AO17', 60], ['BO5', false]);
  await process.pass(5);
  return replay(process.folder.octets(journalFile)).slots;
}

async function startWith(contents: Contents): Promise<Process> {
  const folder = new TestFolder();
  await replaceContents(folder, contents);
  const process = await Process.start(folder);
  await process.pass(2);
  return process;
}

describe('slots of an outstation with odd values', () => {
  let contents: Contents;
  before(async () => {
    contents = await richState();
    expect([...contents.keys()].filter(isOfOutstation)).to.have.length(2);
    expect((await startWith(contents)).warnings).to.deep.equal([]);
  });

  it('each slot is left out alone, with one warning', async () => {
    for (const name of [...contents.keys()].filter(isOfOutstation))
      for (const text of oddTexts) {
        // a value of the slot of values may have any members
        if (name.endsWith('/values') && text.startsWith('{')) continue;
        const { warnings } = await startWith(new Map(contents).set(name, [text]));
        expect(warnings, `${name}: ${text}`).to.have.length(1);
        expect(warnings[0]).to.include(`the kept state ${name} does not fit: value 1 `);
      }
  });

  it('an outstation starts with a part of a value that is odd', async function () {
    this.timeout(20_000);
    await holdsAsync(
      'odd values in slots of an outstation',
      [oddContents(new Map([...contents].filter(([name]) => isOfOutstation(name))))],
      async ({ name, texts }) => {
        const { warnings } = await startWith(new Map(contents).set(name, texts));
        expect(warnings.length).to.be.at.most(1);
      },
      { runs: 40 },
    );
  });
});
