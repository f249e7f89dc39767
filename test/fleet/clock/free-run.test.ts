import { expect } from 'chai';
import { FreeRun } from '../../../src/fleet/clock/free-run.ts';
import { simOf } from '../../../src/fleet/clock/record.ts';
import type { ClockRecord } from '../../../src/fleet/clock/record.ts';
import { testPlant } from '../../support/plant.ts';
import { byTest } from '../../support/rig.ts';
import { clockRecord, handTime } from '../support/clock.ts';

/**
 * A shard that ticks by a record, from the begin of its grid.
 * @param heldMs time that passes behind its first look at the clock
 */
function rig(over: Partial<ClockRecord> = {}, heldMs = 0) {
  const { wall, timers, settle, pass } = handTime();
  const plant = testPlant({ wall, mode: 'accelerated' });
  const record = clockRecord({ sim0Us: plant.now, wall0Ms: wall.ms, ...over });
  const failures: unknown[] = [];
  let passedMs = 0;
  const run = new FreeRun(record, {
    plant,
    later: timers.later,
    nowMs: () => {
      const nowMs = wall.nowMs() + passedMs;
      passedMs = heldMs;
      return nowMs;
    },
    onFailure: (error) => failures.push(error),
  });
  const ticks: number[] = [];
  plant.onTick(({ tick }) => ticks.push(tick));
  const changed = (more: Partial<ClockRecord>) => ({ ...run.record, seq: run.record.seq + 1, ...more });
  return { wall, timers, settle, pass, plant, record, run, ticks, failures, changed };
}

describe('fleet/clock: ticks on the common grid', () => {
  it('end with their slots, and have their numbers', async () => {
    const { run, pass, plant, record, ticks } = rig();
    run.start();
    await pass(1400);
    expect(ticks).to.deep.equal([]);
    await pass(200);
    expect(ticks).to.deep.equal([1]);
    await pass(3000);
    expect(ticks).to.deep.equal([1, 2, 3]);
    expect(plant.latest.sim).to.equal(simOf(record, 3));
  });

  it('have a slot of their own where it ends before the next one is planned', async () => {
    const { run, settle, pass, ticks } = rig({}, 1500);
    run.start();
    await settle();
    expect(ticks).to.deep.equal([1]);
    await pass(1600);
    expect(ticks).to.deep.equal([1, 2]);
  });

  it('begin at the tick of the fleet, where the process joins it between two slots', async () => {
    const { wall, run, pass, ticks } = rig({ tick0: 40 });
    wall.advance(700);
    run.start();
    await pass(900);
    expect(ticks).to.deep.equal([41]);
  });

  it('take slots together that a late machine has missed, and skip their numbers', async () => {
    const { run, wall, pass, plant, record, ticks } = rig();
    run.start();
    await pass(1600);
    wall.advance(4 * 1500);
    await pass(100);
    expect(ticks).to.deep.equal([1, 5]);
    expect([plant.latest.sim, plant.skippedTicks]).to.deep.equal([simOf(record, 5), 3]);
  });

  it('have at most ten slots each, until the shard has the instant of the fleet', async () => {
    const { run, wall, pass, ticks, plant } = rig();
    run.start();
    await pass(1600);
    wall.advance(24 * 1500);
    await pass(100);
    await pass(100);
    expect(ticks).to.deep.equal([1, 11, 21, 25]);
    expect(plant.skippedTicks).to.equal(21);
  });

  it('change their rate at the end of the slot that a record names, not before', async () => {
    const { run, pass, plant, record, ticks, changed } = rig();
    run.start();
    await pass(1600);
    const at = { tick0: 3, sim0Us: simOf(record, 3), wall0Ms: record.wall0Ms + 3 * 1500 };
    const next = changed({ ...at, rate: 10, changedBy: { ...byTest, at: record.sim0Us, wallMs: 0 } });
    run.follow(next);
    const inForce = run.inForce(next).then(() => plant.latest.tick);
    await pass(2800);
    expect([plant.latest.tick, plant.time.rate]).to.deep.equal([2, 1]);
    await pass(200);
    expect([plant.latest.tick, plant.time.rate]).to.deep.equal([3, 10]);
    expect(await inForce).to.equal(3);
    await pass(1500);
    expect(ticks).to.deep.equal([1, 2, 3, 4]);
    expect(plant.latest.sim).to.equal(record.sim0Us + 4.5e6 + 15e6);
    expect(plant.time.changedBy).to.include(byTest);
  });

  it('do not run past the slot of a change that is behind the shard, and stop at a pause', async () => {
    const { run, wall, pass, plant, record, ticks, changed } = rig();
    run.start();
    await pass(100);
    run.follow(changed({ tick0: 3, sim0Us: simOf(record, 3), mode: 'paused' }));
    await pass(100);
    wall.advance(6 * 1500);
    await pass(200);
    expect(ticks).to.deep.equal([3]);
    expect([plant.time.mode, plant.latest.sim]).to.deep.equal(['paused', simOf(record, 3)]);
    await pass(6000, 500);
    expect(ticks).to.deep.equal([3]);
  });

  it('begin again on a grid of their own after a pause', async () => {
    const { run, wall, pass, plant, record, ticks, changed } = rig({ mode: 'paused' });
    run.start();
    await pass(5000, 500);
    expect([ticks, plant.time.mode]).to.deep.equal([[], 'paused']);
    run.follow(changed({ mode: 'accelerated', wall0Ms: wall.ms + 300 }));
    await pass(1700);
    expect(ticks).to.deep.equal([]);
    await pass(200);
    expect([ticks, plant.latest.sim]).to.deep.equal([[1], simOf(record, 1)]);
  });

  it('leave out records that are older than the present one, and those that come twice', async () => {
    const { run, pass, plant, changed, settle } = rig({ seq: 5, mode: 'paused' });
    run.start();
    run.follow(changed({ seq: 5, mode: 'accelerated' }));
    run.follow(changed({ seq: 4, mode: 'accelerated' }));
    await settle();
    expect([run.record.seq, plant.time.mode]).to.deep.equal([5, 'paused']);
    run.follow(changed({ rate: 9 }));
    await settle();
    expect(plant.time.rate).to.equal(9);
    await pass(100);
  });

  it('end with the shard, which lets nobody wait for a change', async () => {
    const { run, pass, ticks, record, changed, timers } = rig();
    run.start();
    await pass(1600);
    const next = changed({ tick0: 9, sim0Us: simOf(record, 9) });
    run.follow(next);
    const inForce = run.inForce(next);
    await run.stop();
    await inForce;
    await pass(3000, 500);
    expect([ticks, timers.waiting]).to.deep.equal([[1], 0]);
  });
});
