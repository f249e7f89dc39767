/** Requests over HTTP to a gateway: its own answers, and those of shards. */
import express from 'express';
import type { Request, Response } from 'express';
import { createHttpGuard, isPrivateConnection } from '../../core/http/http-guard.ts';
import type { HttpGuardConfig } from '../../core/http/http-guard.ts';
import type { Logger } from '../../core/log/log.ts';
import { errorText } from '../../core/errors.ts';
import { runWhole } from '../../core/turns.ts';
import { createAdmission } from '../../api/http/admission.ts';
import { bytesOf, parsingBody, readBody } from '../../api/http/body.ts';
import type { ApiLimits } from '../../api/http/context.ts';
import { describeError, HttpProblem, notPrivate } from '../../api/http/errors.ts';
import { originOf } from '../../api/http/origin.ts';
import { methodRefusal, parseQuery, routeTableOf } from '../../api/http/paths.ts';
import { requestId, sendBytes, sendProblem } from '../../api/http/reply.ts';
import { apiPrefix, hasBody } from '../../api/http/route.ts';
import type { Route } from '../../api/http/route.ts';
import { allRoutes } from '../../api/routes.ts';
import { fleetBody, frontPage, healthBody, infoBody, oneShardBody, shardsBody } from './own.ts';
import type { GatewayInfo } from './own.ts';
import type { ShardRouter } from './router.ts';
import { ruleOf } from './rules.ts';
import type { RuleName } from './rules.ts';
import type { FleetView } from './view.ts';

export interface ServingOptions {
  readonly view: FleetView;
  readonly router: Pick<ShardRouter, 'answer'>;
  readonly info: GatewayInfo;
  readonly guard: HttpGuardConfig;
  readonly limits: Pick<ApiLimits, 'maxBodyBytes' | 'maxUrlBytes'>;
  readonly nowMs: () => number;
  readonly isStopping: () => boolean;
  readonly log: Pick<Logger, 'error'>;
}

/** Rules by which a request is passed on as it came: its form is that of a single process. */
const plainRules: ReadonlySet<RuleName> = new Set(['device', 'index', 'device-or-all', 'all', 'list']);
const shardPath = new RegExp(`^${apiPrefix}/fleet/shards/([^/]+)$`);

const withoutEnd = (path: string) => (path === '/' ? path : path.replace(/\/+$/, ''));

/** Body of an answer that the gateway gives itself; null: it has no such path. */
function ownBody(path: string, { view, info, nowMs }: ServingOptions): object | null {
  switch (path) {
    case `${apiPrefix}/fleet`:
      return fleetBody(view);
    case `${apiPrefix}/fleet/shards`:
      return shardsBody(view);
    case `${apiPrefix}/health`:
      return healthBody(view);
    case `${apiPrefix}/server-info`:
      return infoBody(view, info, nowMs());
  }
  const [, name] = shardPath.exec(path) ?? [];
  return name === undefined ? null : oneShardBody(view, decodeURIComponent(name));
}

/** Answers a request that needs no shard. @returns false: it needs one */
function answeredHere(request: Request, response: Response, options: ServingOptions): boolean {
  const path = withoutEnd(request.path);
  if (path !== '/') {
    const body = ownBody(path, options);
    if (body === null) return false;
    checkReading(request);
    sendBytes(response, 200, 'application/json', Buffer.from(JSON.stringify(body)));
    return true;
  }
  checkReading(request);
  sendBytes(response, 200, 'text/plain; charset=utf-8', Buffer.from(frontPage));
  return true;
}

/** @throws HttpProblem `method-not-allowed` */
function checkReading({ method }: Request): void {
  if (method !== 'GET' && method !== 'HEAD') throw methodRefusal(method, 'GET, HEAD');
}

/** Refuses requests of a wrong form here, before several shards get them. @throws HttpProblem `validation` */
function checkForm(route: Route, raw: Parameters<Route['check']>[0]): void {
  const rule = ruleOf(route.operationId);
  if (rule !== null && plainRules.has(rule.name)) route.check(raw);
}

async function passOn(request: Request, response: Response, { router, limits }: ServingOptions): Promise<void> {
  const { method, originalUrl: url } = request;
  const { route, params } = routeTableOf(allRoutes).find(method, withoutEnd(request.path));
  if (route.isPrivate && !isPrivateConnection(request.socket)) throw notPrivate();
  const bytes = hasBody(route) ? await readBody(request, bytesOf(route, limits.maxBodyBytes)) : undefined;
  const body = hasBody(route) ? runWhole(parsingBody(bytes, route)) : undefined;
  const cut = url.indexOf('?');
  const query = parseQuery(cut < 0 ? '' : url.slice(cut + 1)) as Readonly<Record<string, unknown>>;
  checkForm(route, { params, query, body });
  const reply = await router.answer({
    route,
    method,
    path: url,
    params,
    query,
    body,
    bytes: bytes ?? new Uint8Array(0),
    by: originOf(request),
    id: requestId(request),
  });
  if (reply === null) throw notServed();
  sendBytes(response, reply.status, reply.type, reply.bytes, { ...reply.headers, 'X-Request-Id': requestId(request) });
}

const notServed = () =>
  new HttpProblem(
    'fleet-unsupported',
    'A gateway does not answer this for all shards yet: ask the HTTP interface of a shard, which GET fleet/shards names.',
  );

/** The application behind the listener of a gateway. */
export function createGatewayApp(options: ServingOptions): express.Application {
  const { guard, limits, isStopping, log } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const context = {
    config: { limits },
    get stopDelayS() {
      return isStopping() ? 0 : null;
    },
  };
  app.use(createAdmission(createHttpGuard(guard), context));
  const answer = async (request: Request, response: Response) => {
    try {
      if (!answeredHere(request, response, options)) await passOn(request, response, options);
    } catch (error) {
      const described = describeError(error);
      if (described.code === 'internal')
        log.error(`request ${requestId(request)}, ${request.method} ${request.path}: ${errorText(error)}`);
      sendProblem(response, described);
    }
  };
  app.use((request: Request, response: Response) => {
    void answer(request, response);
  });
  return app;
}
