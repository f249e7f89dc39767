import { expect } from 'chai';
import { addSeconds, simTimeFromMs } from '../../../src/core/time/clock.ts';
import { SimClock } from '../../../src/core/time/sim-clock.ts';
import { SeriesTime } from '../../../src/der/surroundings/series-time.ts';
import { HandWall } from '../../support/wall.ts';

describe('der: the time base of series', () => {
  it('is one for all shards of a fleet, also for one that joins after a change of the time of day', () => {
    const start = simTimeFromMs(Date.UTC(2026, 5, 21, 22));
    const settings = { mode: 'paused', rate: 1, timezone: 'UTC' } as const;
    const clock = new SimClock(new HandWall(), settings, start);
    const first = new SeriesTime(clock, start);
    const shiftMs = 6 * 3_600_000;
    clock.set({ shiftMs });
    const now = addSeconds(start, 3000);
    const later = new SeriesTime(new SimClock(new HandWall(), settings, now, shiftMs), start);
    expect([later.originS, later.at(now)]).to.deep.equal([first.originS, first.at(now)]);
    expect(first.originS).to.equal(22 * 3600);
  });
});
