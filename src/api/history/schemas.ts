import { assetTypes } from '../../contract/device.ts';
import { connectionStates, inverterStates, serviceStates } from '../../contract/snapshot.ts';
import { connectorDescription, kindMetrics, numericNames } from './metrics.ts';
import { z } from '../description/zod.ts';
import { deviceIndex, deviceParam, integerParam, isoParam, isoTime, quantity } from '../common/schemas.ts';
import { exampleSnapshot, metricsSchema } from '../devices/snapshot-schemas.ts';

export const defaultHistoryLimit = 10_000;
const mostSamples = 100_000;

const secondsMessage = { error: 'must be a number of seconds, more than 0 and less than 1000000000' };

/** Length of a window that ends now. @param description of it, whatever the clock */
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

/** Names as a comma list, a repeated parameter, or both; each of them once. */
const metricsParam = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [...new Set([given].flat().flatMap((list) => list.split(',')))])
  .openapi({
    param: { name: 'metrics', style: 'form', explode: false },
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    description:
      'Names of metrics, as a comma list or repeated; they come in this order. Default: all that the device has.',
    example: ['power_kw', 'inverter_state'],
  });

export const historyQuerySchema = z.strictObject({
  device: deviceParam.optional(),
  seconds: secondsParam(
    'Samples of the last so many simulated seconds: up to the present of the simulated clock, both ends included.',
  ).optional(),
  since: isoParam(
    'since',
    'Simulated time of the first sample, inclusive. Default: the oldest that is kept.',
  ).optional(),
  until: isoParam('until', 'Simulated time behind the last sample, exclusive. Default: the newest.').optional(),
  limit: integerParam(
    'limit',
    1,
    mostSamples,
    `Most samples; the newest stay. Default ${defaultHistoryLimit}.`,
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
    .openapi({ description: 'Simulated seconds from one tick to the next at the present rate.' }),
  capacity: z.int().min(1).openapi({
    description:
      'Samples that are kept per device at present: `--history_samples`, or what fits into the memory of all devices.',
  }),
  metrics: z.array(z.string()).openapi({ description: 'Names of the metrics, in the order of the answer.' }),
  count: z.int().min(0).openapi({ description: 'Number of samples.' }),
  truncated: z.boolean().openapi({
    description:
      'The time asked for had more samples: `limit` left out the oldest, or they are no longer kept. What is no longer ' +
      'kept counts as one span from its earliest to its latest time: after `controls/time` has set the clock, this is also true ' +
      'for a time within that span in which there never was a sample.',
  }),
};

const tick = z.int().min(0).openapi({ description: 'Number of the tick.' });
const simTime = isoTime.openapi({ description: 'Simulated time.' });
const wallTime = isoTime.openapi({ description: 'Wall time at which the tick was computed.' });

/** All metrics that any kind has under a fixed name. */
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

const sampleSchema = z
  .object({ timestamp: simTime, wall_time: wallTime, tick, ...mapped((schema) => schema.optional()) })
  .catchall(quantity(connectorDescription))
  .openapi('HistorySample', { description: 'One tick; of the metrics those that were asked for.' });

const columnsSchema = z
  .object({
    timestamp: z.array(simTime),
    wall_time: z.array(wallTime),
    tick: z.array(tick),
    ...mapped((schema) => z.array(schema).optional()),
  })
  .catchall(z.array(quantity(connectorDescription)))
  .openapi('HistoryColumns', { description: 'One array per metric that was asked for, all of the same length.' });

const historySamplesSchema = z
  .strictObject({
    ...answerMembers,
    samples: z.array(sampleSchema).openapi({ description: 'In the order in which they were recorded, oldest first.' }),
  })
  .openapi('History');
const historyColumnsSchema = z.strictObject({ ...answerMembers, columns: columnsSchema }).openapi('HistoryInColumns');

export const historySchema = z
  .union([historySamplesSchema, historyColumnsSchema])
  .openapi({ description: '`History`; with `format=columns` `HistoryInColumns`.' });
export type HistoryReply = z.output<typeof historySchema>;

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
