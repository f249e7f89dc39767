import type { Later } from '../time/timers.ts';

const defaultLines = 10;
const windowMs = 1000;
/** Different lines remembered at a time. */
const maxKeys = 1000;

interface Options<Line> {
  /** ms from an arbitrary start, never going back */
  readonly monotonicMs: () => number;
  readonly later: Later;
  /** key that is equal for repeated lines */
  readonly keyOf: (line: Line) => string;
  /** called with the first suppressed repetition and their number */
  readonly report: (line: Line, times: number) => void;
  /** times that a line passes in any second; default 10 */
  readonly lines?: number;
}

interface Seen<Line> {
  line: Line;
  /** the last times it was written, at most as often as it passes, oldest first */
  readonly writtenMs: number[];
  /** repetitions suppressed since then */
  held: number;
  lastMs: number;
}

/** The end of the pause of a suppressed line. */
function pauseEndMs({ writtenMs }: Seen<unknown>): number {
  return (writtenMs.at(-1) ?? -Infinity) + windowMs;
}

/**
 * Lets the same line pass ten times in any second, unless the options say another number. A line that comes more often
 * is suppressed until a second after it was last written; then the repetitions are reported as a count.
 */
export class RepeatLimit<Line> {
  readonly #options: Options<Line>;
  readonly #lines: number;
  /** in the order of their last line */
  readonly #seen = new Map<string, Seen<Line>>();
  readonly #holding = new Set<Seen<Line>>();
  /** the first end of a pause */
  #dueMs = Infinity;
  #cancelTimer: (() => void) | null = null;

  constructor(options: Options<Line>) {
    this.#options = options;
    this.#lines = options.lines ?? defaultLines;
  }

  /** True if the line is to be written now. */
  admits(line: Line): boolean {
    const nowMs = this.#options.monotonicMs();
    if (nowMs >= this.#dueMs) this.#reportUntil(nowMs);
    this.#forgetUntil(nowMs - windowMs);
    const seen = this.#touch(line, nowMs);
    const [oldestMs = -Infinity] = seen.writtenMs;
    const isFull = seen.writtenMs.length === this.#lines && nowMs - oldestMs < windowMs;
    if (seen.held > 0 || isFull) {
      if (seen.held === 0) seen.line = line;
      seen.held += 1;
      this.#holding.add(seen);
      this.#awaitEnd(pauseEndMs(seen), nowMs);
      return false;
    }
    seen.writtenMs.push(nowMs);
    if (seen.writtenMs.length > this.#lines) seen.writtenMs.shift();
    return true;
  }

  /** Reports the repetitions suppressed so far. */
  flush(): void {
    this.#reportUntil(Infinity);
  }

  #touch(line: Line, nowMs: number): Seen<Line> {
    const key = this.#options.keyOf(line);
    const seen = this.#seen.get(key) ?? { line, writtenMs: [], held: 0, lastMs: nowMs };
    seen.lastMs = nowMs;
    this.#seen.delete(key);
    this.#seen.set(key, seen);
    const [oldest] = this.#seen;
    if (oldest && this.#seen.size > maxKeys) this.#forget(...oldest);
    return seen;
  }

  /** Lines not repeated since then start over anyway. */
  #forgetUntil(lastMs: number): void {
    for (const [key, seen] of this.#seen) {
      if (seen.lastMs > lastMs) return;
      this.#forget(key, seen);
    }
  }

  #forget(key: string, seen: Seen<Line>): void {
    this.#seen.delete(key);
    this.#report(seen);
  }

  #report(seen: Seen<Line>): void {
    if (!this.#holding.delete(seen)) return;
    const { line, held } = seen;
    seen.held = 0;
    this.#options.report(line, held);
  }

  #reportUntil(nowMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#dueMs = Infinity;
    let nextMs = Infinity;
    for (const seen of [...this.#holding]) {
      const endMs = pauseEndMs(seen);
      if (endMs <= nowMs) this.#report(seen);
      else nextMs = Math.min(nextMs, endMs);
    }
    if (nextMs < Infinity) this.#awaitEnd(nextMs, nowMs);
  }

  #awaitEnd(endMs: number, nowMs: number): void {
    if (endMs >= this.#dueMs) return;
    this.#cancelTimer?.();
    this.#dueMs = endMs;
    // timers may fire a fraction of a millisecond early: the end counts as reached
    this.#cancelTimer = this.#options.later(endMs - nowMs, () => {
      this.#reportUntil(Math.max(endMs, this.#options.monotonicMs()));
    });
  }
}
