/**
 * Interfaces between the parts of a 2.0.1 or 2.1 station. A part is a function of the parts that it needs; `assembly.ts`
 * puts them together. Handlers answer calls of the central system that fit their schema. EVSE k is connector k of the
 * device, with connector 1 in it; 0 is the station.
 */
import type { EvseConnectorTransition } from '../../contract/kinds/evse-transitions.ts';
import type { OcppAuthorization } from '../../contract/ocpp.ts';
import type { TransactionQueue } from '../rpc/model.ts';
import type {
  CallsOf,
  HandlerOf,
  PartOf,
  RegistrationOf,
  SecurityEvents,
  StackOptions,
  Version2,
} from '../station/stack.ts';
import type {
  Action,
  ChargingProfile,
  CostDetails,
  IdToken,
  IdTokenInfo,
  MeterValue,
  ReasonEnum,
  Replies,
  Requests,
  Sends,
  TriggerReasonEnum,
} from './messages.ts';
import type { Variables } from './variables/model.ts';

export type { Connection } from '../station/connection.ts';
export { stamp } from '../station/stack.ts';
export type { Availability, SecurityEvents, StatusReports } from '../station/stack.ts';
export type { Action, Replies, Requests, Sends } from './messages.ts';

export type Handler<Name extends Action> = HandlerOf<Requests[Name], Replies[Name]>;
export type Handlers = { readonly [Name in Action]?: Handler<Name> };

/** Messages to the central system. */
export interface Calls extends CallsOf<Requests, Replies> {
  /** SEND of 2.1: never answered; dropped while the station is not accepted. */
  stream<Name extends keyof Sends>(action: Name, payload: Sends[Name]): void;
}

export interface Registration extends RegistrationOf<Replies> {
  /** BootNotifications that were accepted: another number at `onAccepted` means that the station has booted */
  readonly boots: number;
  /** Calls back when an accepted station is not accepted any more, or the line ends. */
  onEnded(listener: () => void): () => void;
  /** null: the line is open; else since when it is not, monotonic ms */
  readonly offlineSinceMs: number | null;
}

export interface Transaction {
  /** made by the station, unique for ever */
  readonly transactionId: string;
  readonly evseId: number;
  /** null: not authorised yet */
  readonly idToken: IdToken | null;
  readonly groupIdToken: IdToken | null;
  readonly remoteStartId: number | null;
  readonly reservationId: number | null;
  /** session of the device; null: none yet or any more (a transaction may begin with the cable, and end with it) */
  readonly sessionId: string | null;
  readonly startedMs: number;
  /** Wh of the import register at the start */
  readonly meterStartWh: number;
}

/** Members of a TransactionEvent that not every one of its kind has. */
export interface EventExtras {
  readonly idToken?: IdToken;
  readonly remoteStartId?: number;
  readonly reservationId?: number;
  readonly meterValue?: readonly MeterValue[];
  /** 2.1 */
  readonly operationMode?: NonNullable<Requests['TransactionEvent']['transactionInfo']['operationMode']>;
  /** 2.1 */
  readonly costDetails?: CostDetails;
  /** 2.1, of `transactionInfo`: the tariff that prices the transaction, where it is new */
  readonly tariffId?: string;
}

/** An answer to a TransactionEvent, with what was sent. */
export interface AnsweredEvent {
  readonly transactionId: string;
  readonly evseId: number;
  readonly request: Requests['TransactionEvent'];
  readonly reply: Replies['TransactionEvent'];
}

export interface Transactions {
  /** running ones */
  readonly running: readonly Transaction[];
  at(evseId: number): Transaction | null;
  /** running */
  byId(transactionId: string): Transaction | null;
  /** Ends the transaction at an EVSE. @throws SimError COMMAND_CONFLICT */
  stop(
    evseId: number,
    why: { readonly reason: ReasonEnum; readonly trigger: TriggerReasonEnum; readonly idToken?: IdToken },
  ): void;
  /** Tries each of them. @throws the first refusal of the device */
  stopAll(why: { readonly reason: ReasonEnum; readonly trigger: TriggerReasonEnum }): void;
  /** Queues an Updated event now. @returns false: no transaction runs at the EVSE */
  update(evseId: number, trigger: TriggerReasonEnum, extras?: EventExtras): boolean;
  /** The token that an EVSE gets is known, before or after the cable; begins or continues its transaction. */
  authorized(
    evseId: number,
    grant: {
      readonly idToken: IdToken;
      readonly info: IdTokenInfo;
      readonly remoteStartId?: number;
      readonly reservationId?: number;
    },
  ): void;
  onStarted(listener: (transaction: Transaction) => void): () => void;
  onEnded(listener: (transaction: Transaction) => void): () => void;
  onAnswered(listener: (event: AnsweredEvent) => void): () => void;
}

export interface Authorization {
  /** Presents a token at an EVSE, as a person does. */
  present(evseId: number, idToken: string, type?: string): Promise<OcppAuthorization>;
}

/** Costs that a station of 2.1 calculates itself (I07 to I12). */
export interface Costs {
  /**
   * Members that an event of a transaction gets from its tariff; none where no tariff prices it. To be asked for every
   * event, in their order: a tariff is assigned at the first one.
   * @param transition that has brought the event; absent: the meter as it is now
   */
  extras(
    transaction: Transaction,
    eventType: Requests['TransactionEvent']['eventType'],
    transition?: EvseConnectorTransition,
  ): Pick<EventExtras, 'costDetails' | 'tariffId'>;
}

/** Samples of the meters for TransactionEvents and MeterValues. */
export interface MeterValues {
  /**
   * Samples for an event of a transaction, by SampledDataCtrlr; empty where nothing is configured.
   * @param transition that has brought the event; absent: the meter as it is now
   */
  sample(
    evseId: number,
    kind: 'Started' | 'Updated' | 'Ended',
    transition?: EvseConnectorTransition,
  ): readonly MeterValue[];
  /** Sends a sample of an EVSE (0: the station) now, in MeterValues or in a TransactionEvent (J02). */
  trigger(evseId: number, options?: { readonly triggered?: boolean }): void;
}

/** Charging profiles that other parts install. */
export interface SmartCharging {
  /**
   * The TxProfile of a remote start, for the transaction that begins at the EVSE.
   * @returns null, or why it is not valid: a reason code of the standard
   */
  install(evseId: number, profile: ChargingProfile): string | null;
  /**
   * The transaction of an installed profile does not begin.
   * @param profileId of a start that is refused: also where the profile is of a transaction that has begun with the cable
   */
  forget(evseId: number, profileId?: number): void;
}

/** Common to all parts of a station. */
export interface StationParts
  extends Pick<
    StackOptions,
    'id' | 'device' | 'clock' | 'wall' | 'later' | 'random' | 'log' | 'store' | 'connection' | 'disturber'
  > {
  readonly version: Version2;
  readonly variables: Variables;
  readonly calls: Calls;
  readonly queue: TransactionQueue;
  readonly registration: Registration;
  readonly security: SecurityEvents;
  /** A rule of the version that the central system has broken, for `findings`. @param clause `OCPP 2.0.1 K01.FR.28` */
  readonly finding: (clause: string, text: string, action?: string) => void;
}

export interface Part extends PartOf<Handlers> {
  /** by message of TriggerMessage that the part can send; the EVSE is absent where none was named */
  readonly triggers?: Readonly<
    Partial<Record<Requests['TriggerMessage']['requestedMessage'], (evseId: number | undefined) => void>>
  >;
}
