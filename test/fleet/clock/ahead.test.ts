import { expect } from 'chai';
import { ClockMember } from '../../../src/fleet/clock/member.ts';
import type { ClockRecord } from '../../../src/fleet/clock/record.ts';
import { testPlant } from '../../support/plant.ts';
import { clockRecord, handTime, quietLog } from '../support/clock.ts';
import { MemoryServer } from '../support/memory-link.ts';

/** A shard whose kept state is so many ticks ahead of a fleet that begins now. */
async function shardAhead(ahead: number, over: Partial<ClockRecord> = {}) {
  const { wall, timers, pass } = handTime();
  const record = clockRecord({ sim0Us: testPlant().now, wall0Ms: wall.ms, rate: 10, ...over });
  const { mode, rate } = record;
  const plant = testPlant({ wall, mode, rate, joinsAfterTicks: ahead });
  const warnings: string[] = [];
  const log = { ...quietLog, warning: (text: string) => warnings.push(text) };
  const link = new MemoryServer(() => wall.monotonicMs()).link();
  const around = { wall, later: timers.later, log, sent: () => Promise.resolve() };
  const member = new ClockMember({ link, prefix: 'lab', shard: 'a', epoch: () => 1, plant, record, ...around });
  await member.open();
  member.startTicks();
  return { plant, warnings, pass };
}

describe('fleet/clock: a shard whose kept state is ahead of its fleet', () => {
  it('says for how long it stands still, and ticks with the others from then on', async () => {
    const { plant, warnings, pass } = await shardAhead(8);
    expect(warnings).to.deep.equal([
      'the kept state of this shard is 120 simulated s ahead of its fleet: it stands still until the fleet is there, in 12 s',
    ]);
    const { sim } = plant.latest;
    await pass(12_100);
    expect(plant.latest).to.include({ sim, tick: 8 });
    await pass(1500);
    expect(plant.latest).to.include({ sim: sim + 15e6, tick: 9 });
  });

  it('says what a step does while the clock is paused', async () => {
    const { warnings } = await shardAhead(2, { mode: 'paused' });
    expect(warnings).to.deep.equal([
      'the kept state of this shard is 30 simulated s ahead of its fleet: the next step brings all shards there',
    ]);
  });

  it('has nothing to say where both have one instant', async () => {
    expect((await shardAhead(0)).warnings).to.deep.equal([]);
  });
});
