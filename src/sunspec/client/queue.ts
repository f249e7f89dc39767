import { SimError } from '../../core/errors.ts';
import { Turns } from '../../core/turns.ts';

/** Maximum number of waiting operations. */
const maxWaiting = 16;
/** An operation that waited longer is refused. */
const maxWaitMs = 30_000;

/** Serialises operations: a device has one connection, and interleaved requests would mix. */
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

  /** Rejects all waiting operations. */
  clear(error: SimError): void {
    this.#turns.refuseWaiting(error);
  }
}
