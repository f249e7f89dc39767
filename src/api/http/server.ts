/** The HTTP interface: its addresses, bound at the start, and the operations behind them, which requests load. */
import type { RequestListener, Server } from 'node:http';
import { SimError } from '../../core/errors.ts';
import { trackAnswer } from '../../core/http/connections.ts';
import type { UnreadAnswers } from '../../core/http/connections.ts';
import { lazily } from '../../core/lazy.ts';
import { createHttpGuard } from '../../core/http/http-guard.ts';
import { LoopShare } from '../../core/turns.ts';
import type { ApiContext, RouteContext } from './context.ts';
import { answerError } from './dispatch.ts';
import { createFront, createUnread } from './front.ts';
import type { Front, FrontOptions } from './front.ts';
import { disabledDnp3 } from '../../contract/dnp3.ts';
import { noCertificates } from '../../contract/certificates.ts';
import { noCaptures } from '../../contract/captures.ts';
import { noScenarios } from '../../contract/scenarios.ts';
import { noLab } from '../../contract/lab-config.ts';
import type { PerformBytes } from '../../contract/perform-bytes.ts';
import { noSettings } from '../../contract/settings.ts';
import { noState } from '../../contract/state.ts';
import { disabledOcpp } from '../../contract/ocpp-disabled.ts';
import { createChargePointIds, defaultChargePointId, findChargePoint } from '../../contract/charge-point-ids.ts';
import { HoldBook } from '../holds/book.ts';
import { lifecycleRoutes } from '../lifecycle.ts';
import { createReplyCache } from './reply.ts';
import { createHotReads } from './hot-reads.ts';
import type { HotReads } from './hot-reads.ts';
import { AnswerCounts } from '../metrics/answer-counts.ts';
import type { createOperations, Operations, OperationsOptions } from './operations.ts';
import { createPerforming } from './perform.ts';
import type { Perform } from './perform.ts';
import { RequestLog } from './request-log.ts';
import { apiPrefix } from './route.ts';

