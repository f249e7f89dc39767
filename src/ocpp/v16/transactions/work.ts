/** What the functions of transactions work on. */
import type { EvseSession } from '../../../contract/kinds/evse.ts';
import type { MeterDistortion } from '../../rpc/disturber.ts';
import type { QueuedMessage, QueuedRole, TransactionQueueEvents } from '../../rpc/model.ts';
import type { Tokens } from '../auth/tokens.ts';
import { distorted } from '../../meter-values/energies.ts';
import type { MeterValues, Requests, StationParts, Transaction } from '../parts.ts';
import { stamp } from '../parts.ts';
import type { Signal } from '../../station/signal.ts';
import type { InvalidTokens } from './invalid-token.ts';
import type { Ledger, TransactionRecord } from './ledger.ts';
import type { StopReason } from './reasons.ts';

export interface TransactionsDeps {
  readonly tokens: Pick<Tokens, 'learn' | 'parentOf'>;
  readonly reservations: {
    /** A session has begun. @returns id of the reservation that it has used up; null: none */
    use(connectorId: number, session: EvseSession): number | null;
  };
  /** asked when a transaction ends */
  readonly transactionData: MeterValues['transactionData'];
  /** what a fault makes of the readings of a message; asked once for each. Absent: there are no faults */
  readonly distortion?: (connectorId: number, action: MeteredAction) => MeterDistortion | null;
}

/** Messages that show a register of the meter. */
export type MeteredAction = 'StartTransaction' | 'StopTransaction';

/** A transaction that has begun, and what a fault has made of the readings of its StartTransaction. */
export type Started = readonly [transaction: Transaction, distortion: MeterDistortion | null];

/** What the queue calls. A message that is given up has no part here: the queue tells it in the log. */
export type QueueEvents = Required<Pick<TransactionQueueEvents, 'fill' | 'answered'>>;

/** How a transaction ends. */
export interface Ending {
  readonly atMs: number;
  readonly meterStopWh: number;
  readonly reason: StopReason;
  /** the token that was presented to stop it */
  readonly idTag?: string | undefined;
  readonly transactionData?: Requests['StopTransaction']['transactionData'];
}

export interface Work {
  readonly parts: StationParts;
  readonly deps: TransactionsDeps;
  readonly ledger: Ledger;
  readonly invalid: InvalidTokens;
  readonly started: Signal<Started>;
  readonly identified: Signal<Transaction>;
  readonly ended: Signal<Transaction>;
  /** token that stops the session at a connector, until its end is told */
  readonly stopTags: Map<number, string>;
}

function push({ parts }: Work, key: string, role: QueuedRole, action: string, payload: object): void {
  parts.queue.push({ action, payload: payload as QueuedMessage['payload'], transaction: key, role });
}

export function distortionOf({ deps }: Work, connectorId: number, action: MeteredAction): MeterDistortion | null {
  return deps.distortion?.(connectorId, action) ?? null;
}

export function pushStart(
  work: Work,
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
  push(work, record.key, 'start', 'StartTransaction', payload);
}

export function pushValues(work: Work, key: string, values: Omit<Requests['MeterValues'], 'transactionId'>): void {
  push(work, key, 'middle', 'MeterValues', values);
}

export function pushStop(
  work: Work,
  { key }: TransactionRecord,
  ending: Ending,
  distortion: MeterDistortion | null,
): void {
  const { atMs, meterStopWh, reason, idTag, transactionData = [] } = ending;
  const payload: Omit<Requests['StopTransaction'], 'transactionId'> = {
    meterStop: distorted(meterStopWh, distortion),
    timestamp: stamp(atMs),
    reason,
    ...(idTag === undefined ? {} : { idTag }),
    ...(transactionData.length === 0 ? {} : { transactionData }),
  };
  push(work, key, 'end', 'StopTransaction', payload);
}
