/** A transaction queue between a store that survives and a central system of the test. */
import type { CallOutcome, Payload, QueuedMessage, QueuedRole } from '../../../src/ocpp/rpc/model.ts';
import { createTransactionQueue } from '../../../src/ocpp/rpc/queue.ts';
import type { LoadableQueue, TransactionQueueOptions } from '../../../src/ocpp/rpc/queue.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import type { Slot } from '../../../src/core/store.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

export interface Sent {
  readonly action: string;
  readonly payload: Payload;
  readonly messageId: string | undefined;
  answer(outcome: CallOutcome): Promise<void>;
}

/** Lets everything that waits for nothing but promises run. */
export async function calm(): Promise<void> {
  for (let n = 0; n < 12; n += 1) await Promise.resolve();
}

export const result: CallOutcome = { kind: 'result', payload: {}, durationMs: 1 };
export const refusal: CallOutcome = {
  kind: 'error',
  code: 'InternalError',
  description: '',
  details: {},
  durationMs: 1,
};

export const message = (n: number, role: QueuedRole = 'middle', transaction = 'T1'): QueuedMessage => ({
  action: { start: 'StartTransaction', middle: 'MeterValues', end: 'StopTransaction' }[role],
  payload: { n },
  transaction,
  role,
});

export class QueueRig {
  readonly timers = new HandTimers(new HandWall());
  slot: Slot = createMemoryStore().slot('queue');
  readonly sent: Sent[] = [];
  readonly lines: string[] = [];
  readonly answered: number[] = [];
  readonly dropped: string[] = [];
  isOpen = false;
  queue: LoadableQueue;

  constructor(options: Partial<TransactionQueueOptions> = {}) {
    this.queue = this.make(options);
  }

  /** A queue of a new process on the same slot. */
  make(options: Partial<TransactionQueueOptions> = {}): LoadableQueue {
    const write = (line: string) => {
      this.lines.push(line);
    };
    this.queue = createTransactionQueue({
      slot: this.slot,
      later: this.timers.later,
      log: { debug: write, info: write, warning: write, error: write },
      policy: () => ({ attempts: 3, intervalS: 60 }),
      isOpen: () => this.isOpen,
      send: (action, payload, messageId) =>
        new Promise((resolve) => {
          this.sent.push({
            action,
            payload,
            messageId,
            answer(outcome) {
              resolve(outcome);
              return calm();
            },
          });
        }),
      answered: ({ payload }) => {
        this.answered.push(Number(payload['n']));
      },
      dropped: ({ payload }, why) => {
        this.dropped.push(`${Number(payload['n'])} ${why}`);
      },
      ...options,
    });
    return this.queue;
  }

  get last(): Sent {
    const sent = this.sent.at(-1);
    if (sent === undefined) throw new Error('nothing was sent');
    return sent;
  }

  get numbers(): unknown[] {
    return this.sent.map(({ payload }) => payload['n']);
  }

  async connect(): Promise<void> {
    this.isOpen = true;
    this.queue.resume();
    await calm();
  }

  async cut(): Promise<void> {
    this.isOpen = false;
    this.queue.pause();
    await this.sent.at(-1)?.answer({ kind: 'lost' });
  }
}