interface ApiOptions extends OperationsOptions {
  /** of the event loop, for the work of all requests */
  readonly share?: LoopShare;
  /** default: from the file of the operations */
  readonly loadOperations?: () => Promise<{ readonly createOperations: typeof createOperations }>;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface Api {
  /** for the stream, which shares the port */
  readonly server: Server;
  /** address of the management page of CSIP, once it listens; null: no page */
  readonly csipWebsite: Address | null;
  /** The operations, which the first call loads, as the first request does. */
  operations(): Promise<Operations>;
  /**
   * Carries out an operation for a caller in this process: the same routing, validation, limits and refusals as over
   * HTTP. A refusal is an answer with a `Problem`; the promise never rejects.
   */
  readonly perform: Perform;
  /** Carries out a request that another process has received, from its bytes to the bytes of its answer. */
  readonly performBytes: PerformBytes;
  /** true once this interface has received a request to stop, or `stop` was called */
  readonly stopping: boolean;
  /** @param onPageFailure called if the management page does not open; default: throws @throws SimError LISTEN_FAILED */
  start(onPageFailure?: (error: unknown) => void): Promise<Address>;
  /**
   * Moves the management page of CSIP to another address. Answers under way on the former one may finish.
   * @param address null: no page @throws SimError LISTEN_FAILED; then there is no page
   */
  moveCsipPage(address: Address | null): Promise<void>;
  /** Closes listener and connections; pending answers may finish within the configured limit. */
  stop(): Promise<void>;
}

function createRouteContext(context: ApiContext, unread: UnreadAnswers, share: LoopShare): RouteContext {
  let stopDelayS: number | null = null;
  const ctx: RouteContext = {
    ...context,
    unread,
    replyCache: createReplyCache(context.plant, context.clock),
    holds: new HoldBook(context.plant),
    answers: new AnswerCounts(),
    share,
    requestLog: new RequestLog(
      apiPrefix,
      context.logBook.logger('Lab'),
      context.clock,
      context.timeline,
      (id) => findChargePoint(context.plant, ctx.chargePointId, id)?.index,
    ),
    captures: context.captures ?? noCaptures,
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

function rethrow(error: unknown): never {
  throw error;
}

/** @throws SimError INTERNAL for files of the program that are gone; any other error as it is */
function explainMissing(error: unknown): never {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  if (!isMissing) throw error;
  throw new SimError('INTERNAL', 'files of the program were replaced since it started; start it again');
}

/**
 * Answers the requests to one address: hot reads at once, others by an application.
 * @param app null: it is not loaded yet
 * @param load makes the application available
 */
function createListener(
  ctx: RouteContext,
  hot: HotReads,
  app: () => RequestListener | null,
  load: () => Promise<unknown>,
): RequestListener {
  async function answerLate(...[request, response]: Parameters<RequestListener>): Promise<void> {
    try {
      await load();
    } catch (error) {
      answerError(response, error, ctx.requestLog);
      return;
    }
    // the client may have left meanwhile, or the parser has refused the rest of the request
    if (!response.destroyed) app()?.(request, response);
  }

  return (request, response) => {
    trackAnswer(response);
    // after an `Upgrade` header the parser loses the rest of the TCP segment
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    if (hot(request, response)) return;
    const loaded = app();
    if (loaded === null) void answerLate(request, response);
    else loaded(request, response);
  };
}

/** The HTTP interface of a plant on one port, with the management page of CSIP, if configured, on another. */
export function createApi(context: ApiContext, options: ApiOptions = {}): Api {
  const { config } = context;
  const { share = new LoopShare(), routes = lifecycleRoutes, checkReplies = false } = options;
  const { loadOperations = () => import('./operations.ts') } = options;
  const unread = createUnread(context);
  const ctx = createRouteContext(context, unread, share);
  let loaded: Operations | null = null;
  const operations = lazily(async () => {
    const code = await loadOperations().catch(explainMissing);
    loaded = code.createOperations(ctx, options);
    return loaded;
  });
  const front = (address: FrontOptions, appOf: (all: Operations) => RequestListener) => {
    const hot = createHotReads(ctx, routes, createHttpGuard({ ...config, host: address.host }), checkReplies);
    let app: RequestListener | null = null;
    const appNow = () => (app ??= loaded && appOf(loaded));
    return createFront(ctx, address, createListener(ctx, hot, appNow, operations), unread);
  };
  const main = front({ host: config.host, port: config.port, name: 'HTTP', flag: '--website_port' }, ({ app }) => app);
  /** with the same operations, and a page for the client of IEEE 2030.5 */
  let page: Front | null = null;
  const ending = new Set<Promise<void>>();
  let csipWebsite: Api['csipWebsite'] = null;
  let stopped: Promise<void> | null = null;

  /** A request that closes the page may have come over it, so that nobody waits for the end. */
  function closePage(): void {
    const end = page?.stop();
    page = csipWebsite = null;
    if (end === undefined) return;
    ending.add(end);
    void end.then(() => ending.delete(end));
  }

  async function moveCsipPage(address: Address | null): Promise<void> {
    closePage();
    if (address === null) return;
    const texts = { name: 'CSIP page', flag: '--csip_website_port', zero: 'no such page' };
    page = front({ ...address, ...texts }, (all) => all.csipApp(address.host));
    csipWebsite = await page.start();
  }

  const routesNow = () => loaded?.routes ?? operations().then(({ routes: all }) => all);
  const { perform, performBytes } = createPerforming(ctx, routesNow, checkReplies);

  return {
    operations,
    perform,
    performBytes,
    server: main.server,
    get csipWebsite() {
      return csipWebsite;
    },
    get stopping() {
      return ctx.stopDelayS !== null;
    },
    async start(onPageFailure = rethrow) {
      const address = await main.start();
      await moveCsipPage(config.csipWebsite ?? null).catch(onPageFailure);
      return address;
    },
    moveCsipPage,
    stop() {
      ctx.beginStop(0);
      closePage();
      stopped ??= Promise.all([main.stop(), ...ending]).then(() => {
        ctx.requestLog.flush();
      });
      return stopped;
    },
  };
}
