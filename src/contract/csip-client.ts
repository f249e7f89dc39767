/**
 * The interface between the client of IEEE 2030.5 (CSIP) and REST: what it shows of the head-end, of its EndDevices and
 * their controls, and its operations. Instants are ms since the epoch: `...Ms` on the wall clock, `...ServerMs` on the
 * clock of the server; `...InMs` is a duration. Documents are shown with the member names of the standard.
 */
import type { Origin, Provenance } from '../core/origin.ts';
import type { JsonValue } from '../core/store.ts';
import type { HoldValue } from '../sunspec/map/holds.ts';
import type {
  CsipDerDocument,
  CsipSentDocument,
  CsipReadings,
  CsipLogEvent,
  CsipLogEventRequest,
  CsipSubscriptions,
  CsipNotification,
  CsipMessages,
  CsipHttpProbe,
  CsipFoundServer,
  CsipResponseResult,
  CsipControlState,
  CsipEvents,
} from './csip-reports.ts';

export const csipStates = [
  'disabled',
  'connecting',
  'discovering',
  'registering',
  'running',
  'retrying',
  'stopped',
] as const;
/**
 * `connecting`: no answer of the DeviceCapability yet; `discovering`: the walk to the EndDevice; `registering`: the
 * EndDevice is not there yet, or its PIN is being checked; `retrying`: the server does not answer; `stopped`:
 * disconnected by hand, or ended for good because the PIN is wrong or cannot be compared (then with an error)
 */
export type CsipState = (typeof csipStates)[number];

export const csipRevisions = ['2018', '2023'] as const;
export type CsipRevision = (typeof csipRevisions)[number];

export const csipIdentities = ['per_device', 'aggregator', 'site'] as const;
export type CsipIdentity = (typeof csipIdentities)[number];

type JsonObject = Readonly<Record<string, JsonValue>>;

export interface CsipServer {
  readonly host: string;
  readonly port: number;
  /** path of the DeviceCapability */
  readonly dcap: string;
  readonly tls: boolean;
  readonly revision: CsipRevision;
  /** result of the last handshake; null: none, or plain HTTP */
  readonly negotiated: { readonly protocol: string; readonly cipher: string } | null;
}

export interface CsipConnection {
  /** attempts to reach the server: openings of the connection, and failed requests of the walk that are tried again */
  readonly attempts: number;
  readonly consecutiveFailures: number;
  /** ms until the next attempt; null: none is planned */
  readonly retryInMs: number | null;
  /** last answer of the server; null: never */
  readonly lastContactMs: number | null;
  readonly lastError: string | null;
  readonly lastErrorMs: number | null;
  /** a loss of communication set by `setCommunicationLost` */
  readonly lost: { readonly sinceMs: number /** null: until it is ended */; readonly untilMs: number | null } | null;
}

export interface CsipEndDevice {
  readonly href: string;
  readonly lfdi: string | null;
  readonly sfdi: number | null;
  /** bits of DeviceCategoryType, hexadecimal as the server shows them */
  readonly deviceCategory: string | null;
  /** null: absent on the server */
  readonly enabled: boolean | null;
  readonly changedServerMs: number | null;
  readonly postRateS: number | null;
  /** `pinMatches` null: no PIN is set here; false also if the server shows none. PINs themselves are shown nowhere */
  readonly registration: { readonly pinMatches: boolean | null; readonly registeredServerMs: number | null } | null;
  /** devices of this process that the EndDevice stands for; empty: a foreign EndDevice in the list of the server */
  readonly deviceIndices: readonly number[];
  /** names of its links and their `href`, such as `FunctionSetAssignmentsListLink` */
  readonly links: Readonly<Record<string, string>>;
}

/** A curve; x and y are in the units of their axes, with the multipliers applied. */
export interface CsipCurve {
  readonly href: string | null;
  readonly mrid: string | null;
  readonly description: string | null;
  /** DERCurveType */
  readonly curveType: number | null;
  readonly xMultiplier: number;
  readonly yMultiplier: number;
  /** DERUnitRefType */
  readonly yRefType: number | null;
  readonly points: readonly { readonly x: number; readonly y: number; readonly excitation: boolean | null }[];
  /** response time, s (hundredths in the document); null: absent */
  readonly openLoopS: number | null;
  /** ramp downwards, percent per second; null: absent */
  readonly rampDecPctPerS: number | null;
  /** ramp upwards, percent per second; null: absent */
  readonly rampIncPctPerS: number | null;
  /** settling time of the low-pass filter, s (rampPT1Tms); null: absent */
  readonly rampPt1S: number | null;
  /** percent */
  readonly vRefPct: number | null;
}

