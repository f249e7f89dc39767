/** Transactions of a station, running and ended, kept over a restart. */
import type { OcppTransactionEntry } from '../../../contract/ocpp.ts';
import type { Logger } from '../../../core/log/log.ts';
import type { JsonValue, Slot } from '../../../core/store.ts';
import type { Transaction } from '../parts.ts';
import { createSaver } from '../saver.ts';

export interface TransactionRecord extends Transaction {
  readonly endedMs: number | null;
  readonly meterStopWh: number | null;
  readonly stopReason: string | null;
  /** last known instant and meter: what the stop says when the station has lost power */
  readonly lastMs: number;
  readonly lastWh: number;
  /** StartTransaction was given up: there is no id and will be none */
  readonly lost: boolean;
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

/** @param isQueued messages of it wait, so its record is needed */
export function createLedger(slot: Slot, isQueued: (key: string) => boolean, log: Pick<Logger, 'error'>): Ledger {
  const records = new Map<string, TransactionRecord>();
  /** transactions ever: the next key */
  let count = 0;
  const saver = createSaver(slot, () => [{ count }, ...records.values()] as unknown as readonly JsonValue[], log);
  const running = () => [...records.values()].filter(({ endedMs }) => endedMs === null);
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
      count += 1;
      const record: TransactionRecord = {
        ...made,
        key: String(count),
        endedMs: null,
        meterStopWh: null,
        stopReason: null,
        lastMs: made.startedMs,
        lastWh: made.meterStartWh,
        lost: false,
      };
      records.set(record.key, record);
      forgetOld();
      saver.save();
      return record;
    },
    change(key, patch) {
      const record = records.get(key);
      if (record === undefined) return null;
      const changed = { ...record, ...patch };
      records.set(key, changed);
      saver.save();
      return changed;
    },
    async load() {
      const [head, ...stored] = (await slot.read()) as unknown as Stored | readonly [];
      if (head === undefined) return;
      count = head.count;
      for (const record of stored) records.set(record.key, record);
    },
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
