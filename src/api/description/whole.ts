/** The description of everything that is served: the build writes it to a file. */
import { apiVersion } from '../http/context.ts';
import { allRoutes } from '../routes.ts';
import { describeApi } from './openapi.ts';
import type { OpenApiDocument } from './openapi.ts';

export { offlineRedoc, swaggerAssets } from './docs.ts';

export function wholeDescription(): OpenApiDocument {
  return describeApi(allRoutes, apiVersion);
}
