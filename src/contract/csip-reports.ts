/** Events, reports, notifications and messages of a client of IEEE 2030.5, as REST and scenarios show them. */
import type { Origin, Provenance } from '../core/origin.ts';
import type { JsonValue } from '../core/store.ts';
import type { SimTime } from '../core/time/clock.ts';

/** A document of the standard with its own member names; values of its type HexBinary are texts. */
export type CsipDocument = Readonly<Record<string, JsonValue>>;

export const csipResponseResults = ['queued', 'sent', 'refused', 'dropped'] as const;
/**
 * `queued`: still to be sent, or to be sent again; `refused`: by the server for good; `dropped`: by a fault, or because
 * the queue was full
 */
export type CsipResponseResult = (typeof csipResponseResults)[number];

export const csipDerDocuments = ['capability', 'settings', 'status', 'availability'] as const;
export type CsipDerDocument = (typeof csipDerDocuments)[number];

/** A document as it was sent last. */
export interface CsipSentDocument {
  readonly sentAtMs: number;
  readonly result: 'accepted' | 'refused' | 'failed' | 'dropped';
  /** null: no answer */
  readonly httpStatus: number | null;
  readonly href: string;
  readonly body: CsipDocument;
  /** Body after fault injection. null: unreadable or not sent. Absent: sent unchanged. */
  readonly arrived?: CsipDocument | null;
}

/** One MirrorMeterReading. */
export interface CsipReadingSet {
  readonly mrid: string;
  readonly description: string | null;
  /** meter of one device, of several devices as one, or of the connection point */
  readonly meter: 'device' | 'devices' | 'site';
  /** index of the device, or of the first of several */
  readonly deviceIndex: number;
  readonly uom: number;
  readonly flowDirection: number | null;
  readonly phase: number | null;
  readonly multiplier: number;
  /** multiplier sent instead because of a fault; null: none was sent; absent: sent unchanged */
  readonly sentMultiplier?: number | null;
  readonly lastPostMs: number | null;
  /** values of the last post, oldest first; `value` is scaled by the multiplier */
  readonly values: readonly { readonly startServerMs: number; readonly durationS: number; readonly value: number }[];
}

export interface CsipReadings {
  readonly mupHref: string | null;
  /** time between posts in force, s; null: the server has no MirrorUsagePointList */
  readonly postRateS: number | null;
  readonly sets: readonly CsipReadingSet[];
}

export interface CsipLogEvent {
  readonly createdServerMs: number;
  readonly functionSet: number;
  readonly code: number;
  readonly eventId: number;
  readonly pen: number;
  readonly profileId: number;
  readonly details: string | null;
  readonly deviceIndex: number;
  readonly result: CsipResponseResult;
}

export interface CsipLogEventRequest {
  readonly code: number;
  /** default 11 (DER) */
  readonly functionSet?: number;
  readonly details?: string;
}

export interface CsipSubscription {
  /** subscribedResource */
  readonly resource: string;
  /** href of the Subscription on the server; null: not accepted (yet) */
  readonly href: string | null;
  readonly state: 'pending' | 'active' | 'refused' | 'cancelled';
  readonly renewedAtMs: number | null;
  readonly notifications: number;
  readonly lastError: string | null;
}

export interface CsipSubscriptions {
  /** URI at which notifications are received; null: no listener */
  readonly notificationUri: string | null;
  readonly items: readonly CsipSubscription[];
}

export interface CsipNotification {
  readonly receivedAtMs: number;
  readonly resource: string | null;
  /** Notification.status */
  readonly status: number | null;
  /** name of the document inside; null: none */
  readonly content: string | null;
  /** status of the answer to the notification */
  readonly httpStatus: number;
  readonly peer: string;
}

/** One request and its answer, as sent over the wire. */
export interface CsipMessage {
  readonly id: number;
  readonly atMs: number;
  readonly at: SimTime;
  /** `out`: a request of this client; `in`: a notification of the server */
  readonly direction: 'out' | 'in';
  readonly peer: string;
  readonly deviceIndex: number | null;
  readonly method: string;
  readonly url: string;
  /** null: there was no answer */
  readonly status: number | null;
  readonly durationMs: number | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody: string | null;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string | null;
  /** a body was cut off at the limit of the channel */
  readonly truncated: boolean;
  /** why there was no answer */
  readonly error: string | null;
}

/** A response to an event, sent over the wire and accepted by the server. */
export interface CsipSentResponse extends Pick<CsipMessage, 'id' | 'atMs' | 'at' | 'peer' | 'deviceIndex'> {
  /** upper case */
  readonly mrid: string;
  readonly status: number;
}

export interface CsipMessageFilter {
  readonly afterId?: number;
  readonly toId?: number;
  /** upper case */
  readonly method?: string;
  /** beginning of the path of the URL */
  readonly path?: string;
  readonly deviceIndex?: number;
  /** maximum number of messages, the newest ones */
  readonly limit?: number;
}

/** The channel of messages; it records nothing until it is switched on. */
export interface CsipMessages {
  readonly recording: boolean;
  /** messages that can be kept */
  readonly capacity: number;
  readonly count: number;
  /** octets kept */
  readonly bytes: number;
  readonly lastId: number;
  /** messages dropped to make room for newer ones */
  readonly dropped: number;
  /** the last change of `recording`; null: as started */
  readonly changedBy: Provenance | null;
  record(on: boolean, by: Origin): void;
  clear(): void;
  /** oldest first */
  list(filter: CsipMessageFilter): readonly CsipMessage[];
  /** oldest first */
  responses(): readonly CsipSentResponse[];
}

export interface CsipHttpProbe {
  readonly url: string;
  readonly status: number;
  /** null: no such header */
  readonly location: string | null;
}

/** A server that DNS-SD has found; untrusted. */
export interface CsipFoundServer {
  readonly name: string;
  readonly host: string;
  /** addresses, IPv4 and IPv6 */
  readonly addresses: readonly string[];
  readonly port: number;
  /** port of TLS; null: the server names none */
  readonly httpsPort: number | null;
  readonly dcap: string | null;
  /** `-S1` and the like */
  readonly level: string | null;
  /** true: the outbound rules permit a connection to it */
  readonly permitted: boolean;
}

export const csipControlStates = ['scheduled', 'active', 'completed', 'cancelled', 'superseded', 'rejected'] as const;
export type CsipControlState = (typeof csipControlStates)[number];

/** An event in the schedule of one EndDevice, at one moment; members as in `CsipControl`. */
export interface CsipEvent {
  readonly mrid: string;
  readonly programHref: string;
  readonly primacy: number;
  readonly state: CsipControlState;
  readonly endDeviceLfdi: string;
  readonly deviceIndices: readonly number[];
  /** null: the server gives none */
  readonly programMrid: string | null;
  /** true: the device has carried the event out at least once (response 2) */
  readonly started: boolean;
  /** simulated instant of its scheduled start or end; Infinity: none, or on the wall clock */
  readonly nextAt: number;
}

export interface CsipEvents {
  readonly enabled: boolean;
  /** Known events of all EndDevices of all clients. */
  events(): readonly CsipEvent[];
  /** Called within each change of a state, at the very instant. @returns function that unsubscribes */
  onEvent(listener: (event: CsipEvent) => void): () => void;
}
