import { SimError } from '../../core/errors.ts';
import { Turns } from '../../core/turns.ts';

/** Operations that may wait for their turn at one time. */
const maxWaiting = 16;
/** An operation that has waited longer than this is not begun. */
const maxWaitMs = 30_000;

/** Does one operation after the other: a device has one connection, and requests of two would mix. */
export class OperationQueue {
  readonly #monotonicMs: () => number;
  readonly #turns = new Turns();

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** @throws SimError COMMAND_QUEUE_FULL, PEER_TIMEOUT when its turn comes too late, and whatever `work` throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#turns.waiting >= maxWaiting) {
      throw new SimError('COMMAND_QUEUE_FULL', `${maxWaiting} operations of the SunSpec client wait already`);
    }
    const sinceMs = this.#monotonicMs();
    return this.#turns.take(() => {
      if (this.#monotonicMs() - sinceMs > maxWaitMs)
        throw new SimError('PEER_TIMEOUT', 'the operations before this one took so long that it was not begun');
      return work();
    });
  }

  /** Refuses all that wait. */
  clear(error: SimError): void {
    this.#turns.refuseWaiting(error);
  }
}
