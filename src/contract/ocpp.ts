/** The register of OCPP charge points as REST, metrics and overview see it. Instants in ms since the epoch. */
import type { AdapterError } from '../core/adapter.ts';
import type { Origin } from '../core/origin.ts';
import type { SimTime } from '../core/time/clock.ts';
import type { WireDirection } from '../core/wire/wire-log.ts';
import type { OcppSecurityProfile, OcppVersion, OcppVersions } from './ocpp-settings.ts';

export type { OcppSecurityProfile, OcppVersion, OcppVersions } from './ocpp-settings.ts';

/** Values of `Sec-WebSocket-Protocol`. */
export const ocppSubprotocols = ['ocpp1.6', 'ocpp2.0.1', 'ocpp2.1'] as const;
export type OcppSubprotocol = (typeof ocppSubprotocols)[number];

export const ocppConnectionStates = ['disabled', 'disconnected', 'connecting', 'connected'] as const;
export type OcppConnectionState = (typeof ocppConnectionStates)[number];

export const ocppBootStatuses = ['none', 'pending', 'accepted', 'rejected'] as const;
export type OcppBootStatus = (typeof ocppBootStatuses)[number];

export interface OcppStatus {
  readonly id: string;
  readonly deviceIndex: number;
  readonly enabled: boolean;
  /** at work: the one that the central system has chosen last, before its first choice the first one offered */
  readonly version: OcppVersion;
  /** offered with the next connection, in the order of preference */
  readonly versions: OcppVersions;
  /** agreed with the central system; null: not connected */
  readonly subprotocol: OcppSubprotocol | null;
  /** URL without credentials; null: OCPP is off */
  readonly url: string | null;
  readonly connectionState: OcppConnectionState;
  readonly bootStatus: OcppBootStatus;
  readonly securityProfile: OcppSecurityProfile;
  /** null: no BootNotification has been accepted yet */
  readonly heartbeatIntervalS: number | null;
  readonly lastHeartbeatMs: number | null;
  readonly connectedSinceMs: number | null;
  /** time until the next attempt; null: none is planned */
  readonly reconnectInS: number | null;
  /** calls that wait for the line, and transaction messages not yet answered */
  readonly queue: { readonly calls: number; readonly transactionMessages: number };
  readonly lastError: string | null;
  /** seconds by which the time of the central system is ahead; null: no time received */
  readonly clockOffsetS: number | null;
  /** version and suite of the TLS session; null: in clear or not connected */
  readonly tls: { readonly version: string; readonly suite: string } | null;
}

export const ocppMessageTypes = ['call', 'result', 'error', 'result_error', 'send', 'invalid'] as const;
export type OcppMessageType = (typeof ocppMessageTypes)[number];

/** A frame as it went over the wire; secrets are hidden. */
export interface OcppMessage {
  readonly id: number;
  readonly atMs: number;
  readonly at: SimTime;
  readonly direction: WireDirection;
  /** `invalid`: no frame of OCPP-J */
  readonly type: OcppMessageType;
  readonly messageId: string | null;
  /** action of the call, also for its answer; null: unknown */
  readonly action: string | null;
  /** payload of a call, result or send; `{code, description, details}` of an error; the text of an invalid frame */
  readonly payload: unknown;
  /** time of an answer since its call; null: no answer, or the call is unknown */
  readonly durationMs: number | null;
  readonly truncated: boolean;
}

export interface OcppMessageFilter {
  readonly afterId?: number;
  readonly toId?: number;
  readonly action?: string;
  readonly direction?: WireDirection;
  readonly limit?: number;
}

/** Outcome of a call that a user sent. `durationMs` counts from the sending. */
export interface OcppCallResult {
  readonly messageId: string;
  readonly action: string;
  readonly durationMs: number;
  readonly answer:
    | { readonly kind: 'result'; readonly payload: unknown }
    | { readonly kind: 'error'; readonly code: string; readonly description: string; readonly details: unknown };
}

export interface OcppRawCall {
  readonly action: string;
  readonly payload: unknown;
  /** false: sends a payload that breaks its schema */
  readonly validate: boolean;
  readonly timeoutS: number;
}

