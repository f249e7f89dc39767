import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstRecord } from '../../src/app/fleet-start.ts';
import { stateToRead } from '../../src/app/state.ts';
import { configOf } from '../support/configured.ts';
import { startApp } from '../support/running-app.ts';
import { HandWall } from '../support/wall.ts';

describe('app: the clock of a fleet that begins with a kept state', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-kept-clock-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  const recordOf = (flags: readonly string[] = [], path = join(folder, 'state')) => {
    const wall = new HandWall();
    const { clock, tickS } = configOf('--state_dir', path, ...flags);
    return firstRecord({ clock, tickS }, wall, wall.nowMs(), stateToRead(path));
  };
  const paused = ['--start_paused', 'yes'];

  it('has the instant, the tick and the dates at which the shard stood, and its settings', async () => {
    const { app } = await startApp(['PV-3Phase'], ['--state_dir', join(folder, 'state')], { wall: new HandWall() });
    app.plant.setTime({ rate: 20, clockTime: '06:00:00' });
    await app.plant.step(5);
    const { latest, time } = app.plant;
    await app.stop();
    const shiftMs = time.dateMs - latest.sim / 1000;
    expect(shiftMs).to.not.equal(0);
    const expected = { sim0Us: latest.sim, tick0: 5, rate: 20, shiftMs, seq: 0 };
    expect(recordOf(paused)).to.include({ ...expected, mode: 'paused' });
    expect(recordOf(paused).startUs, 'series count from the start').to.be.below(latest.sim);
    // another rate in the configuration counts from the next start on, as it does without a fleet
    expect(recordOf(['--time_rate', '3'])).to.include({ ...expected, mode: 'accelerated', rate: 3 });
  });

  it('is that of the configuration without a state', () => {
    const record = recordOf(paused, join(folder, 'none'));
    expect(record).to.include({ tick0: 0, shiftMs: 0, mode: 'paused' });
    expect(record.sim0Us).to.equal(record.startUs);
  });
});
