import type { Application, Request, Response } from 'express';
import type { Origin } from '../../core/origin.ts';
import { SimError } from '../../core/errors.ts';
import { peerOf } from '../../core/net/listen.ts';
import type { Logger } from '../../core/log/log.ts';
import type { RouteContext } from './context.ts';
import { readJsonBody } from './body.ts';
import { describeError } from './errors.ts';
import { methodRefusal, pathsOf } from './paths.ts';
import { streamReply } from './streaming.ts';
import { requestId, sendBytes, sendProblem } from './reply.ts';
import type { Content } from './reply.ts';
import { apiPrefix, JsonText, StreamedReply, TextReply } from './route.ts';
import type { Answer, RawInput, Route } from './route.ts';

/** The same length as for `instance` in a problem body. */
const maxLoggedUrlLength = 1024;

interface FailedRequest {
  readonly id: string;
  readonly method: string;
  readonly url: string;
}

/**
 * `GET logs` serves these lines. Stacks, and messages of errors that are not a `SimError`, may quote paths of this
 * machine: they are only printed.
 */
export function logFailure({ id, method, url }: FailedRequest, error: unknown, logger: Logger): void {
  const isError = error instanceof Error;
  const reason = error instanceof SimError ? error.message : isError ? error.name : typeof error;
  const what = `request ${id} ${method} ${url.slice(0, maxLoggedUrlLength)}`;
  logger.error(`${what} failed: ${reason}`, undefined, isError ? (error.stack ?? error.message) : String(error));
}

/** Answers any thrown value; an internal failure goes to the log. */
export function answerError(response: Response, error: unknown, logger: Logger): void {
  const described = describeError(error);
  if (described.code === 'internal') {
    const { method, url } = response.req;
    logFailure({ id: requestId(response.req), method, url }, error, logger);
  }
  sendProblem(response, described);
}

function originOf(request: Request): Origin {
  const source = request.headers['x-derbench-client'] === 'dashboard' ? 'dashboard' : 'rest';
  return { source, peer: peerOf(request.socket) };
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

/** Carries out one request. @throws HttpProblem, SimError */
export async function answerOf(route: Route, ctx: RouteContext, raw: RawInput): Promise<Answer<unknown>> {
  try {
    return await route.answer(ctx, raw);
  } finally {
    if (route.method === 'post') ctx.replyCache.changed();
  }
}

async function run(
  route: Route,
  ctx: RouteContext,
  request: Request,
  response: Response,
  checkReplies: boolean,
): Promise<void> {
  const body =
    route.method === 'post'
      ? await readJsonBody(request, ctx.config.limits.maxBodyBytes, route.maxTextLength)
      : undefined;
  const answer = await answerOf(route, ctx, {
    params: request.params,
    query: request.query,
    body,
    by: originOf(request),
  });
  if (answer.afterwards) response.once('close', answer.afterwards);
  const status = answer.status ?? route.status;
  if (answer.body instanceof StreamedReply) {
    await streamReply(response, status, checkReplies ? checkedStream(route, answer.body) : answer.body, answer.headers);
    return;
  }
  const { type, bytes } = replyContent(route, answer, checkReplies);
  sendBytes(response, status, type, bytes, answer.headers);
}

const expressPath = (path: string) => apiPrefix + path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Mounts the operations; other methods of their paths answer 405 with `Allow`. */
export function mountRoutes(
  app: Application,
  routes: readonly Route[],
  ctx: RouteContext,
  logger: Logger,
  checkReplies: boolean,
): void {
  for (const { path, operations, allow } of pathsOf(routes)) {
    const place = app.route(expressPath(path));
    for (const operation of operations) {
      place[operation.method]((request: Request, response: Response) =>
        run(operation, ctx, request, response, checkReplies).catch((error: unknown) =>
          answerError(response, error, logger),
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
