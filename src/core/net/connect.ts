/** Outgoing connections, in clear or inside TLS, with a time limit for each attempt and errors in words. */
import { connect as connectTcp } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import type { DetailedPeerCertificate } from 'node:tls';
import { SimError, shortageOf } from '../errors.ts';
import { clientTlsOptions } from '../tls/client-context.ts';
import type { ClientTlsUse } from '../tls/client-context.ts';
import { hostAndPort } from './listen.ts';
import { guardedLookup, openLookup } from './outbound.ts';
import type { NameSources } from './outbound.ts';

/** Target of a connection. */
export interface ConnectTarget {
  readonly host: string;
  readonly port: number;
  /** a longer attempt is given up */
  readonly timeoutMs: number;
  /** absent: in clear */
  readonly tls?: ClientTlsUse;
  /** set by a flag or file: the name of the host may resolve to any address */
  readonly anywhere?: boolean;
}

/** An attempt to connect that has failed. */
export class ConnectError extends SimError {
  /** of Node: `CERT_HAS_EXPIRED`; null: none */
  readonly reason: string | null;

  constructor(message: string, reason: string | null) {
    super('PEER_ERROR', message);
    this.reason = reason;
  }
}

const keepAliveMs = 60_000;

function begin({ host, port, tls }: ConnectTarget, lookup: LookupFunction): Socket {
  if (tls === undefined) return connectTcp({ host, port, lookup, noDelay: true });
  return connectTls({ host, port, lookup, ...clientTlsOptions(tls) });
}

/**
 * A connected socket, for TLS after the handshake.
 * @param signal aborts the attempt
 * @param names sources of the addresses of names; default those of the system
 * @throws SimError PEER_ERROR, PEER_TIMEOUT, SHORTAGE
 */
export function openSocket(target: ConnectTarget, signal: AbortSignal, names?: NameSources): Promise<Socket> {
  const name = `${target.tls === undefined ? 'tcp' : 'tls'}://${hostAndPort(target.host, target.port)}`;
  const looking = new AbortController();
  const lookup = target.anywhere === true ? openLookup : guardedLookup;
  const socket = begin(target, lookup(looking.signal, names));
  let issuer: string | null = null;
  // runs before the verification, after which the certificate can no longer be read
  socket.prependOnceListener('secure', () => {
    if (socket instanceof TLSSocket) issuer = lastIssuer(socket.getPeerCertificate(true));
  });
  return new Promise((resolve, reject) => {
    const fail = (error: SimError) => {
      clearTimeout(limit);
      signal.removeEventListener('abort', giveUp);
      looking.abort();
      socket.destroy();
      reject(error);
    };
    const giveUp = () => {
      fail(new SimError('PEER_ERROR', 'the attempt to connect was given up'));
    };
    const limit = setTimeout(() => {
      fail(new SimError('PEER_TIMEOUT', `no connection to ${name} within ${target.timeoutMs / 1000} s`));
    }, target.timeoutMs);
    const onError = (error: NodeJS.ErrnoException) => {
      const missing = issuer !== null && socketReasons[error.code ?? ''] === foreignAuthority ? `: ${issuer}` : '';
      const text = `cannot connect to ${name}: ${socketErrorText(error)}${missing}`;
      fail(shortageOf(error) ?? new ConnectError(text, error.code ?? null));
    };
    const onClose = () => {
      fail(new SimError('PEER_ERROR', `cannot connect to ${name}: the other end closed the connection`));
    };
    signal.addEventListener('abort', giveUp, { once: true });
    socket.on('error', onError);
    socket.once('close', onClose);
    socket.once(target.tls === undefined ? 'connect' : 'secureConnect', () => {
      clearTimeout(limit);
      signal.removeEventListener('abort', giveUp);
      socket.off('close', onClose);
      socket.setKeepAlive(true, keepAliveMs);
      socket.setNoDelay(true);
      // `onError` stays: an error before the user of the socket listens must not end the process
      resolve(socket);
    });
    if (signal.aborted) giveUp();
  });
}

/** Maximum number of certificates of a chain that are read. */
const maxChain = 10;
/** characters of the name of an issuer */
const maxNameLength = 200;

/** The issuer that the last certificate of a chain names; null: it names none. */
function lastIssuer(leaf: DetailedPeerCertificate): string | null {
  let certificate = leaf;
  for (let length = 1; length < maxChain; length += 1) {
    const issuer = certificate.issuerCertificate as DetailedPeerCertificate | undefined;
    if (issuer === undefined || issuer === certificate) break;
    certificate = issuer;
  }
  const parts = Object.entries((certificate.issuer as typeof certificate.issuer | undefined) ?? {});
  const text = parts.map(([name, value]) => `${name}=${[value ?? []].flat().join('+')}`).join(', ');
  return text === '' ? null : text.slice(0, maxNameLength);
}

const foreignAuthority =
  'its certificate descends from an authority that was not given, or it leaves an intermediate certificate out';
const noSuite = 'it refuses every cipher suite and TLS version that is offered, or the certificate of this end';
const oldVersion = 'it accepts none of the TLS versions that are offered';
const notAccepted = 'it does not accept the certificate of this end';

const socketReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the other end reset the connection',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be resolved now',
  ETIMEOUT: 'no name server answers, so that the address of the host is not known',
  ETIMEDOUT: 'the host does not answer',
  EADDRNOTAVAIL: 'the address cannot be used',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed and not the one given',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate descends from an authority that was not given',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: foreignAuthority,
  UNABLE_TO_GET_ISSUER_CERT: foreignAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: foreignAuthority,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  INVALID_PURPOSE: 'its certificate is not one for servers',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS, or no version of it that is in use',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is not of this host',
  ERR_SSL_UNSUPPORTED_PROTOCOL: oldVersion,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: oldVersion,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: noSuite,
  // the name since OpenSSL 3.2
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': noSuite,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: notAccepted,
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: notAccepted,
  'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE': notAccepted,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'it requires a certificate of this end',
};

/** The error of a socket in words. OpenSSL gives a short `reason` beside a message full of internals. */
export function socketErrorText(error: NodeJS.ErrnoException & { readonly reason?: unknown }): string {
  const reason = socketReasons[error.code ?? ''];
  return reason ?? (typeof error.reason === 'string' ? error.reason : error.message);
}
