/** One address of the HTTP interface: its listener, its connections and their limits. */
import { createServer, IncomingMessage } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { limitUnread, newestAnswer, ConnectionCap, UnreadAnswers } from '../../core/http/connections.ts';
import { closeAnswered, createProblem, refuseOnSocket } from '../../core/http/problem.ts';
import type { ProblemCode } from '../../core/http/problem.ts';
import { LimitedLog } from '../../core/log/limited-log.ts';
import type { Logger } from '../../core/log/log.ts';
import { KeptPorts } from '../../core/net/kept-ports.ts';
import type { KeptPort } from '../../core/net/kept-ports.ts';
import { listen, peerOf, withRemedy } from '../../core/net/listen.ts';
import { callLater } from '../../core/time/timers.ts';
import type { ApiConfig, ApiContext, ApiLimits } from './context.ts';
import { servedMethods } from './admission.ts';
import { sendProblem } from './reply.ts';

const parseProblems: Readonly<Record<string, { code: ProblemCode; detail: string }>> = {
  HPE_HEADER_OVERFLOW: {
    code: 'headers-too-large',
    detail: 'The headers, the address included, are larger than 16 KiB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request-timeout', detail: 'The request was not complete in time.' },
};

/**
 * Requests that the parser refuses never reach the application: the answer is written to the socket after all pending
 * answers. An error in the body of a request is reported in the answer of that request.
 */
function onClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { code, detail } = parseProblems[error.code ?? ''] ?? {
    code: 'malformed-request' as const,
    detail: 'The bytes received are not an HTTP/1.1 request.',
  };
  const last = newestAnswer(socket);
  if (last === undefined || last.req.complete)
    refuseOnSocket(socket, createProblem(code, detail, { instance: '', id: crypto.randomUUID() }));
  else if (last.headersSent) closeAnswered(socket);
  else sendProblem(last, { code, detail, close: true });
}

function onConnect(request: IncomingMessage, socket: Duplex): void {
  const detail = 'CONNECT is not possible here.';
  const instance = request.url ?? '';
  refuseOnSocket(socket, createProblem('method-not-allowed', detail, { instance, id: crypto.randomUUID() }), {
    Allow: servedMethods,
  });
}

/**
 * A request whose `Upgrade` counts only when it offers WebSocket. A server may ignore an offer (RFC 9110 7.8), and
 * clients that offer HTTP/2 with every request continue in HTTP/1.1; but as soon as a listener for upgrades exists,
 * Node 20 takes every such connection away from HTTP. Node's parser writes `upgrade`, its server reads it.
 */
class StreamOffer extends IncomingMessage {
  /** not a private field: the constructor of the base class writes it already */
  declare offersUpgrade: boolean;

  get upgrade(): boolean {
    return this.offersUpgrade && (this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() === 'websocket');
  }

  set upgrade(offered: boolean | null) {
    this.offersUpgrade = offered === true;
  }
}

function createHttpServer(limits: ApiLimits, listener: RequestListener, unread: UnreadAnswers): Server {
  const server = createServer(
    {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
      IncomingMessage: StreamOffer,
      // a missing Host is answered with a problem body like any other
      requireHostHeader: false,
    },
    listener,
  );
  // a maximum would drop headers, possibly Origin; `maxHeaderSize` bounds their bytes
  server.maxHeadersCount = 0;
  server.on('connection', (socket) => {
    limitUnread(socket, limits.unreadTimeoutMs, unread);
  });
  server.on('clientError', onClientError);
  server.on('connect', onConnect);
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  return server;
}

/** The part of the context that listeners need. */
export interface FrontContext extends Pick<ApiContext, 'clock' | 'logBook' | 'later'> {
  readonly config: Pick<ApiConfig, 'limits'>;
}

/** Watches the answers of all listeners of an interface. */
export function createUnread({ config: { limits }, clock, logBook }: FrontContext): UnreadAnswers {
  return new UnreadAnswers({
    limits: {
      totalBytes: limits.maxUnreadBytes,
      minBytesPerS: limits.minReadBytesPerS,
      windowMs: limits.unreadTimeoutMs,
    },
    clock,
    log: new LimitedLog(logBook.logger('Lab'), clock, 'clients that do not read their answers'),
  });
}

function createConnectionCap({ config, clock }: FrontContext, unread: UnreadAnswers, log: Logger): ConnectionCap {
  const { limits } = config;
  return new ConnectionCap({
    get max() {
      return limits.maxConnections;
    },
    unread,
    monotonicMs: () => clock.monotonicMs(),
    onGaveWay(socket, waitedMs) {
      const waited = (waitedMs / 1000).toFixed(1);
      log.info(
        `${peerOf(socket)} closed: it sent no request for ${waited} s and all ${limits.maxConnections} HTTP connections are taken`,
      );
    },
  });
}

export interface FrontOptions {
  readonly host: string;
  /** 0 = any free port */
  readonly port: number;
  /** begins the messages about this address */
  readonly name: string;
  /** setting of the port, for the remedy of a failure to listen */
  readonly flag: string;
  /** meaning of port 0 in that setting; default: any free port */
  readonly zero?: string;
}

/** An address at which requests are answered. */
export interface Front {
  readonly server: Server;
  /** @throws SimError LISTEN_FAILED */
  start(): Promise<{ readonly host: string; readonly port: number }>;
  /** Closes listener and connections; pending answers may finish within the configured limit. */
  stop(): Promise<void>;
}

/**
 * The loop accepts a connection in one turn and reads its request in the next. Node.js 26 closes connections without a
 * request when the server closes, which would reset those whose request has arrived unread.
 */
const turnsToRead = 2;

async function turnsOfLoop(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}

export function createFront(
  context: FrontContext,
  { host, port: wantedPort, name, flag, zero }: FrontOptions,
  listener: RequestListener,
  unread: UnreadAnswers,
): Front {
  const {
    clock,
    logBook,
    later = callLater,
    config: { limits },
  } = context;
  const log = new LimitedLog(logBook.logger('Lab'), clock, `${name} connections`);
  const ports = new KeptPorts({ name, log, clock, later });
  let kept: KeptPort | null = null;
  const connections = createConnectionCap(context, unread, log);
  const answered: RequestListener = (request, response) => {
    connections.requestBegan(request.socket);
    listener(request, response);
  };
  const server = createHttpServer(limits, answered, unread);
  server.on('connection', (socket) => {
    connections.admit(socket);
  });
  let stopped: Promise<void> | null = null;

  async function close(): Promise<void> {
    if (kept === null) return;
    void kept.release();
    await turnsOfLoop(turnsToRead);
    await new Promise<void>((resolve) => {
      const deadline = setTimeout(() => {
        for (const socket of connections.open) socket.destroy();
      }, limits.stopTimeoutMs);
      server.close(() => {
        clearTimeout(deadline);
        resolve();
      });
      server.closeIdleConnections();
    });
  }

  return {
    server,
    async start() {
      const { address, port } = await listen(server, host, wantedPort, name).catch((error: unknown) => {
        throw withRemedy(error, flag, zero);
      });
      kept = ports.keep(server, { host, port });
      return { host: address, port };
    },
    stop() {
      stopped ??= close().then(() => {
        log.flush();
      });
      return stopped;
    },
  };
}
