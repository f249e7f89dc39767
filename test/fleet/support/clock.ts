/** Records of a common clock, and its shards on a server in memory. */
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { WallClock } from '../../../src/core/time/clock.ts';
import type { Later } from '../../../src/core/time/timers.ts';
import type { ClockRecord } from '../../../src/fleet/clock/record.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

export const startUs = simTimeFromMs(Date.UTC(2026, 5, 21, 12));

export const clockRecord = (over: Partial<ClockRecord> = {}): ClockRecord => ({
  fleet: 'one',
  seq: 1,
  term: 0,
  mode: 'accelerated',
  rate: 1,
  timezone: 'UTC',
  tickS: 1.5,
  tick0: 0,
  wall0Ms: Date.UTC(2026, 5, 21, 8),
  sim0Us: startUs,
  startUs,
  shiftMs: 0,
  madeMs: Date.UTC(2026, 5, 21, 8),
  changedBy: null,
  steppedBy: null,
  ...over,
});

export const quietLog = { info: () => undefined, warning: () => undefined };

/** A clock that another machine has: it is set otherwise, and runs too fast or too slow. */
export class SkewedWall implements WallClock {
  readonly #wall: HandWall;
  readonly #offsetMs: number;
  readonly #rate: number;
  readonly #sinceMs: number;

  constructor(wall: HandWall, offsetMs: number, driftPpm: number) {
    this.#wall = wall;
    this.#offsetMs = offsetMs;
    this.#rate = 1 + driftPpm / 1e6;
    this.#sinceMs = wall.ms;
  }

  nowMs(): number {
    return this.#sinceMs + this.#offsetMs + (this.#wall.ms - this.#sinceMs) * this.#rate;
  }

  monotonicMs(): number {
    return 1000 + (this.#wall.ms - this.#sinceMs) * this.#rate;
  }

  /** Timers of this machine, which fire by its own clock. */
  readonly timersOf =
    ({ later }: HandTimers): Later =>
    (ms, run) =>
      later(ms / this.#rate, run);
}

/** Time that a test passes, in steps in which requests and ticks settle. */
export function handTime() {
  const wall = new HandWall();
  const timers = new HandTimers(wall);
  const settle = async (turns = 12) => {
    for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
  };
  const pass = async (ms: number, stepMs = 100) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      timers.pass(Math.min(stepMs, ms - passed));
      await settle();
    }
  };
  return { wall, timers, settle, pass };
}
