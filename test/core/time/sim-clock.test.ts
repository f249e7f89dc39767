import { expect } from 'chai';
import { addSeconds, secondsBetween, simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { ClockMode } from '../../../src/core/time/clock.ts';
import { localDateMs, SimClock, tickSeconds } from '../../../src/core/time/sim-clock.ts';
import { LayerStack } from '../../../src/der/surroundings/grid/layers.ts';
import { constant, valueAt } from '../../../src/der/surroundings/grid/trajectory.ts';
import { codeOf } from '../../support/map.ts';
import { HandWall } from '../../support/wall.ts';

const startMs = Date.UTC(2026, 5, 21, 12);
const start = simTimeFromMs(startMs);

function clockOf(mode: ClockMode, { rate = 1, timezone = 'UTC' } = {}): { wall: HandWall; clock: SimClock } {
  const wall = new HandWall();
  return { wall, clock: new SimClock(wall, { mode, rate, timezone }, start) };
}

describe('Simulated time', () => {
  it('is whole microseconds', () => {
    expect(simTimeFromMs(0.0015)).to.equal(2);
    expect(addSeconds(start, 1e-7)).to.equal(start);
    expect(secondsBetween(start, addSeconds(start, 0.16))).to.equal(0.16);
    expect(start).to.equal(startMs * 1000);
    expect(tickSeconds(3600, 1.5)).to.equal(5400);
    expect(tickSeconds(0.01, 0.1)).to.equal(0.001);
  });

  it('runs on between ticks with real time at its rate, never past the next tick', () => {
    const { wall, clock } = clockOf('accelerated', { rate: 10 });
    expect(clock.sim()).to.equal(start);
    clock.advanceTo(addSeconds(start, 15), 15);
    wall.advance(300);
    expect(secondsBetween(start, clock.sim())).to.equal(18);
    wall.advance(10_000);
    expect(secondsBetween(start, clock.sim())).to.equal(30);
    expect(secondsBetween(start, clock.tickTime)).to.equal(15);
  });

  it('knows what an instant is old in real time, also over a change of rate', () => {
    const { wall, clock } = clockOf('accelerated', { rate: 3600 });
    clock.advanceTo(addSeconds(start, 3600), 3600);
    wall.advance(500);
    expect(clock.ageMs(addSeconds(start, 3600))).to.equal(500);
    clock.set({ rate: 0.01 });
    expect(clock.ageMs(addSeconds(start, 3600))).to.equal(500);
    wall.advance(200);
    expect(clock.ageMs(addSeconds(start, 3600))).to.equal(700);
    expect(clock.ageMs(addSeconds(start, 5400.001))).to.equal(100);
    expect(clock.ageMs(addSeconds(start, 9000))).to.equal(0);
  });

  it('waits for a tick that will end before its time, and stands where it has ended', () => {
    const { wall, clock } = clockOf('accelerated', { rate: 10 });
    let nextEnd = addSeconds(start, 17);
    clock.waitFor(() => nextEnd);
    clock.advanceTo(addSeconds(start, 15), 15);
    wall.advance(1000);
    expect(secondsBetween(start, clock.sim())).to.equal(17);
    clock.advanceTo(nextEnd, 15);
    clock.stand();
    wall.advance(500);
    expect([clock.sim(), clock.acting()]).to.deep.equal([nextEnd, nextEnd]);
    // one that has been reached holds nothing back
    clock.goOn();
    wall.advance(200);
    expect(secondsBetween(start, clock.sim())).to.equal(19);
    nextEnd = addSeconds(start, 20);
    wall.advance(1000);
    expect(secondsBetween(start, clock.sim())).to.equal(20);
    clock.waitFor(null);
    expect(secondsBetween(start, clock.sim())).to.equal(29);
  });

  it('stands while paused', () => {
    const { wall, clock } = clockOf('accelerated', { rate: 10 });
    clock.advanceTo(addSeconds(start, 15), 15);
    wall.advance(500);
    clock.set({ mode: 'paused' });
    wall.advance(60_000);
    expect(secondsBetween(start, clock.sim())).to.equal(20);
    expect([clock.paused, clock.settings.rate]).to.deep.equal([true, 10]);
  });

  it('does not jump when the rate changes', () => {
    const { wall, clock } = clockOf('accelerated');
    clock.advanceTo(addSeconds(start, 1.5), 1.5);
    wall.advance(1000);
    const before = clock.sim();
    clock.set({ rate: 1000 });
    expect(clock.sim()).to.equal(before);
    clock.set({ rate: 0.01 });
    expect(clock.sim()).to.equal(before);
    clock.set({ mode: 'wall_clock' });
    expect(clock.sim()).to.equal(before);
    expect(clock.rate).to.equal(1);
  });

  it('setting time or zone moves the date, not the time of timers', () => {
    const { clock } = clockOf('paused');
    const timer = addSeconds(start, 5);
    clock.set({ clockTime: '06:30:15' });
    expect(clock.sim()).to.equal(start);
    expect(secondsBetween(clock.sim(), timer)).to.equal(5);
    expect(clock.timeOfDay(clock.sim())).to.equal('06:30:15');
    expect(clock.dateMs(clock.sim())).to.equal(Date.UTC(2026, 5, 21, 6, 30, 15));
    clock.set({ timezone: 'Asia/Kolkata' });
    expect([clock.sim(), clock.timeOfDay(clock.sim())]).to.deep.equal([start, '12:00:15']);
    clock.set({ clockTime: '00:00:00', timezone: 'UTC' });
    expect(clock.dateMs(clock.sim())).to.equal(Date.UTC(2026, 5, 21));
  });

  it('wall_clock shows the time of the wall, also after a lag', () => {
    const { wall, clock } = clockOf('wall_clock', { timezone: 'Europe/Berlin' });
    expect(clock.dateMs(clock.sim())).to.equal(wall.nowMs());
    expect(clock.timeOfDay(clock.sim())).to.equal('10:00:00');
    wall.advance(1500);
    clock.advanceTo(addSeconds(start, 1.5), 1.5);
    expect(clock.dateMs(clock.sim())).to.equal(wall.nowMs());
    // the machine slept for an hour of which ten ticks are made good
    wall.advance(3_600_000);
    clock.advanceTo(addSeconds(start, 16.5), 1.5);
    expect(clock.dateMs(clock.sim())).to.equal(wall.nowMs());
    wall.advance(700);
    expect(clock.dateMs(clock.sim())).to.equal(wall.nowMs());
  });

  it('wall_clock shows a wall that is set, and its instants go on as before', () => {
    const { wall, clock } = clockOf('wall_clock');
    for (const byMs of [3_600_000, -3_600_000]) {
      const [tick, shown] = [clock.tickTime, clock.sim()];
      wall.advance(1500);
      wall.jump(byMs);
      expect(secondsBetween(shown, clock.sim())).to.be.within(0, 1.5);
      const end = clock.tickEnd(1.5);
      expect(secondsBetween(tick, end)).to.equal(1.5);
      clock.advanceTo(end, 1.5);
      expect(clock.dateMs(clock.sim())).to.equal(wall.nowMs());
    }
  });

  it('wall_clock stamps the tick after a late one with the wall, not ahead of it', () => {
    const { wall, clock } = clockOf('wall_clock');
    wall.advance(1520);
    clock.advanceTo(addSeconds(start, 1.5), 1.5);
    wall.advance(1480);
    const end = addSeconds(start, 3);
    expect(clock.dateMs(end), 'on the shift of the late tick').to.equal(wall.nowMs() + 20);
    expect([clock.stampMs(end), clock.timeOfDate(clock.stampMs(end))]).to.deep.equal([wall.nowMs(), '08:00:03']);
    // and the time shown neither waits nor goes back at the end of that tick
    const before = clock.dateMs(clock.sim());
    clock.advanceTo(end, 1.5);
    expect([before, clock.dateMs(clock.sim())]).to.deep.equal([wall.nowMs(), wall.nowMs()]);
  });

  it('other modes stamp a tick with its own end, however late it is', () => {
    const { wall, clock } = clockOf('accelerated', { rate: 10 });
    wall.advance(1700);
    expect(clock.stampMs(addSeconds(start, 15))).to.equal(startMs + 15_000);
  });

  it('goes over to wall_clock between two ticks at the time of the wall', () => {
    const { wall, clock } = clockOf('accelerated');
    clock.advanceTo(start, 1.5);
    wall.advance(1000);
    clock.set({ mode: 'wall_clock' });
    expect(clock.dateMs(clock.sim())).to.equal(wall.nowMs());
    wall.advance(400);
    expect(clock.dateMs(clock.sim())).to.equal(wall.nowMs());
  });

  it('goes over to wall_clock and back', () => {
    const { wall, clock } = clockOf('paused', { rate: 50 });
    clock.set({ mode: 'wall_clock' });
    expect([clock.dateMs(clock.sim()), clock.sim(), clock.settings.rate]).to.deep.equal([wall.nowMs(), start, 1]);
    clock.set({ mode: 'accelerated', rate: 5 });
    expect([clock.dateMs(clock.sim()), clock.sim()]).to.deep.equal([wall.nowMs(), start]);
  });

  it('refuses what makes no sense, and then changes nothing', () => {
    const { clock } = clockOf('paused', { rate: 2 });
    const before = clock.settings;
    expect(
      codeOf(() => {
        clock.set({ rate: 0 });
      }),
    ).to.equal('COMMAND_BAD_VALUE');
    expect(
      codeOf(() => {
        clock.set({ rate: 3601 });
      }),
    ).to.equal('COMMAND_BAD_VALUE');
    expect(
      codeOf(() => {
        clock.set({ rate: NaN });
      }),
    ).to.equal('COMMAND_BAD_VALUE');
    expect(
      codeOf(() => {
        clock.set({ timezone: 'Mars/Base', rate: 5 });
      }),
    ).to.equal('COMMAND_BAD_VALUE');
    expect(
      codeOf(() => {
        clock.set({ mode: 'wall_clock', rate: 2 });
      }),
    ).to.equal('COMMAND_CONFLICT');
    expect(
      codeOf(() => {
        clock.set({ mode: 'wall_clock', clockTime: '10:00:00' });
      }),
    ).to.equal('COMMAND_CONFLICT');
    expect(clock.settings).to.equal(before);
  });
});

describe('Time zones', () => {
  it('local dates, with summer time on both sides of its change', () => {
    expect(localDateMs('2026-01-15', '12:00:00', 'America/New_York')).to.equal(Date.UTC(2026, 0, 15, 17));
    expect(localDateMs('2026-07-15', '12:00:00', 'America/New_York')).to.equal(Date.UTC(2026, 6, 15, 16));
    expect(localDateMs('2026-03-08', '01:59:59', 'America/New_York')).to.equal(Date.UTC(2026, 2, 8, 6, 59, 59));
    expect(localDateMs('2026-03-08', '03:00:00', 'America/New_York')).to.equal(Date.UTC(2026, 2, 8, 7));
    expect(localDateMs('2026-11-01', '03:00:00', 'America/New_York')).to.equal(Date.UTC(2026, 10, 1, 8));
    expect(localDateMs('2026-06-01', '00:00:00', 'Asia/Kathmandu')).to.equal(Date.UTC(2026, 4, 31, 18, 15));
  });

  it('the time of day jumps with summer time, simulated time does not', () => {
    const begin = simTimeFromMs(Date.UTC(2026, 2, 29, 0, 59, 50));
    const clock = new SimClock(new HandWall(), { mode: 'paused', rate: 1, timezone: 'Europe/Berlin' }, begin);
    expect([0, 9, 10, 11].map((s) => clock.timeOfDay(addSeconds(begin, s)))).to.deep.equal([
      '01:59:50',
      '01:59:59',
      '03:00:00',
      '03:00:01',
    ]);
    const autumn = simTimeFromMs(Date.UTC(2026, 9, 25, 0, 59, 59));
    const back = new SimClock(new HandWall(), { mode: 'paused', rate: 1, timezone: 'Europe/Berlin' }, autumn);
    expect([0, 1, 3601].map((s) => back.timeOfDay(addSeconds(autumn, s)))).to.deep.equal([
      '02:59:59',
      '02:00:00',
      '03:00:00',
    ]);
  });

  it('midnight before an instant', () => {
    const clock = new SimClock(new HandWall(), { mode: 'paused', rate: 1, timezone: 'America/New_York' }, start);
    expect(clock.midnightMs(start)).to.equal(Date.UTC(2026, 5, 21, 4));
  });

  it('never goes back when the rate changes in mid-tick, and the tick goes where it has run to', () => {
    const { wall, clock } = clockOf('accelerated', { rate: 3600 });
    clock.advanceTo(start, 5400);
    wall.advance(900);
    const before = clock.sim();
    expect(secondsBetween(start, before)).to.equal(3240);
    clock.set({ rate: 1 });
    wall.advance(600);
    expect(secondsBetween(before, clock.sim())).to.be.closeTo(0.6, 1e-6);
    expect(secondsBetween(before, clock.tickEnd(1.5))).to.be.closeTo(0.6, 1e-6);
    const end = clock.tickEnd(1.5);
    clock.advanceTo(end, 1.5);
    expect(clock.sim()).to.equal(end);
    expect(secondsBetween(end, clock.tickEnd(1.5))).to.equal(1.5);
  });

  it('keeps what was shown at a pause, while steps go on from the last tick', () => {
    const { wall, clock } = clockOf('accelerated');
    clock.advanceTo(start, 1.5);
    wall.advance(1000);
    clock.set({ mode: 'paused' });
    const shown = clock.sim();
    expect(secondsBetween(start, shown)).to.equal(1);
    expect(secondsBetween(start, clock.tickEnd(0.2))).to.equal(0.2);
    clock.advanceTo(clock.tickEnd(0.2), 0.2);
    expect(clock.sim()).to.equal(shown);
    clock.advanceTo(clock.tickEnd(1.5), 1.5);
    expect(secondsBetween(start, clock.sim())).to.equal(1.7);
  });
});

describe('Simulated time before 1970', () => {
  for (const [timezone, date, time] of [
    ['UTC', '1938-04-24', '22:13:20'],
    ['UTC', '1969-12-31', '23:59:59'],
    ['Europe/Berlin', '1969-12-31', '00:00:00'],
    ['America/New_York', '1969-12-31', '12:30:01'],
  ] as const)
    it(`shows ${date} ${time} in ${timezone}, and knows its midnight`, () => {
      const at = simTimeFromMs(localDateMs(date, time, timezone));
      const clock = new SimClock(new HandWall(), { mode: 'paused', rate: 1, timezone }, at);
      expect(clock.timeOfDay(at)).to.equal(time);
      expect(clock.midnightMs(at)).to.equal(localDateMs(date, '00:00:00', timezone));
    });

  it('has quantities of the surroundings that never moved at rest', () => {
    const at = simTimeFromMs(Date.UTC(1938, 3, 24));
    const still = new LayerStack({ irradiance: constant(500) });
    expect(still.rampEnd(at)).to.equal(at);
    expect(still.segmentAt(at)).to.include({ motion: 'still', until: Infinity });
    expect(valueAt(constant(500), at)).to.equal(500);
  });
});

describe('local days of the clock', () => {
  /** UTC of the beginning of the next day, for a moment in UTC. */
  function nextDay(utc: string, timezone: string): string {
    const clock = new SimClock(new HandWall(), { mode: 'paused', rate: 1, timezone }, simTimeFromMs(Date.parse(utc)));
    const next = clock.nextDayAt(clock.tickTime);
    expect(clock.dayAt(next), timezone).to.equal(clock.dayAt(clock.tickTime) + 1);
    expect(clock.dayAt(addSeconds(next, -0.001)), timezone).to.equal(clock.dayAt(clock.tickTime));
    return new Date(clock.dateMs(next)).toISOString();
  }

  const cases = [
    ['an even day', '2026-06-21T12:00:00Z', 'UTC', '2026-06-22T00:00:00.000Z'],
    ['the very midnight', '2026-06-21T00:00:00Z', 'UTC', '2026-06-22T00:00:00.000Z'],
    ['a day of 25 hours', '2026-10-24T22:00:00Z', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
    ['a day of 23 hours', '2026-03-28T23:00:00Z', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
    ['a zone of quarters', '2026-06-21T12:00:00Z', 'Asia/Kathmandu', '2026-06-21T18:15:00.000Z'],
    ['a day without midnight', '2026-04-23T12:00:00Z', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
    ['a day whose last hour comes twice', '2026-10-29T12:00:00Z', 'Africa/Cairo', '2026-10-29T22:00:00.000Z'],
  ] as const;
  for (const [title, utc, timezone, next] of cases)
    it(`end ${title} at ${next}`, () => {
      expect(nextDay(utc, timezone)).to.equal(next);
    });
});