/** A configuration key of 1.6. Write-only values are null. */
export interface OcppKeyEntry {
  readonly key: string;
  readonly value: string | null;
  readonly readonly: boolean;
  readonly rebootRequired: boolean;
}

/** A variable of 2.x at one place of the station. Write-only values are null. */
export interface OcppVariableEntry {
  /** component, with its instance in brackets if it has one */
  readonly component: string;
  readonly variable: string;
  readonly attribute: string;
  readonly value: string | null;
  readonly mutability: string;
  readonly evseId: number | null;
  readonly connectorId: number | null;
  /** instance of the variable */
  readonly instance: string | null;
  readonly rebootRequired: boolean;
}

export type OcppConfiguration =
  | { readonly kind: 'keys'; readonly keys: readonly OcppKeyEntry[] }
  | { readonly kind: 'variables'; readonly variables: readonly OcppVariableEntry[] };

export interface OcppConfigurationChange {
  /** key (1.6) or variable (2.x) */
  readonly name: string;
  readonly value: string;
  /** component of the variable, 2.x only */
  readonly component?: string;
  readonly attribute?: string;
  readonly evseId?: number;
  readonly connectorId?: number;
  readonly instance?: string;
}

/** A charging profile as it is installed, in the words of its version. */
export interface OcppProfileEntry {
  readonly connectorId: number;
  readonly profileId: number;
  readonly stackLevel: number;
  readonly purpose: string;
  readonly kind: string;
  readonly transactionId: string | null;
  /** it decides the limit of its purpose now */
  readonly effective: boolean;
  /** the profile as the central system has sent it */
  readonly profile: unknown;
}

export interface OcppSchedule {
  readonly connectorId: number;
  readonly startMs: number;
  readonly durationS: number;
  readonly unit: 'W' | 'A';
  /** seconds from `startMs`; limit null: no profile limits */
  readonly periods: readonly {
    readonly startS: number;
    readonly limit: number | null;
    readonly numberPhases: number | null;
    /** 2.1: signed, + into the vehicle */
    readonly setpoint?: number;
    /** 2.1: never positive */
    readonly dischargeLimit?: number;
    /** 2.1: operation mode */
    readonly mode?: string;
  }[];
}

/**
 * `scheduled`: its start is to come; `standby`: another control of its type runs; `superseded`: it will not run any
 * more; `applied`: it is in force on the device; `waiting`: it is due and the device takes nothing now; `outweighed`:
 * it is due and a control of another type excludes it; `refused`: it is due and the device cannot carry it out.
 */
export const ocppDerControlStates = [
  'scheduled',
  'standby',
  'superseded',
  'applied',
  'waiting',
  'outweighed',
  'refused',
] as const;
export type OcppDerControlState = (typeof ocppDerControlStates)[number];

/** A DER control of 2.1. */
export interface OcppDerControlEntry {
  readonly controlId: string;
  readonly controlType: string;
  readonly isDefault: boolean;
  readonly isSuperseded: boolean;
  /** null: a default has no start */
  readonly startMs: number | null;
  /** null: until it is cleared or superseded */
  readonly durationS: number | null;
  readonly priority: number;
  /** true: in force on the device */
  readonly active: boolean;
  readonly state: OcppDerControlState;
  /** another writer has overwritten a part of the control */
  readonly overwritten: boolean;
  /** values as sent by the central system */
  readonly values: unknown;
}

export interface OcppReservationEntry {
  readonly reservationId: number;
  /** 0: any connector of the station */
  readonly connectorId: number;
  readonly idToken: string;
  /** null: one that a person has made without an end */
  readonly expiresMs: number | null;
}

export interface OcppTokenEntry {
  readonly idToken: string;
  /** Accepted, Blocked, ... */
  readonly status: string;
  readonly expiresMs: number | null;
  readonly parentIdToken: string | null;
}

export interface OcppLocalList {
  readonly version: number;
  readonly entries: readonly OcppTokenEntry[];
  /** authorisations remembered from earlier answers */
  readonly cache: readonly OcppTokenEntry[];
}

