/** The history of a device: operations, and members of replies. */
import { memo } from '../../core/lazy.ts';
import { tickSeconds } from '../../core/time/sim-clock.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { historyAnswer, defaultHistoryLimit } from './answer.ts';
import { assetTypes } from '../../contract/device.ts';
import { connectionStates, inverterStates, serviceStates } from '../../contract/snapshot.ts';
import { z } from '../description/zod.ts';
import {
  deviceIndex,
  deviceParam,
  integerParam,
  isoParam,
  isoTime,
  maxDeviceIndex,
  namesParam,
  quantity,
} from '../common/schemas.ts';
import { metricsSchema } from '../devices.ts';
import { kindMetrics, limitMetrics, numericNames, partDescription } from './metrics.ts';
import { scopeMetrics } from './scopes.ts';

const maxSamples = 100_000;

const secondsMessage = { error: 'must be a number of seconds, more than 0 and less than 1000000000' };

/** Length of a window that ends now. @param description names the clock */
export function secondsParam(description: string) {
  return z
    .string()
    .regex(/^\d{1,9}(\.\d{1,20})?(e[+-]?\d{1,2})?$/i, secondsMessage)
    .transform(Number)
    .refine((value) => value > 0 && value < 1_000_000_000, secondsMessage)
    .openapi({
      param: { name: 'seconds' },
      type: 'number',
      exclusiveMinimum: 0,
      exclusiveMaximum: 1_000_000_000,
      description: `${description} Not together with \`since\` or \`until\`.`,
    });
}

const metricsParam = namesParam(
  'metrics',
  'Names of metrics, as a comma list or repeated, in the order of the answer. Default: all metrics of the device.',
  ['power_kw', 'inverter_state'],
);

const sampleQuery = (aboutMetrics: z.ZodType<string[], string | string[]>) => ({
  seconds: secondsParam(
    'Samples of this many last simulated seconds, up to the current simulated time, both ends included.',
  ).optional(),
  since: isoParam(
    'since',
    'Simulated time of the first sample, inclusive. Default: the oldest sample kept.',
  ).optional(),
  until: isoParam('until', 'Simulated time after the last sample, exclusive. Default: no bound.').optional(),
  limit: integerParam(
    'limit',
    1,
    maxSamples,
    `Maximum number of samples, the newest. Default ${defaultHistoryLimit}.`,
  ).optional(),
  metrics: aboutMetrics.optional(),
  format: z
    .enum(['json', 'columns', 'csv'])
    .optional()
    .openapi({
      param: { name: 'format' },
      description:
        '`json`: one object per sample. `columns`: one array per metric, the same data in less than half the bytes. ' +
        '`csv`: one line per sample. Default `json`.',
    }),
});

export const historyQuerySchema = z.strictObject({ device: deviceParam.optional(), ...sampleQuery(metricsParam) });

const devicesParam = z
  .string()
  .regex(/^\d{1,9}(,\d{1,9})*$/, { error: 'must be a comma list of device indexes' })
  .transform((list) => [...new Set(list.split(',').map(Number))].sort((a, b) => a - b))
  .superRefine(([index, ...others], ctx) => {
    if (others.length === 0)
      ctx.addIssue({ code: 'custom', message: `is one device: its samples are those of history?device=${index}` });
  })
  .openapi({
    param: { name: 'devices', style: 'form', explode: false },
    type: 'array',
    items: { type: 'integer', minimum: 0, maximum: maxDeviceIndex },
    minItems: 2,
    description:
      'Indexes of the devices of a group, at least two; one device has its samples in `history`. Absent: the whole site.',
    example: [0, 5],
  });

const scopeQuerySchema = z.strictObject({
  devices: devicesParam.optional(),
  ...sampleQuery(
    namesParam(
      'metrics',
      'Names of metrics, as a comma list or repeated, in the order of the answer. Default: all metrics.',
      ['net_power_kw', 'export_limit_kw'],
    ),
  ),
});

interface Subject {
  /** name of the schema of the answer */
  readonly name: string;
  /** start of the names of the schemas of samples and columns */
  readonly prefix: string;
  /** members before the samples */
  readonly head: Readonly<Record<string, z.ZodType>>;
  readonly times: Readonly<Record<'timestamp' | 'wall_time' | 'tick', z.ZodType>>;
  readonly metrics: Readonly<Record<string, z.ZodType>>;
  /** metrics without a fixed name; absent: there are none */
  readonly further?: z.ZodType;
  readonly aboutSample?: { readonly description: string };
  readonly order: string;
}

/** Schema of an answer with one object per sample, or one array per metric. */
export function inBothForms({ name, prefix, head, times, metrics, further, aboutSample, order }: Subject) {
  const mapped = (make: (schema: z.ZodType) => z.ZodType) =>
    Object.fromEntries(Object.entries(metrics).map(([metric, schema]) => [metric, make(schema).optional()]));
  const arrays = Object.fromEntries(Object.entries(times).map(([time, schema]) => [time, z.array(schema)]));
  const sample = z
    .object({ ...times, ...mapped((schema) => schema) })
    .catchall(further ?? z.never())
    .openapi(`${prefix}Sample`, aboutSample);
  const columns = z
    .object({ ...arrays, ...mapped((schema) => z.array(schema)) })
    .catchall(further ? z.array(further) : z.never())
    .openapi(`${prefix}Columns`, { description: 'One array per requested metric, all of the same length.' });
  return z
    .union([
      z.strictObject({ ...head, samples: z.array(sample).openapi({ description: order }) }).openapi(name),
      z.strictObject({ ...head, columns }).openapi(`${name}InColumns`),
    ])
    .openapi({ description: `\`${name}\`; with \`format=columns\` \`${name}InColumns\`.` });
}

