/**
 * Interfaces between the parts of a 1.6 station. A part is a function of the parts that it needs; `assembly.ts` puts
 * them together. Handlers answer calls of the central system that fit their schema.
 */
import type { EvseConnectorTransition } from '../../contract/kinds/evse-transitions.ts';
import type { OcppAuthorization, OcppBootStatus } from '../../contract/ocpp.ts';
import type { MeterDistortion, TransactionQueue } from '../rpc/model.ts';
import type { OcppRule } from '../../finding-rules/ocpp.ts';
import type {
  CallsOf,
  Find,
  HandlerOf,
  PartOf,
  RegistrationOf,
  SecurityEvents,
  StackOptions,
} from '../station/stack.ts';
import type { Action, Replies, Requests } from './messages.ts';

export type { Connection } from '../station/connection.ts';
export { stamp } from '../station/stack.ts';
export type { Availability, SecurityEvents, StatusReports } from '../station/stack.ts';
export type { Action, Replies, Requests } from './messages.ts';

export type Handler<Name extends Action> = HandlerOf<Requests[Name], Replies[Name]>;
export type Handlers = { readonly [Name in Action]?: Handler<Name> };

export type Calls = CallsOf<Requests, Replies>;
export type Registration = RegistrationOf<Replies>;
export type Part = PartOf<Handlers>;

/** Keys of configuration; `keys/table.ts` has one row for each. */
export interface Keys {
  boolean(key: string): boolean;
  integer(key: string): number;
  text(key: string): string;
  /** Entries of a comma-separated list. */
  list(key: string): readonly string[];
  /** Sets a key for the station (SecurityProfile, HeartbeatInterval), read-only keys too. */
  set(key: string, value: string): void;
  /** Calls back after a change of this key; the returned function unsubscribes. */
  onChange(key: string, listener: (value: string) => void): () => void;
}

export interface Transaction {
  /** chosen by the station: links its messages in the queue */
  readonly key: string;
  /** assigned by the central system; null: not yet */
  readonly transactionId: number | null;
  readonly connectorId: number;
  readonly idTag: string;
  readonly parentIdTag: string | null;
  /** session of the device */
  readonly sessionId: string;
  readonly startedMs: number;
  readonly meterStartWh: number;
}

export interface Transactions {
  /** transactions that have not ended */
  readonly running: readonly Transaction[];
  at(connectorId: number): Transaction | null;
  /** A running transaction by the id of the central system. */
  byId(transactionId: number): Transaction | null;
  /** Ends the session at a connector with a reason of 1.6. @throws SimError COMMAND_CONFLICT */
  stop(connectorId: number, reason: string): void;
  /** Tries to end the sessions of all transactions. @throws the first refusal of the device */
  stopAll(reason: string): void;
  /**
   * Queues meter values of a transaction; their transaction id is filled in when they are sent.
   * @returns false: the transaction has ended
   */
  pushMeterValues(key: string, values: Omit<Requests['MeterValues'], 'transactionId'>): boolean;
  /** @param listener `distortion`: fault in the readings of StartTransaction */
  onStarted(listener: (transaction: Transaction, distortion: MeterDistortion | null) => void): () => void;
  /** Calls back after the central system has assigned the id. */
  onIdentified(listener: (transaction: Transaction) => void): () => void;
  onEnded(listener: (transaction: Transaction) => void): () => void;
}

export interface Authorization {
  /** Presents a token at a connector, as a person does. */
  present(connectorId: number, idTag: string): Promise<OcppAuthorization>;
}

export interface MeterValues {
  /** Sends a sample of a connector (0: the station) now. */
  trigger(connectorId: number, options?: { readonly triggered?: boolean }): void;
  /**
   * Samples for `transactionData` of a transaction at its end.
   * @param ended transition that ends the transaction, with the meter of `meterStop`; absent: the present meter
   * @param distortion fault in the readings of StopTransaction
   */
  readonly transactionData: (
    transaction: Transaction,
    ended?: EvseConnectorTransition,
    distortion?: MeterDistortion | null,
  ) => Requests['StopTransaction']['transactionData'];
}

/** Charging profiles that other parts install. */
export interface SmartCharging {
  /**
   * Installs the TxProfile of a remote start for the transaction that begins at the connector.
   * @returns false: it is not valid
   */
  install(connectorId: number, profile: NonNullable<Requests['RemoteStartTransaction']['chargingProfile']>): boolean;
  /** Call it if the transaction of an installed profile does not begin: token refused, or no vehicle in time. */
  forget(connectorId: number): void;
}

/** Common to all parts of a station. */
export interface StationParts
  extends Pick<
    StackOptions,
    | 'id'
    | 'device'
    | 'clock'
    | 'wall'
    | 'later'
    | 'random'
    | 'log'
    | 'store'
    | 'connection'
    | 'limits'
    | 'releases'
    | 'finding'
  > {
  readonly keys: Keys;
  readonly calls: Calls;
  readonly queue: TransactionQueue;
  readonly registration: Registration;
  readonly security: SecurityEvents;
}

// Checks of the calls of the central system that no other part makes, each with the clause of OCPP 1.6.

const remoteActions: readonly string[] = ['RemoteStartTransaction', 'RemoteStopTransaction'];

/** Finds a call that the registration status does not permit. */
export function checkRegistered(status: OcppBootStatus, action: string, find: Find): void {
  const broken = (text: string, rule: OcppRule | null) => {
    find('OCPP 1.6 4.2', `${action} ${text}`, action, rule);
  };
  if (status === 'rejected') broken('after BootNotification was answered with Rejected', 'call_while_rejected');
  if (!remoteActions.includes(action)) return;
  // an earlier connection may have brought the acceptance, or this station may have restarted since
  if (status === 'none') broken('before the answer to BootNotification', null);
  if (status === 'pending') broken('while the registration is Pending', 'remote_while_pending');
}
