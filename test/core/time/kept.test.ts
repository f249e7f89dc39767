import { expect } from 'chai';
import fc from 'fast-check';
import type { Kept } from '../../../src/core/kept.ts';
import { addSeconds, simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { ClockMode, ClockPatch } from '../../../src/core/time/clock.ts';
import { SimClock, tickSeconds } from '../../../src/core/time/sim-clock.ts';
import { expectContinuation, throughFile } from '../../support/continuation.ts';
import { holds } from '../../support/property.ts';
import { HandWall } from '../../support/wall.ts';

const start = simTimeFromMs(Date.UTC(2026, 5, 21, 12));
const intervalS = 1.5;

type Act = { readonly wait: number } | { readonly tick: true } | { readonly set: ClockPatch };

class Driven {
  readonly wall = new HandWall();
  readonly clock = new SimClock(this.wall, { mode: 'accelerated', rate: 1, timezone: 'UTC' }, start);

  act(act: Act | undefined): void {
    const { wall, clock } = this;
    if (act === undefined) return;
    if ('wait' in act) wall.advance(act.wait);
    else if ('set' in act) clock.set(act.set);
    else clock.advanceTo(clock.tickEnd(tickSeconds(clock.rate, intervalS)), tickSeconds(clock.rate, intervalS));
  }

  get view(): unknown {
    const { clock } = this;
    const [sim, acting, { tickTime }] = [clock.sim(), clock.acting(), clock];
    return {
      settings: clock.settings,
      instants: [sim, acting, tickTime, clock.tickEnd(intervalS)],
      dates: [clock.dateMs(sim), clock.timeOfDay(acting), clock.midnightMs(tickTime), clock.stampMs(sim)],
      ages: [start, tickTime, addSeconds(sim, -0.1)].map((t) => clock.ageMs(t)),
    };
  }

  kept(): Kept {
    return this.clock.kept();
  }
}

const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ wait: fc.nat({ max: 4000 }) }) },
  { weight: 3, arbitrary: fc.constant({ tick: true as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      set: fc.oneof(
        fc.record({ mode: fc.constantFrom<ClockMode>('accelerated', 'paused') }),
        fc.record({ rate: fc.constantFrom(0.5, 1, 10, 3600) }),
        fc.record({ clockTime: fc.constantFrom('00:00:00', '23:59:59') }),
        fc.record({ timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata') }),
      ),
    }),
  },
);

describe('clock: state that a restart keeps', () => {
  it('goes on where it was, with its rate, pause, date and zone', () => {
    holds(
      'a clock goes on',
      [fc.array(acts, { minLength: 2, maxLength: 30 }), fc.nat({ max: 29 })],
      (list, cut) => {
        const before = Math.min(cut, list.length);
        expectContinuation({
          make: () => new Driven(),
          drive: (driven, step) => {
            driven.act(list[step]);
          },
          observe: ({ view }) => view,
          before,
          after: list.length - before,
        });
      },
      { runs: 300 },
    );
  });

  it('replaces the instant and the time of day that the restored clock has shown', () => {
    const first = new Driven();
    first.clock.set({ timezone: 'Asia/Kolkata' });
    const later = addSeconds(start, 60);
    const second = new SimClock(first.wall, { mode: 'paused', rate: 1, timezone: 'UTC' }, later);
    expect(second.timeOfDay(second.sim())).to.equal('12:01:00');
    second.kept().restore(throughFile(first.kept().save()));
    expect([second.sim(), second.timeOfDay(second.sim())]).to.deep.equal([start, '17:30:00']);
  });

  it('while it follows the wall, lets no time of the devices pass between two processes', () => {
    const wall = new HandWall();
    const settings = { mode: 'wall_clock', rate: 1, timezone: 'UTC' } as const;
    const first = new SimClock(wall, settings, simTimeFromMs(wall.ms));
    first.set({ timezone: 'Asia/Kolkata' });
    first.advanceTo(first.tickTime, 1.5);
    wall.advance(500);
    const [end, shown] = [first.tickTime, first.sim()];
    const saved = throughFile(first.kept().save());
    wall.advance(3_600_000);
    const second = new SimClock(wall, settings, simTimeFromMs(wall.ms));
    second.kept().restore(saved);
    expect(second.settings).to.deep.equal({ ...settings, timezone: 'Asia/Kolkata' });
    expect([second.tickTime, second.sim()]).to.deep.equal([end, shown]);
    expect(second.dateMs(second.sim())).to.equal(wall.ms);
    wall.advance(250);
    expect(second.dateMs(second.sim())).to.equal(wall.ms);
  });

  it('that follows the wall after days of accelerated time goes on with the instants of the devices', () => {
    const wall = new HandWall();
    const first = new SimClock(wall, { mode: 'accelerated', rate: 3600, timezone: 'UTC' }, simTimeFromMs(wall.ms));
    first.advanceTo(addSeconds(first.tickTime, 200_000), 5400);
    wall.advance(1000);
    first.set({ mode: 'wall_clock' });
    const shown = first.sim();
    wall.advance(60_000);
    const second = new SimClock(wall, { mode: 'paused', rate: 1, timezone: 'UTC' }, simTimeFromMs(wall.ms));
    second.kept().restore(throughFile(first.kept().save()));
    expect(second.settings).to.deep.equal(first.settings);
    expect([second.tickTime, second.sim()]).to.deep.equal([first.tickTime, shown]);
    expect(second.dateMs(second.sim())).to.be.closeTo(wall.ms, 1e-3);
    second.advanceTo(addSeconds(second.tickTime, 10_000), 1.5);
    wall.advance(500);
    expect(second.dateMs(second.sim())).to.be.closeTo(wall.ms, 1e-3);
  });
});
