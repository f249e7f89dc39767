import { allRoutes } from '../../src/api/routes.ts';
import type { Json } from './http.ts';
import { examplesOf } from '../../src/api/description/openapi.ts';

/** Request and reply of the description, as JSON has them. */
export function examples(operationId: string): { reply: Json; body: Json } {
  const route = allRoutes.find((each) => each.operationId === operationId);
  if (!route) throw new Error(`no operation ${operationId}`);
  return JSON.parse(JSON.stringify(examplesOf(route)));
}
