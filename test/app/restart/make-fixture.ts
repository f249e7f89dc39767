/**
 * Writes a fixture of the present form of the state: `node test/app/restart/make-fixture.ts FOLDER`. A fixture is a
 * journal of a simulator with all kinds of devices and all protocols on, and what it showed when it ended.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { replaceContents } from '../../../src/state/contents.ts';
import { openFolder } from '../../../src/state/files.ts';
import { readState } from '../../../src/state/folder-work.ts';
import { fixtureS, Lab, labStartMs } from './lab.ts';

const [folder = 'fixtures/state/new'] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'derbench-fixture-'));
const lab = await Lab.open();
await lab.start(scratch);
await lab.act();
await lab.advance(fixtureS - (lab.wall.nowMs() - labStartMs) / 1000);
const shown = await lab.shown();
await lab.stop();
const state = openFolder(join(scratch, 'state'));
await replaceContents(state, readState(state).contents);
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, 'journal.jsonl.gz'),
  gzipSync(readFileSync(join(scratch, 'state', 'journal.jsonl')), { level: 9 }),
);
writeFileSync(join(folder, 'shown.json'), `${JSON.stringify(shown, null, 1)}\n`);
await lab.close();
rmSync(scratch, { recursive: true });
