/** Why a connection could not be opened, for people and for what follows from it. */
import { socketErrorText } from '../../core/net/connect.ts';

/**
 * `certificate`: the certificate of the central system is not accepted (security event
 * InvalidCentralSystemCertificate); `tls_version`, `cipher_suite`: both ends have none in common (InvalidTLSVersion,
 * InvalidTLSCipherSuite); `rejected`: HTTP status; `no_version`: no subprotocol in common; `material`: the own
 * certificates or the address cannot be used, or no connection is made to such an address.
 */
export type FailureKind =
  | 'certificate'
  | 'tls_version'
  | 'cipher_suite'
  | 'tls'
  | 'rejected'
  | 'no_version'
  | 'network'
  | 'timeout'
  | 'material';

export interface ConnectFailure {
  readonly kind: FailureKind;
  /** HTTP status of `rejected` */
  readonly status: number | null;
  /** for people; without secrets */
  readonly text: string;
}

const certificateCodes =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|CRL_|ERROR_IN_CERT_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME_INVALID)/;
const versionCodes = /UNSUPPORTED_PROTOCOL|ALERT_PROTOCOL_VERSION|VERSION_TOO_LOW|UNSUPPORTED_SSL_VERSION/;
const suiteCodes = /HANDSHAKE_FAILURE|NO_SHARED_CIPHER|NO_CIPHERS|INSUFFICIENT_SECURITY|WRONG_CIPHER/;

function kindOf(code: string): FailureKind {
  if (code === 'ERR_REFUSED_TARGET') return 'material';
  if (certificateCodes.test(code)) return 'certificate';
  if (versionCodes.test(code)) return 'tls_version';
  if (suiteCodes.test(code)) return 'cipher_suite';
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return 'tls';
  return 'network';
}

const statusWords: Readonly<Record<number, string>> = {
  401: 'it does not accept the credentials of this station',
  403: 'it does not permit this station to connect',
  404: 'it does not know the identity of this station',
};

/** of `ws`, for a handshake without an agreed subprotocol */
const noSubprotocol = /^Server sent (?:no|an invalid) subprotocol$/;

type SocketError = Error & { readonly code?: unknown; readonly reason?: unknown };

/** What Node puts into the message of EPROTO, where a write meets the failure of the handshake. */
const openSslWords = /:error:[0-9A-F]+:SSL routines:[^:]*:([^:]+):/i;

/** The same failure has the same code, whether a read or a write has met it. */
function withOpenSslCode(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  const [, reason] = error.code === 'EPROTO' ? (openSslWords.exec(error.message) ?? []) : [];
  if (reason === undefined) return error;
  const code = `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}`;
  return Object.assign(new Error(reason), { code });
}

/** @param thrown what the attempt ended with: an error of a socket, of `ws`, or with an HTTP status as its code */
export function failureOf(thrown: unknown): ConnectFailure {
  const given: SocketError = thrown instanceof Error ? thrown : new Error('the connection could not be opened');
  if (typeof given.code === 'number') {
    const words = statusWords[given.code];
    return {
      kind: 'rejected',
      status: given.code,
      text: `the central system answered with status ${given.code}${words === undefined ? '' : `: ${words}`}`,
    };
  }
  if (noSubprotocol.test(given.message))
    return { kind: 'no_version', status: null, text: 'the central system has no version of OCPP in common' };
  const error = withOpenSslCode(given as NodeJS.ErrnoException);
  return { kind: kindOf(error.code ?? ''), status: null, text: `no connection: ${socketErrorText(error)}` };
}