/** All metrics of any kind with a fixed name. */
const metricSchemas = (): Readonly<Record<string, z.ZodType>> => ({
  ...Object.fromEntries(numericNames.map((name) => [name, metricsSchema.shape[name]])),
  service_state: z.enum(serviceStates).openapi({ description: '701.St.' }),
  inverter_state: z.enum(inverterStates).openapi({ description: '701.InvSt.' }),
  connection_state: z.enum(connectionStates).openapi({ description: '701.ConnSt.' }),
  ...Object.fromEntries(
    [...Object.values(kindMetrics), limitMetrics]
      .flatMap((ofKind) => Object.entries(ofKind))
      .map(([name, description]) => [name, quantity(description)]),
  ),
});

/** Members of every answer with samples of ticks. */
const headMembers = () => ({
  interval_s: z
    .number()
    .min(0)
    .openapi({ description: 'Simulated seconds from one tick to the next at the current rate.' }),
  capacity: z.int().min(1).openapi({
    description:
      'Samples kept per device and scope: `--history_samples`, or fewer if the memory for all does not suffice; of the whole site always the setting.',
  }),
  metrics: z.array(z.string()).openapi({ description: 'Names of the metrics, in the order of the answer.' }),
  count: z.int().min(0).openapi({ description: 'Number of samples.' }),
  truncated: z.boolean().openapi({
    description:
      'The requested time had more samples: `limit` left out the oldest, or they are no longer kept. Dropped samples ' +
      'count as one span from the earliest to the latest time: after `controls/time` has set the clock, this is also true ' +
      'for a time within that span that never had a sample.',
  }),
});

const tickTimes = () => ({
  timestamp: isoTime.openapi({ description: 'Simulated time.' }),
  wall_time: isoTime.openapi({ description: 'Wall time at which the tick was computed.' }),
  tick: z.int().min(0).openapi({ description: 'Number of the tick.' }),
});

const historySchema = memo(() =>
  inBothForms({
    name: 'History',
    prefix: 'History',
    head: { device_index: deviceIndex, asset_type: z.enum(assetTypes), ...headMembers() },
    times: tickTimes(),
    metrics: metricSchemas(),
    further: quantity(partDescription),
    aboutSample: { description: 'One tick, with the requested metrics.' },
    order: 'In the order of recording, oldest first.',
  }),
);

const scopeHistorySchema = memo(() =>
  inBothForms({
    name: 'ScopeHistory',
    prefix: 'ScopeHistory',
    head: {
      devices: z
        .array(deviceIndex)
        .nullable()
        .openapi({ description: 'Indexes of the devices of the group; null: the whole site.' }),
      ...headMembers(),
    },
    times: tickTimes(),
    metrics: Object.fromEntries(
      Object.entries(scopeMetrics).map(([name, description]) => [name, quantity(description)]),
    ),
    aboutSample: { description: 'One tick, with the requested metrics.' },
    order: 'In the order of recording, oldest first.',
  }),
);

export const historyRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/history',
    tag: 'Core',
    operationId: 'get_history',
    summary: 'Samples of the past ticks of a device',
    description:
      'One sample per tick since the start of the device; beyond `capacity` the oldest are dropped. Values are those that the ' +
      'snapshot and the paths of the kind showed at that tick. Samples are in the order of their ticks, and are selected by ' +
      'their simulated time: after `controls/time` has set the clock, times repeat or leave a gap, and all samples of a repeated ' +
      'time are included. A change of rate changes the interval of later samples. CSV is RFC 4180 with a header line of ' +
      'names; an empty field is null.',
    query: historyQuerySchema,
    reply: historySchema,
    otherMedia: ['text/csv'],
    handle(ctx, { query }) {
      const device = selectedDevice(ctx, query.device);
      const { rate, tickIntervalS, dateMs } = ctx.plant.time;
      return historyAnswer(ctx.history.of(device), {
        query,
        nowMs: dateMs,
        owner: `a device of kind ${device.assetType}`,
        fileName: `history-device-${device.index}`,
        head: {
          device_index: device.index,
          asset_type: device.assetType,
          interval_s: tickSeconds(rate, tickIntervalS),
          capacity: ctx.history.depth,
        },
      });
    },
  }),
  route({
    method: 'get',
    path: '/site/scopes/history',
    tag: 'Controls',
    operationId: 'get_scope_history',
    summary: 'Power of the site or of a group beside its limits',
    description:
      'One sample per tick: of the whole site since the start, of a group from its first limit on, also when its limits have ' +
      'ended (`recorded_groups` of `site/scopes`). A group that never had a limit has no samples; one that a device has left ' +
      'begins again. Windows, order and formats are those of `history`.',
    query: scopeQuerySchema,
    reply: scopeHistorySchema,
    otherMedia: ['text/csv'],
    handle(ctx, { query }) {
      const { devices = null } = query;
      for (const index of devices ?? []) ctx.plant.device(index);
      const { rate, tickIntervalS, dateMs } = ctx.plant.time;
      return historyAnswer(ctx.history.ofScope(devices), {
        query,
        nowMs: dateMs,
        owner: 'a scope of the site',
        fileName: devices === null ? 'history-site' : `history-devices-${devices.slice(0, 10).join('-')}`,
        head: {
          devices,
          interval_s: tickSeconds(rate, tickIntervalS),
          capacity: devices === null ? ctx.history.siteDepth : ctx.history.depth,
        },
      });
    },
  }),
];
