/**
 * Reads that clients poll. They are answered in front of Express, whose routing costs several times as much as the
 * answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isFromOwnSite } from '../../core/http/http-guard.ts';
import type { HttpGuard } from '../../core/http/http-guard.ts';
import type { RouteContext } from './context.ts';
import { replyContent } from './dispatch.ts';
import type { AnswerCount } from '../metrics/answer-counts.ts';
import { prepare, sendPrepared } from './reply.ts';
import type { Prepared } from './reply.ts';
import { apiPrefix } from './route.ts';
import type { Route } from './route.ts';

/** Answers a plain request for a hot read; false: the request is left to Express. */
export type HotReads = (request: IncomingMessage, response: ServerResponse) => boolean;

const onlyDevice = /^device=(\d{1,9})$/;

/**
 * True if a request has neither body nor upgrade and does not come from a page of another origin. Express handles all
 * others, so that each rule has one place.
 */
function isPlain(request: IncomingMessage): boolean {
  const { headers } = request;
  return (
    headers.origin === undefined &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    headers.upgrade === undefined &&
    headers.expect === undefined &&
    isFromOwnSite(request)
  );
}

/** @returns null when the query is anything but one device */
function queryOf(url: string, from: number): { readonly device?: string } | null {
  if (from < 0) return {};
  const device = onlyDevice.exec(url.slice(from + 1))?.[1];
  return device === undefined ? null : { device };
}

interface HotRoute {
  readonly route: Route;
  readonly path: string;
  /** by method; absent before the first answer */
  readonly counts: { GET?: AnswerCount; HEAD?: AnswerCount };
}

export function createHotReads(
  ctx: RouteContext,
  routes: readonly Route[],
  guard: HttpGuard,
  checkReplies: boolean,
): HotReads {
  const byPath = new Map(
    routes
      .filter(({ hot }) => hot !== undefined)
      .map((route): [string, HotRoute] => {
        const path = apiPrefix + route.path;
        return [path, { route, path, counts: {} }];
      }),
  );

  function build(route: Route, query: object): Prepared | null {
    const answer = route.answer(ctx, { params: {}, query, body: undefined, by: { source: 'rest' } });
    if (answer instanceof Promise || (answer.status ?? route.status) !== 200) return null;
    return prepare(replyContent(route, answer, checkReplies));
  }

  /** Errors, such as an unknown device, return null: Express repeats the request and reports them. */
  function prepared({ route }: HotRoute, url: string, query: object): Prepared | null {
    try {
      return route.hot === 'per_tick' ? ctx.replyCache.of(url, () => build(route, query)) : build(route, query);
    } catch {
      return null;
    }
  }

  return (request, response) => {
    const { method, url = '' } = request;
    if (method !== 'GET' && method !== 'HEAD') return false;
    const cut = url.indexOf('?');
    const hotRead = byPath.get(cut < 0 ? url : url.slice(0, cut));
    // a response without a socket waits behind others of its connection; `admission.ts` bounds their number
    if (!hotRead || ctx.stopDelayS !== null || response.socket === null) return false;
    if (!isPlain(request) || guard.checkHost(request) !== null) return false;
    const query = queryOf(url, cut);
    const reply = query && prepared(hotRead, url, query);
    if (!reply) return false;
    sendPrepared(response, reply);
    (hotRead.counts[method] ??= ctx.answers.of(method, hotRead.path, 200)).times += 1;
    return true;
  };
}
