/**
 * Timers of the machine. Those of `Later` and `Every`, which are options so that tests can replace them, do not keep
 * the process alive.
 */
import type { WallClock } from './clock.ts';

/** Calls `run` once after `ms`. The returned function cancels the call. */
export type Later = (ms: number, run: () => void) => () => void;

/** Calls `run` every `ms` until the returned function is called. */
export type Every = (ms: number, run: () => void) => () => void;

/** The outcome of work; rejects when it takes longer, and the work goes on by itself. */
export async function withinLimit<T>(work: Promise<T>, limitMs: number, later: Later): Promise<T> {
  let cancel: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = later(limitMs, () => {
      reject(new Error(`not done within ${limitMs / 1000} s`));
    });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}

/** Node fires a timer with a longer wait at once. */
const maxMs = 2 ** 31 - 1;

export const callLater: Later = (ms, run) => {
  const wait = (leftMs: number): NodeJS.Timeout =>
    leftMs <= maxMs
      ? setTimeout(run, leftMs).unref()
      : setTimeout(() => {
          timer = wait(leftMs - maxMs);
        }, maxMs).unref();
  let timer = wait(ms);
  return () => {
    clearTimeout(timer);
  };
};

export const callEvery: Every = (ms, run) => {
  const timer = setInterval(run, ms).unref();
  return () => {
    clearInterval(timer);
  };
};

interface TickerOptions {
  readonly intervalMs: number;
  readonly wall: WallClock;
  /** an instant of `wall.monotonicMs` at which a slot ends, also of the past or future; default: that of the start */
  readonly originMs?: number;
  /** @param slots grid slots since the last call: 1, or more when the machine was late */
  readonly tick: (slots: number) => Promise<void>;
}

/**
 * Calls `tick` on an absolute grid of real time, never twice at once. A late call takes over the slots it missed
 * as one longer tick instead of a burst; slots beyond `maxSlots` are lost, so that a suspended machine does not
 * come back with hours of simulation.
 */
export class Ticker {
  static readonly maxSlots = 10;
  readonly #options: TickerOptions;
  #startMs = 0;
  #slot = 0;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #stopped = false;
  /** slots without a separate tick */
  skipped = 0;

  constructor(options: TickerOptions) {
    this.#options = options;
  }

  start(): void {
    const { wall, intervalMs, originMs } = this.#options;
    const nowMs = wall.monotonicMs();
    const intoSlotMs = originMs === undefined ? 0 : (nowMs - originMs) % intervalMs;
    this.#startMs = nowMs - (intoSlotMs < 0 ? intoSlotMs + intervalMs : intoSlotMs);
    this.#schedule();
  }

  /** Resolves when a tick under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  #schedule(): void {
    if (this.#stopped) return;
    const due = this.#startMs + (this.#slot + 1) * this.#options.intervalMs;
    const wait = Math.max(0, due - this.#options.wall.monotonicMs());
    this.#timer = setTimeout(() => {
      this.#fire();
    }, wait);
  }

  #fire(): void {
    const reached = Math.floor((this.#options.wall.monotonicMs() - this.#startMs) / this.#options.intervalMs);
    // a timer may fire a fraction of a millisecond early
    const slots = Math.max(1, reached - this.#slot);
    this.#slot += slots;
    this.skipped += slots - 1;
    this.#running = this.#options.tick(Math.min(slots, Ticker.maxSlots)).finally(() => {
      this.#running = null;
      this.#schedule();
    });
  }
}
