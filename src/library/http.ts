/** Requests to the REST interface: addresses, bodies, and problems as errors. */
import { jsonOf, refusal } from './checks.ts';
import { DerbenchError } from './error.ts';
import type { Issue } from './error.ts';
import type { Fetch, Query } from './options.ts';
import type { Json } from './replies.ts';

const prefix = '/api/sim/';

/** The path after `/api/sim/`, which is optional. */
export function shortPath(path: string): string {
  if (typeof path !== 'string') throw refusal(path, 'a path as controls/time');
  return path.startsWith(prefix) ? path.slice(prefix.length) : path.replace(/^\/+/, '');
}

function address(base: string, path: string, query: Query): string {
  if (typeof query !== 'object' || (query as unknown) === null) throw refusal(query, 'an object of parameters');
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  // a `#` and the text after it would not be sent
  const sentPath = shortPath(path).replaceAll('#', '%23');
  return `${base}${prefix}${sentPath}${text === '' ? '' : `${path.includes('?') ? '&' : '?'}${text}`}`;
}

interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly errors?: readonly Issue[];
}

function errorOf(status: number, text: string): DerbenchError {
  let problem: Problem = {};
  try {
    problem = (JSON.parse(text) ?? {}) as Problem;
  } catch {
    // the answer is from some other server
  }
  const { code = 'unknown', detail = text.slice(0, 500) || `HTTP status ${status}`, errors = [] } = problem;
  return new DerbenchError({ status, code, detail, issues: errors });
}

interface SendOptions {
  readonly query?: Query;
  readonly body?: unknown;
  /** timeout, ms; absent: the limit of `fetch` */
  readonly limitMs?: number;
}

/** Sends a request; returns the parsed JSON, or the text of an answer of another type. @throws DerbenchError */
export type Send = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, options?: SendOptions) => Promise<Json>;

interface Received {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

async function receive(fetch: Fetch, url: string, init: Parameters<Fetch>[1]): Promise<Received> {
  const answer = await fetch(url, init);
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() };
}

/** Sends a request with a timeout. */
async function receiveWithin(
  limitMs: number,
  fetch: Fetch,
  url: string,
  init: Parameters<Fetch>[1],
): Promise<Received> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      controller.abort();
      reject(new Error(`none came within ${Math.round(limitMs) / 1000} s`));
    }, limitMs);
  });
  // a custom `fetch` may ignore the signal: the timeout then only ends the wait
  const aborted = { ...init, signal: controller.signal };
  try {
    return await Promise.race([receive(fetch, url, aborted), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** @param base address of the simulator without a trailing slash */
export function sender(base: string, fetch: Fetch, headers: Readonly<Record<string, string>>): Send {
  return async (method, path, { query = {}, body, limitMs } = {}) => {
    const hasBody = body !== undefined;
    const sentHeaders = { ...headers, ...(hasBody && { 'Content-Type': 'application/json' }) };
    const init = { method, headers: sentHeaders, ...(hasBody && { body: jsonOf(body) }) };
    const url = address(base, path, query);
    const { status, type, text } = await (limitMs === undefined
      ? receive(fetch, url, init)
      : receiveWithin(limitMs, fetch, url, init)
    ).catch((cause: unknown) => {
      throw new DerbenchError({ code: 'not-reachable', detail: `${base} gives no answer: ${reasonOf(cause)}`, cause });
    });
    if (status < 200 || status > 299) throw errorOf(status, text);
    return type.startsWith('application/json') ? jsonIn(text, base, status) : text;
  };
}

function jsonIn(text: string, base: string, status: number): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const detail = `${base} answers with JSON that cannot be read: ${reasonOf(cause)}`;
    throw new DerbenchError({ status, code: 'unknown', detail, cause });
  }
}

/** The reason of a failed connection, which `fetch` puts into `cause`. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown.cause instanceof Error) return reasonOf(thrown.cause);
  return 'code' in thrown && thrown.message === '' ? String(thrown.code) : thrown.message;
}
