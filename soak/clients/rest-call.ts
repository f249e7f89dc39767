/** Calls of the REST interface with a time limit. */
import { ask } from '../../test/support/http.ts';
import type { Json, JsonAnswer } from '../../test/support/http.ts';
import { within } from '../tally.ts';

const answerMs = 10_000;

export function call(http: number, path: string, body?: unknown): Promise<JsonAnswer> {
  return within(answerMs, path, ask(http, `/api/sim/${path}`, body === undefined ? {} : { body }));
}

/** JSON of a GET. @throws Error for a status that is not 2xx */
export async function get(http: number, path: string): Promise<Json> {
  const { status, json, text } = await call(http, path);
  if (status < 200 || status > 299) throw new Error(`GET ${path}: ${status} ${text}`);
  return json;
}

/** JSON of a POST. @throws Error for a status that is not 2xx */
export async function post(http: number, path: string, body: unknown): Promise<Json> {
  const { status, json, text } = await call(http, path, body);
  if (status < 200 || status > 299) throw new Error(`POST ${path} ${JSON.stringify(body)}: ${status} ${text}`);
  return json;
}
