import type { ServerResponse } from 'node:http';
import type { Application, Request, Response } from 'express';
import { isPrivateConnection } from '../../core/http/http-guard.ts';
import { runWhole } from '../../core/turns.ts';
import type { RouteContext } from './context.ts';
import type { RequestLog } from './request-log.ts';
import { bytesOf, parsingBody, readBody } from './body.ts';
import { describeError, notPrivate } from './errors.ts';
import { originOf } from './origin.ts';
import { methodRefusal, pathsOf } from './paths.ts';
import { streamReply } from './streaming.ts';
import { requestId, sendBytes, sendProblem } from './reply.ts';
import type { Content } from './reply.ts';
import { apiPrefix, hasBody, JsonText, StreamedReply, TextReply } from './route.ts';
import type { Answer, RawInput, Route } from './route.ts';

/** Answers a request with the problem of any thrown value; logs internal failures and shortages. */
export function answerError(response: ServerResponse, error: unknown, log: RequestLog): void {
  const described = describeError(error);
  if (described.code === 'internal') {
    const { method = '', url = '' } = response.req;
    log.logFailure({ id: requestId(response.req), method, url }, error);
  }
  if (described.code === 'shortage') log.logShortage(described.detail);
  sendProblem(response, described);
}

/** The body of an answer as bytes. @throws ZodError with `checkReplies`, when it does not fit its schema */
export function replyContent(route: Route, { body }: Answer<unknown>, checkReplies: boolean): Content {
  if (body instanceof TextReply) return body;
  const bytes = body instanceof JsonText ? body.bytes : Buffer.from(JSON.stringify(body));
  if (checkReplies) route.reply.parse(JSON.parse(bytes.toString()));
  return { type: 'application/json', bytes };
}

/** @throws ZodError when the pieces do not fit the schema together */
export function checkedStream(route: Route, { type, pieces }: StreamedReply): StreamedReply {
  const all = [...pieces];
  if (type === 'application/json') route.reply.parse(JSON.parse(all.join('')));
  return new StreamedReply(type, all);
}

/** The device that a request names; null: perhaps several. */
function deviceOf({ plant }: RouteContext, { params, query }: RawInput): number | null {
  const { device } = { ...(query as object), ...(params as object) } as { device?: unknown };
  const index = Number(device ?? NaN);
  return plant.devices.some((present) => present.index === index) ? index : null;
}

/** Carries out one request, within the call where the handler is synchronous. @throws HttpProblem, SimError */
export function answerOf(route: Route, ctx: RouteContext, raw: RawInput): Answer<unknown> | Promise<Answer<unknown>> {
  const changed = () => {
    if (route.method !== 'get') ctx.replyCache.changed();
  };
  const logged = (answer: Answer<unknown>) => {
    if (route.method === 'get') return answer;
    ctx.requestLog.logWrite(route, raw);
    const isDurable = ctx.keeping?.commit(deviceOf(ctx, raw)) ?? null;
    return isDurable === null ? answer : isDurable.then(() => answer);
  };
  try {
    const answer = route.answer(ctx, raw);
    return answer instanceof Promise ? answer.then(logged).finally(changed) : logged(answer);
  } finally {
    changed();
  }
}

/** Dependencies shared by the operations of one interface. */
interface Serving {
  readonly ctx: RouteContext;
  readonly checkReplies: boolean;
}

function send(
  route: Route,
  response: Response,
  answer: Answer<unknown>,
  checkReplies: boolean,
): Promise<void> | undefined {
  if (answer.afterwards) response.once('close', answer.afterwards);
  const status = answer.status ?? route.status;
  if (answer.body instanceof StreamedReply)
    return streamReply(
      response,
      status,
      checkReplies ? checkedStream(route, answer.body) : answer.body,
      answer.headers,
    );
  const { type, bytes } = replyContent(route, answer, checkReplies);
  sendBytes(response, status, type, bytes, answer.headers);
  return undefined;
}

async function run(route: Route, request: Request, response: Response, serving: Serving): Promise<void> {
  const { ctx, checkReplies } = serving;
  const { share } = ctx;
  if (route.isPrivate && !isPrivateConnection(request.socket)) throw notPrivate();
  const bytes = hasBody(route) ? await readBody(request, bytesOf(route, ctx.config.limits.maxBodyBytes)) : undefined;
  const parsing = parsingBody(bytes, route);
  // other bodies are short enough for the turn of their request
  const isLong = route.isImport === true || (bytes?.length ?? 0) > ctx.config.limits.maxBodyBytes;
  const parsedInParts = isLong ? await share.runInParts(parsing) : undefined;
  const bodyNow = () => (isLong ? parsedInParts : runWhole(parsing));
  await share.run(() => {
    // the client has closed the connection while its request waited
    if (route.method === 'get' && response.destroyed) return undefined;
    const { params, query } = request;
    const body = hasBody(route) ? bodyNow() : undefined;
    const result = answerOf(route, ctx, { params, query, body, by: originOf(request) });
    // the reply of a synchronous handler is sent within this call
    return result instanceof Promise
      ? result.then((late) => share.run(() => send(route, response, late, checkReplies)))
      : send(route, response, result, checkReplies);
  });
}

const expressPath = (path: string) => apiPrefix + path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Mounts the operations; other methods of their paths answer 405 with `Allow`. */
export function mountRoutes(app: Application, routes: readonly Route[], serving: Serving): void {
  for (const { path, operations, allow } of pathsOf(routes)) {
    const place = app.route(expressPath(path));
    for (const operation of operations) {
      place[operation.method]((request: Request, response: Response) =>
        run(operation, request, response, serving).catch((error: unknown) =>
          answerError(response, error, serving.ctx.requestLog),
        ),
      );
    }
    place.all((request: Request, response: Response) => refuseMethod(request, response, allow));
  }
}

/** Answers 405 with the methods that the path has. */
export function refuseMethod(request: Request, response: Response, allow: string): void {
  sendProblem(response, describeError(methodRefusal(request.method, allow)), { Allow: allow });
}
