/**
 * One WebSocket connection to a central system. `ocpp-rpc` opens it; frames are read here, since the library would answer
 * them with error codes of no version.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { checkServerIdentity } from 'node:tls';
import type { PeerCertificate, SecureContext } from 'node:tls';
import rpcClientModule from 'ocpp-rpc/lib/client.js';
import type { WebSocket } from 'ws';
import type { OcppSubprotocol } from '../../contract/ocpp.ts';
import { socketErrorText } from '../../core/net/connect.ts';
import { controlCounter, maxControlFrames } from '../../core/net/control-frames.ts';
import { guardedLookup, isRefusedTarget, openLookup, refusedTargetText } from '../../core/net/outbound.ts';
import type { NameSources } from '../../core/net/outbound.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { clientTlsOptions, negotiatedBy } from '../../core/tls/client-context.ts';
import type { Negotiated } from '../../core/tls/client-context.ts';
import { parseFrame, Inbox } from './frames.ts';
import type { Frame } from './frames.ts';

// The name in the certificate of a central system, where wildcards are not permitted (AllowCSMSTLSWildcards of 2.x).

/** Takes its place among the codes of OpenSSL for certificates that are not accepted. */
const code = 'CERT_WILDCARD';

/** For `checkServerIdentity`. @returns why no name without a wildcard fits the host; undefined: one does */
export function checkIdentityWithoutWildcards(host: string, certificate: PeerCertificate): Error | undefined {
  const issue = checkServerIdentity(host, certificate);
  if (issue !== undefined) return issue;
  const { subject, subjectaltname } = certificate;
  const names = subjectaltname?.split(', ').filter((name) => !name.includes('*'));
  // the common name counts only where there are no other names
  const isBareName = names === undefined && !String(subject.CN).includes('*');
  const bare = {
    ...certificate,
    ...(!isBareName && { subject: { ...subject, CN: '' } }),
    ...(names !== undefined && { subjectaltname: names.join(', ') }),
  };
  if (checkServerIdentity(host, bare) === undefined) return undefined;
  return Object.assign(new Error('the certificate names the host only by a wildcard'), {
    code,
    reason: 'its certificate names the host only by a wildcard, which is not permitted',
  });
}

// Why a connection could not be opened, for people and for what follows from it.

/**
 * `certificate`: the certificate of the central system is not accepted (security event
 * InvalidCentralSystemCertificate); `tls_version`, `cipher_suite`: both ends have none in common (InvalidTLSVersion,
 * InvalidTLSCipherSuite); `rejected`: HTTP status; `no_version`: it has chosen no subprotocol that was offered; `material`: the own
 * certificates or the address cannot be used, or no connection is made to such an address.
 */
type FailureKind =
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
  /** of `no_version`: the subprotocol that the central system has chosen without an offer; absent: none */
  readonly chosen?: string;
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

/** Choice of a subprotocol in a handshake. */
interface SubprotocolChoice {
  readonly offered: readonly OcppSubprotocol[];
  /** as the central system has sent it; null: it has chosen none */
  readonly chosen: string | null;
}

/** Characters of a chosen subprotocol that a message repeats. */
const maxChoiceShown = 40;

function choiceText({ offered, chosen }: SubprotocolChoice): string {
  const list = offered.join(', ');
  if (chosen === null) return `the central system has chosen no version of OCPP, offered: ${list}`;
  const shown = chosen.replace(/[^!-~]+/g, ' ').slice(0, maxChoiceShown);
  return `the central system has chosen ${shown}, which is none of the versions offered: ${list}`;
}

type SocketError = Error & { readonly code?: unknown; readonly reason?: unknown };

/** Text of Node in the message of EPROTO, where a write meets the failure of the handshake. */
const openSslWords = /:error:[0-9A-F]+:SSL routines:[^:]*:([^:]+):/i;

/** The same failure has the same code, whether a read or a write has met it. */
function withOpenSslCode(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  const [, reason] = error.code === 'EPROTO' ? (openSslWords.exec(error.message) ?? []) : [];
  if (reason === undefined) return error;
  const code = `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}`;
  return Object.assign(new Error(reason), { code });
}

/** @param thrown end of the attempt: an error of a socket, of `ws`, or with an HTTP status as its code */
export function failureOf(thrown: unknown, choice: SubprotocolChoice = { offered: [], chosen: null }): ConnectFailure {
  const socketError: SocketError = thrown instanceof Error ? thrown : new Error('the connection could not be opened');
  if (typeof socketError.code === 'number') {
    const words = statusWords[socketError.code];
    return {
      kind: 'rejected',
      status: socketError.code,
      text: `the central system answered with status ${socketError.code}${words === undefined ? '' : `: ${words}`}`,
    };
  }
  if (noSubprotocol.test(socketError.message))
    return {
      kind: 'no_version',
      status: null,
      text: choiceText(choice),
      ...(choice.chosen !== null && { chosen: choice.chosen }),
    };
  const error = withOpenSslCode(socketError as NodeJS.ErrnoException);
  return { kind: kindOf(error.code ?? ''), status: null, text: `no connection: ${socketErrorText(error)}` };
}

