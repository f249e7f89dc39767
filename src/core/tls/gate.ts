/** TLS with client certificates around the connections of any number of listeners, and the handshakes under way. */
import { createServer } from 'node:tls';
import type { Server, TLSSocket } from 'node:tls';
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TlsMaterial } from './material.ts';
import type { Logger } from '../log/log.ts';
import { peerOf } from '../net/listen.ts';
import type { Swept, Sweeper } from '../net/sweeper.ts';
import type { WallClock } from '../time/clock.ts';

/** Callbacks for the end of a handshake; exactly one of the two is called, once. */
interface HandshakeEnd<Identity> {
  secured(socket: TLSSocket, identity: Identity): void;
  /**
   * The connection is closed already.
   * @param reason in words, about the peer
   * @param isRefused true: its certificate was refused, whatever the CAs that this server knows
   */
  failed(reason: string, isRefused: boolean): void;
}

export interface TlsGateOptions<Identity> {
  /** The identity of a client by its certificate (DER), for example its role. Never throws. */
  readonly identify: (certificate: Buffer) => Identity;
  /** the setting that names the root certificates, for messages */
  readonly rootCertName: string;
}

interface Pending<Identity> {
  readonly end: HandshakeEnd<Identity>;
  secured: boolean;
  reason: Reason | undefined;
}

/** Reason for the failure of a handshake. */
interface Reason {
  readonly text: string;
  readonly isRefused: boolean;
}

/**
 * One TLS server without a port of its own: listeners hand their connections over. So they share one context, however
 * many ports there are, and a listener that is off costs nothing.
 */
export class TlsGate<Identity> {
  readonly #server: Server;
  readonly #options: TlsGateOptions<Identity>;
  readonly #pending = new Map<string, Pending<Identity>>();
  /** the handshake whose connection is just being closed */
  #closing: Pending<Identity> | undefined;
  /** reason for the failure of a connection without an address, until its `close` */
  #unclaimedReason: Reason | undefined;

  constructor(material: TlsMaterial, options: TlsGateOptions<Identity>) {
    this.#options = options;
    this.#server = createServer(
      {
        ...material.context,
        ...sessionOptions(),
        requestCert: true,
        rejectUnauthorized: true,
      },
      (socket) => {
        this.#secured(socket);
      },
    );
    this.#server.on('tlsClientError', (error, socket) => {
      this.#noteReason(error, socket);
    });
  }

  /** For handshakes from now on; open sessions stay as they are. */
  replace(material: TlsMaterial): void {
    this.#server.setSecureContext({ ...material.context, ...sessionOptions() });
  }

  /** Begins the handshake on an accepted connection. To give it up, destroy the socket. */
  admit(socket: Socket, end: HandshakeEnd<Identity>): void {
    const key = keyOf(socket);
    const pending: Pending<Identity> = { end, secured: false, reason: undefined };
    // the TLS layer adds its listener later, and an `error` without listener would end the process; `close` follows it
    socket.on('error', ignore);
    socket.once('close', () => {
      if (pending.secured) return;
      // the same pair of ports may be in use again
      if (key !== undefined && this.#pending.get(key) === pending) this.#pending.delete(key);
      this.#lost(pending);
    });
    if (key === undefined) {
      socket.destroy();
      return;
    }
    this.#pending.set(key, pending);
    this.#server.emit('connection', socket);
  }

  #secured(socket: TLSSocket): void {
    const key = keyOf(socket);
    const pending = key === undefined ? undefined : this.#pending.get(key);
    // Node leaves a session open after a record that cannot be decrypted
    socket.on('error', () => {
      socket.destroy();
    });
    const certificate = socket.getPeerX509Certificate();
    if (key === undefined || pending === undefined || certificate === undefined || !socket.authorized) {
      // the connection ended at this moment
      socket.destroy();
      return;
    }
    this.#pending.delete(key);
    pending.secured = true;
    pending.end.secured(socket, this.#options.identify(certificate.raw));
  }

  /** Stores the reason of a failed handshake, while its connection is still open or within its `close` event. */
  #noteReason(error: Error, socket: TLSSocket): void {
    const key = keyOf(socket);
    const pending = (key === undefined ? undefined : this.#pending.get(key)) ?? this.#closing;
    const reason = reasonOf(error, socket, this.#options.rootCertName);
    if (pending === undefined) this.#unclaimedReason = reason;
    else pending.reason ??= reason;
  }

  #lost(pending: Pending<Identity>): void {
    this.#closing = pending;
    pending.reason ??= this.#unclaimedReason;
    this.#unclaimedReason = undefined;
    // the reason of a refused certificate comes from a `close` listener that runs after this one
    setImmediate(() => {
      if (this.#closing === pending) this.#closing = undefined;
      const { text, isRefused } = pending.reason ?? { text: 'it ended the connection', isRefused: false };
      pending.end.failed(text, isRefused);
    });
  }
}

/**
 * Sessions are not resumed: Node would return the certificate of the first handshake, without a new check of its expiry
 * and of the root certificates. So there are no tickets, and for TLS 1.2 there is no session cache.
 */
const sessionOptions = () => ({ secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION });

/** Key of a connection, equal for its raw and its TLS socket; undefined: the peer has disconnected. */
function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string | undefined {
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  return `${remoteAddress} ${remotePort} ${localAddress ?? ''} ${localPort ?? 0}`;
}

const foreignCa: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
]);

