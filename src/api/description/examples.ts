/** Examples of requests and replies, by operation. The description and tests read them, a running simulator does not. */
import byOperation from '../../../fixtures/openapi/examples.json' with { type: 'json' };
import type { Examples, Route } from '../http/route.ts';

/** Examples of an operation: from its route, or else from the file. */
export function examplesOf({ operationId, examples }: Pick<Route, 'operationId' | 'examples'>): Examples {
  const all: Readonly<Record<string, Examples>> = byOperation;
  return examples ?? all[operationId] ?? { reply: {} };
}
