/** Attempts to connect that have failed, as security events. */
import type { ConnectFailure } from '../rpc/failures.ts';

/** What a version calls the events. */
export interface FailureEvents {
  /** the certificate of the central system is not accepted */
  readonly certificate: string;
  readonly tlsVersion: string;
  readonly cipherSuite: string;
  /** the central system does not accept the credentials of the station */
  readonly refused: string;
}

/** null: the failure says nothing about security. */
export function failureEvent({ kind, status }: ConnectFailure, events: FailureEvents): string | null {
  if (kind === 'certificate') return events.certificate;
  if (kind === 'tls_version') return events.tlsVersion;
  if (kind === 'cipher_suite') return events.cipherSuite;
  // the other statuses say nothing about who this station is
  return kind === 'rejected' && (status === 401 || status === 403) ? events.refused : null;
}
