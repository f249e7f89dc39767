/** Each form of the state that a version has written is restored: `fixtures/state` has a journal of each. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { fixtureS, Lab, labStartMs } from './lab.ts';

const fixtures = join(import.meta.dirname, '../../../fixtures/state');
const forms = readdirSync(fixtures, { withFileTypes: true }).filter((entry) => entry.isDirectory());

describe('A state of an earlier version', () => {
  let root: string;
  let lab: Lab;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'derbench-form-'));
  });

  afterEach(async () => {
    await lab.close();
    rmSync(root, { recursive: true });
  });

  for (const { name } of forms)
    it(`${name}: settings, counters, holds and faults of all kinds of devices come back`, async () => {
      const journal = gunzipSync(readFileSync(join(fixtures, name, 'journal.jsonl.gz'))).toString();
      mkdirSync(join(root, 'state'));
      writeFileSync(join(root, 'state', 'journal.jsonl'), journal);
      lab = await Lab.open(labStartMs + 1000 * fixtureS);
      await lab.start(root, labStartMs);
      expect(
        lab.lines.filter((line) => / WARN | ERROR /.test(line) && !line.includes('no EVSE is simulated')),
      ).to.deep.equal([]);
      expect(await lab.shown()).to.deep.equal(JSON.parse(readFileSync(join(fixtures, name, 'shown.json'), 'utf8')));
      await lab.advance(60);
      expect(lab.app.plant.time.tick).to.equal(fixtureS / 60 + 1);
    });
});
