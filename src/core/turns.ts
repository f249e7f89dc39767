interface Waiting {
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Runs work one at a time, in the order of the calls. Libraries (async-mutex, p-limit) begin even the first work in a
 * later microtask; here it begins within the call, as a tick of the plant requires.
 */
export class Turns {
  readonly #waiting: Waiting[] = [];
  #busy = false;

  /** Number of calls that wait for their turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  get isBusy(): boolean {
    return this.#busy;
  }

  /** Runs at once if no other work runs. @throws errors of `run`, and the error given to `refuseWaiting` */
  async take<T>(run: () => Promise<T>): Promise<T> {
    if (this.#busy) {
      await new Promise<void>((begin, refuse) => {
        this.#waiting.push({ begin, refuse });
      });
    }
    // still true after a wait: the turn passes without a gap in which a later call could run
    this.#busy = true;
    try {
      return await run();
    } finally {
      const next = this.#waiting.shift();
      if (next) next.begin();
      else this.#busy = false;
    }
  }

  /** Rejects all waiting calls with this error; the work under way continues. */
  refuseWaiting(error: Error): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }

  /** Resolves when all earlier work has ended. */
  async settled(): Promise<void> {
    await this.take(() => Promise.resolve());
  }
}

/** Calls `run` in a later turn of the event loop. */
export type NextTurn = (run: () => void) => void;

export interface LoopShareOptions {
  /** time in each turn of the event loop after which no more work begins */
  readonly budgetMs?: number;
  /** monotonic */
  readonly nowMs?: () => number;
  /** default: `setImmediate` */
  readonly nextTurn?: NextTurn;
}

const defaultBudgetMs = 5;
const monotonicMs = () => performance.now();
const inNextTurn: NextTurn = (run) => {
  setImmediate(run);
};

/**
 * Limits the work of many callers to a share of each turn of the event loop, so that other sockets and timers never
 * wait for all of it. Work beyond the share waits for later turns, in the order of the calls.
 */
export class LoopShare {
  readonly #budgetMs: number;
  readonly #nowMs: () => number;
  readonly #nextTurn: NextTurn;
  readonly #waiting: (() => void)[] = [];
  /** begin of the first work in this turn; null: no work yet */
  #turnStartMs: number | null = null;

  constructor({ budgetMs = defaultBudgetMs, nowMs = monotonicMs, nextTurn = inNextTurn }: LoopShareOptions = {}) {
    this.#budgetMs = budgetMs;
    this.#nowMs = nowMs;
    this.#nextTurn = nextTurn;
  }

  /** Number of waiting calls. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Runs work within the call if the share is not used up, otherwise in a later turn.
   * @param work does the bounded part synchronously; its errors reject
   */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      // an executor runs within the call, and its errors reject
      const begin = () => {
        resolve(
          new Promise<T>((settle) => {
            settle(work());
          }),
        );
      };
      if (this.#waiting.length > 0 || this.#isUsedUp()) {
        this.#waiting.push(begin);
        return;
      }
      if (this.#turnStartMs === null) this.#beginTurn();
      begin();
    });
  }

  /** Runs work in parts: after each `yield` the rest waits for a later turn if the share is used up. */
  async runInParts<T>(work: Generator<undefined, T>): Promise<T> {
    for (;;) {
      const part = await this.run(() => work.next());
      if (part.done === true) return part.value;
    }
  }

  #isUsedUp(): boolean {
    return this.#turnStartMs !== null && this.#nowMs() - this.#turnStartMs >= this.#budgetMs;
  }

  #beginTurn(): void {
    this.#turnStartMs = this.#nowMs();
    this.#nextTurn(() => {
      this.#turnStartMs = null;
      if (this.#waiting.length === 0) return;
      this.#beginTurn();
      do this.#waiting.shift()?.();
      while (this.#waiting.length > 0 && !this.#isUsedUp());
    });
  }
}

export interface LoopQueueOptions extends LoopShareOptions {
  /** shorter work is not counted, so that light work never schedules a turn */
  readonly lightMs?: number;
}

const defaultLightMs = 0.1;

/**
 * Queue of callers that do their work themselves and report its time with `spent`. While all of them together have used
 * up their share of a turn of the event loop, further work must `wait`, behind the work that waits already.
 */
export class LoopQueue {
  readonly #budgetMs: number;
  readonly #lightMs: number;
  readonly #nowMs: () => number;
  readonly #nextTurn: NextTurn;
  #waiting: (() => void)[] = [];
  #spentMs = 0;
  #isTurnScheduled = false;

  constructor({
    budgetMs = defaultBudgetMs,
    lightMs = defaultLightMs,
    nowMs = monotonicMs,
    nextTurn = inNextTurn,
  }: LoopQueueOptions = {}) {
    this.#budgetMs = budgetMs;
    this.#lightMs = lightMs;
    this.#nowMs = nowMs;
    this.#nextTurn = nextTurn;
  }

  /** True if new work has to wait. */
  get isUsedUp(): boolean {
    return this.#spentMs >= this.#budgetMs;
  }

  /** Counts the time of work that a caller has done. */
  spent(ms: number): void {
    if (ms < this.#lightMs) return;
    this.#spentMs += ms;
    this.#scheduleTurn();
  }

  /** Runs work in a later turn, after all waiting work. */
  wait(work: () => void): void {
    this.#waiting.push(work);
    this.#scheduleTurn();
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled) return;
    this.#isTurnScheduled = true;
    this.#nextTurn(() => {
      this.#isTurnScheduled = false;
      this.#turn();
    });
  }

  #turn(): void {
    this.#spentMs = 0;
    const due = this.#waiting;
    if (due.length === 0) return;
    this.#waiting = [];
    const startMs = this.#nowMs();
    let done = 0;
    let elapsedMs = 0;
    while (done < due.length && elapsedMs < this.#budgetMs) {
      due[done++]?.();
      elapsedMs = this.#nowMs() - startMs;
    }
    // work added meanwhile runs after the rest
    if (done < due.length) this.#waiting = [...due.slice(done), ...this.#waiting];
    // replaces the time counted by the work itself
    this.#spentMs = 0;
    this.spent(elapsedMs);
    if (this.#waiting.length > 0) this.#scheduleTurn();
  }
}

/** Items between two yields of `inParts`, each of at most a tenth of a millisecond. */
const itemsPerPart = 20;

/** Does work for each item; yields now and then. */
export function* inParts<T>(items: Iterable<T>, work: (item: T, at: number) => void): Generator<undefined, void> {
  let at = 0;
  for (const item of items) {
    work(item, at);
    at += 1;
    if (at % itemsPerPart === 0) yield;
  }
}

/** Runs work in parts without a pause between them. */
export function runWhole<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const part = work.next();
    if (part.done === true) return part.value;
  }
}

/** Lets other work run before the caller goes on. */
export const yieldToLoop = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
