/**
 * The listener for notifications (IEEE 2030.5 subscription/notification): a separate server, over TLS with the
 * certificates of the client unless plain HTTP is configured. It takes POSTs of Notification at its registered paths,
 * and limits the connections, times and body sizes of peers.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import type { Server as NetServer, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { errorText, SimError } from '../../core/errors.ts';
import { createHttpGuard } from '../../core/http/http-guard.ts';
import type { HttpGuard } from '../../core/http/http-guard.ts';
import type { Logger } from '../../core/log/log.ts';
import { KeptPorts } from '../../core/net/kept-ports.ts';
import type { KeptPort } from '../../core/net/kept-ports.ts';
import { hostAndPort, listen, peerOf } from '../../core/net/listen.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { TlsGate } from '../../core/tls/gate.ts';
import type { Received, ReceivedDocument } from '../xml/schema.ts';
import type { Notification } from '../xml/documents.ts';

interface ConnectionLimits {
  readonly connections: number;
  /** of them, of one address */
  readonly ofOnePeer: number;
  readonly handshakeMs: number;
  readonly requestMs: number;
}

interface OpenConnection {
  readonly socket: Socket;
  readonly key: string;
  /** undefined: it has gone already */
  readonly peer: string | undefined;
  stage: 'handshake' | 'waiting' | 'request';
  /** monotonic ms */
  sinceMs: number;
  endWait: () => void;
}

