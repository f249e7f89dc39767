/** The interface through which faults reach the requests of a client. */
import type { DocumentName, OutgoingDocument } from '../xml/document.ts';
import type { SepMethod } from './exchange.ts';

/** A request that may be disturbed. */
export interface Disturbable {
  readonly deviceIndex: number | null;
  readonly method: SepMethod;
  readonly resource: DocumentName;
  /** path of the URL, without query */
  readonly path: string;
  readonly body: OutgoingDocument | null;
}

export const tlsDisturbances = ['no_certificate', 'server_not_trusted', 'wrong_version'] as const;
/**
 * `no_certificate`: the client presents none; `server_not_trusted`: it trusts no authority, so that it refuses the
 * server; `wrong_version`: it offers TLS 1.3 alone. None of them has an effect over plain HTTP.
 */
export type TlsDisturbance = (typeof tlsDisturbances)[number];

/** What happens to one request. */
export interface Disturbance {
  /** before it leaves */
  readonly delayMs?: number;
  /** it never leaves, and there is no answer */
  readonly drop?: boolean;
  /** it never leaves, and counts as accepted */
  readonly suppress?: boolean;
  /** over a connection of its own */
  readonly tls?: TlsDisturbance;
  /** sent in place of its own */
  readonly body?: OutgoingDocument;
  /** changes the octets of the body, after all else */
  readonly rewrite?: (xml: Buffer) => Buffer;
  /** in place of application/sep+xml */
  readonly contentType?: string;
  /** it is sent twice, one after the other, and the second answer counts */
  readonly twice?: boolean;
}

export interface ExchangeDisturber {
  /** false: no request is disturbed, and `disturb` is not asked */
  readonly active: boolean;
  /** Called once for each request, before redirects. Null: it stays as it is */
  disturb(request: Disturbable): Disturbance | null;
}

/** Nothing is disturbed. */
export const undisturbed: ExchangeDisturber = { active: false, disturb: () => null };
