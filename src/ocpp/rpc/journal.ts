/**
 * A queue of transaction messages on a slot of the store, as a journal: each change is one entry at the end, so that a
 * long time without a connection costs the same for each message. Entries that no longer count (messages that have
 * left, earlier notes of failures) are dropped when they make up about a third of a long slot, or the queue is empty.
 */
import { z } from 'zod';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import { formOf, readEach, record, serial } from '../../core/slot-values.ts';
import type { JsonValue, Slot } from '../../core/store.ts';
import type { QueuedMessage } from './model.ts';

/** A message in the queue. */
export interface QueuedItem {
  /** ascending, unique within the slot */
  readonly number: number;
  readonly message: QueuedMessage;
  /** failed attempts: refused, not answered, or not sendable */
  failures: number;
}

export interface Journal {
  /** Messages of an earlier process, in order; none if the store cannot be read, which a warning in the log says. */
  load(): Promise<QueuedItem[]>;
  pushed(item: QueuedItem): void;
  failed(item: QueuedItem): void;
  removed(items: readonly QueuedItem[]): void;
  /** Resolves when the write of every change so far has succeeded or failed, or is put off after a failure. */
  written(): Promise<void>;
}

/** Number of entries beyond 1.5 for each queued message that a slot may have before it is rewritten. */
const spareEntries = 64;
/** Maximum number of changes after a failure of the store before it is tried again. */
const maxMissed = 100;

type Entry = { readonly [name: string]: JsonValue };

const entryOf = ({ number, message, failures }: QueuedItem): Entry => ({
  number,
  message: { ...message },
  ...(failures > 0 && { failures }),
});

type SavedEntry =
  | { readonly left: readonly number[] }
  | { readonly failed: number; readonly failures: number }
  | { readonly number: number; readonly message: QueuedMessage; readonly failures?: number };

const message = record<QueuedMessage>({
  action: z.string(),
  payload: z.looseObject({}),
  transaction: z.string(),
  role: z.enum(['start', 'middle', 'end']),
});

const entryForm = formOf<SavedEntry>(
  z.union([
    z.object({ left: z.array(serial) }),
    z.object({ failed: serial, failures: serial }),
    z.object({ number: serial, message, failures: serial.optional() }),
  ]),
);

function replay(entries: readonly SavedEntry[]): QueuedItem[] {
  const items = new Map<number, QueuedItem>();
  for (const entry of entries) {
    if ('left' in entry) for (const number of entry.left) items.delete(number);
    else if ('failed' in entry) {
      const item = items.get(entry.failed);
      if (item !== undefined) item.failures = entry.failures;
    } else items.set(entry.number, { number: entry.number, message: entry.message, failures: entry.failures ?? 0 });
  }
  return [...items.values()];
}

class SlotJournal implements Journal {
  readonly #slot: Slot;
  readonly #items: () => readonly QueuedItem[];
  readonly #log: Logger;
  /** the last write; null: none is under way */
  #writing: Promise<void> | null = null;
  /** number of entries in the slot */
  #entries = 0;
  /** number of changes that the slot lacks because of a failure */
  #missed = 0;
  #hasWarned = false;
  /** false: the slot could not be read, so it must not be replaced either */
  #isReadable = true;

  constructor(slot: Slot, items: () => readonly QueuedItem[], log: Logger) {
    this.#slot = slot;
    this.#items = items;
    this.#log = log;
  }

  async load(): Promise<QueuedItem[]> {
    try {
      const entries = await readEach(this.#slot, entryForm, this.#log);
      this.#entries = entries.length;
      return replay(entries);
    } catch (error) {
      this.#isReadable = false;
      this.#log.warning(
        `transaction messages of an earlier run cannot be read: ${errorText(error)}; they are not sent, and a restart ` +
          'would lose those of this run',
      );
      return [];
    }
  }

  pushed(item: QueuedItem): void {
    this.#write(entryOf(item));
  }

  failed({ number, failures }: QueuedItem): void {
    this.#write({ failed: number, failures });
  }

  removed(items: readonly QueuedItem[]): void {
    if (items.length > 0) this.#write({ left: items.map(({ number }) => number) });
  }

  written(): Promise<void> {
    return this.#writing ?? Promise.resolve();
  }

  /** Writes within the call, so that changes of queue and transactions reach the disk in their order. */
  #write(entry: Entry): void {
    if (!this.#isReadable) return;
    const items = this.#items();
    // after a failure the whole queue is written, but not at each change: the store may fail again
    const isBehind = this.#missed > 0;
    if (isBehind && this.#missed < Math.min(items.length / 4, maxMissed)) {
      this.#missed += 1;
      return;
    }
    const isFull = this.#entries + 1 > items.length * 1.5 + spareEntries;
    if (isBehind || isFull || items.length === 0) this.#rewrite(items);
    else this.#follow(this.#slot.append(entry), 1, this.#entries + 1);
  }

  #rewrite(items: readonly QueuedItem[]): void {
    const missed = this.#missed + 1;
    this.#missed = 0;
    this.#follow(this.#slot.replace(items.map(entryOf)), missed, items.length);
  }

  /** @param missed number of changes that the slot lacks if the write fails @param entries of the slot after the write */
  #follow(write: Promise<void>, missed: number, entries: number): void {
    this.#entries = entries;
    const ended = write.then(
      () => {
        if (this.#missed === 0) this.#hasWarned = false;
      },
      (error: unknown) => {
        this.#missed += missed;
        this.#warn(error);
      },
    );
    const writing = ended.then(() => {
      if (this.#writing === writing) this.#writing = null;
    });
    this.#writing = writing;
  }

  #warn(error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#log.warning(
      `transaction messages cannot be stored: ${errorText(error)}; a restart would lose those that are queued`,
    );
  }
}

/** @param items reads the items of the queue, in order */
export function createJournal(slot: Slot, items: () => readonly QueuedItem[], log: Logger): Journal {
  return new SlotJournal(slot, items, log);
}