/** Key of a connection and of the TLS session on it: address and port of the peer. */
const keyOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`;

/** The connections of the listener: their maximum and their timeouts. */
class ListenerConnections {
  readonly #limits: ConnectionLimits;
  readonly #clock: WallClock;
  readonly #later: Later;
  readonly #open = new Map<string, OpenConnection>();

  constructor(limits: ConnectionLimits, clock: WallClock, later: Later) {
    this.#limits = limits;
    this.#clock = clock;
    this.#later = later;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Adds a connection and starts the timeout of its handshake. @returns false: no room, the connection is closed */
  admit(socket: Socket): boolean {
    socket.on('error', () => socket.destroy());
    const all = [...this.#open.values()];
    const ofPeer = all.filter((each) => each.peer === socket.remoteAddress);
    const hasRoom =
      ofPeer.length >= this.#limits.ofOnePeer
        ? this.#makeRoom(ofPeer)
        : all.length < this.#limits.connections || this.#makeRoom(all);
    if (!hasRoom) {
      socket.destroy();
      return false;
    }
    const key = keyOf(socket);
    const endWait = this.#later(this.#limits.handshakeMs, () => socket.destroy());
    const connection: OpenConnection = {
      socket,
      key,
      peer: socket.remoteAddress,
      stage: 'handshake',
      sinceMs: this.#clock.monotonicMs(),
      endWait,
    };
    this.#open.set(key, connection);
    socket.once('close', () => {
      connection.endWait();
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
    return true;
  }

  /** Starts the timeout of the next request. @param socket connection, or TLS session on it */
  awaitRequest(socket: Socket): void {
    const connection = this.#open.get(keyOf(socket));
    if (connection === undefined) return;
    connection.endWait();
    connection.stage = 'waiting';
    connection.sinceMs = this.#clock.monotonicMs();
    connection.endWait = this.#later(this.#limits.requestMs, () => connection.socket.destroy());
  }

  /** Marks a connection whose request headers have arrived. */
  requestArrived(socket: Socket): void {
    const connection = this.#open.get(keyOf(socket));
    if (connection !== undefined) connection.stage = 'request';
  }

  closeAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  /** Closes the oldest connection in its TLS handshake, else the one idle for longest; none with a request under way. */
  #makeRoom(among: readonly OpenConnection[]): boolean {
    const [idle] = among
      .filter(({ stage }) => stage !== 'request')
      .sort((a, b) => Number(b.stage === 'handshake') - Number(a.stage === 'handshake') || a.sinceMs - b.sinceMs);
    if (idle === undefined) return false;
    this.#open.delete(idle.key);
    idle.socket.destroy();
    return true;
  }
}

interface NotificationLimits {
  readonly connections: number;
  readonly ofOnePeer: number;
  readonly bodyBytes: number;
  readonly handshakeMs: number;
  /** from the handshake, or the last answer, to the end of the next request */
  readonly requestMs: number;
}

const notificationLimits: NotificationLimits = {
  connections: 16,
  ofOnePeer: 4,
  bodyBytes: 1024 * 1024,
  handshakeMs: 10_000,
  requestMs: 30_000,
};

export interface NotificationListenerOptions {
  readonly host: string;
  /** 0: any free port */
  readonly port: number;
  /** null: plain HTTP */
  readonly gate: TlsGate<unknown> | null;
  /** base URI for the server, before the paths of the listener; null: address and port */
  readonly uri: string | null;
  /** @throws SimError PEER_ERROR for an invalid document */
  readonly parse: (body: Buffer) => ReceivedDocument | Promise<ReceivedDocument>;
  readonly clock: WallClock;
  readonly later: Later;
  readonly log: Pick<Logger, 'info' | 'warning'>;
  readonly limits?: Partial<NotificationLimits>;
  /** called with every answered request, for the record of messages */
  readonly onAnswer?: (answered: AnsweredRequest) => void;
}

/** A request and its answer, which has no body. */
export interface AnsweredRequest {
  readonly peer: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** null: refused before its body was read */
  readonly body: Buffer | null;
  readonly status: number;
  readonly durationMs: number;
}

export interface ReceivedNotification {
  /** with what departs from its schema */
  readonly document: ReceivedDocument;
  readonly notification: Received<Notification>;
  readonly peer: string;
}

/** Receives the notifications of one path. */
export type NotificationTaker = (received: ReceivedNotification) => void;

/** First in lines about the port. */
const listenerName = 'CSIP notifications';

/** Path before the ids of subscriptions. */
const pathPrefix = '/notify/';

interface Verdict {
  readonly status: number;
  readonly body: Buffer | null;
}

export class NotificationListener {
  readonly #options: NotificationListenerOptions;
  readonly #limits: NotificationLimits;
  readonly #takers = new Map<string, NotificationTaker>();
  readonly #http: Server;
  readonly #net: NetServer;
  readonly #connections: ListenerConnections;
  readonly #ports: KeptPorts;
  #kept: KeptPort | null = null;
  #guard: HttpGuard | null = null;
  #base = '';
  /** ends with the last document that is being read */
  #reading: Promise<unknown> = Promise.resolve();

  constructor(options: NotificationListenerOptions) {
    this.#options = options;
    this.#limits = { ...notificationLimits, ...options.limits };
    // a server without its own port does not enforce its timeouts: `connections` does
    this.#http = createServer(
      { maxHeaderSize: 16 * 1024, headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 },
      (request, response) => {
        this.#serve(request, response).catch((error: unknown) => {
          options.log.warning(`${peerOf(request.socket)}: a notification failed: ${errorText(error)}`);
          request.socket.destroy();
        });
      },
    );
    this.#connections = new ListenerConnections(this.#limits, options.clock, options.later);
    this.#net = createNetServer((socket) => this.#admit(socket));
    const { log, clock, later } = options;
    this.#ports = new KeptPorts({ name: listenerName, log, clock, later });
  }

  /** Why notifications cannot be received at present, in words; null: the port is bound. */
  get trouble(): string | null {
    return this.#ports.trouble.detail ?? null;
  }

  /** @throws SimError LISTEN_FAILED */
  async open(): Promise<void> {
    const { host, port, uri, gate } = this.#options;
    const bound = await listen(this.#net, host, port, listenerName);
    this.#kept = this.#ports.keep(this.#net, { host, port: bound.port });
    const scheme = gate === null ? 'http' : 'https';
    this.#base = (uri ?? `${scheme}://${hostAndPort(host, bound.port)}`).replace(/\/+$/, '');
    this.#guard = createHttpGuard({ host, allowedHosts: [new URL(this.#base).hostname], corsOrigins: [] });
  }

  /** Base URI of the notification paths, for the server. */
  get base(): string {
    return this.#base;
  }

  /** Port in use; null: not listening. */
  get port(): number | null {
    const address = this.#net.address();
    return address === null || typeof address === 'string' ? null : address.port;
  }

  get openConnections(): number {
    return this.#connections.size;
  }

  /** The notificationURI of an id, which must be one path segment. */
  uriOf(id: string): string {
    return `${this.#base}${pathPrefix}${id}`;
  }

  /** Registers the taker of an id; other ids are answered 404. @returns removes the taker */
  take(id: string, taker: NotificationTaker): () => void {
    this.#takers.set(id, taker);
    return () => {
      if (this.#takers.get(id) === taker) this.#takers.delete(id);
    };
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    this.#takers.clear();
    await this.#kept?.release();
    const ended = new Promise<void>((resolve) => {
      this.#net.close(() => resolve());
    });
    this.#connections.closeAll();
    await ended;
  }

  #admit(socket: Socket): void {
    const { gate, log } = this.#options;
    if (!this.#connections.admit(socket)) return;
    if (gate === null) {
      this.#ready(socket);
      return;
    }
    const peer = peerOf(socket);
    gate.admit(socket, {
      secured: (secure) => this.#ready(secure),
      failed: (reason) => log.info(`${peer}: no TLS session for notifications: ${reason}`),
    });
  }

  /** @param socket the TLS session where there is one */
  #ready(socket: Socket): void {
    this.#connections.awaitRequest(socket);
    this.#http.emit('connection', socket);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock, log, onAnswer } = this.#options;
    const startMs = clock.monotonicMs();
    const peer = peerOf(request.socket);
    this.#connections.requestArrived(request.socket);
    let verdict: Verdict;
    try {
      verdict = await this.#judge(request, peer);
    } catch (error) {
      // the peer has closed the connection
      log.info(`${peer}: a notification broke off: ${errorText(error)}`);
      request.socket.destroy();
      return;
    }
    this.#connections.awaitRequest(request.socket);
    const { status, body } = verdict;
    const { method = '', url = '', headers } = request;
    if (status === 405) response.setHeader('Allow', 'POST');
    // the unread rest of a body would be taken for the next request
    if (body === null) response.setHeader('Connection', 'close');
    response.writeHead(status).end();
    const joinedHeaders = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
    );
    onAnswer?.({ peer, method, url, headers: joinedHeaders, body, status, durationMs: clock.monotonicMs() - startMs });
  }

  async #judge(request: IncomingMessage, peer: string): Promise<Verdict> {
    const taker = this.#takerOf(request);
    const refusal = this.#refusal(request, taker);
    if (refusal !== null) return { status: refusal, body: null };
    const body = await this.#bodyOf(request);
    if (body === null) return { status: 413, body };
    try {
      const document = await this.#inTurn(() => this.#options.parse(body));
      if (document.name !== 'Notification') throw new SimError('PEER_ERROR', `it is a ${document.name}`);
      // the subscription may have ended while the body was being read
      if (taker === undefined || this.#takerOf(request) !== taker) return { status: 404, body };
      taker({ document, notification: document.value, peer });
      return { status: 204, body };
    } catch (error) {
      this.#options.log.warning(`${peer}: a notification cannot be used: ${errorText(error)}`);
      return { status: error instanceof SimError && error.code === 'PEER_ERROR' ? 400 : 500, body };
    }
  }

  /** Reads one document in each turn of the event loop. */
  #inTurn<T>(read: () => T | Promise<T>): Promise<T> {
    const turn = this.#reading.then(() => setImmediate()).then(read);
    this.#reading = turn.catch(() => undefined);
    return turn;
  }

  #takerOf({ url = '' }: IncomingMessage): NotificationTaker | undefined {
    const [path = ''] = url.split('?');
    const fullPrefix = new URL(this.#base).pathname.replace(/\/$/, '') + pathPrefix;
    // a reverse proxy may have removed the path of the base
    const start = [fullPrefix, pathPrefix].find((prefix) => path.startsWith(prefix));
    return start === undefined ? undefined : this.#takers.get(path.slice(start.length));
  }

  /** Status of a refusal that does not depend on the body. null: no refusal. */
  #refusal(request: IncomingMessage, taker: NotificationTaker | undefined): number | null {
    const { method, headers } = request;
    if (this.#guard === null || this.#guard.checkHost(request) !== null) return 421;
    // servers of 2030.5 are no browser pages
    if (headers.origin !== undefined || this.#guard.checkOrigin(request) !== null) return 403;
    if (taker === undefined) return 404;
    if (method !== 'POST') return 405;
    const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
    if (!/^(application|text)\/([\w.-]+\+)?xml$/.test(type)) return 415;
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') return 415;
    return Number(headers['content-length'] ?? 0) > this.#limits.bodyBytes ? 413 : null;
  }

  /** null: too long. @throws when the peer aborts */
  async #bodyOf(request: IncomingMessage): Promise<Buffer | null> {
    const pieces: Buffer[] = [];
    let length = 0;
    // a body that is too long still gets an answer, so the connection must stay open
    for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > this.#limits.bodyBytes) return null;
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }
}
