/** Transactions of a station, running and ended, kept over a restart. */
import type { OcppTransactionEntry } from '../../../contract/ocpp.ts';
import type { Logger } from '../../../core/log/log.ts';
import type { JsonValue, Slot } from '../../../core/store.ts';
import type { Transaction } from '../parts.ts';
import { createSaver } from '../../station/saver.ts';

export interface TransactionRecord extends Transaction {
  readonly endedMs: number | null;
  readonly meterStopWh: number | null;
  readonly stopReason: string | null;
  /** last known instant and meter: what the stop says when the station has lost power */
  readonly lastMs: number;
  readonly lastWh: number;
}

export interface Ledger {
  /** newest last */
  readonly records: readonly TransactionRecord[];
  readonly running: readonly TransactionRecord[];
  get(key: string): TransactionRecord | null;
  /** running, at a connector */
  at(connectorId: number): TransactionRecord | null;
  add(made: Omit<Transaction, 'key'>): TransactionRecord;
  /** @returns the record after the change; null: there is none */
  change(key: string, patch: Partial<TransactionRecord>): TransactionRecord | null;
  load(): Promise<void>;
}

/** ended transactions that are kept for the view */
const keptEnded = 100;

type Stored = readonly [{ readonly count: number }, ...TransactionRecord[]];

/** of running and of ended transactions: each meter value changes a running one, and only it is written then */
export interface LedgerSlots {
  readonly running: Slot;
  readonly ended: Slot;
}

interface Book {
  readonly records: Map<string, TransactionRecord>;
  /** transactions ever: the next key */
  count: number;
}

const isRunning = ({ endedMs }: TransactionRecord) => endedMs === null;

/** Keeps the book in the store. */
function createKept(book: Book, slots: LedgerSlots, log: Pick<Logger, 'error'>) {
  const { records } = book;
  const which = (wanted: boolean) => [...records.values()].filter((record) => isRunning(record) === wanted);
  const values = (list: readonly unknown[]) => list as readonly JsonValue[];
  const running = createSaver(slots.running, () => values([{ count: book.count }, ...which(true)]), log);
  const ended = createSaver(slots.ended, () => values(which(false)), log);
  return {
    /** @param before absent: it has just begun */
    changed(after: TransactionRecord, before?: TransactionRecord): void {
      // the end is kept before the running one is forgotten: found twice, it has ended
      if (!isRunning(after)) ended.save();
      if (before === undefined || isRunning(before)) running.save();
    },
    async load(): Promise<void> {
      const [head, ...open] = (await slots.running.read()) as unknown as Stored | readonly [];
      const past = (await slots.ended.read()) as unknown as readonly TransactionRecord[];
      book.count = head?.count ?? 0;
      for (const record of [...past, ...open]) if (!records.has(record.key)) records.set(record.key, record);
    },
  };
}

/** @param isQueued messages of it wait, so its record is needed */
export function createLedger(
  slots: LedgerSlots,
  isQueued: (key: string) => boolean,
  log: Pick<Logger, 'error'>,
): Ledger {
  const book: Book = { records: new Map(), count: 0 };
  const { records } = book;
  const kept = createKept(book, slots, log);
  const running = () => [...records.values()].filter(isRunning);
  function forgetOld(): void {
    let left = records.size - running().length - keptEnded;
    for (const { key, endedMs } of records.values()) {
      if (left <= 0) return;
      if (endedMs === null || isQueued(key)) continue;
      records.delete(key);
      left -= 1;
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
    add(made) {
      book.count += 1;
      const record: TransactionRecord = {
        ...made,
        key: String(book.count),
        endedMs: null,
        meterStopWh: null,
        stopReason: null,
        lastMs: made.startedMs,
        lastWh: made.meterStartWh,
      };
      records.set(record.key, record);
      forgetOld();
      kept.changed(record);
      return record;
    },
    change(key, patch) {
      const record = records.get(key);
      if (record === undefined) return null;
      const changed = { ...record, ...patch };
      records.set(key, changed);
      kept.changed(changed, record);
      return changed;
    },
    load: () => kept.load(),
  };
}

export function transactionEntry(record: TransactionRecord, queued: number): OcppTransactionEntry {
  return {
    transactionId: record.transactionId === null ? null : String(record.transactionId),
    sessionId: record.sessionId,
    connectorId: record.connectorId,
    idToken: record.idTag,
    startedMs: record.startedMs,
    endedMs: record.endedMs,
    meterStartWh: record.meterStartWh,
    meterStopWh: record.meterStopWh,
    stopReason: record.stopReason,
    queued,
  };
}
