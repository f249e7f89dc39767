/** The interface by which faults affect the requests of a client. */
import type { DocumentName, OutgoingDocument } from '../xml/document.ts';
import type { SepMethod } from './exchange.ts';

/** A request that a fault may affect. */
export interface Disturbable {
  readonly deviceIndex: number | null;
  readonly method: SepMethod;
  readonly resource: DocumentName;
  /** URL path without query */
  readonly path: string;
  readonly body: OutgoingDocument | null;
}

export const tlsDisturbances = ['no_certificate', 'server_not_trusted', 'wrong_version'] as const;
/**
 * `no_certificate`: the client presents none; `server_not_trusted`: it trusts no authority, so that it refuses the
 * server; `wrong_version`: it offers TLS 1.3 alone. Over plain HTTP none has an effect.
 */
export type TlsDisturbance = (typeof tlsDisturbances)[number];

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
