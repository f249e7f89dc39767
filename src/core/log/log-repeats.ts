import type { Later } from '../time/timers.ts';

const defaultLines = 10;
const windowMs = 1000;
/** Maximum number of different lines remembered at a time. */
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

interface LineCount<Line> {
  line: Line;
  /** instants of its last writes, oldest first, at most as many as pass in a second */
  readonly writtenMs: number[];
  /** suppressed repetitions that are not yet reported */
  held: number;
  lastMs: number;
}

/** The end of the pause of a suppressed line. */
function pauseEndMs({ writtenMs }: LineCount<unknown>): number {
  return (writtenMs.at(-1) ?? -Infinity) + windowMs;
}

/**
 * Lets the same line pass ten times in any second, or as often as the options say. A more frequent line is suppressed
 * until a second after it was last written; then the repetitions are reported as a count.
 */
export class RepeatLimit<Line> {
  readonly #options: Options<Line>;
  readonly #lines: number;
  /** in the order of their last line */
  readonly #countsByKey = new Map<string, LineCount<Line>>();
  readonly #holding = new Set<LineCount<Line>>();
  /** the earliest end of a pause */
  #dueMs = Infinity;
  #cancelTimer: (() => void) | null = null;

  constructor(options: Options<Line>) {
    this.#options = options;
    this.#lines = options.lines ?? defaultLines;
  }

  /** Counts a line. @returns true if it is to be written now, false if it is suppressed */
  admits(line: Line): boolean {
    const nowMs = this.#options.monotonicMs();
    if (nowMs >= this.#dueMs) this.#reportUntil(nowMs);
    this.#forgetUntil(nowMs - windowMs);
    const count = this.#touch(line, nowMs);
    const [oldestMs = -Infinity] = count.writtenMs;
    const isFull = count.writtenMs.length === this.#lines && nowMs - oldestMs < windowMs;
    if (count.held > 0 || isFull) {
      if (count.held === 0) count.line = line;
      count.held += 1;
      this.#holding.add(count);
      this.#awaitEnd(pauseEndMs(count), nowMs);
      return false;
    }
    count.writtenMs.push(nowMs);
    if (count.writtenMs.length > this.#lines) count.writtenMs.shift();
    return true;
  }

  /** Reports the repetitions suppressed so far. */
  flush(): void {
    this.#reportUntil(Infinity);
  }

  #touch(line: Line, nowMs: number): LineCount<Line> {
    const key = this.#options.keyOf(line);
    const count = this.#countsByKey.get(key) ?? { line, writtenMs: [], held: 0, lastMs: nowMs };
    count.lastMs = nowMs;
    this.#countsByKey.delete(key);
    this.#countsByKey.set(key, count);
    const [oldest] = this.#countsByKey;
    if (oldest && this.#countsByKey.size > maxKeys) this.#forget(...oldest);
    return count;
  }

  /** Forgets lines that were not repeated since `lastMs`: their pauses are over. */
  #forgetUntil(lastMs: number): void {
    for (const [key, count] of this.#countsByKey) {
      if (count.lastMs > lastMs) return;
      this.#forget(key, count);
    }
  }

  #forget(key: string, count: LineCount<Line>): void {
    this.#countsByKey.delete(key);
    this.#report(count);
  }

  #report(count: LineCount<Line>): void {
    if (!this.#holding.delete(count)) return;
    const { line, held } = count;
    count.held = 0;
    this.#options.report(line, held);
  }

  #reportUntil(nowMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#dueMs = Infinity;
    let nextMs = Infinity;
    for (const count of [...this.#holding]) {
      const endMs = pauseEndMs(count);
      if (endMs <= nowMs) this.#report(count);
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
