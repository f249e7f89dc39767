import { createServer, IncomingMessage } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import express from 'express';
import type { NextFunction, Request, Response } from 'express';
import { limitUnread, newestAnswer, trackAnswer } from '../../core/http/answer-order.ts';
import { lazily } from '../../core/lazy.ts';
import { ConnectionCap } from '../../core/http/connection-cap.ts';
import { UnreadAnswers } from '../../core/http/unread-answers.ts';
import { createHttpGuard } from '../../core/http/http-guard.ts';
import { LimitedLog } from '../../core/log/limited-log.ts';
import type { Logger } from '../../core/log/log.ts';
import { listen, peerOf, withRemedy } from '../../core/net/listen.ts';
import { LoopShare } from '../../core/turns.ts';
import { closeAnswered, createProblem, refuseOnSocket } from '../../core/http/problem.ts';
import type { ProblemCode } from '../../core/http/problem.ts';
import type { ApiContext, ApiLimits, RouteContext } from './context.ts';
import { answerError, mountRoutes } from './dispatch.ts';
import { mountDocs } from '../description/docs.ts';
import { createChargePointIds, defaultChargePointId } from '../../contract/charge-point-ids.ts';
import { HoldBook } from '../holds/book.ts';
import { createReplyCache } from './reply-cache.ts';
import { createAdmission, servedMethods } from './admission.ts';
import { describeError } from './errors.ts';
import { createHotReads } from './hot-reads.ts';
import { countAnswers } from '../metrics/answer-counts.ts';
import { Metrics } from '../metrics/metrics.ts';
import type { OpenApiDocument } from '../description/openapi.ts';
import { parseQuery, pathRefusal, RouteTable } from './paths.ts';
import { createPerform, createRequestCheck } from './perform.ts';
import type { CheckRequest, Perform } from './perform.ts';
import { sendBytes, sendProblem } from './reply.ts';
import { RequestLog } from './request-log.ts';
import { apiPrefix } from './route.ts';
import type { Route } from './route.ts';
import { allRoutes } from '../routes.ts';

interface ApiOptions {
  /** checks every reply against its schema (500 when it does not fit): for tests */
  readonly checkReplies?: boolean;
  /** operations served; default all */
  readonly routes?: readonly Route[];
  /** of the event loop, for the work of all requests */
  readonly share?: LoopShare;
}

export interface Api {
  /** for the stream, which shares the port */
  readonly server: Server;
  /**
   * The OpenAPI description of the operations served; made by the first call, which takes some 0.3 s.
   * @throws Error in the build, which serves the file `openapi.json` instead and has no code that could make it
   */
  document(): Promise<OpenApiDocument>;
  /** routes the requests; tests compare it with the description */
  readonly app: express.Application;
  /**
   * Carries out an operation for a caller in this process: the same routing, validation, limits and refusals as over
   * HTTP. A refusal is an answer with a `Problem`; nothing is thrown.
   */
  readonly perform: Perform;
  /** Checks path, query and body of a request by the schemas of its operation; carries nothing out. */
  readonly checkRequest: CheckRequest;
  /** whether the simulator was asked to stop over this interface, or `stop` was called */
  readonly stopping: boolean;
  /** @throws SimError LISTEN_FAILED */
  start(): Promise<{ readonly host: string; readonly port: number }>;
  /** Closes listener and connections; pending answers may finish within the configured limit. */
  stop(): Promise<void>;
}

const parseProblems: Readonly<Record<string, { code: ProblemCode; detail: string }>> = {
  HPE_HEADER_OVERFLOW: {
    code: 'headers-too-large',
    detail: 'The headers, the address included, are larger than 16 KiB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request-timeout', detail: 'The request was not complete in time.' },
};

