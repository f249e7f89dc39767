interface Waiting {
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Work that must not overlap: one after the other, in the order of the calls. Libraries (async-mutex, p-limit) begin
 * even the first work in a later microtask; here it begins within the call, as a tick of the plant needs it.
 */
export class Turns {
  readonly #waiting: Waiting[] = [];
  #busy = false;

  /** How many calls wait for their turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Runs at once if no other work runs. @throws errors of `run`, and the error given to `refuseWaiting` */
  async take<T>(run: () => Promise<T>): Promise<T> {
    if (this.#busy) {
      await new Promise<void>((begin, refuse) => {
        this.#waiting.push({ begin, refuse });
      });
    }
    // handed over without a gap: no later call gets in between
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

  /** Resolves when all work that was asked for before has ended. */
  async settled(): Promise<void> {
    await this.take(() => Promise.resolve());
  }
}

/** Calls back in a later turn of the event loop. */
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
 * Work of many callers with a share of each turn of the event loop, so that other sockets and timers never wait for all
 * of it: work beyond the share waits for later turns, in the order of the calls.
 */
export class LoopShare {
  readonly #budgetMs: number;
  readonly #nowMs: () => number;
  readonly #nextTurn: NextTurn;
  readonly #waiting: (() => void)[] = [];
  /** begin of the first work in this turn; null: there was none */
  #begunMs: number | null = null;

  constructor({ budgetMs = defaultBudgetMs, nowMs = monotonicMs, nextTurn = inNextTurn }: LoopShareOptions = {}) {
    this.#budgetMs = budgetMs;
    this.#nowMs = nowMs;
    this.#nextTurn = nextTurn;
  }

  /** How much work waits. */
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
      if (this.#begunMs === null) this.#beginTurn();
      begin();
    });
  }

  #isUsedUp(): boolean {
    return this.#begunMs !== null && this.#nowMs() - this.#begunMs >= this.#budgetMs;
  }

  #beginTurn(): void {
    this.#begunMs = this.#nowMs();
    this.#nextTurn(() => {
      this.#begunMs = null;
      if (this.#waiting.length === 0) return;
      this.#beginTurn();
      do this.#waiting.shift()?.();
      while (this.#waiting.length > 0 && !this.#isUsedUp());
    });
  }
}

export interface LoopQueueOptions extends LoopShareOptions {
  /** work below this does not count, so that light work never asks for a turn of its own */
  readonly lightMs?: number;
}

const defaultLightMs = 0.1;

/**
 * Callers that do their work themselves, say how long it took, and wait in one queue while all of them together have
 * used up their share of the turn of the event loop. One that has had enough for once goes behind the others.
 */
export class LoopQueue {
  readonly #budgetMs: number;
  readonly #lightMs: number;
  readonly #nowMs: () => number;
  readonly #nextTurn: NextTurn;
  #waiting: (() => void)[] = [];
  #spentMs = 0;
  #isTurnAsked = false;

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

  /** True if work that comes now has to wait. */
  get isUsedUp(): boolean {
    return this.#spentMs >= this.#budgetMs;
  }

  /** Counts the time of work that a caller has done. */
  spent(ms: number): void {
    if (ms < this.#lightMs) return;
    this.#spentMs += ms;
    this.#askTurn();
  }

  /** Runs work in a later turn, behind all that waits. */
  wait(work: () => void): void {
    this.#waiting.push(work);
    this.#askTurn();
  }

  #askTurn(): void {
    if (this.#isTurnAsked) return;
    this.#isTurnAsked = true;
    this.#nextTurn(() => {
      this.#isTurnAsked = false;
      this.#turn();
    });
  }

  #turn(): void {
    this.#spentMs = 0;
    const due = this.#waiting;
    if (due.length === 0) return;
    this.#waiting = [];
    const begunMs = this.#nowMs();
    let done = 0;
    let tookMs = 0;
    while (done < due.length && tookMs < this.#budgetMs) {
      due[done++]?.();
      tookMs = this.#nowMs() - begunMs;
    }
    // work that asked for another turn meanwhile goes behind the rest
    if (done < due.length) this.#waiting = [...due.slice(done), ...this.#waiting];
    // replaces the time counted by the work itself
    this.#spentMs = 0;
    this.spent(tookMs);
    if (this.#waiting.length > 0) this.#askTurn();
  }
}

/** Lets other work run before the caller goes on. */
export const yieldToLoop = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
