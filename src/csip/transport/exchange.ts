/** Requests to one server of IEEE 2030.5 and their answers, independent of the transport. */
import type { DocumentName, OutgoingDocument, ReceivedDocument } from '../xml/document.ts';

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
  /** body after fault injection; null: unreadable or not sent; absent: sent unchanged */
  readonly arrived?: ReceivedDocument | null;
}

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
  /** number of certificates presented, including its own */
  readonly chainLength: number;
}
