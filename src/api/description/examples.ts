/** Examples of requests and replies, by operation. The description and tests read them, a running simulator does not. */
import byOperation from '../../../fixtures/openapi/examples.json' with { type: 'json' };
import type { Route } from '../http/route.ts';

export interface Examples {
  readonly reply: unknown;
  /** default `{}` */
  readonly body?: unknown;
  /** replies in other media types */
  readonly media?: Readonly<Record<string, string>>;
}

export function examplesOf({ operationId }: Pick<Route, 'operationId'>): Examples {
  const all: Readonly<Record<string, Examples>> = byOperation;
  return all[operationId] ?? { reply: {} };
}
