/** What the functions of transactions work on. */
import type { EvseSession } from '../../../contract/kinds/evse.ts';
import type { QueuedMessage, QueuedRole } from '../../rpc/model.ts';
import type { Tokens } from '../auth/tokens.ts';
import type { MeterValues, Requests, StationParts, Transaction } from '../parts.ts';
import { stamp } from '../parts.ts';
import type { Signal } from '../signal.ts';
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
  /** what the meter shows for its true energy, Wh, where a fault changes readings; asked once for each message */
  readonly shown?: (connectorId: number, action: 'StartTransaction' | 'StopTransaction', energyWh: number) => number;
}

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
  readonly started: Signal<Transaction>;
  readonly identified: Signal<Transaction>;
  readonly ended: Signal<Transaction>;
  /** token that stops the session at a connector, until its end is told */
  readonly stopTags: Map<number, string>;
}

function push({ parts }: Work, key: string, role: QueuedRole, action: string, payload: object): void {
  parts.queue.push({ action, payload: payload as QueuedMessage['payload'], transaction: key, role });
}

function shownWh(
  { deps }: Work,
  connectorId: number,
  action: 'StartTransaction' | 'StopTransaction',
  energyWh: number,
): number {
  return deps.shown === undefined ? energyWh : Math.round(deps.shown(connectorId, action, energyWh));
}

export function pushStart(work: Work, record: TransactionRecord, reservationId: number | null): void {
  const payload: Requests['StartTransaction'] = {
    connectorId: record.connectorId,
    idTag: record.idTag,
    meterStart: shownWh(work, record.connectorId, 'StartTransaction', record.meterStartWh),
    timestamp: stamp(record.startedMs),
    ...(reservationId === null ? {} : { reservationId }),
  };
  push(work, record.key, 'start', 'StartTransaction', payload);
}

export function pushValues(work: Work, key: string, values: Omit<Requests['MeterValues'], 'transactionId'>): void {
  push(work, key, 'middle', 'MeterValues', values);
}

export function pushStop(work: Work, { key, connectorId }: TransactionRecord, ending: Ending): void {
  const { atMs, meterStopWh, reason, idTag, transactionData = [] } = ending;
  const payload: Omit<Requests['StopTransaction'], 'transactionId'> = {
    meterStop: shownWh(work, connectorId, 'StopTransaction', meterStopWh),
    timestamp: stamp(atMs),
    reason,
    ...(idTag === undefined ? {} : { idTag }),
    ...(transactionData.length === 0 ? {} : { transactionData }),
  };
  push(work, key, 'end', 'StopTransaction', payload);
}