/**
 * Requests that the parser refuses never reach the application: the answer is written by hand, after all pending ones.
 * For an error in the body of a request, the answer of that request reports it.
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

function createUnread({ config: { limits }, clock, logBook }: ApiContext): UnreadAnswers {
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

function createRouteContext(context: ApiContext, unread: UnreadAnswers, share: LoopShare): RouteContext {
  const metrics = new Metrics(share);
  let stopDelayS: number | null = null;
  const ctx: RouteContext = {
    ...context,
    unread,
    replyCache: createReplyCache(context.plant, context.clock),
    holds: new HoldBook(context.plant),
    answers: metrics.answers,
    requestLog: new RequestLog(apiPrefix, context.logBook.logger('Lab'), context.clock),
    metricsText: () => metrics.text(ctx),
    chargePointId: context.chargePointId ?? createChargePointIds(context.plant, defaultChargePointId),
    requestStop: (reason, delayS) => {
      context.requestStop(reason, delayS);
    },
    get stopDelayS() {
      return stopDelayS;
    },
    beginStop(delayS) {
      stopDelayS ??= delayS;
      return stopDelayS;
    },
  };
  return ctx;
}

function createConnectionCap({ config, clock }: ApiContext, unread: UnreadAnswers, log: Logger): ConnectionCap {
  const { maxConnections: max } = config.limits;
  return new ConnectionCap({
    max,
    unread,
    monotonicMs: () => clock.monotonicMs(),
    onGaveWay(socket, waitedMs) {
      const waited = (waitedMs / 1000).toFixed(1);
      log.info(
        `${peerOf(socket)} closed: it asked for nothing for ${waited} s and all ${max} HTTP connections are taken`,
      );
    },
  });
}

interface Served extends Pick<Api, 'app' | 'document' | 'perform' | 'checkRequest'> {
  readonly listener: RequestListener;
}

/** Neither routing nor validation needs the description: a start waits for neither it nor its code. */
function lazyDocument(routes: readonly Route[], version: string): Api['document'] {
  return lazily(async () => (await import('../description/openapi.ts')).describeApi(routes, version));
}

function createApp(ctx: RouteContext, options: ApiOptions, share: LoopShare): Served {
  const { routes = allRoutes, checkReplies = false } = options;
  const document = lazyDocument(routes, ctx.info.apiVersion);
  const guard = createHttpGuard(ctx.config);
  const hot = createHotReads(ctx, routes, guard, checkReplies);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.set('query parser', parseQuery);
  app.enable('case sensitive routing');
  app.use(countAnswers(ctx.answers));
  app.use(ctx.requestLog.middleware());
  app.use(createAdmission(guard, ctx));
  mountRoutes(app, routes, { ctx, checkReplies, share });
  mountDocs(app, document);
  const table = new RouteTable(routes);
  app.use((request: Request, response: Response) => {
    const location = table.withoutSlash(request.originalUrl);
    // the status keeps method and body, so that a write arrives as one
    if (location !== null) sendBytes(response, 308, 'text/plain', Buffer.alloc(0), { Location: location });
    else sendProblem(response, describeError(pathRefusal(request.path, table.templates)));
  });
  app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) next(error);
    else answerError(response, error, ctx.requestLog);
  });
  return {
    app,
    document,
    perform: createPerform(ctx, routes, checkReplies),
    checkRequest: createRequestCheck(routes, ctx.config.limits),
    listener(request, response) {
      trackAnswer(response);
      // after such an offer the parser loses the rest of the TCP segment
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
      if (!hot(request, response)) app(request, response);
    },
  };
}

/** The HTTP interface of a plant on one port: operations, description, documentation pages. */
export function createApi(context: ApiContext, options: ApiOptions = {}): Api {
  const { config } = context;
  const unread = createUnread(context);
  const { share = new LoopShare() } = options;
  const ctx = createRouteContext(context, unread, share);
  const { listener, ...served } = createApp(ctx, options, share);
  const log = new LimitedLog(ctx.logBook.logger('Lab'), ctx.clock, 'HTTP connections');
  const connections = createConnectionCap(ctx, unread, log);
  const answered: RequestListener = (request, response) => {
    connections.asked(request.socket);
    listener(request, response);
  };
  const server = createHttpServer(config.limits, answered, unread);
  server.on('connection', (socket) => {
    connections.admit(socket);
  });
  let stopped: Promise<void> | null = null;

  function close(): Promise<void> {
    if (!server.listening) return Promise.resolve();
    return new Promise((resolve) => {
      const leftovers = setTimeout(() => {
        for (const socket of connections.open) socket.destroy();
      }, config.limits.stopTimeoutMs);
      server.close(() => {
        clearTimeout(leftovers);
        resolve();
      });
      server.closeIdleConnections();
    });
  }

  return {
    ...served,
    server,
    get stopping() {
      return ctx.stopDelayS !== null;
    },
    async start() {
      const { address, port } = await listen(server, config.host, config.port, 'HTTP').catch((error: unknown) => {
        throw withRemedy(error, '--website_port');
      });
      return { host: address, port };
    },
    stop() {
      ctx.beginStop(0);
      stopped ??= close().then(() => {
        ctx.requestLog.flush();
        log.flush();
      });
      return stopped;
    },
  };
}
