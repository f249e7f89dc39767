import type { RequestListener, Server } from 'node:http';
import express from 'express';
import type { NextFunction, Request, Response } from 'express';
import { trackAnswer, UnreadAnswers } from '../../core/http/connections.ts';
import { lazily } from '../../core/lazy.ts';
import { createHttpGuard } from '../../core/http/http-guard.ts';
import { LimitedLog } from '../../core/log/limited-log.ts';
import { LoopShare } from '../../core/turns.ts';
import type { ApiContext, RouteContext } from './context.ts';
import { answerError, mountRoutes } from './dispatch.ts';
import { mountCsipPage, mountDocs } from '../description/docs.ts';
import { createFront } from './front.ts';
import type { Front } from './front.ts';
import { disabledDnp3 } from '../../contract/dnp3.ts';
import { noCertificates } from '../../contract/certificates.ts';
import { noScenarios } from '../../contract/scenarios.ts';
import { noLab } from '../../contract/lab-config.ts';
import { noSettings } from '../../contract/settings.ts';
import { noState } from '../../contract/state.ts';
import { disabledOcpp } from '../../contract/ocpp-disabled.ts';
import { createChargePointIds, defaultChargePointId } from '../../contract/charge-point-ids.ts';
import { HoldBook } from '../holds/book.ts';
import { createReplyCache, sendBytes, sendProblem } from './reply.ts';
import { createAdmission } from './admission.ts';
import { describeError } from './errors.ts';
import { createHotReads } from './hot-reads.ts';
import { countAnswers } from '../metrics/answer-counts.ts';
import { Metrics } from '../metrics/metrics.ts';
import type { OpenApiDocument } from '../description/openapi.ts';
import { parseQuery, pathRefusal, routeTableOf } from './paths.ts';
import { createPerform, createRequestCheck } from './perform.ts';
import type { CheckRequest, Perform } from './perform.ts';
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
  /** address of the management page of CSIP, once it listens; null: no page */
  readonly csipWebsite: { readonly host: string; readonly port: number } | null;
  /**
   * The OpenAPI description of the operations served; made by the first call, which takes some 0.3 s.
   * @throws Error in the build, which serves the file `openapi.json` instead and lacks the code to make it
   */
  document(): Promise<OpenApiDocument>;
  /** routes the requests; tests compare it with the description */
  readonly app: express.Application;
  /**
   * Carries out an operation for a caller in this process: the same routing, validation, limits and refusals as over
   * HTTP. A refusal is an answer with a `Problem`; the promise never rejects.
   */
  readonly perform: Perform;
  /** Checks path, query and body of a request by the schemas of its operation; carries nothing out. */
  readonly checkRequest: CheckRequest;
  /** true once this interface has received a request to stop, or `stop` was called */
  readonly stopping: boolean;
  /** @throws SimError LISTEN_FAILED */
  start(): Promise<{ readonly host: string; readonly port: number }>;
  /** Closes listener and connections; pending answers may finish within the configured limit. */
  stop(): Promise<void>;
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
    scenarios: context.scenarios ?? noScenarios,
    clockOwner: context.clockOwner ?? { name: null },
    state: context.state ?? noState,
    certificates: context.certificates ?? noCertificates,
    settings: context.settings ?? noSettings,
    lab: context.lab ?? noLab,
    ocpp: context.ocpp ?? disabledOcpp,
    dnp3: context.dnp3 ?? disabledDnp3,
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
  context.keepPart?.('holds', ctx.holds.kept());
  return ctx;
}

interface Served extends Pick<Api, 'app'> {
  readonly listener: RequestListener;
}

/** Settings that differ between the addresses of the interface. */
interface AddressOptions {
  /** address to bind to */
  readonly host: string;
  readonly mountPages: (app: express.Application) => void;
}

/** Makes the description at its first use: routing and validation do not need it, so a start does not wait for it. */
function lazyDocument(routes: readonly Route[], version: string): Api['document'] {
  return lazily(async () => (await import('../description/openapi.ts')).describeApi(routes, version));
}

function createApp(
  ctx: RouteContext,
  options: ApiOptions,
  share: LoopShare,
  { host, mountPages }: AddressOptions,
): Served {
  const { routes = allRoutes, checkReplies = false } = options;
  const guard = createHttpGuard({ ...ctx.config, host });
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
  mountPages(app);
  const table = routeTableOf(routes);
  app.use((request: Request, response: Response) => {
    const location = table.withoutSlash(request.originalUrl);
    // status 308 keeps method and body: a POST stays a POST
    if (location !== null) sendBytes(response, 308, 'text/plain', Buffer.alloc(0), { Location: location });
    else sendProblem(response, describeError(pathRefusal(request.path, table.templates)));
  });
  app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) next(error);
    else answerError(response, error, ctx.requestLog);
  });
  return {
    app,
    listener(request, response) {
      trackAnswer(response);
      // after an `Upgrade` header the parser loses the rest of the TCP segment
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
      if (!hot(request, response)) app(request, response);
    },
  };
}

/** The HTTP interface of a plant on one port, with the management page of CSIP, if configured, on another. */
export function createApi(context: ApiContext, options: ApiOptions = {}): Api {
  const { config } = context;
  const unread = createUnread(context);
  const { share = new LoopShare() } = options;
  const ctx = createRouteContext(context, unread, share);
  const document = lazyDocument(options.routes ?? allRoutes, ctx.info.apiVersion);
  const { app, listener } = createApp(ctx, options, share, {
    host: config.host,
    mountPages: (into) => mountDocs(into, document),
  });
  const main = createFront(
    ctx,
    { host: config.host, port: config.port, name: 'HTTP', flag: '--website_port' },
    listener,
    unread,
  );
  const csip = config.csipWebsite ? createCsipFront(ctx, config.csipWebsite, options, share, unread) : null;
  let csipWebsite: Api['csipWebsite'] = null;
  let stopped: Promise<void> | null = null;

  return {
    app,
    document,
    perform: createPerform(ctx, options.routes ?? allRoutes, options.checkReplies ?? false),
    checkRequest: createRequestCheck(options.routes ?? allRoutes, config.limits),
    server: main.server,
    get csipWebsite() {
      return csipWebsite;
    },
    get stopping() {
      return ctx.stopDelayS !== null;
    },
    async start() {
      const address = await main.start();
      if (csip !== null) csipWebsite = await csip.start();
      return address;
    },
    stop() {
      ctx.beginStop(0);
      stopped ??= Promise.all([main.stop(), csip?.stop()]).then(() => {
        ctx.requestLog.flush();
      });
      return stopped;
    },
  };
}

/** The same operations at a separate address, with a page for the client of IEEE 2030.5. */
function createCsipFront(
  ctx: RouteContext,
  address: { readonly host: string; readonly port: number },
  options: ApiOptions,
  share: LoopShare,
  unread: UnreadAnswers,
): Front {
  const { listener } = createApp(ctx, options, share, { host: address.host, mountPages: mountCsipPage });
  return createFront(
    ctx,
    { ...address, name: 'CSIP page', flag: '--csip_website_port', zero: 'no such page' },
    listener,
    unread,
  );
}
