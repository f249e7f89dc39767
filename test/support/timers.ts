import type { HandWall } from './wall.ts';

interface Entry {
  readonly dueMs: number;
  readonly run: () => void;
}

/** Timers on a clock that a test moves: they fire in order as time passes. */
export class HandTimers {
  readonly #wall: HandWall;
  #entries: Entry[] = [];

  constructor(wall: HandWall) {
    this.#wall = wall;
  }

  /** As `callLater`. */
  readonly later = (ms: number, run: () => void): (() => void) => {
    const entry = { dueMs: this.#wall.monotonicMs() + ms, run };
    this.#entries.push(entry);
    return () => {
      this.#entries = this.#entries.filter((each) => each !== entry);
    };
  };

  get waiting(): number {
    return this.#entries.length;
  }

  /** ms until the next one; Infinity without one. */
  get nextMs(): number {
    return (
      this.#entries.reduce((earliest, { dueMs }) => Math.min(earliest, dueMs), Infinity) - this.#wall.monotonicMs()
    );
  }

  pass(ms: number): void {
    const endMs = this.#wall.monotonicMs() + ms;
    for (;;) {
      const next = this.#entries.reduce<Entry | undefined>(
        (first, each) => (first === undefined || each.dueMs < first.dueMs ? each : first),
        undefined,
      );
      if (next === undefined || next.dueMs > endMs) break;
      this.#wall.advance(Math.max(0, next.dueMs - this.#wall.monotonicMs()));
      this.#entries = this.#entries.filter((each) => each !== next);
      next.run();
    }
    this.#wall.advance(endMs - this.#wall.monotonicMs());
  }
}
