/** Bounds the rate of a client: of the ticks within an interval of wall time it gets the newest. */
import type { Later } from '../core/time/timers.ts';

export interface PaceOptions {
  readonly intervalMs: number;
  /** monotonic ms */
  readonly nowMs: () => number;
  readonly later: Later;
  /** Sends the newest tick. */
  readonly send: () => void;
}

export class Pace {
  readonly #options: PaceOptions;
  #dueMs = -Infinity;
  #cancel: (() => void) | null = null;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** A newer tick is there: it is sent at once, or at the end of the interval unless a still newer one takes its place. */
  offer(): void {
    if (this.#cancel) return;
    const waitMs = this.#dueMs - this.#options.nowMs();
    if (waitMs <= 0) this.#send();
    else
      this.#cancel = this.#options.later(waitMs, () => {
        this.#send();
      });
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #send(): void {
    this.#cancel = null;
    this.#dueMs = this.#options.nowMs() + this.#options.intervalMs;
    this.#options.send();
  }
}
