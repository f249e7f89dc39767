/**
 * The persistent queue of transaction messages of one station (OCPP 1.6 4.1 and 3.7.1, 2.x E04 and J.13): in order,
 * each stored before it is sent, and removed when it is answered, its attempts are used up or the queue is full.
 */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { Slot } from '../../core/store.ts';
import type { Later } from '../../core/time/timers.ts';
import { createJournal } from './journal.ts';
import type { Journal, QueuedItem } from './journal.ts';
import type { CallOutcome, Payload, QueuedMessage, RetryPolicy, TransactionQueue } from './model.ts';
import type { TransactionQueueEvents } from './model.ts';

/** Length of the queue above which messages in the `middle` of a transaction are dropped. */
const queueCap = 5000;

export interface TransactionQueueOptions extends TransactionQueueEvents {
  readonly slot: Slot;
  readonly later: Later;
  readonly log: Logger;
  /** reads the present configuration */
  readonly policy: () => RetryPolicy;
  /** `Line.call`, or `Calls.send`. @param messageId absent: a new id */
  readonly send: (action: string, payload: Payload, messageId?: string) => Promise<CallOutcome>;
  /**
   * True if the line is open. A message that is `unsent` although the line is open counts as a failed attempt: it
   * breaks its schema and would otherwise block the queue for ever.
   */
  readonly isOpen: () => boolean;
  /**
   * Makes message ids: repeats of a message keep its id (2.1). Absent: each transmission has a new id, since 1.6 and
   * 2.0.1 never use an id again.
   */
  readonly newMessageId?: () => string;
  /** default `queueCap` */
  readonly cap?: number;
}

export interface LoadableQueue extends TransactionQueue {
  /**
   * Restores the messages of an earlier process, before those pushed meanwhile; to be called before the first `resume`.
   */
  load(): Promise<void>;
  /** Ends all sending: the process ends or the station is removed. */
  stop(): void;
}

class PersistentQueue implements LoadableQueue {
  readonly #options: TransactionQueueOptions;
  readonly #journal: Journal;
  #items: QueuedItem[] = [];
  #lastNumber = 0;
  #isLoaded = false;
  readonly #lengths = new Map<string, number>();
  #middles = 0;
  droppedMiddles = 0;
  /** the line is open and the station accepted */
  #isRunning = false;
  /** number of `resume` calls: a failure on an earlier connection does not break the present one */
  #connection = 0;
  /** true: nothing more is sent on the present connection */
  #isBroken = false;
  /** true: the head is being stored or sent */
  #isBusy = false;
  /** the message id of the head, for a repeat */
  #headId: { readonly item: QueuedItem; readonly id: string } | null = null;
  /** ends the wait for the next attempt; null: no wait */
  #cancelWait: (() => void) | null = null;
  #settledWaiters: (() => void)[] = [];

  constructor(options: TransactionQueueOptions) {
    this.#options = options;
    this.#journal = createJournal(options.slot, () => this.#items, options.log);
  }

  get length(): number {
    return this.#items.length;
  }

  lengthOf(transaction: string): number {
    return this.#lengths.get(transaction) ?? 0;
  }

  async load(): Promise<void> {
    const restored = await this.#journal.load();
    const early = this.#items;
    this.#items = [];
    this.#lengths.clear();
    this.#middles = 0;
    for (const item of restored) this.#add(item);
    this.#lastNumber = restored.reduce((highest, { number }) => Math.max(highest, number), 0);
    this.#isLoaded = true;
    for (const { message } of early) this.push(message);
    this.#sendNext();
  }

  push(message: QueuedMessage): void {
    this.#lastNumber += 1;
    const item: QueuedItem = { number: this.#lastNumber, message, failures: 0 };
    this.#add(item);
    if (!this.#isLoaded) return;
    this.#journal.pushed(item);
    if (this.#items.length > (this.#options.cap ?? queueCap)) this.#thin();
    this.#sendNext();
  }

  resume(): void {
    this.#isRunning = true;
    this.#isBroken = false;
    this.#connection += 1;
    this.#sendNext();
  }

  pause(): void {
    this.#isRunning = false;
    this.#resolveSettled();
  }

  stop(): void {
    this.pause();
    this.#cancelWait?.();
    this.#cancelWait = null;
  }

  async settled(): Promise<void> {
    if (!this.#isIdle)
      await new Promise<void>((resolve) => {
        this.#settledWaiters.push(resolve);
      });
    await this.#journal.written();
  }

  get #isIdle(): boolean {
    return !this.#isBusy && (this.#items.length === 0 || !this.#isRunning || this.#isBroken);
  }

  #resolveSettled(): void {
    if (!this.#isIdle) return;
    const waiting = this.#settledWaiters;
    this.#settledWaiters = [];
    for (const resolve of waiting) resolve();
  }

  #add(item: QueuedItem): void {
    const { transaction, role } = item.message;
    this.#items.push(item);
    this.#lengths.set(transaction, this.lengthOf(transaction) + 1);
    if (role === 'middle') this.#middles += 1;
  }

  /** Reduces the counters by an item that has left the queue. */
  #discount({ message: { transaction, role } }: QueuedItem): void {
    const remaining = this.lengthOf(transaction) - 1;
    if (remaining > 0) this.#lengths.set(transaction, remaining);
    else this.#lengths.delete(transaction);
    if (role === 'middle') this.#middles -= 1;
  }

  #leave(items: ReadonlySet<QueuedItem>): void {
    this.#items = this.#items.filter((item) => !items.has(item));
    for (const item of items) this.#discount(item);
    this.#journal.removed([...items]);
  }

