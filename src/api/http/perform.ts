/**
 * Requests without HTTP: the operations of the interface for callers in this process, such as a scenario. Routing,
 * validation, limits, refusals and replies are those of a request over HTTP.
 */
import { stringify } from 'node:querystring';
import type { PerformBytes } from '../../contract/perform-bytes.ts';
import { createProblem } from '../../core/http/problem.ts';
import type { Problem } from '../../core/http/problem.ts';
import type { Origin } from '../../core/origin.ts';
import { addressRefusal, stoppingRefusal } from './admission.ts';
import { bodyInProcess, bytesOf, parsingBody, tooLarge } from './body.ts';
import type { ApiLimits, RouteContext } from './context.ts';
import { answerOf, checkedStream, replyContent } from './dispatch.ts';
import { describeError, HttpProblem, notPrivate } from './errors.ts';
import { parseQuery, routeTableOf } from './paths.ts';
import type { RouteTable } from './paths.ts';
import { complete, nextRequestId } from './reply.ts';
import type { Content } from './reply.ts';
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

/** An operation, and its input without the body. */
interface Found {
  readonly route: Route;
  readonly raw: Pick<RawInput, 'params' | 'query'>;
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
  find(method: string, url: string, admit: (path: string) => void = () => undefined): Found {
    const address = addressRefusal(url, this.#limits.maxUrlBytes);
    if (address) throw address;
    const cut = url.indexOf('?');
    const path = cut < 0 ? url : url.slice(0, cut);
    admit(path);
    // a trailing slash is dropped here; HTTP answers it with a redirect
    const { route, params } = this.#table.find(method, this.#table.withoutSlash(path) ?? path);
    return { route, raw: { params, query: parseQuery(cut < 0 ? '' : url.slice(cut + 1)) } };
  }

  /** @param admit see `find` @throws HttpProblem, URIError */
  read(request: InProcessRequest, url: string, admit?: (path: string) => void): Resolved {
    const { route, raw } = this.find(request.method, url, admit);
    const { maxBodyBytes } = this.#limits;
    const body = hasBody(route) ? bodyInProcess(request.body, maxBodyBytes, route) : undefined;
    return { route, raw: { ...raw, body } };
  }
}

/** The problem document of a refusal or failure. */
export function problemOf(error: unknown, instance: string, id: string): Problem {
  const { code, detail, issues, modbusException } = describeError(error);
  return createProblem(code, detail, { instance, id }, issues, modbusException);
}

function tooLong(limit: number): HttpProblem {
  return new HttpProblem('too-large', `The reply is longer than ${limit} characters or bytes; ask for less of it.`);
}

/** @throws HttpProblem `too-large` */
async function collectedParts({ pieces }: StreamedReply, limit: number): Promise<readonly (string | Buffer)[]> {
  const parts: (string | Buffer)[] = [];
  let length = 0;
  for await (const piece of inTurns(pieces)) {
    length += piece.length;
    if (length > limit) throw tooLong(limit);
    parts.push(piece);
  }
  return parts;
}

const asBytes = (parts: readonly (string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));

async function collected(reply: StreamedReply): Promise<unknown> {
  const parts = await collectedParts(reply, maxCollected);
  if (parts.some((part) => typeof part !== 'string')) return asBytes(parts);
  const text = parts.join('');
  return reply.type === 'application/json' ? JSON.parse(text) : text;
}

/** A copy of the body of an answer. @throws ZodError with `checkReplies`, when it does not fit its schema */
async function bodyOf(route: Route, answer: Answer<unknown>, checkReplies: boolean): Promise<unknown> {
  const { body } = answer;
  if (body instanceof StreamedReply) return collected(checkReplies ? checkedStream(route, body) : body);
  const { type, bytes } = replyContent(route, answer, checkReplies);
  const text = bytes.toString();
  return type === 'application/json' ? JSON.parse(text) : text;
}

/** The content of an answer as HTTP sends it. @throws HttpProblem `too-large` */
async function contentOf(
  route: Route,
  answer: Answer<unknown>,
  checkReplies: boolean,
  limit: number,
): Promise<Content> {
  const { body } = answer;
  if (!(body instanceof StreamedReply)) {
    const content = replyContent(route, answer, checkReplies);
    if (content.bytes.length > limit) throw tooLong(limit);
    return content;
  }
  const parts = await collectedParts(checkReplies ? checkedStream(route, body) : body, limit);
  return { type: body.type, bytes: asBytes(parts) };
}

/** The body of a request from its bytes; a long one is read in parts. @throws HttpProblem */
function parsedBytes(route: Route, bytes: Uint8Array | undefined, ctx: RouteContext): Promise<unknown> {
  if (!hasBody(route)) return Promise.resolve(undefined);
  const { maxBodyBytes } = ctx.config.limits;
  const maxBytes = bytesOf(route, maxBodyBytes);
  if ((bytes?.length ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const buffer = bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return ctx.share.runInParts(parsingBody(buffer, route));
}

/** The operations for callers without HTTP. */
interface Performing {
  readonly perform: Perform;
  readonly performBytes: PerformBytes;
}

/**
 * Carries out requests without HTTP and never rejects; failures and refusals are logged as those over HTTP.
 * @param operations once it returns them directly, synchronous ones are carried out within the call of `perform`
 */
export function createPerforming(
  ctx: RouteContext,
  operations: () => readonly Route[] | Promise<readonly Route[]>,
  checkReplies: boolean,
): Performing {
  const admit = (path: string): void => {
    const refusal = stoppingRefusal(ctx, path);
    if (refusal) throw refusal;
  };
  const refused = (error: unknown, method: string, url: string, by: Origin): Problem => {
    const id = nextRequestId();
    const problem = problemOf(error, url, id);
    if (problem.code === 'internal') ctx.requestLog.logFailure({ id, method, url }, error);
    ctx.requestLog.logRefusal({ method, url }, problem, by);
    return problem;
  };
  // HTTP runs this once the response has ended; here it runs in the next turn, after a reply that is not streamed
  const runAfterwards = ({ afterwards }: Answer<unknown>) => {
    if (afterwards) setImmediate(afterwards);
  };
  const perform: Perform = async ({ by, ...request }) => {
    const url = urlOf(request);
    const { method } = request;
    try {
      const routes = operations();
      const reader = new Reader(routes instanceof Promise ? await routes : routes, ctx.config.limits);
      const { route, raw } = reader.read(request, url, admit);
      // a scenario may have come over the network
      if (route.isPrivate && by.source === 'scenario') throw notPrivate();
      const answer = await answerOf(route, ctx, { ...raw, by });
      runAfterwards(answer);
      const body = method === 'HEAD' ? undefined : await bodyOf(route, answer, checkReplies);
      return { status: answer.status ?? route.status, body };
    } catch (error) {
      const body = refused(error, method, url, by);
      return { status: body.status, body };
    }
  };
  const performBytes: PerformBytes = async (request) => {
    const { method, by, isPrivate = false, maxBytes = maxCollected } = request;
    const url = urlOf({ method, path: request.path });
    try {
      const reader = new Reader(await operations(), ctx.config.limits);
      const { route, raw } = reader.find(method, url, admit);
      if (route.isPrivate && !isPrivate) throw notPrivate();
      const body = await parsedBytes(route, request.body, ctx);
      const answer = await ctx.share.run(() => answerOf(route, ctx, { ...raw, body, by }));
      runAfterwards(answer);
      const { type, bytes } = complete(await contentOf(route, answer, checkReplies, maxBytes));
      const { status = route.status, headers } = answer;
      return { status, type, headers, bytes: method === 'HEAD' ? Buffer.alloc(0) : bytes };
    } catch (error) {
      const problem = refused(error, method, url, by);
      const content = { type: 'application/problem+json', bytes: Buffer.from(JSON.stringify(problem)) };
      const { type, bytes } = complete(content);
      return { status: problem.status, type, headers: { 'X-Request-Id': problem.request_id }, bytes };
    }
  };
  return { perform, performBytes };
}

/** A request of a caller in this process, with its operation and the address that HTTP would have. */
export interface ReadRequest extends Resolved {
  readonly url: string;
}

/** Finds operations and reads input for those who carry requests out elsewhere. @returns throws HttpProblem, URIError */
export function createRequestReader(
  routes: readonly Route[],
  limits: Pick<ApiLimits, 'maxBodyBytes' | 'maxUrlBytes'>,
): (request: InProcessRequest) => ReadRequest {
  const reader = new Reader(routes, limits);
  return (request) => {
    const url = urlOf(request);
    return { ...reader.read(request, url), url };
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
