/** Calls of the REST interface as values: a control can show its call before it makes it. */
import type { paths } from './openapi';
import { signal } from '@preact/signals';
import { noteMade } from './made-calls';

type Method = 'get' | 'post' | 'patch' | 'delete';

type OperationOf<P extends keyof paths, M extends Method> = paths[P][M] extends object ? paths[P][M] : never;

/** Paths below `/api/sim/` with an operation of this method. */
type PathOf<M extends Method> = {
  [P in keyof paths]: [OperationOf<P, M>] extends [never] ? never : P extends `/api/sim/${infer R}` ? R : never;
}[keyof paths];

type At<R extends string, M extends Method> = `/api/sim/${R}` extends infer P
  ? P extends keyof paths
    ? OperationOf<P, M>
    : never
  : never;

type JsonOf<T> = T extends { content: { 'application/json': infer J } } ? J : never;

/** Body of the answer with status 200, 201 or 202. */
export type ReplyOf<R extends string, M extends Method = 'get'> =
  At<R, M> extends { responses: infer A } ? JsonOf<A[Extract<keyof A, 200 | 201 | 202>]> : never;

export type BodyOf<R extends string, M extends Method = 'post'> =
  At<R, M> extends { requestBody?: infer B } ? JsonOf<NonNullable<B>> : never;

type QueryOf<R extends string, M extends Method> =
  At<R, M> extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never;

/** One request, and the type of its answer. */
export interface Call<R = unknown> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** address on this host, including the query */
  readonly address: string;
  readonly body?: unknown;
  /** never set: only carries the type */
  readonly reply?: R;
}

type Params = Readonly<Record<string, string | number>>;

function addressOf(path: string, params: Params = {}, query: object = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(params[name])));
  const defined = Object.entries(query as Record<string, unknown>).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(defined.map(([name, value]) => [name, String(value)])).toString();
  return `/api/sim/${filled}${text === '' ? '' : `?${text}`}`;
}

/** @param path template such as `devices/{index}`, below `/api/sim/` */
export function get<R extends PathOf<'get'>>(
  path: R,
  { params, query }: { params?: Params; query?: QueryOf<R, 'get'> } = {},
): Call<ReplyOf<R>> {
  return { method: 'GET', address: addressOf(path, params, query) };
}

/** @param path template such as `controls/grid`, below `/api/sim/` */
export function post<R extends PathOf<'post'>>(
  path: R,
  { params, query, body }: { params?: Params; query?: QueryOf<R, 'post'>; body?: BodyOf<R> } = {},
): Call<ReplyOf<R, 'post'>> {
  const call = { method: 'POST' as const, address: addressOf(path, params, query) };
  // an operation without a body has `body` undefined
  return (body as unknown) === undefined ? call : { ...call, body };
}

export function patch<R extends PathOf<'patch'>>(
  path: R,
  { params, body }: { params?: Params; body: BodyOf<R, 'patch'> },
): Call<ReplyOf<R, 'patch'>> {
  return { method: 'PATCH', address: addressOf(path, params), body };
}

export function del<R extends PathOf<'delete'>>(
  path: R,
  { params, query }: { params?: Params; query?: QueryOf<R, 'delete'> } = {},
): Call<ReplyOf<R, 'delete'>> {
  return { method: 'DELETE', address: addressOf(path, params, query) };
}

/** A call whose path is known only at run time, such as those of fault and operation catalogues. */
export function anyCall(method: Call['method'], path: string, query: object = {}, body?: unknown): Call {
  const call = { method, address: addressOf(path, {}, query) };
  return body === undefined ? call : { ...call, body };
}

/** Wall time at which the first call since the last answered one failed, ms. null: none has failed since. */
export const unreachableSinceMs = signal<number | null>(null);

/** One refused member of a request. */
interface ProblemIssue {
  readonly in: string;
  /** JSON pointer for members of the body, such as `/points/1/v_pct` */
  readonly name: string;
  readonly detail: string;
  readonly allowed?: readonly string[];
}

/** The failure of a call: the daemon's problem details (RFC 9457), or a missing or unreadable answer. */
export class Problem extends Error {
  /** 0: no complete answer */
  readonly status: number;
  readonly code: string;
  readonly issues: readonly ProblemIssue[];

  constructor(status: number, code: string, detail: string, issues: readonly ProblemIssue[] = []) {
    super(detail);
    this.status = status;
    this.code = code;
    this.issues = issues;
  }

  /** The objection to one member of the body, or to a part of it. null: none. */
  about(pointer: string): string | null {
    return this.issues.find(({ name }) => name === pointer || name.startsWith(`${pointer}/`))?.detail ?? null;
  }
}

/** Timeouts of calls, ms. */
const timeoutsMs = { GET: 15_000, POST: 60_000, PATCH: 60_000, DELETE: 15_000 };

/** A step may run 100 000 ticks of many devices before it answers. */
const stepTimeoutMs = 3_600_000;

function timeoutOf({ method, address }: Call): number {
  return address.endsWith('/controls/time/step') ? stepTimeoutMs : timeoutsMs[method];
}

/**
 * Makes a call.
 * @throws Problem when the daemon refuses it or cannot be reached, or its answer is cut off
 */
export async function perform<R>(call: Call<R>): Promise<R> {
  const answer = await send(call);
  const text = await answer.text().catch(() => '');
  const isJson = /json/.test(answer.headers.get('content-type') ?? '');
  let content: unknown = text;
  try {
    if (isJson) content = JSON.parse(text);
  } catch {
    throw new Problem(0, 'unreadable', `The answer to ${call.method} ${call.address} was cut off.`);
  }
  if (!answer.ok) throw problemOf(answer.status, content);
  return content as R;
}

/** The raw answer, for texts and downloads. @throws Problem without an answer */
export async function send(call: Call): Promise<Response> {
  const { method, address, body } = call;
  const headers: Record<string, string> = { 'X-Derbench-Client': 'dashboard' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const init: RequestInit = { method, headers, signal: AbortSignal.timeout(timeoutOf(call)), cache: 'no-store' };
  if (body !== undefined) init.body = JSON.stringify(body);
  const startMs = performance.now();
  try {
    const answer = await fetch(address, init);
    unreachableSinceMs.value = null;
    noteMade(call, answer.status, performance.now() - startMs);
    return answer;
  } catch {
    noteMade(call, null, performance.now() - startMs);
    unreachableSinceMs.value ??= Date.now();
    throw new Problem(0, 'unreachable', 'The daemon does not answer.');
  }
}

function problemOf(status: number, content: unknown): Problem {
  const { code, detail, errors } = (content ?? {}) as { code?: string; detail?: string; errors?: ProblemIssue[] };
  return new Problem(status, code ?? 'unknown', detail ?? `The daemon answers with status ${status}.`, errors);
}
