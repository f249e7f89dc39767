/** All kinds of devices go on after a restart as if there had been none, with every protocol on. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pick } from '../../support/depth.ts';
import { Lab } from './lab.ts';

/** Simulated time before and after the restart; less where tests are to be quick. */
const spanS = pick({ quick: 600, ci: 1200, full: 3600 });

describe('A simulator with all protocols over a restart', () => {
  let root: string;
  const labs: Lab[] = [];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'derbench-restart-'));
  });

  afterEach(async () => {
    for (const lab of labs.splice(0)) await lab.close();
    rmSync(root, { recursive: true });
  });

  async function open(startMs?: number): Promise<Lab> {
    const lab = await Lab.open(startMs);
    labs.push(lab);
    return lab;
  }

  it('has the registers of one that went on, an hour later', async function () {
    this.timeout(60_000);
    const folder = join(root, 'first');
    mkdirSync(folder);
    const first = await open();
    const fromMs = first.wall.nowMs();
    await first.start(folder);
    await first.act();
    await first.advance(spanS);
    await first.post('state/snapshot', { name: 'hour' });
    const [atRestart, restartMs] = [first.registers(), first.wall.nowMs()];
    // what a process that is killed now leaves
    const copy = join(root, 'second');
    cpSync(folder, copy, { recursive: true });
    rmSync(join(copy, 'state', 'lock'), { force: true, recursive: true });
    await first.advance(spanS);
    const expected = first.registers();
    const second = await open(restartMs);
    await second.start(copy, fromMs);
    expect(second.differences(atRestart)).to.deep.equal([]);
    await second.advance(spanS);
    expect(second.differences(expected)).to.deep.equal([]);
  });
});
