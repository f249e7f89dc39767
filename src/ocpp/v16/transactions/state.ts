/** State of the transactions of a 1.6 station. */
import { z } from 'zod';
import type { EvseSession } from '../../../contract/kinds/evse.ts';
import type { OcppTransactionEntry } from '../../../contract/ocpp.ts';
import { amount, instant, recordOf } from '../../../core/slot-values.ts';
import { distorted } from '../../meter-values.ts';
import type { MeterDistortion, QueuedMessage, QueuedRole, TransactionQueueEvents } from '../../rpc/model.ts';
import type { Signal } from '../../station/stack.ts';
import type { Insistence } from '../../station/insistence.ts';
import { ledgerMembers } from '../../transactions/ledger.ts';
import type { Ledger as AnyLedger, LedgerRecord } from '../../transactions/ledger.ts';
import type { Tokens } from '../authorization/tokens.ts';
import { stamp } from '../parts.ts';
import type { MeterValues, Requests, StationParts, Transaction } from '../parts.ts';

// A transaction as a 1.6 station stores it.

export interface TransactionRecord extends Transaction, LedgerRecord {
  /** links its messages in the queue */
  readonly key: string;
  readonly connectorId: number;
  readonly meterStopWh: number | null;
  readonly stopReason: string | null;
}

/** The form of a stored transaction. */
export const transactionForm = recordOf<TransactionRecord>({
  ...ledgerMembers,
  transactionId: z.int().nullable(),
  idTag: z.string(),
  parentIdTag: z.string().nullable(),
  sessionId: z.string(),
  startedMs: instant,
  meterStartWh: amount,
  meterStopWh: amount.nullable(),
  stopReason: z.string().nullable(),
});

type Ledger = AnyLedger<TransactionRecord>;