/** Values of the modes of a control by their names in REST, such as `op_mod_max_lim_w_pct`, in the unit of the name. */
export type CsipModes = JsonObject;

export interface CsipDefaultControl {
  readonly mrid: string | null;
  readonly href: string | null;
  readonly description: string | null;
  readonly programHref: string;
  readonly modes: CsipModes;
  /** names of `modes` that are in force now */
  readonly modesInForce: readonly string[];
  /** the members of the control that are not modes: `es_delay_s`, `grad_w_pct_per_s` */
  readonly settings: JsonObject;
  readonly leftOut: readonly CsipLeftOutMode[];
}

export interface CsipProgram {
  readonly href: string;
  readonly mrid: string | null;
  readonly description: string | null;
  readonly primacy: number;
  /** FSAs that lead to the program */
  readonly fsaHrefs: readonly string[];
  readonly deviceIndices: readonly number[];
  /** null: absent, or not readable */
  readonly defaultControl: CsipDefaultControl | null;
  /** number of controls in the list of the server */
  readonly controlCount: number;
  readonly curves: readonly CsipCurve[];
}

export interface CsipResponse {
  readonly mrid: string;
  readonly endDeviceLfdi: string;
  readonly deviceIndices: readonly number[];
  readonly status: number;
  /** createdDateTime */
  readonly createdServerMs: number;
  readonly replyTo: string;
  readonly result: CsipResponseResult;
  /** null: not sent yet */
  readonly sentAtMs: number | null;
  /** attempts so far */
  readonly attempts: number;
  /** status of the last answer; null: none */
  readonly httpStatus: number | null;
  readonly lastError: string | null;
}

export interface CsipLeftOutMode {
  readonly mode: string;
  readonly reason: 'unsupported' | 'invalid' | 'outweighed';
  readonly detail: string;
}

/** An event in the schedule of one EndDevice. */
export interface CsipControl {
  readonly mrid: string;
  readonly href: string | null;
  readonly description: string | null;
  readonly version: number | null;
  readonly programHref: string;
  readonly primacy: number;
  readonly state: CsipControlState;
  readonly creationServerMs: number;
  readonly startServerMs: number;
  readonly durationS: number;
  readonly effectiveStartServerMs: number;
  readonly effectiveDurationS: number;
  readonly randomizeStartS: number;
  readonly randomizeDurationS: number;
  readonly potentiallySuperseded: boolean;
  /** HexBinary8 as a number */
  readonly responseRequired: number;
  readonly modes: CsipModes;
  /** names of `modes` in force; empty unless active */
  readonly modesInForce: readonly string[];
  readonly leftOut: readonly CsipLeftOutMode[];
  /** true: the event has started and the device accepts no control, in local control or without grid */
  readonly waiting: boolean;
  /** another writer has changed a point of the control */
  readonly overwritten: boolean;
  readonly optedOut: boolean;
  readonly responses: readonly CsipResponse[];
  readonly endDeviceLfdi: string;
  readonly deviceIndices: readonly number[];
}

/** Register values that a mode of a control sets on one device. */
export interface CsipClaim {
  /** name of the mode in `modes` of the control */
  readonly mode: string;
  readonly values: readonly HoldValue[];
}

export interface CsipTime {
  /** now, by the clock of the server */
  readonly serverNowMs: number;
  readonly offsetS: number;
  readonly quality: number | null;
  readonly tzOffsetS: number | null;
  readonly dstOffsetS: number | null;
  /** since the Time was read */
  readonly ageS: number;
  readonly href: string | null;
}

export interface CsipStatus {
  readonly state: CsipState;
  /** null: no client (disabled) */
  readonly server: CsipServer | null;
  readonly identity: CsipIdentity | null;
  readonly lfdi: string | null;
  readonly sfdi: number | null;
  /** devices that this client stands for */
  readonly deviceIndices: readonly number[];
  readonly connection: CsipConnection;
  readonly endDevice: CsipEndDevice | null;
  readonly programs: readonly CsipProgram[];
  readonly activeControls: readonly CsipControl[];
  /** values of the modes of DefaultDERControl in force; null: none is in force */
  readonly defaultModes: CsipModes | null;
  readonly time: CsipTime | null;
  /** poll rates by resource: `DeviceCapability`, `EndDeviceList`, `DERProgramList` */
  readonly pollRatesS: Readonly<Record<string, number>>;
  readonly metering: {
    readonly mupHref: string | null;
    /** time between posts in force, s; null: the server has no MirrorUsagePointList */
    readonly postRateS: number | null;
    readonly lastPostMs: number | null;
    readonly postedCount: number;
  } | null;
  readonly subscriptions: number;
}

