import { memo } from '../../core/memo.ts';
import { z } from '../description/zod.ts';
import { isoParam, isoTime } from '../common/schemas.ts';
import { historyQuerySchema, secondsParam } from '../history/schemas.ts';
import { numberSchemas, stateSchemas } from './schemas.ts';

export const clientHistoryQuerySchema = historyQuerySchema.omit({ device: true }).extend({
  seconds: secondsParam('Samples of the last so many seconds of wall time.').optional(),
  since: isoParam('since', 'Wall time of the first sample, inclusive. Default: the oldest sample kept.').optional(),
  until: isoParam('until', 'Wall time after the last sample, exclusive. Default: no bound.').optional(),
});

const historyMembers = {
  endpoint: z.string().nullable().openapi({ description: 'Device of the samples; null before one was found.' }),
  unit_id: z.int().nullable().openapi({ description: 'Unit id of that device.' }),
  interval_s: z.number().openapi({ description: 'Current interval of polling, s.' }),
  capacity: z.int().openapi({ description: 'Maximum number of samples; the oldest are dropped.' }),
  metrics: z.array(z.string()).openapi({ description: 'Names of the metrics, in the order of the answer.' }),
  count: z.int().openapi({ description: 'Number of samples.' }),
  truncated: z.boolean().openapi({ description: 'The requested time had more samples.' }),
};

const tick = memo(() => z.int().min(1).openapi({ description: 'Number of the round of polling.' }));
const arrival = memo(() => isoTime.openapi({ description: 'Wall time at which the round ended.' }));
const metricSchemas: Readonly<Record<string, z.ZodType>> = { ...numberSchemas, ...stateSchemas };

function mapped<T>(make: (schema: z.ZodType) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(metricSchemas).map(([name, schema]) => [name, make(schema)]));
}

const clientSamplesSchema = memo(() =>
  z
    .strictObject({
      ...historyMembers,
      samples: z
        .array(
          z
            .strictObject({
              timestamp: arrival(),
              wall_time: arrival(),
              tick: tick(),
              ...mapped((schema) => schema.optional()),
            })
            .openapi('ClientSample'),
        )
        .openapi({ description: 'Oldest first.' }),
    })
    .openapi('ClientHistory'),
);
const clientColumnsSchema = memo(() =>
  z
    .strictObject({
      ...historyMembers,
      columns: z
        .strictObject({
          timestamp: z.array(arrival()),
          wall_time: z.array(arrival()),
          tick: z.array(tick()),
          ...mapped((schema) => z.array(schema).optional()),
        })
        .openapi('ClientColumns', { description: 'One array per requested metric, all of the same length.' }),
    })
    .openapi('ClientHistoryInColumns'),
);

export const clientHistorySchema = memo(() =>
  z
    .union([clientSamplesSchema(), clientColumnsSchema()])
    .openapi({ description: '`ClientHistory`; with `format=columns` `ClientHistoryInColumns`.' }),
);

export type ClientHistoryReply = z.output<ReturnType<typeof clientHistorySchema>>;
