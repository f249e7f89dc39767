import type { Route } from '../http/route.ts';
import { csipClientRoutes } from './client-routes.ts';
import { csipReportRoutes } from './report-routes.ts';
import { csipResourceRoutes } from './resource-routes.ts';

export const csipRoutes: readonly Route[] = [...csipClientRoutes, ...csipResourceRoutes, ...csipReportRoutes];
