import { maxDevicesWithSeries } from './device-families.ts';
import { expositionType } from './metrics.ts';
import { route, TextReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { z } from '../description/zod.ts';

const getMetrics = route({
  method: 'get',
  path: '/metrics',
  tag: 'Core',
  operationId: 'get_metrics',
  summary: 'Metrics for Prometheus',
  description:
    'Text exposition format 0.0.4, in base units (W, var, V, A, Hz, s, ratios from 0 to 1): process and event loop, ticks and ' +
    'clock, protocols, answers of this interface by operation and class of status, telemetry. Every device has series ' +
    `\`derbench_device_*\` labelled by its index while there are at most ${maxDevicesWithSeries} devices; series \`derbench_fleet_*\` by ` +
    '`asset_type` are always there. A quantity that does not exist has no sample.',
  media: 'text/plain',
  reply: z.string(),
  problems: ['shortage'],
  handle: async (ctx) => new TextReply(expositionType, await ctx.metricsText()),
});

export const metricsRoutes: readonly Route[] = [getMetrics];