const certificateReasons: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  INVALID_PURPOSE: 'its certificate is not one for clients',
  CERT_SIGNATURE_FAILURE: 'its certificate is not signed by the CA that it names',
  // Node has no name for it: a critical extension that OpenSSL does not know, an issuer that is no CA
  UNSPECIFIED: 'its certificate or that of an issuer breaks a rule of X.509',
};

/** Refusals that do not depend on the clock or the CAs of this server: an expired certificate stays expired. */
const certainRefusals: ReadonlySet<string> = new Set(['CERT_HAS_EXPIRED', 'INVALID_PURPOSE', 'CERT_SIGNATURE_FAILURE']);

const handshakeReasons: Readonly<Record<string, string>> = {
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: 'it has no certificate',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  ERR_SSL_HTTP_REQUEST: 'it speaks HTTP, not TLS',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'its TLS version is too old',
  ERR_SSL_NO_SHARED_CIPHER: 'it offers no cipher suite that is allowed here',
  ERR_SSL_NO_SUITABLE_KEY_SHARE: 'it offers no key exchange on P-256',
  ERR_SSL_WRONG_CURVE: 'the key of its certificate is not on P-256',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'it does not trust the certificate of this server',
  ECONNRESET: 'it ended the connection',
};

function reasonOf(error: Error, { authorizationError }: TLSSocket, rootCertName: string): Reason {
  // the types say error, but the value is an error code
  const refusal = authorizationError as unknown;
  if (typeof refusal === 'string' && foreignCa.has(refusal))
    return { text: `its certificate is not issued by a CA of ${rootCertName}`, isRefused: false };
  if (typeof refusal === 'string')
    return {
      text: certificateReasons[refusal] ?? `its certificate was refused (${refusal})`,
      isRefused: certainRefusals.has(refusal),
    };
  const code = 'code' in error ? String(error.code) : error.name;
  return { text: handshakeReasons[code] ?? code, isRefused: false };
}

function ignore(): void {
  /* `close` follows and cleans up */
}

/** Clock, log and sweeper that the listeners of a group share for their handshakes. */
interface HandshakeContext {
  readonly clock: WallClock;
  readonly log: Pick<Logger, 'info'>;
  readonly sweeper: Pick<Sweeper, 'add' | 'delete'>;
  readonly limits: { readonly handshakeTimeoutMs: number };
  readonly counters: { handshakeFailures: number };
}

/** The part of a listener that its handshakes use. */
export interface HandshakeOwner<Identity> {
  readonly context: HandshakeContext;
  /** device of its lines in the log */
  readonly deviceIndex: number | undefined;
  secured(handshake: Handshake<Identity>, socket: TLSSocket, identity: Identity): void;
  /** @param isRefused as in `HandshakeEnd` */
  failed(handshake: Handshake<Identity>, reason: string, isRefused: boolean): void;
}

/** A connection before its session: it has limited time to show its certificate. */
export class Handshake<Identity> implements Swept, HandshakeEnd<Identity> {
  readonly peer: string;
  /** without port */
  readonly address: string;
  readonly #owner: HandshakeOwner<Identity>;
  readonly #socket: Socket;
  readonly #sinceMs: number;
  /** reason for giving it up; null: given up without being a failure; undefined: not given up */
  #abortReason: string | null | undefined;

  constructor(owner: HandshakeOwner<Identity>, socket: Socket) {
    this.#owner = owner;
    this.#socket = socket;
    this.peer = peerOf(socket);
    this.address = socket.remoteAddress ?? '';
    this.#sinceMs = owner.context.clock.monotonicMs();
    owner.context.sweeper.add(this);
  }

  /** One of `secured` and `failed` of the owner follows. */
  begin(gate: TlsGate<Identity>): void {
    gate.admit(this.#socket, this);
  }

  /** Ends the handshake without counting a failure: the listener closes, or a fault takes its slot. */
  abandon(): void {
    this.#end(null);
  }

  /** Ends the handshake in favour of a later one. */
  giveWay(): void {
    this.#end('too many other handshakes were unfinished');
  }

  sweep(): void {
    const { clock, limits } = this.#owner.context;
    if (clock.monotonicMs() - this.#sinceMs >= limits.handshakeTimeoutMs) this.#end('it was not finished in time');
  }

  secured(socket: TLSSocket, identity: Identity): void {
    this.#owner.context.sweeper.delete(this);
    this.#owner.secured(this, socket, identity);
  }

  failed(reason: string, isRefused: boolean): void {
    const {
      context: { counters, log, sweeper },
      deviceIndex,
    } = this.#owner;
    sweeper.delete(this);
    if (this.#abortReason !== null) {
      counters.handshakeFailures += 1;
      log.info(`${this.peer}: no TLS session: ${this.#abortReason ?? reason}`, deviceIndex);
    }
    this.#owner.failed(this, this.#abortReason ?? reason, isRefused);
  }

  #end(reason: string | null): void {
    if (this.#abortReason === undefined) this.#abortReason = reason;
    this.#socket.destroy();
  }
}