export interface CsipCertificate {
  readonly lfdi: string;
  readonly sfdi: number;
  readonly subject: string;
  readonly issuer: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly chainLength: number;
}

/** The chains of `derbench pki`: the default one, and those of COMM-004. */
export const csipCertificateNames = [
  'default',
  'comm_004a',
  'comm_004b',
  'comm_004c',
  'comm_004d',
  'comm_004e',
  'comm_004f',
  'comm_004g',
] as const;
export type CsipCertificateName = (typeof csipCertificateNames)[number];

/** PEM texts, never paths. They are never shown. */
export interface CsipPem {
  /** own certificate and its intermediates */
  readonly cert: string;
  /** private key, not encrypted */
  readonly key: string;
  readonly rootCert: string;
}

/** An EndDevice of this client as a server registers it. */
export interface CsipManagedDevice {
  readonly deviceIndices: readonly number[];
  readonly lfdi: string;
  readonly sfdi: number;
  /** identifier of its connection point; null: none */
  readonly nmi: string | null;
}

export interface CsipCertificates {
  /** null: PEM texts are in use */
  readonly selected: CsipCertificateName | null;
  /** chains that can be selected here: without `--use_test_pki_certs` only `default` */
  readonly available: readonly CsipCertificateName[];
  /** null: the certificate cannot be read */
  readonly certificate: CsipCertificate | null;
  /** EndDevices of this client, also those that the server does not have */
  readonly endDevices: readonly CsipManagedDevice[];
}

/** The settings that can be changed while the client runs, without the texts of certificates and keys. */
export interface CsipConfig {
  readonly serverHost: string;
  readonly serverPort: number;
  readonly dcap: string;
  readonly tls: boolean;
  readonly revision: CsipRevision;
  /** null: that of the server */
  readonly pollRateS: number | null;
  readonly postRateS: number | null;
  /** false: times of this machine in place of those of the server */
  readonly useServerTime: boolean;
  readonly subscribe: boolean;
  /** identifiers of the connection point (NMI): one for all devices, or one for each in their order */
  readonly nmis: readonly string[];
  /** true: a PIN is set and checked; the PIN itself is never shown */
  readonly pinSet: boolean;
  readonly checkHostname: boolean;
  readonly strictCipher: boolean;
  readonly identity: CsipIdentity;
  /**
   * LFDI set for a device behind an aggregator; null: derived from the LFDI of the aggregator, or from a certificate
   */
  readonly lfdi: string | null;
  /** last change over REST; null: as started */
  readonly changedBy: Provenance | null;
}

/** Changes of the settings; `null`: back to the value at the start. A change of server or certificates reconnects. */
export interface CsipConfigPatch
  extends Partial<Omit<CsipConfig, 'pinSet' | 'checkHostname' | 'strictCipher' | 'identity' | 'changedBy'>> {
  /** null: not checked */
  readonly pin?: number | null;
  readonly certPem?: string;
  readonly keyPem?: string;
  readonly rootCertPem?: string;
}

export interface CsipDiagnostic {
  readonly severity: 'error' | 'warning' | 'info';
  /** slug */
  readonly code: string;
  readonly message: string;
}

/**
 * The clients of this process. `device` selects the client of a device. The client of an aggregator then shows the
 * EndDevice of that device, the client of a site its only EndDevice. With null, views show the client of the first
 * device, and connect, disconnect, reconnect, rediscover, poll and setCommunicationLost act on all clients.
 *
 * Every method throws or rejects with SimError UNKNOWN_DEVICE for a device that does not exist or has no client. While
 * `enabled` is false, REST calls only the methods that read.
 */
export interface CsipClient extends CsipEvents {
  readonly messages: CsipMessages;

  status(device: number | null): CsipStatus;
  /** null: disabled */
  config(device: number | null): CsipConfig | null;
  /**
   * Changes the settings of all clients, except that `lfdi` applies to `device` alone, and so do certificates where
   * each device has a separate certificate.
   * @throws SimError COMMAND_BAD_VALUE with JSON pointers (`/server_host`, `/cert_pem`, `/lfdi`) for texts that are no
   *   certificates, a key that does not match, a target that the outbound rules refuse, an LFDI that another EndDevice
   *   has, or an LFDI for a device that is not behind an aggregator; nothing is changed then
   */
  configure(patch: CsipConfigPatch, device: number | null, by: Origin): Promise<CsipConfig>;