export interface OcppCertificateEntry {
  /** use in the words of the version: CentralSystemRootCertificate, ChargePointCertificate, CSMSRootCertificate, ... */
  readonly use: string;
  readonly subject: string;
  readonly issuer: string;
  readonly serialNumber: string;
  readonly validFromMs: number;
  readonly validToMs: number;
  /** SHA-256 of the certificate, hex */
  readonly fingerprint: string;
}

export interface OcppTransactionEntry {
  /** in 1.6 assigned by the central system, null: not yet; in 2.x by the station */
  readonly transactionId: string | null;
  /** session of the device, as `evse/sessions` shows it */
  readonly sessionId: string;
  readonly connectorId: number;
  readonly idToken: string;
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly meterStartWh: number;
  readonly meterStopWh: number | null;
  readonly stopReason: string | null;
  /** messages of it that are still queued */
  readonly queued: number;
}

export const ocppFindingKinds = ['schema', 'rule'] as const;
export type OcppFindingKind = (typeof ocppFindingKinds)[number];

/** A violation of the schema or of a rule by the central system. */
export interface OcppFinding {
  readonly id: number;
  readonly atMs: number;
  /** against the schema, or against a rule of the version */
  readonly kind: OcppFindingKind;
  readonly action: string | null;
  readonly messageId: string | null;
  /** clause of the specification: `OCPP-J 1.6 4.1.4` */
  readonly clause: string;
  readonly text: string;
}

export interface OcppAuthorization {
  /** status by the central system, or by cache and local list */
  readonly status: string;
  /** idTagInfo or idTokenInfo; null: no request was sent */
  readonly info: Readonly<Record<string, unknown>> | null;
}

export interface OcppConnectOptions {
  readonly url?: string;
  readonly securityProfile?: OcppSecurityProfile;
  readonly password?: string;
  /** to be offered from now on */
  readonly version?: OcppVersion | readonly OcppVersion[];
}

/** Counters for metrics, since the start. */
export interface OcppCounters {
  /** frames by direction and type */
  readonly messages: readonly {
    readonly direction: WireDirection;
    readonly type: OcppMessageType;
    readonly count: number;
  }[];
  readonly connects: number;
  readonly drops: number;
  /** CALLERRORs received */
  readonly callErrors: number;
  /** the last drop, failed connection or CALLERROR; null: none yet */
  readonly lastError: AdapterError | null;
  readonly timeouts: number;
  readonly findings: Readonly<Record<OcppFindingKind, number>>;
  /** intermediate meter values dropped because the queue was full */
  readonly droppedMeterValues: number;
  /** wall time of the last frame of the central system, ms since the epoch; null: none yet */
  readonly lastContactMs: number | null;
}

/** One value of a meter as a message would have it. */
export interface OcppSampledValue {
  readonly measurand: string;
  /** L1, L2-N; null: of all phases together */
  readonly phase: string | null;
  readonly location: string | null;
  /** null: none in this version */
  readonly unit: string | null;
  /** text in 1.6, a number in 2.x */
  readonly value: string | number;
  /** decimals to which the station rounds */
  readonly digits: number;
  /** true: a list of measurands in the configuration contains it */
  readonly listed: boolean;
}

/** Reading of the meter of a connector. */
export interface OcppMeterReading {
  /** 0: the meter of the station */
  readonly connectorId: number;
  /** the instant of the state that it shows */
  readonly at: SimTime;
  /** time of the message, on the clock of the central system */
  readonly timestamp: string;
  readonly values: readonly OcppSampledValue[];
}

/** In the words of 2.x, the first one being the strongest. */
export const ocppTextPriorities = ['AlwaysFront', 'InFront', 'NormalCycle'] as const;
export const ocppTextFormats = ['ASCII', 'HTML', 'URI', 'UTF8', 'QRCODE'] as const;

