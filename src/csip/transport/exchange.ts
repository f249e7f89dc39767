/** Requests to one server of IEEE 2030.5, their answers, repetition after failures, and faults that affect them. */
import type { DocumentName, OutgoingDocument, ReceivedDocument } from '../xml/schema.ts';

export type SepMethod = 'GET' | 'PUT' | 'POST' | 'DELETE';

export interface SepRequest {
  readonly method: SepMethod;
  /** absolute URI, or relative to `base`, or else to the address of the server */
  readonly href: string;
  /** URI of the document that contains `href` */
  readonly base?: string;
  /** name of the resource, for messages, faults and errors */
  readonly resource: DocumentName;
  readonly body?: OutgoingDocument;
  /** device that the request is about; null: none, or several */
  readonly deviceIndex: number | null;
  readonly signal?: AbortSignal;
}

export interface SepAnswer {
  readonly status: number;
  /** after redirects; links of the document are relative to it */
  readonly url: string;
  /** `Location`, resolved; null: none */
  readonly location: string | null;
  /** null: no body, or the answer of a PUT, POST or DELETE; for a refusal its Error, if any */
  readonly document: ReceivedDocument | null;
  /** delay that the server asks for, ms (`Retry-After`); absent: none */
  readonly retryAfterMs?: number;
  /** for remote clocks: middle of the exchange, on `WallClock.monotonicMs` */
  readonly middleMonotonicMs: number;
  /** of the body; absent: not counted */
  readonly octets?: number;
  /** body after fault injection; null: unreadable or not sent; absent: sent unchanged */
  readonly arrived?: ReceivedDocument | null;
}

/** An answer as it came, before anything is done with it. */
export interface SeenAnswer {
  readonly request: SepRequest;
  readonly status: number;
  /** after redirects */
  readonly url: string;
  readonly redirects: number;
  /** names in lower case */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** as in `SepAnswer` */
  readonly document: ReceivedDocument | null;
  /** why the document of a GET could not be read; null: it could, or there is none */
  readonly unreadable: string | null;
  /** on `WallClock.monotonicMs` */
  readonly middleMonotonicMs: number;
  readonly durationMs: number;
  /** a fault has changed the request */
  readonly isDisturbed: boolean;
  /** in the wire log; null: it is off */
  readonly message: { readonly channel: string; readonly id: number } | null;
}

/** Sees the answers of one server, to judge them. It must not throw. */
export interface ExchangeWitness {
  answered(seen: SeenAnswer): void;
  /**
   * A link or redirect that is not followed.
   * @param reason `elsewhere`: another host or scheme; `endless`: too many redirects
   */
  refused(request: SepRequest, reason: RefusalReason, text: string): void;
  /** A handshake has failed since a certificate of the server has expired. */
  certificateExpired(): void;
}

export type RefusalReason = 'elsewhere' | 'endless';

/**
 * One connection identity at one server. Requests run in parallel up to a limit; more of them queue. Redirects are
 * followed within the outbound rules. A status of 400 or above is an answer, not an error.
 */
export interface SepExchange {
  /** `https://host:port` */
  readonly origin: string;
  /**
   * @throws SimError PEER_ERROR if no answer can be read (connection, TLS, XML, redirect), PEER_TIMEOUT,
   * NOT_CONNECTED after `close`
   */
  request(request: SepRequest): Promise<SepAnswer>;
  /** version and suite of the last handshake; null: none, or plain HTTP */
  readonly negotiated: { readonly protocol: string; readonly cipher: string } | null;
  close(): Promise<void>;
}

/** LFDI, SFDI and facts of a client certificate. */
export interface CertificateFacts {
  /** 40 hex digits, upper case */
  readonly lfdi: string;
  /** decimal, with its check digit */
  readonly sfdi: number;
  readonly subject: string;
  readonly issuer: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** number of certificates presented, including that of the client */
  readonly chainLength: number;
}

/** Delays after failures double from 1 s to 5 minutes; each is randomized over its whole length. */
export const retryWaits = { firstMs: 1000, maxMs: 300_000 } as const;

/** True for refusals after which the same request may succeed: the server is busy or fails. */
export function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** Maximum of a delay that a server asks for, ms. */
const maxWaitMs = 24 * 3_600_000;

/**
 * The delay of a `Retry-After` header (RFC 9110 10.2.3), ms, at most one day; null: absent or unreadable.
 * @param nowMs ms since the epoch, for a date
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const ms = /^\d{1,10}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), maxWaitMs);
}

/** A request that a fault may affect. */
export interface Disturbable {
  readonly deviceIndex: number | null;
  readonly method: SepMethod;
  readonly resource: DocumentName;
  /** URL path without query */
  readonly path: string;
  readonly body: OutgoingDocument | null;
}

/**
 * `no_certificate`: the client presents none; `server_not_trusted`: it trusts no authority, so that it refuses the
 * server; `wrong_version`: it offers TLS 1.3 alone. Over plain HTTP none has an effect.
 */
export type TlsDisturbance = 'no_certificate' | 'server_not_trusted' | 'wrong_version';

/** Effects of faults on one request. */
export interface Disturbance {
  /** delay before sending */
  readonly delayMs?: number;
  /** not sent, no answer */
  readonly drop?: boolean;
  /** not sent, reported as accepted */
  readonly suppress?: boolean;
  /** sent over a separate connection */
  readonly tls?: TlsDisturbance;
  /** sent instead of the client's body */
  readonly body?: OutgoingDocument;
  /** changes the octets of the body, after all other changes */
  readonly rewrite?: (xml: Buffer) => Buffer;
  /** instead of application/sep+xml */
  readonly contentType?: string;
  /** sent twice, one after the other; the second answer counts */
  readonly twice?: boolean;
}

export interface ExchangeDisturber {
  /** false: no fault is active, and `disturb` is not called */
  readonly active: boolean;
  /** Called once for each request, before redirects. Null: not affected. */
  disturb(request: Disturbable): Disturbance | null;
}

/** No faults. */
export const undisturbed: ExchangeDisturber = { active: false, disturb: () => null };
