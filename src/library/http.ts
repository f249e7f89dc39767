/** Requests to the REST interface: addresses, bodies, and problems as errors. */
import { DerbenchError } from './error.ts';
import type { Issue } from './error.ts';
import type { Fetch, Query } from './options.ts';
import type { Json } from './replies.ts';

const prefix = '/api/sim/';

/** The path behind `/api/sim/`, which may be written or not. */
export function shortPath(path: string): string {
  return path.startsWith(prefix) ? path.slice(prefix.length) : path.replace(/^\/+/, '');
}

function address(base: string, path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return `${base}${prefix}${shortPath(path)}${text === '' ? '' : `${path.includes('?') ? '&' : '?'}${text}`}`;
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
    // an answer of some other server
  }
  const { code = 'unknown', detail = text.slice(0, 500) || `HTTP status ${status}`, errors = [] } = problem;
  return new DerbenchError({ status, code, detail, issues: errors });
}

/** One request and its answer: what JSON says, or the text of an answer of another type. @throws DerbenchError */
export type Send = (method: 'GET' | 'POST' | 'DELETE', path: string, query: Query, body?: unknown) => Promise<Json>;

/** @param base address of the simulator without a slash at its end */
export function sender(base: string, fetch: Fetch, headers: Readonly<Record<string, string>>): Send {
  return async (method, path, query, body) => {
    const hasBody = body !== undefined;
    const sent = { ...headers, ...(hasBody && { 'Content-Type': 'application/json' }) };
    let status: number;
    let type: string;
    let text: string;
    try {
      const init = { method, headers: sent, ...(hasBody && { body: JSON.stringify(body) }) };
      const answer = await fetch(address(base, path, query), init);
      status = answer.status;
      type = answer.headers.get('content-type') ?? '';
      text = await answer.text();
    } catch (cause) {
      throw new DerbenchError({ code: 'not-reachable', detail: `${base} gives no answer: ${reasonOf(cause)}`, cause });
    }
    if (status < 200 || status > 299) throw errorOf(status, text);
    return type.startsWith('application/json') ? (JSON.parse(text) as unknown) : text;
  };
}

/** `fetch` puts the reason of a failed connection beneath its own error. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown.cause instanceof Error) return reasonOf(thrown.cause);
  return 'code' in thrown && thrown.message === '' ? String(thrown.code) : thrown.message;
}
