import { maxDevicesWithSeries } from './device-families.ts';
import { expositionType } from './metrics.ts';
import { route, TextReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { z } from '../description/zod.ts';

const example = `# HELP derbench_ticks_total Ticks since the start.
# TYPE derbench_ticks_total counter
derbench_ticks_total 40

# HELP derbench_device_active_power_watts Active power, positive into the grid.
# TYPE derbench_device_active_power_watts gauge
derbench_device_active_power_watts{device="0"} 7420
`;

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
  examples: { reply: example },
  handle: async (ctx) => new TextReply(expositionType, await ctx.metricsText()),
});

export const metricsRoutes: readonly Route[] = [getMetrics];
