import { expect } from 'chai';
import { slotEndMs } from '../../../src/fleet/clock/record.ts';
import { SlowShards } from '../../../src/fleet/clock/slow-shards.ts';
import { clockRecord } from '../support/clock.ts';

describe('fleet/clock: shards behind the grid', () => {
  it('are counted by their clock as it was in the last 60 ticks, since it may have been set', () => {
    const record = clockRecord();
    const slow = new SlowShards();
    const halfSlotMs = 750;
    const nowMs = (slot: number) => slotEndMs(record, slot) + halfSlotMs;
    const slotsBehind = (slot: number, late: number, aheadMs: number) =>
      slow.slotsBehind({ session: 's', tick: slot - late, wallMs: nowMs(slot) + aheadMs }, record, nowMs(slot));
    // its clock is 10 s ahead, then right, and the shard three slots late from then on
    expect(slotsBehind(3, 0, 10_000)).to.equal(0);
    const counts = Array.from({ length: 61 }, (_, at) => slotsBehind(at + 4, 3, 0));
    expect(counts).to.deep.equal([...Array<number>(59).fill(0), 3, 3]);
  });
});
