/** What a 1.6 station keeps of its transactions. */
import type { OcppTransactionEntry } from '../../../contract/ocpp.ts';
import type { Ledger as AnyLedger } from '../../transactions/ledger.ts';
import type { Transaction } from '../parts.ts';

export interface TransactionRecord extends Transaction {
  readonly endedMs: number | null;
  readonly meterStopWh: number | null;
  readonly stopReason: string | null;
  /** last known instant and meter: what the stop says when the station has lost power */
  readonly lastMs: number;
  readonly lastWh: number;
}

export type Ledger = AnyLedger<TransactionRecord>;

/** Adds a transaction that begins. */
export function addTransaction(ledger: Ledger, made: Omit<Transaction, 'key'>): TransactionRecord {
  return ledger.add((count) => ({
    ...made,
    key: String(count),
    endedMs: null,
    meterStopWh: null,
    stopReason: null,
    lastMs: made.startedMs,
    lastWh: made.meterStartWh,
  }));
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
