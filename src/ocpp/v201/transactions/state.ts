/** State of the transactions of a 2.x station. */
import type { Signal } from '../../station/stack.ts';
import type { Insistence } from '../../transactions/ledger.ts';
import type { IdToken } from '../messages.ts';
import type { AnsweredEvent, Costs, MeterValues, StationParts, Transaction, Transactions } from '../parts.ts';
import type { Limits } from './limits.ts';
import type { TxPoint } from './points.ts';
import type { Why } from './reasons.ts';
import type { TransactionLedger } from './record.ts';

export interface TransactionsDeps {
  /** samples of Started and Ended */
  readonly sample: MeterValues['sample'];
  /** members that tariffs add to the events of 2.1; absent: nothing */
  readonly costs?: Costs;
}

/** A token that an EVSE gets, as `Transactions.authorized` tells it. */
type Grant = Parameters<Transactions['authorized']>[1];

/** The token that an EVSE is authorised with, and what came with it. */
interface Bearer {
  readonly idToken: IdToken;
  readonly groupIdToken: IdToken | null;
  readonly remoteStartId: number | null;
  readonly reservationId: number | null;
}

/** A stop that the station has asked the device for. */
export interface Asked extends Why {
  /** presented for it */
  readonly idToken?: IdToken;
}

export interface TransactionsState {
  readonly parts: StationParts;
  readonly deps: TransactionsDeps;
  readonly ledger: TransactionLedger;
  readonly insistence: Insistence;
  readonly limits: Limits;
  readonly started: Signal<Transaction>;
  readonly ended: Signal<Transaction>;
  readonly answered: Signal<AnsweredEvent>;
  /** the last token of each EVSE, for the authorisation that the device tells */
  readonly grants: Map<number, Grant>;
  /** by EVSE, while it is authorised */
  readonly bearers: Map<number, Bearer>;
  /** by EVSE, until the device tells the stop */
  readonly asked: Map<number, Asked>;
  /** the points that held at each EVSE after the last transition */
  readonly seen: Map<number, ReadonlySet<TxPoint>>;
  /** since when the device is without power, on the clock of the central system; null: it has power */
  downSinceMs: number | null;
}

export const startPoints = ({ parts }: TransactionsState): readonly string[] =>
  parts.variables.list('TxCtrlr', 'TxStartPoint');
export const stopPoints = ({ parts }: TransactionsState): readonly string[] =>
  parts.variables.list('TxCtrlr', 'TxStopPoint');
