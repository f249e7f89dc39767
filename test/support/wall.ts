import type { WallClock } from '../../src/core/time/clock.ts';

/** A wall clock that a test moves. */
export class HandWall implements WallClock {
  ms: number;
  /** time by which somebody has set the clock, ms */
  #setMs = 0;

  constructor(startMs = Date.UTC(2026, 5, 21, 8)) {
    this.ms = startMs;
  }

  nowMs(): number {
    return this.ms + this.#setMs;
  }

  monotonicMs(): number {
    return this.ms - 1_000_000;
  }

  advance(ms: number): void {
    this.ms += ms;
  }

  /** Sets the time of day; the monotonic clock goes on. */
  jump(ms: number): void {
    this.#setMs += ms;
  }
}

/** A wall clock that each reading advances by `cost` ms: every device of a tick seems to take that long. */
export class SlowWall extends HandWall {
  cost = 0;
  override monotonicMs(): number {
    this.advance(this.cost);
    return super.monotonicMs();
  }
}
