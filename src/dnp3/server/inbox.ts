/** Octets received on one connection, handled in order and with a share of each turn of the event loop. */
import type { LoopQueue } from '../../core/turns.ts';

/** Time in one turn after which the rest waits behind other connections. */
const msPerTurn = 2;

export interface InboxOptions {
  /** shared by all connections */
  readonly turns: LoopQueue;
  readonly monotonicMs: () => number;
  /** stops and resumes reading, so that the waiting octets are bounded by one arrival */
  readonly pause: () => void;
  readonly resume: () => void;
}

export class Inbox {
  readonly #options: InboxOptions;
  #work: (() => void)[] = [];
  #isWaiting = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Carries work out behind all that waits, within the call where there is time. */
  add(...work: readonly (() => void)[]): void {
    this.#work.push(...work);
    if (this.#isWaiting) return;
    if (this.#options.turns.isUsedUp) this.#wait();
    else this.#run();
  }

  /** Called by work under way: its parts come before all that waits. */
  split(parts: readonly (() => void)[]): void {
    this.#work = [...parts, ...this.#work];
  }

  /** Drops all that waits. */
  clear(): void {
    this.#work = [];
  }

  #run(): void {
    const { turns, monotonicMs } = this.#options;
    const begunMs = monotonicMs();
    let tookMs = 0;
    while (tookMs < msPerTurn) {
      const work = this.#work.shift();
      if (work === undefined) break;
      work();
      tookMs = monotonicMs() - begunMs;
    }
    turns.spent(tookMs);
    if (this.#work.length > 0) this.#wait();
  }

  #wait(): void {
    this.#isWaiting = true;
    this.#options.pause();
    this.#options.turns.wait(() => {
      this.#isWaiting = false;
      this.#run();
      // it may have to wait again
      if (this.#work.length === 0) this.#options.resume();
    });
  }
}