/** A text on a display. */
export interface OcppShownText {
  /** null: a text of the station itself, for example the cost of a transaction */
  readonly messageId: number | null;
  readonly priority: (typeof ocppTextPriorities)[number];
  readonly format: (typeof ocppTextFormats)[number];
  /** null: the message names none */
  readonly language: string | null;
  readonly text: string;
}

/**
 * Functions of OCPP at one charge point. Each throws SimError; COMMAND_NOT_APPLICABLE where its version lacks
 * something.
 */
export interface OcppFunctions {
  /**
   * @throws SimError NOT_CONNECTED, PEER_TIMEOUT, PEER_ERROR (the connection broke), COMMAND_BAD_VALUE for a reason in
   *   1.6
   */
  boot(reason: string | null): Promise<OcppCallResult>;
  /** @throws as `boot` */
  heartbeat(): Promise<OcppCallResult>;
  /**
   * @param key 1.6: a key; 2.x: a component, or component and variable with a dot between them
   * @throws SimError UNKNOWN_RESOURCE for a key that does not exist
   */
  configuration(key?: string): OcppConfiguration;
  /** A local change, without the rights of the central system. @throws SimError UNKNOWN_RESOURCE, COMMAND_BAD_VALUE */
  setConfiguration(change: OcppConfigurationChange, by: Origin): OcppConfiguration;
  chargingProfiles(connectorId?: number): readonly OcppProfileEntry[];
  compositeSchedule(connectorId: number, durationS: number, unit: 'W' | 'A'): OcppSchedule;
  reservations(): readonly OcppReservationEntry[];
  /** DER controls in the order of setting. */
  derControls(): readonly OcppDerControlEntry[];
  localList(): OcppLocalList;
  /** The texts between which the display of a connector changes now; 1.6 has none. @throws SimError UNKNOWN_RESOURCE */
  display(connectorId: number): readonly OcppShownText[];
  certificates(): readonly OcppCertificateEntry[];
  /** newest first */
  transactions(): readonly OcppTransactionEntry[];
  /**
   * Presents a token at a connector, as a person does.
   * @param type type of the token in 2.x, which has no effect in 1.6; absent: by the form of the text
   * @throws SimError COMMAND_CONFLICT, COMMAND_BAD_VALUE, UNKNOWN_RESOURCE
   */
  authorize(connectorId: number, idToken: string, by: Origin, type?: string): Promise<OcppAuthorization>;
  /** Sends the meter values of a connector now (context Trigger). @throws SimError NOT_CONNECTED */
  sendMeterValues(connectorId: number): void;
  /**
   * The values that a message about the meter of a connector would have now, of everything that the station meters,
   * faults of the meter included. Sends nothing, and neither intervals nor faults count it as a sample.
   * @throws SimError UNKNOWN_RESOURCE
   */
  meterReading(connectorId: number): OcppMeterReading;
}

/** One charge point. */
export interface OcppStation {
  readonly status: OcppStatus;
  readonly counters: OcppCounters;
  /**
   * Of the version at work. During a change of version the readings are those of the version before, and functions that
   * act throw SimError NOT_CONNECTED or COMMAND_CONFLICT.
   */
  readonly functions: OcppFunctions;
  /** @throws SimError COMMAND_BAD_VALUE for a target that outbound rules refuse */
  connect(options: OcppConnectOptions, by: Origin): void;
  disconnect(code: number, by: Origin): void;
  /** @throws as `OcppFunctions.boot`, and COMMAND_BAD_VALUE for a payload that breaks its schema while `validate` */
  call(call: OcppRawCall): Promise<OcppCallResult>;
  messages(filter: OcppMessageFilter): readonly OcppMessage[];
  /** newest first */
  findings(): readonly OcppFinding[];
  clearFindings(): void;
}

export interface OcppStations {
  readonly enabled: boolean;
  /** stations in the order of their devices */
  readonly list: readonly OcppStation[];
  /** counters of all stations since the start, removed stations included */
  readonly totals: OcppCounters;
  /** @throws SimError UNKNOWN_RESOURCE */
  station(id: string): OcppStation;
  /** null: no station, or OCPP is off */
  ofDevice(deviceIndex: number): OcppStation | null;
}
