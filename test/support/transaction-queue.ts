/** Test double of the transaction queue of an OCPP station: first in, first out, over the slot of a store. */
import { SimError } from '../../src/core/errors.ts';
import type { JsonValue, Slot } from '../../src/core/store.ts';

export interface QueuedMessage {
  readonly seqNo: number;
  readonly action: string;
  /** an intermediate message, which may be dropped where room is short */
  readonly intermediate: boolean;
  readonly payload: JsonValue;
}

type Entry = { readonly put: QueuedMessage } | { readonly done: number } | { readonly nextSeqNo: number };

/**
 * A journal: messages are appended, and so is the number of each one that was answered. When half of it is history, it
 * is replaced by what is left.
 */
export class TransactionQueue {
  readonly #slot: Slot;
  #waiting: QueuedMessage[] = [];
  #nextSeqNo = 0;
  #written = 0;

  private constructor(slot: Slot) {
    this.#slot = slot;
  }

  /** The queue that a slot holds, also one of an earlier process. */
  static async open(slot: Slot): Promise<TransactionQueue> {
    const queue = new TransactionQueue(slot);
    const entries = (await slot.read()) as unknown as readonly Entry[];
    queue.#written = entries.length;
    for (const entry of entries) queue.#replay(entry);
    return queue;
  }

  #replay(entry: Entry): void {
    if ('put' in entry) {
      this.#waiting.push(entry.put);
      this.#nextSeqNo = entry.put.seqNo + 1;
    } else if ('done' in entry) this.#waiting = this.#waiting.filter(({ seqNo }) => seqNo !== entry.done);
    else this.#nextSeqNo = entry.nextSeqNo;
  }

  get waiting(): readonly QueuedMessage[] {
    return this.#waiting;
  }

  /** The message to send next; it stays until it is `done`. */
  get head(): QueuedMessage | undefined {
    return this.#waiting[0];
  }

  /** Resolves when the message is durable. Without room every second intermediate message goes first. */
  async put(action: string, payload: JsonValue, intermediate = false): Promise<QueuedMessage> {
    const message = { seqNo: this.#nextSeqNo, action, intermediate, payload };
    this.#nextSeqNo += 1;
    try {
      await this.#append({ put: message });
    } catch (error) {
      if (!(error instanceof SimError) || error.code !== 'STORE_FULL') throw error;
      this.#dropIntermediate();
      await this.#compact();
      await this.#append({ put: message });
    }
    this.#waiting.push(message);
    return message;
  }

  /** A message was answered, or given up. */
  async done(seqNo: number): Promise<void> {
    this.#waiting = this.#waiting.filter((message) => message.seqNo !== seqNo);
    if (this.#written > 2 * this.#waiting.length + 8) await this.#compact();
    else await this.#append({ done: seqNo });
  }

  async #append(entry: Entry): Promise<void> {
    await this.#slot.append(entry as unknown as JsonValue);
    this.#written += 1;
  }

  async #compact(): Promise<void> {
    const entries: Entry[] = [...this.#waiting.map((put) => ({ put })), { nextSeqNo: this.#nextSeqNo }];
    await this.#slot.replace(entries as unknown as JsonValue[]);
    this.#written = entries.length;
  }

  #dropIntermediate(): void {
    let seen = 0;
    this.#waiting = this.#waiting.filter(({ intermediate }) => !intermediate || seen++ % 2 === 1);
  }
}
