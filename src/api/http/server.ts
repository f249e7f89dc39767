import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { parse as parseQuery } from 'node:querystring';
import type { Duplex } from 'node:stream';
import express from 'express';
import type { NextFunction, Request, Response } from 'express';
import { limitUnread, newestAnswer, noteAnswer } from '../../core/http/answer-order.ts';
import { createHttpGuard } from '../../core/http/http-guard.ts';
import { LimitedLog } from '../../core/log/limited-log.ts';
import { listen } from '../../core/net/listen.ts';
import { closeAnswered, createProblem, refuseOnSocket } from '../../core/http/problem.ts';
import type { ProblemCode } from '../../core/http/problem.ts';
import type { ApiContext, ApiLimits, RouteContext } from './context.ts';
import { answerError, mountRoutes } from './dispatch.ts';
import { mountDocs } from '../description/docs.ts';
import { createChargePointIds, defaultChargePointId } from '../evse/ids.ts';
import { createFresh } from './reply-cache.ts';
import { createGate } from './admission.ts';
import { createHotReads } from './hot-reads.ts';
import { countAnswers } from '../metrics/answer-counts.ts';
import { Metrics } from '../metrics/metrics.ts';
import type { OpenApiDocument } from '../description/openapi.ts';
import { apiPrefix } from './route.ts';
import { sendProblem } from './reply.ts';
import type { Route } from './route.ts';
import { allRoutes } from '../routes.ts';
import { StreamOffer } from './stream-offer.ts';

interface ApiOptions {
  /** checks every reply against its schema (500 when it does not fit): for tests */
  readonly checkReplies?: boolean;
  /** operations served; default all */
  readonly routes?: readonly Route[];
}

export interface Api {
  /** for the stream, which shares the port */
  readonly server: Server;
  /** The OpenAPI description; made by the first call, which takes some 0.3 s. */
  document(): Promise<OpenApiDocument>;
  /** what routes the requests, to compare it with the description */
  readonly app: express.Application;
  /** whether the simulator was asked to stop over this interface, or `stop` was called */
  readonly stopping: boolean;
  /** @throws SimError LISTEN_FAILED */
  start(): Promise<{ readonly host: string; readonly port: number }>;
  /** Ends listener and connections; answers under way may finish within the limit of the configuration. */
  stop(): Promise<void>;
}

/** Served by the stream to whoever asks for an upgrade; a plain request for them deserves better words than any other. */
const streamPaths = new Set([`${apiPrefix}/ws/telemetry`, `${apiPrefix}/telemetry/ws`]);

const parseProblems: Readonly<Record<string, { code: ProblemCode; detail: string }>> = {
  HPE_HEADER_OVERFLOW: {
    code: 'headers-too-large',
    detail: 'The headers, the address included, are larger than 16 KiB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request-timeout', detail: 'The request was not complete in time.' },
};

/**
 * What the parser refuses never reaches the application: the answer is written by hand, behind those that are still to
 * come. Where the fault is in the body of a request, the one answer of that request is what says so.
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
    Allow: 'GET, HEAD, POST',
  });
}

function createHttpServer(limits: ApiLimits, listener: RequestListener): Server {
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
  server.maxConnections = limits.maxConnections;
  // beyond a maximum headers would be dropped, an Origin among them; their bytes are bounded
  server.maxHeadersCount = 0;
  server.on('connection', (socket) => {
    limitUnread(socket, limits.unreadTimeoutMs);
  });
  server.on('clientError', onClientError);
  server.on('connect', onConnect);
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  return server;
}

function createRouteContext(context: ApiContext): RouteContext {
  const metrics = new Metrics();
  let stopDelayS: number | null = null;
  const ctx: RouteContext = {
    ...context,
    fresh: createFresh(context.plant, context.clock),
    answers: metrics.answers,
    metricsText: () => metrics.text(ctx),
    chargePointId: createChargePointIds(context.plant, context.chargePointBaseId ?? defaultChargePointId),
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

interface Served {
  readonly app: express.Application;
  readonly listener: RequestListener;
  readonly document: Api['document'];
  readonly log: LimitedLog;
}

/** Neither routing nor validation needs the description: a start waits for neither it nor its code. */
function lazyDocument(routes: readonly Route[], version: string): Api['document'] {
  let document: Promise<OpenApiDocument> | undefined;
  return () =>
    (document ??= import('../description/openapi.ts').then(({ describeApi }) => describeApi(routes, version)));
}

function createApp(ctx: RouteContext, options: ApiOptions): Served {
  const routes = options.routes ?? allRoutes;
  const document = lazyDocument(routes, ctx.info.apiVersion);
  const log = new LimitedLog(ctx.logBook.logger('Lab'), ctx.clock, 'failed requests');
  const guard = createHttpGuard(ctx.config);
  const hot = createHotReads(ctx, routes, guard, options.checkReplies ?? false);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  // the parser would pass over all parameters behind the thousandth; the length of the address bounds them
  app.set('query parser', (text: string) => parseQuery(text, '&', '=', { maxKeys: 0 }));
  app.enable('case sensitive routing');
  app.use(countAnswers(ctx.answers));
  app.use(createGate(guard, ctx));
  mountRoutes(app, routes, ctx, log, options.checkReplies ?? false);
  mountDocs(app, document);
  app.use((request: Request, response: Response) => {
    const hint = streamPaths.has(request.path) ? ' but the telemetry stream, which is a WebSocket' : '';
    sendProblem(response, { code: 'not-found', detail: `There is nothing at ${request.path.slice(0, 200)}${hint}.` });
  });
  app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) next(error);
    else answerError(response, error, log);
  });
  return {
    app,
    document,
    log,
    listener(request, response) {
      noteAnswer(response);
      // behind such an offer the server's parser loses what came in the same segment
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
      if (!hot(request, response)) app(request, response);
    },
  };
}

/** The HTTP interface of a plant on one port: operations, description, documentation pages. */
export function createApi(context: ApiContext, options: ApiOptions = {}): Api {
  const { config } = context;
  const ctx = createRouteContext(context);
  const { app, listener, document, log } = createApp(ctx, options);
  const server = createHttpServer(config.limits, listener);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  let stopped: Promise<void> | null = null;

  function close(): Promise<void> {
    if (!server.listening) return Promise.resolve();
    return new Promise((resolve) => {
      const leftovers = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, config.limits.stopTimeoutMs);
      server.close(() => {
        clearTimeout(leftovers);
        resolve();
      });
      server.closeIdleConnections();
    });
  }

  return {
    server,
    document,
    app,
    get stopping() {
      return ctx.stopDelayS !== null;
    },
    async start() {
      const { address, port } = await listen(server, config.host, config.port, 'HTTP');
      return { host: address, port };
    },
    stop() {
      ctx.beginStop(0);
      stopped ??= close().then(() => {
        log.flush();
      });
      return stopped;
    },
  };
}
