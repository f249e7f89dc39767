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
import { apiVersion } from '../../api/http/context.ts';
import type { ApiLimits } from '../../api/http/context.ts';
import { replyContent } from '../../api/http/dispatch.ts';
import { describeError, HttpProblem, notPrivate } from '../../api/http/errors.ts';
import { originOf } from '../../api/http/origin.ts';
import { parseQuery, routeTableOf } from '../../api/http/paths.ts';
import { requestId, sendBytes, sendProblem } from '../../api/http/reply.ts';
import { hasBody, StreamedReply } from '../../api/http/route.ts';
import type { Answer, Route } from '../../api/http/route.ts';
import { streamPieces, streamReply } from '../../api/http/streaming.ts';
import { mountDocs } from '../../api/description/docs.ts';
import { lazily } from '../../core/lazy.ts';
import { allRoutes } from '../../api/routes.ts';
import { ownAnswers } from './own.ts';
import type { OwnContext, OwnRequest } from './own.ts';
import type { ShardRouter } from './router.ts';
import { ruleOf, sharedRules } from './rules.ts';
import type { RuleName } from './rules.ts';

const table = routeTableOf(allRoutes);

export interface ServingOptions extends Omit<OwnContext, 'limits'> {
  readonly router: Pick<ShardRouter, 'answer'>;
  readonly guard: HttpGuardConfig;
  readonly limits: OwnContext['limits'] & Pick<ApiLimits, 'maxUrlBytes'>;
  readonly log: Pick<Logger, 'error'>;
  /** true: what goes to a shard may cross a network in clear text */
  readonly isPlain: boolean;
}

/** Rules by which a request is passed on as it came: its form is that of a single process. */
const plainRules: ReadonlySet<RuleName> = new Set([
  'device',
  'index',
  'device-or-all',
  'all',
  'list',
  'overview',
  'site',
  'site-parts',
  'faults',
  'any',
  'leader',
  'own',
]);

/** Refuses requests of a wrong form here, before several shards get them. @throws HttpProblem `validation` */
export function checkForm(route: Route, raw: Parameters<Route['check']>[0]): void {
  const rule = ruleOf(route.operationId);
  if (rule === null || !plainRules.has(rule.name)) return;
  // the gateway takes this parameter out, but for the list of the devices, which has it itself
  const { shard, ...query } = raw.query as Readonly<Record<string, unknown>>;
  const isOwn = !sharedRules.has(rule.name) || 'shard' in route.query.shape || typeof shard !== 'string';
  route.check(isOwn ? raw : { ...raw, query });
}

/** Answers a request for an operation. */
async function answer(request: Request, response: Response, options: ServingOptions): Promise<void> {
  const { method, originalUrl: url } = request;
  const { limits } = options;
  const { route, params } = table.find(method, request.path);
  if (route.isPrivate && !isPrivateConnection(request.socket)) throw notPrivate();
  const bytes = hasBody(route) ? await readBody(request, bytesOf(route, limits.maxBodyBytes)) : undefined;
  const body = hasBody(route) ? runWhole(parsingBody(bytes, route)) : undefined;
  const cut = url.indexOf('?');
  const query = parseQuery(cut < 0 ? '' : url.slice(cut + 1)) as Readonly<Record<string, unknown>>;
  checkForm(route, { params, query, body });
  const routed = { route, method, path: url, params, query, body, bytes: bytes ?? new Uint8Array(0) };
  // the connection of the client is private here
  const isPrivate = route.isPrivate === true && !options.isPlain;
  const reply = await options.router.answer({ ...routed, by: originOf(request), id: requestId(request), isPrivate });
  if (reply === null) await answerOwn(response, routed, options);
  else if ('pieces' in reply) await streamPieces(response, 200, reply);
  else sendBytes(response, reply.status, reply.type, reply.bytes, { ...reply.headers });
}

/** The answer of the gateway itself. @throws HttpProblem `fleet-unsupported` */
export function ownAnswer(request: OwnRequest, options: OwnContext): Answer<unknown> | Promise<Answer<unknown>> {
  const answerOf = ownAnswers[request.route.operationId];
  if (answerOf === undefined) throw notServed();
  return answerOf(options, request);
}

async function answerOwn(response: Response, request: OwnRequest, options: ServingOptions): Promise<void> {
  const { route } = request;
  const answered = await ownAnswer(request, options);
  const { body, headers, status = route.status, afterwards } = answered;
  if (afterwards) response.once('close', afterwards);
  if (body instanceof StreamedReply) {
    await streamReply(response, status, body, headers);
    return;
  }
  const { type, bytes } = replyContent(route, answered, false);
  sendBytes(response, status, type, bytes, headers);
}

const notServed = () =>
  new HttpProblem(
    'fleet-unsupported',
    'A gateway does not answer this for all shards yet: ask the HTTP interface of a shard, which GET fleet/shards names.',
  );

const describe = async () => (await import('../../api/description/openapi.ts')).describeApi(allRoutes, apiVersion);

/** The application behind the listener of a gateway. */
export function createGatewayApp(options: ServingOptions): express.Application {
  const { guard, limits, isStopping, log } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  const context = {
    config: { limits },
    get stopDelayS() {
      return isStopping() ? 0 : null;
    },
  };
  app.use(createAdmission(createHttpGuard(guard), context));
  mountDocs(app, lazily(describe));
  app.use((request: Request, response: Response) => {
    const location = table.withoutSlash(request.originalUrl);
    if (location !== null) {
      sendBytes(response, 308, 'text/plain', Buffer.alloc(0), { Location: location });
      return;
    }
    answer(request, response, options).catch((error: unknown) => {
      const described = describeError(error);
      if (described.code === 'internal')
        log.error(`request ${requestId(request)}, ${request.method} ${request.path}: ${errorText(error)}`);
      sendProblem(response, described, error instanceof HttpProblem ? error.headers : {});
    });
  });
  return app;
}
