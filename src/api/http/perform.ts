/**
 * Requests without HTTP: the operations of the interface for callers in this process, such as a scenario. Routing,
 * validation, limits, refusals and replies are those of a request over HTTP.
 */
import { stringify } from 'node:querystring';
import { createProblem } from '../../core/http/problem.ts';
import type { Problem } from '../../core/http/problem.ts';
import type { Origin } from '../../core/origin.ts';
import { addressRefusal, stoppingRefusal } from './admission.ts';
import { bodyInProcess } from './body.ts';
import type { ApiLimits, RouteContext } from './context.ts';
import { answerOf, checkedStream, replyContent } from './dispatch.ts';
import { describeError, HttpProblem, notPrivate } from './errors.ts';
import { parseQuery, routeTableOf } from './paths.ts';
import type { RouteTable } from './paths.ts';
import { nextRequestId } from './reply.ts';
import { apiPrefix, hasBody, StreamedReply } from './route.ts';
import type { Answer, RawInput, Route } from './route.ts';
import { inTurns } from './streaming.ts';

type QueryValue = string | number | boolean;

/** A request as a caller in this process makes it. */
export interface InProcessRequest {
  /** `GET`, `HEAD`, `POST` or `DELETE` */
  readonly method: string;
  /** with or without the prefix `/api/sim`; may end with a query */
  readonly path: string;
  /** further parameters of the query; undefined ones are left out */
  readonly query?: Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>;
  /** anything that JSON has; absent: none */
  readonly body?: unknown;
}

/** The answer to a request. From status 400 on `body` is a `Problem`, except where the description says otherwise. */
export interface Performed {
  readonly status: number;
  /**
   * value of the JSON reply; in another media type its text, or a `Buffer` if it is binary; undefined for HEAD
   */
  readonly body: unknown;
}

export type Perform = (request: InProcessRequest & { readonly by: Origin }) => Promise<Performed>;

/** Checks the form of a request. @returns the reason of a refusal; null: it is well-formed */
export type CheckRequest = (request: InProcessRequest) => Problem | null;

/**
 * Maximum length of a reply made in pieces, characters of text or octets of binary data: HTTP sends it piece by piece,
 * but here it is held as a whole.
 */
const maxCollected = 16 * 1024 * 1024;

interface Resolved {
  readonly route: Route;
  readonly raw: Omit<RawInput, 'by'>;
}

const hasPrefix = new RegExp(`^${apiPrefix}(?=[/?]|$)`);

/** Path and query with the prefix, as in a request over HTTP. */
function urlOf({ path, query = {} }: InProcessRequest): string {
  const defined = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
  const queryText = stringify(defined);
  const separator = queryText === '' ? '' : path.includes('?') ? '&' : '?';
  // a text that is not a path stays unchanged, and is refused
  const prefixed = hasPrefix.test(path) || !path.startsWith('/') ? path : apiPrefix + path;
  return prefixed + separator + queryText;
}

/** Finds the operations of requests, and reads their input. */
class Reader {
  readonly #table: RouteTable;
  readonly #limits: Pick<ApiLimits, 'maxBodyBytes' | 'maxUrlBytes'>;

  constructor(routes: readonly Route[], limits: Pick<ApiLimits, 'maxBodyBytes' | 'maxUrlBytes'>) {
    this.#table = routeTableOf(routes);
    this.#limits = limits;
  }

  /**
   * @param admit throws for a path that is not served while the simulator stops
   * @throws HttpProblem, URIError
   */
  read(request: InProcessRequest, url: string, admit: (path: string) => void = () => undefined): Resolved {
    const address = addressRefusal(url, this.#limits.maxUrlBytes);
    if (address) throw address;
    const cut = url.indexOf('?');
    const path = cut < 0 ? url : url.slice(0, cut);
    admit(path);
    // a trailing slash is dropped here; HTTP answers it with a redirect
    const { route, params } = this.#table.find(request.method, this.#table.withoutSlash(path) ?? path);
    const { maxBodyBytes } = this.#limits;
    const body = hasBody(route) ? bodyInProcess(request.body, maxBodyBytes, route) : undefined;
    return { route, raw: { params, query: parseQuery(cut < 0 ? '' : url.slice(cut + 1)), body } };
  }
}

function problemOf(error: unknown, instance: string, id: string): Problem {
  const { code, detail, issues, modbusException } = describeError(error);
  return createProblem(code, detail, { instance, id }, issues, modbusException);
}

async function collected({ type, pieces }: StreamedReply): Promise<unknown> {
  const parts: (string | Buffer)[] = [];
  let length = 0;
  for await (const piece of inTurns(pieces)) {
    length += piece.length;
    if (length > maxCollected)
      throw new HttpProblem(
        'too-large',
        `The reply is longer than ${maxCollected} characters or bytes; ask for less of it.`,
      );
    parts.push(piece);
  }
  if (parts.some((part) => typeof part !== 'string'))
    return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  const text = parts.join('');
  return type === 'application/json' ? JSON.parse(text) : text;
}

/** A copy of the body of an answer. @throws ZodError with `checkReplies`, when it does not fit its schema */
async function bodyOf(route: Route, answer: Answer<unknown>, checkReplies: boolean): Promise<unknown> {
  const { body } = answer;
  if (body instanceof StreamedReply) return collected(checkReplies ? checkedStream(route, body) : body);
  const { type, bytes } = replyContent(route, answer, checkReplies);
  const text = bytes.toString();
  return type === 'application/json' ? JSON.parse(text) : text;
}

/**
 * Carries out requests without HTTP and never rejects; failures and refusals are logged as those over HTTP.
 * @param operations once it returns them directly, synchronous ones are carried out within the call
 */
export function createPerform(
  ctx: RouteContext,
  operations: () => readonly Route[] | Promise<readonly Route[]>,
  checkReplies: boolean,
): Perform {
  const admit = (path: string): void => {
    const refusal = stoppingRefusal(ctx, path);
    if (refusal) throw refusal;
  };
  return async ({ by, ...request }) => {
    const url = urlOf(request);
    const { method } = request;
    try {
      const routes = operations();
      const reader = new Reader(routes instanceof Promise ? await routes : routes, ctx.config.limits);
      const { route, raw } = reader.read(request, url, admit);
      // a scenario may have come over the network
      if (route.isPrivate && by.source === 'scenario') throw notPrivate();
      const answer = await answerOf(route, ctx, { ...raw, by });
      const { afterwards } = answer;
      // HTTP runs this once the response has ended; here it runs in the next turn, after a reply that is not streamed
      if (afterwards) setImmediate(afterwards);
      const body = method === 'HEAD' ? undefined : await bodyOf(route, answer, checkReplies);
      return { status: answer.status ?? route.status, body };
    } catch (error) {
      const id = nextRequestId();
      const body = problemOf(error, url, id);
      if (body.code === 'internal') ctx.requestLog.logFailure({ id, method, url }, error);
      ctx.requestLog.logRefusal({ method, url }, body, by);
      return { status: body.status, body };
    }
  };
}

/** Checks requests by routes and schemas alone, without a running simulator, and carries none out. */
export function createRequestCheck(
  routes: readonly Route[],
  limits: Pick<ApiLimits, 'maxBodyBytes' | 'maxUrlBytes'>,
): CheckRequest {
  const reader = new Reader(routes, limits);
  return (request) => {
    const url = urlOf(request);
    try {
      const { route, raw } = reader.read(request, url);
      route.check(raw);
      return null;
    } catch (error) {
      return problemOf(error, url, nextRequestId());
    }
  };
}