  /** Drops the 1st, 3rd, 5th ... in-between message of each transaction, never a head that was sent. */
  #thin(): void {
    if (this.#middles === 0) return;
    const middlesSeen = new Map<string, number>();
    const isDropped = ({ message: { transaction, role }, failures }: QueuedItem, place: number) => {
      if (role !== 'middle' || (place === 0 && (this.#isBusy || failures > 0))) return false;
      const before = middlesSeen.get(transaction) ?? 0;
      middlesSeen.set(transaction, before + 1);
      return before % 2 === 0;
    };
    const dropped = new Set(this.#items.filter(isDropped));
    if (dropped.size === 0) return;
    this.#leave(dropped);
    this.droppedMiddles += dropped.size;
    this.#options.log.warning(
      `the queue of transaction messages is full: ${dropped.size} in-between messages were dropped`,
    );
    for (const { message } of dropped) this.#safely(() => this.#options.dropped?.(message, 'cap'));
  }

  #sendNext(): void {
    const [head] = this.#items;
    const isBlocked =
      !this.#isLoaded || !this.#isRunning || this.#isBroken || this.#isBusy || this.#cancelWait !== null;
    if (isBlocked || head === undefined) {
      this.#resolveSettled();
      return;
    }
    this.#isBusy = true;
    void this.#transmit(head);
  }

  async #transmit(head: QueuedItem): Promise<void> {
    // on disk before it is sent: a process that starts again must have the message
    await this.#journal.written();
    const connection = this.#connection;
    const outcome = this.#isRunning && !this.#isBroken ? await this.#attempt(head) : null;
    this.#isBusy = false;
    if (outcome !== null) this.#conclude(head, outcome, connection);
    this.#sendNext();
  }

  /** @returns `unsendable`: `fill` has returned null */
  async #attempt(head: QueuedItem): Promise<CallOutcome | 'unsendable'> {
    const { fill, send, newMessageId } = this.#options;
    try {
      if (newMessageId !== undefined && this.#headId?.item !== head) this.#headId = { item: head, id: newMessageId() };
      const payload = fill === undefined ? head.message.payload : fill(head.message);
      if (payload === null) return 'unsendable';
      return await send(head.message.action, payload, this.#headId?.id);
    } catch (error) {
      return { kind: 'unsent', why: errorText(error) };
    }
  }

  #conclude(head: QueuedItem, outcome: CallOutcome | 'unsendable', connection: number): void {
    const { isOpen, answered } = this.#options;
    if (outcome === 'unsendable') {
      this.#removeHead(head);
      this.#journal.removed([head]);
    } else if (outcome.kind === 'result') {
      this.#removeHead(head);
      // the effect of the answer is stored first: after a crash a repeated message is better than a lost answer
      this.#safely(() => answered?.(head.message, outcome.payload));
      this.#journal.removed([head]);
    } else if (outcome.kind === 'error' || outcome.kind === 'timeout') {
      this.#fail(head, outcome.kind === 'error' ? `the central system answered ${outcome.code}` : 'no answer');
    } else if (connection === this.#connection) {
      if (outcome.kind === 'unsent' && this.#isRunning && isOpen()) this.#fail(head, outcome.why);
      else this.#isBroken = true;
    }
  }

  #fail(head: QueuedItem, why: string): void {
    const { policy, later, log, dropped } = this.#options;
    const { attempts, intervalS } = policy();
    head.failures += 1;
    if (head.failures < attempts) {
      this.#journal.failed(head);
      this.#cancelWait = later(intervalS * 1000 * head.failures, () => {
        this.#cancelWait = null;
        this.#sendNext();
      });
      return;
    }
    this.#removeHead(head);
    this.#journal.removed([head]);
    const { action } = head.message;
    log.warning(
      `${action} was given up after ${head.failures} ${head.failures === 1 ? 'attempt' : 'attempts'}: ${why}`,
    );
    this.#safely(() => dropped?.(head.message, 'attempts'));
  }

  #removeHead(head: QueuedItem): void {
    // the head stays first while it is being sent
    this.#items.shift();
    this.#discount(head);
    this.#headId = null;
  }

  /** A listener that throws must not stop the queue. */
  #safely(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#options.log.error(`a listener of transaction messages failed: ${errorText(error)}`);
    }
  }
}

export function createTransactionQueue(options: TransactionQueueOptions): LoadableQueue {
  return new PersistentQueue(options);
}
