/** Requests to one server of IEEE 2030.5 and their answers, as the layers above the transport see them. */
import type { DocumentName, OutgoingDocument, ReceivedDocument } from '../xml/document.ts';

export type SepMethod = 'GET' | 'PUT' | 'POST' | 'DELETE';

export interface SepRequest {
  readonly method: SepMethod;
  /** absolute or relative URI; a relative one is resolved against `base`, or else against the address of the server */
  readonly href: string;
  /** URI of the document that contains `href` */
  readonly base?: string;
  /** the resource by name: for messages, faults and errors */
  readonly resource: DocumentName;
  readonly body?: OutgoingDocument;
  /** the device that it is about; null: none, or several */
  readonly deviceIndex: number | null;
  readonly signal?: AbortSignal;
}

export interface SepAnswer {
  readonly status: number;
  /** after redirects; links of the document are relative to it */
  readonly url: string;
  /** `Location`, resolved; null: there is none */
  readonly location: string | null;
  /** null: no body, or the answer of a PUT, POST or DELETE; of a refusal its Error, if there is one */
  readonly document: ReceivedDocument | null;
  /** ms that the server asks to wait (`Retry-After`); absent: it does not */
  readonly retryAfterMs?: number;
  /** remote clocks: instant in the middle of the exchange, on `WallClock.monotonicMs` */
  readonly middleMonotonicMs: number;
  /** what a fault has made of the body that was sent; null: nothing that can be read, or it never left; absent: it left as it was */
  readonly arrived?: ReceivedDocument | null;
}

/**
 * One connection identity at one server. Requests run at the same time up to a limit; the others wait their turn.
 * Redirects are followed within the outbound rules. A status of 400 or above is an answer, not an error.
 */
export interface SepExchange {
  /** `https://host:port` */
  readonly origin: string;
  /**
   * @throws SimError PEER_ERROR for what no answer can be made of (connection, TLS, XML, redirect), PEER_TIMEOUT,
   *   NOT_CONNECTED after `close`
   */
  request(request: SepRequest): Promise<SepAnswer>;
  /** version and suite of the last handshake; null: none, or plain HTTP */
  readonly negotiated: { readonly protocol: string; readonly cipher: string } | null;
  close(): Promise<void>;
}

/** LFDI, SFDI and the facts of the certificate that a client presents. */
export interface CertificateFacts {
  /** 40 hex digits, upper case */
  readonly lfdi: string;
  /** decimal, with its check digit */
  readonly sfdi: number;
  readonly subject: string;
  readonly issuer: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** certificates presented, the own one included */
  readonly chainLength: number;
}
