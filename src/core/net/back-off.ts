/** Waiting times between attempts to reach something again: they double up to a maximum. */
import type { RandomStream } from '../random.ts';

export interface BackOffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Half of each wait is drawn from it, so that many clients do not come back at one moment; absent: no jitter. */
  readonly jitter?: Pick<RandomStream, 'next'>;
}

export class BackOff {
  readonly #options: BackOffOptions;
  #ceilingMs: number;

  constructor(options: BackOffOptions) {
    this.#options = options;
    this.#ceilingMs = options.firstMs;
  }

  /** The wait before the next attempt, ms; the one after it is twice as long. */
  nextMs(): number {
    const { maxMs, jitter } = this.#options;
    const ceilingMs = Math.min(this.#ceilingMs, maxMs);
    this.#ceilingMs = Math.min(2 * ceilingMs, maxMs);
    return jitter === undefined ? ceilingMs : ceilingMs * (0.5 + 0.5 * jitter.next());
  }

  /** After a success: the next wait is the first one again. */
  reset(): void {
    this.#ceilingMs = this.#options.firstMs;
  }
}
