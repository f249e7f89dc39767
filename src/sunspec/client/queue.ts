import { SimError } from '../../core/errors.ts';

/** Operations that wait for their turn at one time. */
const mostWaiting = 16;
/** Nobody waits longer than this for a device that keeps others waiting. */
const patienceMs = 30_000;

interface Waiting {
  readonly sinceMs: number;
  readonly begin: () => void;
  readonly refuse: (error: SimError) => void;
}

/** Does one operation after the other: a device has one connection, and requests of two would mix. */
export class OperationQueue {
  readonly #monotonicMs: () => number;
  readonly #waiting: Waiting[] = [];
  #busy = false;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  get idle(): boolean {
    return !this.#busy;
  }

  /** @throws SimError COMMAND_QUEUE_FULL, PEER_TIMEOUT when its turn does not come, and whatever `work` throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#turn();
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  /** Refuses all that wait. */
  clear(error: SimError): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }

  #turn(): Promise<void> {
    if (!this.#busy) {
      this.#busy = true;
      return Promise.resolve();
    }
    if (this.#waiting.length >= mostWaiting) {
      throw new SimError('COMMAND_QUEUE_FULL', `${mostWaiting} operations of the SunSpec client wait already`);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ sinceMs: this.#monotonicMs(), begin: resolve, refuse: reject });
    });
  }

  #next(): void {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      if (this.#monotonicMs() - next.sinceMs <= patienceMs) {
        next.begin();
        return;
      }
      next.refuse(new SimError('PEER_TIMEOUT', 'the operations before this one took so long that it was not begun'));
    }
    this.#busy = false;
  }
}