interface SocketOptions {
  /** without identity; `ws:` or `wss:` decides about TLS */
  readonly url: URL;
  readonly identity: string;
  readonly subprotocols: readonly OcppSubprotocol[];
  /** octets of basic authentication; null: none */
  readonly password: Buffer | null;
  /** for `wss:` */
  readonly context: SecureContext | null;
  /** the target was set over REST: outbound rules apply */
  readonly guarded: boolean;
  /** true: a certificate of the central system may name its host by a wildcard */
  readonly wildcards: boolean;
  readonly later: Later;
  readonly clock: Pick<WallClock, 'monotonicMs'>;
  /** an attempt that takes longer is given up */
  readonly openTimeoutMs: number;
  /** true: a ping of the central system is answered now */
  readonly pongs: () => boolean;
  /** where host names are looked up; default the system's */
  readonly names?: NameSources;
}

export interface SocketOpened {
  readonly subprotocol: OcppSubprotocol;
  /** null: in clear */
  readonly tls: Negotiated | null;
  /** header `server` of the response; null: none */
  readonly server: string | null;
}

/** How a connection ended. */
export interface SocketEnd {
  /** close code; null: it never opened */
  readonly code: number | null;
  readonly reason: string;
  /** why it did not open; null: it did */
  readonly failure: ConnectFailure | null;
}

interface SocketEvents {
  opened(facts: SocketOpened): void;
  frame(frame: Frame, text: string): void;
  pong(): void;
  /** The central system sends more pings and pongs than any has a reason for; nothing of it is read any more. */
  flooded(): void;
  /** Once, last. */
  ended(end: SocketEnd): void;
}

export interface Socket {
  /** @returns false: the connection is not open, nothing was sent */
  send(text: string): boolean;
  ping(): void;
  /** The closing handshake is given up after 2 s. @param code one that may be sent, else 1000 is */
  close(code: number, reason: string): void;
  /** Ends it without a close frame. */
  terminate(): void;
}

/** Octets of one frame; the longest message, a SendLocalList of 1000 entries, takes fewer. */
const maxPayload = 256 * 1024;
/** Octets that may wait for a central system that does not read. */
const maxUnsent = 4 * 1024 * 1024;
/** Octets that may wait when a ping is answered: a central system that pings and does not read gets no more pongs. */
const maxUnsentBeforePong = 16 * 1024;
const closeTimeoutMs = 2000;
/** RFC 6455 5.5.1: octets of a reason. */
const maxReason = 120;

/** The part of the library that is used or replaced; its own types require every option and have no inner parts. */
interface RpcClient {
  connect(): Promise<unknown>;
  sendRaw(text: string): void;
  _onMessage(data: Buffer): void;
  on(name: 'open', listener: (event: { readonly response: IncomingMessage }) => void): unknown;
}

const RpcClient = rpcClientModule as unknown as new (options: Readonly<Record<string, unknown>>) => RpcClient;

/** Hands messages over as they arrive. */
class FramingClient extends RpcClient {
  onData: (data: Buffer) => void = () => undefined;

  override _onMessage(data: Buffer): void {
    this.onData(data);
  }
}

const serverOf = ({ headers: { server } }: IncomingMessage) => (typeof server === 'string' ? server : null);

