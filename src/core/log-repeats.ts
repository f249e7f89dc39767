const linesPerWindow = 10;
const windowMs = 1000;
/** Different lines that are counted per window; what is beyond them passes, for it is no repetition. */
const maxCounted = 1000;

interface Options<Line> {
  /** ms from an arbitrary start, never going back */
  readonly monotonicMs: () => number;
  /** calls `run` once after `ms`; the returned function prevents it */
  readonly later: (ms: number, run: () => void) => () => void;
  /** what makes two lines the same */
  readonly keyOf: (line: Line) => string;
  /** takes the count of a window's repetitions that were held back */
  readonly report: (line: Line, times: number) => void;
}

/** Lets the same line pass ten times in a second and then reports how often it came again. */
export class RepeatLimit<Line> {
  readonly #options: Options<Line>;
  readonly #seen = new Map<string, { readonly line: Line; times: number }>();
  #windowStartMs = -Infinity;
  #cancelReport: (() => void) | null = null;

  constructor(options: Options<Line>) {
    this.#options = options;
  }

  /** Whether the line is to be written now. */
  admits(line: Line): boolean {
    const { monotonicMs, later, keyOf } = this.#options;
    const nowMs = monotonicMs();
    if (nowMs - this.#windowStartMs >= windowMs) {
      this.flush();
      this.#windowStartMs = nowMs;
    }
    const key = keyOf(line);
    const seen = this.#seen.get(key);
    if (!seen) {
      if (this.#seen.size < maxCounted) this.#seen.set(key, { line, times: 1 });
      return true;
    }
    seen.times += 1;
    if (seen.times <= linesPerWindow) return true;
    this.#cancelReport ??= later(this.#windowStartMs + windowMs - nowMs, () => { this.flush(); });
    return false;
  }

  /** Reports what was held back so far and begins a new window. */
  flush(): void {
    this.#cancelReport?.();
    this.#cancelReport = null;
    this.#windowStartMs = -Infinity;
    const seen = [...this.#seen.values()];
    this.#seen.clear();
    for (const { line, times } of seen) {
      if (times > linesPerWindow) this.#options.report(line, times - linesPerWindow);
    }
  }
}
