/** A transaction as a 2.x station keeps it, over a restart too. */
import type { OcppTransactionEntry } from '../../../contract/ocpp.ts';
import type { Ledger } from '../../transactions/ledger.ts';
import type { ChargingStateEnum, ReasonEnum, TransactionLimit } from '../messages.ts';
import type { Transaction } from '../parts.ts';

// Limits of a transaction (2.1 E16).

/** Members of `transactionLimit` that a station keeps to. */
export const limitNames = [
  'maxCost',
  'maxEnergy',
  'maxTime',
  'maxSoC',
] as const satisfies readonly (keyof TransactionLimit)[];

/** Values that the events of a transaction have sent: each is sent once, and again when it has changed. */
export interface Told {
  readonly connector: boolean;
  readonly idToken: boolean;
  readonly remoteStartId: boolean;
  readonly reservationId: boolean;
  readonly chargingState: ChargingStateEnum;
  readonly phases: number | null;
  readonly cableA: number | null;
}

export interface TransactionRecord extends Transaction {
  /** the transactionId */
  readonly key: string;
  /** the EVSE */
  readonly connectorId: number;
  readonly endedMs: number | null;
  readonly meterStopWh: number | null;
  readonly stopReason: string | null;
  /** last known instant and meter: what the end says when the station has lost power */
  readonly lastMs: number;
  readonly lastWh: number;
  /** the last session of the device in it, also one that has ended; null: none yet */
  readonly lastSessionId: string | null;
  /** Wh of the import register at the start, as the device counts it */
  readonly startWh: number;
  readonly nextSeqNo: number;
  readonly told: Told;
  readonly chargingState: ChargingStateEnum;
  /** time in Charging up to `chargingSinceMs` */
  readonly chargedMs: number;
  /** null: it does not charge now */
  readonly chargingSinceMs: number | null;
  /** why its authorisation ended, before its stop point was reached; null: it has not ended */
  readonly why: ReasonEnum | null;
  /** null: none */
  readonly limit: TransactionLimit | null;
  /** reading of the import register up to which a refused token may charge; null: it is not refused */
  readonly refusedUntilWh: number | null;
}

export type TransactionLedger = Ledger<TransactionRecord>;

export const toldNothing: Told = {
  connector: false,
  idToken: false,
  remoteStartId: false,
  reservationId: false,
  chargingState: 'Idle',
  phases: null,
  cableA: null,
};

/** Time in which energy has flowed, up to an instant; ms. */
export function chargedMsAt({ chargedMs, chargingSinceMs }: TransactionRecord, atMs: number): number {
  return chargedMs + (chargingSinceMs === null ? 0 : Math.max(0, atMs - chargingSinceMs));
}

export function transactionEntry(record: TransactionRecord, queued: number): OcppTransactionEntry {
  return {
    transactionId: record.transactionId,
    sessionId: record.lastSessionId ?? '',
    connectorId: record.evseId,
    idToken: record.idToken?.idToken ?? '',
    startedMs: record.startedMs,
    endedMs: record.endedMs,
    meterStartWh: record.meterStartWh,
    meterStopWh: record.meterStopWh,
    stopReason: record.stopReason,
    queued,
  };
}
