/** Transactions of a station, running and ended, kept over a restart. */
import type { Logger } from '../../core/log/log.ts';
import type { JsonValue, Slot } from '../../core/store.ts';
import { createSaver } from '../station/stack.ts';

/** Members of a transaction in every version. */
interface LedgerRecord {
  /** chosen by the station, unique for ever: links its messages in the queue */
  readonly key: string;
  readonly connectorId: number;
  /** null: it runs */
  readonly endedMs: number | null;
}

export interface Ledger<Entry extends LedgerRecord> {
  /** newest last */
  readonly records: readonly Entry[];
  readonly running: readonly Entry[];
  get(key: string): Entry | null;
  /** The running transaction at a connector. */
  at(connectorId: number): Entry | null;
  /** @param make creates the record from the number of all transactions so far, with this one */
  add(make: (count: number) => Entry): Entry;
  /** @returns the record after the change; null: no such record */
  change(key: string, patch: Partial<Entry>): Entry | null;
  load(): Promise<void>;
}

/** Maximum of ended transactions kept for the view. */
const maxEnded = 100;

/** Separate slots: each meter value changes a running transaction, and ended ones are not written with it. */
interface LedgerSlots {
  readonly running: Slot;
  readonly ended: Slot;
}

interface Book<Entry> {
  readonly records: Map<string, Entry>;
  /** number of all transactions so far */
  count: number;
}

const isRunning = ({ endedMs }: LedgerRecord) => endedMs === null;

/** Stores the book. */
function createRecordStore<Entry extends LedgerRecord>(
  book: Book<Entry>,
  slots: LedgerSlots,
  log: Pick<Logger, 'error'>,
) {
  const { records } = book;
  const recordsOf = (running: boolean) => [...records.values()].filter((record) => isRunning(record) === running);
  const values = (list: readonly unknown[]) => list as readonly JsonValue[];
  const running = createSaver(slots.running, () => values([{ count: book.count }, ...recordsOf(true)]), log);
  const ended = createSaver(slots.ended, () => values(recordsOf(false)), log);
  return {
    /** Stores a change. @param before absent: the transaction has just begun */
    changed(after: Entry, before?: Entry): void {
      // the ended record is stored before the running one is removed; `load` prefers the ended one
      if (!isRunning(after)) ended.save();
      if (before === undefined || isRunning(before)) running.save();
    },
    async load(): Promise<void> {
      const [head, ...open] = (await slots.running.read()) as unknown as readonly [{ count: number }?, ...Entry[]];
      const past = (await slots.ended.read()) as unknown as readonly Entry[];
      book.count = head?.count ?? 0;
      for (const record of [...past, ...open]) if (!records.has(record.key)) records.set(record.key, record);
    },
  };
}

/** @param isQueued true if messages of a transaction wait, so that its record is needed */
export function createLedger<Entry extends LedgerRecord>(
  slots: LedgerSlots,
  isQueued: (key: string) => boolean,
  log: Pick<Logger, 'error'>,
): Ledger<Entry> {
  const book: Book<Entry> = { records: new Map(), count: 0 };
  const { records } = book;
  const recordStore = createRecordStore(book, slots, log);
  const running = () => [...records.values()].filter(isRunning);
  function forgetOld(): void {
    let excess = records.size - running().length - maxEnded;
    for (const { key, endedMs } of records.values()) {
      if (excess <= 0) return;
      if (endedMs === null || isQueued(key)) continue;
      records.delete(key);
      excess -= 1;
    }
  }
  return {
    get records() {
      return [...records.values()];
    },
    get running() {
      return running();
    },
    get: (key) => records.get(key) ?? null,
    at: (connectorId) => running().find((record) => record.connectorId === connectorId) ?? null,
    add(make) {
      book.count += 1;
      const record = make(book.count);
      records.set(record.key, record);
      forgetOld();
      recordStore.changed(record);
      return record;
    },
    change(key, patch) {
      const record = records.get(key);
      if (record === undefined) return null;
      const changed = { ...record, ...patch };
      records.set(key, changed);
      recordStore.changed(changed, record);
      return changed;
    },
    load: () => recordStore.load(),
  };
}
