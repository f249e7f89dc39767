/** When a process that has died starts again: after 1 to 30 s, and at most five times in five minutes. */
import { doubling } from '../../core/net/back-off.ts';

const windowMs = 300_000;
const maxInWindow = 5;
const waitAfter = doubling({ firstMs: 1000, maxMs: 30_000 });

export class Restarts {
  #starts: readonly number[] = [];

  /** @param nowMs monotonic @returns the wait before the next start, ms; null: there were too many */
  waitMs(nowMs: number): number | null {
    const recent = this.#starts.filter((startMs) => nowMs - startMs < windowMs);
    if (recent.length >= maxInWindow) return null;
    this.#starts = [...recent, nowMs];
    return waitAfter(recent.length, 0);
  }
}
