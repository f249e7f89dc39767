/** Reports jumps of the machine's wall clock. */
import type { Logger } from '../log/log.ts';
import type { WallClock } from './clock.ts';
import { callEvery } from './timers.ts';
import type { Every } from './timers.ts';

const checkMs = 1000;
/** A smaller difference between two checks comes from corrections of the time, which need no line. */
const jumpMs = 1000;

export interface ClockWatchOptions {
  readonly wall: WallClock;
  readonly log: Pick<Logger, 'warning'>;
  readonly every?: Every;
}

/**
 * Compares the wall clock with the monotonic clock once a second. Ticks and timers use the monotonic clock, so a jump
 * moves none of them; it moves the dates in answers and logs, which the line explains.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  #end: (() => void) | null = null;
  /** wall time less monotonic time at the last check, ms */
  #offsetMs = 0;
  /** jumps since the start */
  jumps = 0;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#end) return;
    const { every = callEvery } = this.#options;
    this.#offsetMs = this.#presentOffsetMs();
    this.#end = every(checkMs, () => {
      this.#check();
    });
  }

  stop(): void {
    this.#end?.();
    this.#end = null;
  }

  #presentOffsetMs(): number {
    const { wall } = this.#options;
    return wall.nowMs() - wall.monotonicMs();
  }

  #check(): void {
    const offsetMs = this.#presentOffsetMs();
    const byMs = offsetMs - this.#offsetMs;
    this.#offsetMs = offsetMs;
    if (Math.abs(byMs) <= jumpMs) return;
    this.jumps += 1;
    const direction = byMs > 0 ? 'forward' : 'back';
    this.#options.log.warning(
      `the clock of the machine has jumped ${direction} by ${(Math.abs(byMs) / 1000).toFixed(1)} s: it was set, or the ` +
        'machine was suspended; ticks and timers keep their intervals',
    );
  }
}