/** Adds a transaction that begins. @param announce queues its StartTransaction */
export function addTransaction(
  ledger: Ledger,
  transaction: Omit<Transaction, 'key'>,
  announce: (record: TransactionRecord) => void,
): TransactionRecord {
  const make = (count: number): TransactionRecord => ({
    ...transaction,
    key: String(count),
    endedMs: null,
    meterStopWh: null,
    stopReason: null,
    lastMs: transaction.startedMs,
    lastWh: transaction.meterStartWh,
  });
  return ledger.add(make, announce);
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

// Stop reasons of OCPP 1.6.

type StopReason = NonNullable<Requests['StopTransaction']['reason']>;

const stopReasons: ReadonlySet<string> = new Set<StopReason>([
  'DeAuthorized',
  'EmergencyStop',
  'EVDisconnected',
  'HardReset',
  'Local',
  'Other',
  'PowerLoss',
  'Reboot',
  'Remote',
  'SoftReset',
  'UnlockCommand',
]);

/** Reasons of 2.x with an equivalent in 1.6; any other is Other. */
const equivalents: Readonly<Record<string, StopReason>> = {
  ImmediateReset: 'HardReset',
  MasterPass: 'Local',
};

function isStopReason(reason: string): reason is StopReason {
  return stopReasons.has(reason);
}

/**
 * StopTransaction.reason of a session.
 * @param reason stop reason of the session; null: unknown, so the default of 1.6 applies
 */
export function stopReasonOf(reason: string | null): StopReason {
  if (reason === null) return 'Local';
  return isStopReason(reason) ? reason : (equivalents[reason] ?? 'Other');
}

// A running transaction whose token the central system has not accepted ends at once, or its energy is limited to
// MaxEnergyOnInvalidId from then on. OCPP 1.6 4.8 and 9.1.

interface InvalidTokens {
  /** Ends or limits a transaction whose token the central system has not accepted. */
  refused(record: TransactionRecord): void;
  ended(key: string): void;
}

/** @param stop ends the session at a connector. @throws SimError */
export function createInvalidTokens(
  { device, keys }: Pick<StationParts, 'device' | 'keys'>,
  insistence: Insistence,
  stop: (connectorId: number, reason: string) => void,
): InvalidTokens {
  const logText = 'the energy for an invalid token flows on';

  function refused({ key, connectorId }: TransactionRecord): void {
    if (keys.boolean('StopTransactionOnInvalidId')) {
      insistence.insist(key, logText, () => {
        stop(connectorId, 'DeAuthorized');
      });
      return;
    }
    const untilWh = device.connector(connectorId).energyWh + Math.max(0, keys.integer('MaxEnergyOnInvalidId'));
    insistence.insist(key, logText, () => {
      const energyWh = Math.max(0, untilWh - device.connector(connectorId).energyWh);
      device.command({ kind: 'evse.energy_limit', connectorId, energyWh });
    });
  }

  return {
    refused,
    ended(key) {
      insistence.end(key);
    },
  };
}

export interface TransactionsDeps {
  readonly tokens: Pick<Tokens, 'learn' | 'parentOf'>;
  readonly reservations: {
    /** Uses the reservation for a session that has begun. @returns its id; null: none */
    use(connectorId: number, session: EvseSession): number | null;
  };
  /** called when a transaction ends */
  readonly transactionData: MeterValues['transactionData'];
  /** Distortion of the readings of a message by a fault, called once for each message; absent: no faults. */
  readonly distortion?: (connectorId: number, action: MeteredAction) => MeterDistortion | null;
}

/** Messages with a reading of the meter. */
type MeteredAction = 'StartTransaction' | 'StopTransaction';

/** A transaction that has begun, and the distortion of the readings of its StartTransaction. */
type Started = readonly [transaction: Transaction, distortion: MeterDistortion | null];

/** Callbacks of the queue. The queue itself logs a message that is given up. */
export type QueueEvents = Required<Pick<TransactionQueueEvents, 'fill' | 'answered'>>;

/** End of a transaction. */
export interface Ending {
  readonly atMs: number;
  readonly meterStopWh: number;
  readonly reason: StopReason;
  /** token that was presented to stop the transaction; absent: none */
  readonly idTag?: string | undefined;
  readonly transactionData?: Requests['StopTransaction']['transactionData'];
}

export interface TransactionsState {
  readonly parts: StationParts;
  readonly deps: TransactionsDeps;
  readonly ledger: Ledger;
  readonly insistence: Insistence;
  readonly invalid: InvalidTokens;
  readonly started: Signal<Started>;
  readonly identified: Signal<Transaction>;
  readonly ended: Signal<Transaction>;
  /** token that stops the session at a connector, until its end is reported */
  readonly stopTags: Map<number, string>;
}

function push({ parts }: TransactionsState, key: string, role: QueuedRole, action: string, payload: object): void {
  parts.queue.push({ action, payload: payload as QueuedMessage['payload'], transaction: key, role });
}

export function distortionOf(
  { deps }: TransactionsState,
  connectorId: number,
  action: MeteredAction,
): MeterDistortion | null {
  return deps.distortion?.(connectorId, action) ?? null;
}

export function pushStart(
  state: TransactionsState,
  record: TransactionRecord,
  reservationId: number | null,
  distortion: MeterDistortion | null,
): void {
  const payload: Requests['StartTransaction'] = {
    connectorId: record.connectorId,
    idTag: record.idTag,
    meterStart: distorted(record.meterStartWh, distortion),
    timestamp: stamp(record.startedMs),
    ...(reservationId === null ? {} : { reservationId }),
  };
  push(state, record.key, 'start', 'StartTransaction', payload);
}

export function pushValues(
  state: TransactionsState,
  key: string,
  values: Omit<Requests['MeterValues'], 'transactionId'>,
): void {
  push(state, key, 'middle', 'MeterValues', values);
}

export function pushStop(
  state: TransactionsState,
  { key, startedMs }: TransactionRecord,
  ending: Ending,
  distortion: MeterDistortion | null,
): void {
  const { atMs, meterStopWh, reason, idTag, transactionData = [] } = ending;
  const payload: Omit<Requests['StopTransaction'], 'transactionId'> = {
    meterStop: distorted(meterStopWh, distortion),
    // the central system may have set the clock back since the start
    timestamp: stamp(Math.max(startedMs, atMs)),
    reason,
    ...(idTag === undefined ? {} : { idTag }),
    ...(transactionData.length === 0 ? {} : { transactionData }),
  };
  push(state, key, 'end', 'StopTransaction', payload);
}