  /** Begins to connect disconnected clients and returns at once. */
  connect(device: number | null): void;
  /** Releases the values of controls as at the end of the process, closes connections and forgets all events. */
  disconnect(device: number | null): Promise<void>;
  /** Tries now instead of at the end of the back-off. @returns false: already connected, or disconnected by hand */
  reconnect(device: number | null): boolean;
  /** Walks from the DeviceCapability at once. @throws SimError NOT_CONNECTED if all selected clients are stopped */
  rediscover(device: number | null): void;
  /** Reads all polled resources at once. @throws SimError NOT_CONNECTED if all selected clients are stopped */
  poll(device: number | null): void;
  /**
   * Makes the server unreachable, as if the line were cut, or reachable again. Known events continue.
   * @param durationS duration of a loss; null: until it is ended
   */
  setCommunicationLost(lost: boolean, durationS: number | null, device: number | null): void;

  /** null: no Time resource has been read */
  time(device: number | null): CsipTime | null;
  /** own EndDevices first, then others of the list as far as it was read */
  endDevices(device: number | null): readonly CsipEndDevice[];
  programs(device: number | null): readonly CsipProgram[];
  /** newest start first; with `state` only those in it */
  controls(device: number | null, state?: CsipControlState): readonly CsipControl[];
  /**
   * @returns the control with the last received XML of its DERControl; null: the XML is not stored
   * @throws SimError UNKNOWN_RESOURCE
   */
  control(mrid: string, device: number | null): CsipControl & { readonly xml: string | null };
  /**
   * Opts the user in to an event or out of it (responses 4, 5, 8, 9).
   * @throws SimError UNKNOWN_RESOURCE; COMMAND_CONFLICT for an event that has ended
   */
  opt(mrid: string, takesPart: boolean, device: number | null): CsipControl;
  /**
   * Register values of a control on a device, by mode: as written while the control is in force, else as it would write
   * them. A mode without registers is absent.
   * @throws SimError UNKNOWN_RESOURCE
   */
  claims(mrid: string, device: number): readonly CsipClaim[];
  curves(device: number | null): readonly CsipCurve[];
  /** newest first */
  responses(device: number | null, mrid?: string): readonly CsipResponse[];

  /** Documents last sent for a device; null: never sent. */
  der(device: number | null): Readonly<Record<CsipDerDocument, CsipSentDocument | null>>;
  /** Sends these documents at once. @throws SimError NOT_CONNECTED while the server shows no DER */
  postDer(which: readonly CsipDerDocument[], device: number | null): Promise<void>;
  readings(device: number | null): CsipReadings;
  /** Sends the values up to now at once. @throws SimError NOT_CONNECTED without a MirrorUsagePointList */
  postReadings(device: number | null): Promise<void>;
  /** newest first */
  logEvents(device: number | null): { readonly enabled: boolean; readonly events: readonly CsipLogEvent[] };
  /** Switches the sending of alarms as LogEvents, for all clients. */
  enableLogEvents(on: boolean): void;
  /** @throws SimError NOT_CONNECTED when the server has no LogEventList */
  sendLogEvent(event: CsipLogEventRequest, device: number | null): Promise<void>;

  subscriptions(device: number | null): CsipSubscriptions;
  /**
   * Subscribes to a resource that has been read, or cancels the subscription.
   * @throws SimError UNKNOWN_RESOURCE for a resource that was not read, COMMAND_CONFLICT for one that cannot be
   *   subscribed to or while no listener for notifications runs, NOT_CONNECTED
   */
  subscribe(resource: string, on: boolean, device: number | null): Promise<CsipSubscriptions>;
  /** newest first */
  notifications(device: number | null, limit: number): readonly CsipNotification[];

  certificates(device: number | null): CsipCertificates;
  /**
   * Connects anew with another chain.
   * @throws SimError COMMAND_BAD_VALUE (`/cert_pem`, `/key_pem`, `/root_cert_pem`), COMMAND_CONFLICT for a chain that
   *   is not available
   */
  selectCertificate(choice: CsipCertificateName | CsipPem, device: number | null): Promise<CsipCertificates>;
  /**
   * Sends one GET to the server over plain HTTP and does not follow a redirect.
   * @param port default 80
   * @throws SimError PEER_ERROR, PEER_TIMEOUT
   */
  httpProbe(path: string | null, port: number | null, device: number | null): Promise<CsipHttpProbe>;
  diagnostics(device: number | null): readonly CsipDiagnostic[];
  /** Finds at most 32 servers by DNS-SD, within 5 s. @throws SimError PEER_ERROR without multicast */
  discoverServers(): Promise<readonly CsipFoundServer[]>;
}