const sendable = (code: number) =>
  (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || (code >= 3000 && code <= 4999);

/** Begins to connect; events follow, never within this call. */
// the state of one connection, shared by what happens to it
export function openSocket(options: SocketOptions, events: SocketEvents): Socket {
  const { url, later, identity } = options;
  const looking = new AbortController();
  const lookup: LookupFunction = (options.guarded ? guardedLookup : openLookup)(looking.signal, options.names);
  let webSocket: WebSocket | null = null;
  let wire: Duplex | null = null;
  let isCorked = false;
  let state: 'opening' | 'open' | 'ended' = 'opening';
  let error = '';
  let chosen: string | null = null;
  let timedOut = false;
  let isClosing = false;
  let endTimer = later(options.openTimeoutMs, () => {
    timedOut = true;
    webSocket?.terminate();
  });

  const ended = (end: SocketEnd) => {
    if (state === 'ended') return;
    state = 'ended';
    endTimer();
    looking.abort();
    events.ended(end);
  };
  const failed = (thrown: unknown) => {
    const failure: ConnectFailure = timedOut
      ? { kind: 'timeout', status: null, text: `no connection within ${options.openTimeoutMs / 1000} s` }
      : failureOf(thrown, { offered: options.subprotocols, chosen });
    ended({ code: null, reason: failure.text, failure });
  };

  const client = new FramingClient({
    endpoint: `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`,
    ...(url.search !== '' && { query: url.search.slice(1) }),
    identity,
    protocols: options.subprotocols,
    password: options.password,
    reconnect: false,
    pingIntervalMs: 0,
    strictMode: false,
    wsOpts: {
      maxPayload,
      // contexts of zlib take more memory than the rest of a station
      perMessageDeflate: false,
      followRedirects: false,
      autoPong: false,
      lookup,
      noDelay: true,
      headers: {},
      ...(options.context !== null && clientTlsOptions({ context: options.context, checkHostname: true })),
      ...(!options.wildcards && { checkServerIdentity: checkIdentityWithoutWildcards }),
      finishRequest: (request: ClientRequest, opening: WebSocket) => {
        webSocket = opening;
        watch(opening);
        opening.once('upgrade', ({ headers }: IncomingMessage) => {
          chosen = headers['sec-websocket-protocol'] ?? null;
        });
        request.end();
      },
    },
  });
  const countControl = controlCounter(options.clock);
  const watch = (opening: WebSocket) => {
    /** Counts a control frame. @returns false: there were too many, and it is ignored */
    const heeds = () => {
      const count = countControl();
      if (count === maxControlFrames + 1 && state === 'open') {
        events.flooded();
        opening.pause();
      }
      return count <= maxControlFrames;
    };
    opening.on('error', (raised: Error) => {
      error = raised.message;
    });
    opening.on('ping', (data: Buffer) => {
      if (!heeds() || opening.readyState !== opening.OPEN || opening.bufferedAmount > maxUnsentBeforePong) return;
      if (options.pongs()) opening.pong(data);
    });
    opening.on('pong', () => {
      if (heeds()) events.pong();
    });
    opening.once('close', (code: number, reason: Buffer) => {
      if (state !== 'open') return;
      // frames before the end were sent before it
      inbox.whenEmpty(() => {
        ended({ code, reason: reason.toString() || error, failure: null });
      });
    });
  };
  client.on('open', ({ response }) => {
    if (state !== 'opening' || webSocket === null) return;
    state = 'open';
    endTimer();
    wire = response.socket;
    events.opened({
      subprotocol: webSocket.protocol as OcppSubprotocol,
      tls: negotiatedBy(response.socket),
      server: serverOf(response),
    });
  });
  const inbox = new Inbox({
    take(data, isEarly) {
      const text = data.toString('utf8');
      const frame = parseFrame(text, webSocket?.protocol as OcppSubprotocol);
      const isCall = frame.kind === 'call';
      if (isCall) inbox.called();
      if (state === 'open') events.frame(isCall && isEarly ? { ...frame, isEarly } : frame, text);
    },
    pause: () => webSocket?.pause(),
    resume: () => webSocket?.resume(),
  });
  client.onData = (data) => {
    inbox.put(data);
  };
  /** Frames of one turn of the event loop leave together at its end: each write costs more than all else of a frame. */
  const gather = () => {
    if (isCorked || wire === null) return;
    isCorked = true;
    wire.cork();
    process.nextTick(() => {
      isCorked = false;
      wire?.uncork();
    });
  };
  const cut = () => {
    inbox.clear();
    webSocket?.terminate();
  };

  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (options.guarded && isIP(host) !== 0 && isRefusedTarget(host))
    queueMicrotask(() => {
      const reason = `${host} ${refusedTargetText}`;
      ended({ code: null, reason, failure: { kind: 'material', status: null, text: reason } });
    });
  else void client.connect().catch(failed);

  return {
    send(text) {
      if (state !== 'open' || webSocket?.readyState !== webSocket?.OPEN) return false;
      gather();
      client.sendRaw(text);
      if ((webSocket?.bufferedAmount ?? 0) > maxUnsent) cut();
      return true;
    },
    ping() {
      if (state === 'open' && webSocket?.readyState === webSocket?.OPEN) webSocket?.ping();
    },
    close(code, reason) {
      if (state === 'ended' || isClosing) return;
      isClosing = true;
      if (state === 'opening') {
        webSocket?.terminate();
        return;
      }
      webSocket?.close(sendable(code) ? code : 1000, Buffer.from(reason).subarray(0, maxReason).toString());
      endTimer();
      endTimer = later(closeTimeoutMs, cut);
    },
    terminate: cut,
  };
}
