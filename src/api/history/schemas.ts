import { memo } from '../../core/memo.ts';
import { assetTypes } from '../../contract/device.ts';
import { connectionStates, inverterStates, serviceStates } from '../../contract/snapshot.ts';
import { partDescription, kindMetrics, numericNames } from './metrics.ts';
import { z } from '../description/zod.ts';
import { deviceIndex, deviceParam, integerParam, isoParam, isoTime, namesParam, quantity } from '../common/schemas.ts';
import { exampleSnapshot, metricsSchema } from '../devices/members.ts';

export const defaultHistoryLimit = 10_000;
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

export const historyQuerySchema = z.strictObject({
  device: deviceParam.optional(),
  seconds: secondsParam(
    'Samples of the last so many simulated seconds, up to the current simulated time, both ends included.',
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
  metrics: metricsParam.optional(),
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

const answerMembers = {
  device_index: deviceIndex,
  asset_type: z.enum(assetTypes),
  interval_s: z
    .number()
    .min(0)
    .openapi({ description: 'Simulated seconds from one tick to the next at the current rate.' }),
  capacity: z.int().min(1).openapi({
    description:
      'Samples kept per device: `--history_samples`, or fewer if the memory for all devices does not suffice.',
  }),
  metrics: z.array(z.string()).openapi({ description: 'Names of the metrics, in the order of the answer.' }),
  count: z.int().min(0).openapi({ description: 'Number of samples.' }),
  truncated: z.boolean().openapi({
    description:
      'The requested time had more samples: `limit` left out the oldest, or they are no longer kept. Dropped samples ' +
      'count as one span from the earliest to the latest time: after `controls/time` has set the clock, this is also true ' +
      'for a time within that span that never had a sample.',
  }),
};

const tick = memo(() => z.int().min(0).openapi({ description: 'Number of the tick.' }));
const simTime = isoTime.openapi({ description: 'Simulated time.' });
const wallTime = memo(() => isoTime.openapi({ description: 'Wall time at which the tick was computed.' }));

/** All metrics of any kind with a fixed name. */
const valueSchemas: Readonly<Record<string, z.ZodType>> = {
  ...Object.fromEntries(numericNames.map((name) => [name, metricsSchema.shape[name]])),
  service_state: z.enum(serviceStates).openapi({ description: '701.St.' }),
  inverter_state: z.enum(inverterStates).openapi({ description: '701.InvSt.' }),
  connection_state: z.enum(connectionStates).openapi({ description: '701.ConnSt.' }),
  ...Object.fromEntries(
    Object.values(kindMetrics)
      .flatMap((ofKind) => Object.entries(ofKind))
      .map(([name, description]) => [name, quantity(description)]),
  ),
};

function mapped<T>(make: (schema: z.ZodType) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(valueSchemas).map(([name, schema]) => [name, make(schema)]));
}

const sampleSchema = memo(() =>
  z
    .object({ timestamp: simTime, wall_time: wallTime(), tick: tick(), ...mapped((schema) => schema.optional()) })
    .catchall(quantity(partDescription))
    .openapi('HistorySample', { description: 'One tick, with the requested metrics.' }),
);

const columnsSchema = memo(() =>
  z
    .object({
      timestamp: z.array(simTime),
      wall_time: z.array(wallTime()),
      tick: z.array(tick()),
      ...mapped((schema) => z.array(schema).optional()),
    })
    .catchall(z.array(quantity(partDescription)))
    .openapi('HistoryColumns', { description: 'One array per requested metric, all of the same length.' }),
);

const historySamplesSchema = memo(() =>
  z
    .strictObject({
      ...answerMembers,
      samples: z.array(sampleSchema()).openapi({ description: 'In the order of recording, oldest first.' }),
    })
    .openapi('History'),
);
const historyColumnsSchema = memo(() =>
  z.strictObject({ ...answerMembers, columns: columnsSchema() }).openapi('HistoryInColumns'),
);

export const historySchema = memo(() =>
  z
    .union([historySamplesSchema(), historyColumnsSchema()])
    .openapi({ description: '`History`; with `format=columns` `HistoryInColumns`.' }),
);
export type HistoryReply = z.output<ReturnType<typeof historySchema>>;

const exampleSample = {
  timestamp: exampleSnapshot.metrics.timestamp,
  wall_time: exampleSnapshot.wall_time,
  tick: exampleSnapshot.tick,
  power_kw: exampleSnapshot.metrics.power_kw,
  inverter_state: 'running',
};

export const exampleHistory = {
  device_index: 0,
  asset_type: 'pv',
  interval_s: 1.5,
  capacity: 10_000,
  metrics: ['power_kw', 'inverter_state'],
  count: 1,
  truncated: false,
  samples: [exampleSample],
};

export const exampleHistoryCsv = `${Object.keys(exampleSample).join(',')}\r\n${Object.values(exampleSample).join(',')}\r\n`;
