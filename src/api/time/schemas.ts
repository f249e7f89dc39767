import { memo } from '../../core/memo.ts';
import { clockModes } from '../../core/time/clock.ts';
import { isTimeZone } from '../../core/time/zone.ts';
import { isoMember, isoTime } from '../common/schemas.ts';
import { exampleWriter, writerSchema } from '../common/writer-schemas.ts';
import { z } from '../description/zod.ts';
import { exampleSnapshot, snapshotSchema } from '../devices/members.ts';

export const timeBodySchema = memo(() =>
  z
    .strictObject({
      mode: z.enum(clockModes).optional(),
      rate: z
        .number()
        .min(0.01)
        .max(3600)
        .optional()
        .openapi({ description: 'Simulated seconds per real second; with `accelerated` or `paused`.' }),
      clock_time: z
        .string()
        .regex(/^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/, { error: 'must be HH:MM:SS' })
        .optional()
        .openapi({ description: 'Sets the simulated clock; not in `wall_clock`.' }),
      timezone: z.string().max(64).refine(isTimeZone, { error: 'must be an IANA time zone name' }).optional(),
    })
    .openapi('TimeRequest'),
);

export const timeSchema = memo(() =>
  z
    .strictObject({
      mode: z.enum(clockModes),
      rate: z.number(),
      rate_effective: z.number().openapi({ description: 'Below `rate` when the machine cannot hold it.' }),
      clock_time: z.string(),
      timezone: z.string(),
      sim_time: isoTime,
      wall_time: isoTime,
      tick: z.int(),
      tick_interval_s: z.number(),
      sim_step_s: z.number(),
      changed_by: writerSchema
        .nullable()
        .openapi({ description: 'Last writer of mode, rate, time of day or zone; null: as started.' }),
      stepped_by: writerSchema
        .nullable()
        .openapi({ description: 'Last writer that ran ticks by `controls/time/step`; null: none.' }),
    })
    .openapi('Time'),
);

export const stepBodySchema = memo(() =>
  z
    .strictObject({
      ticks: z.int().min(1).max(100_000).optional().openapi({
        description: 'Whole ticks; default 1 without `until`.',
      }),
      until: isoMember(
        'Simulated date and time (as `sim_time`) at which the last tick ends, exact to 1 ms, in place of `ticks`: from ' +
          'the present one up to 100 000 ticks ahead. The present one runs no tick.',
      ).optional(),
    })
    .refine(({ ticks, until }) => ticks === undefined || until === undefined, {
      path: ['until'],
      error: 'cannot be given together with ticks',
    })
    .openapi('StepRequest'),
);
export const stepReplySchema = memo(() =>
  z
    .strictObject({
      time: timeSchema(),
      snapshot: z.union([snapshotSchema, z.null()]).openapi({
        description:
          'Null: `device` was removed during the step; without `device`: the first device of the start is no longer there.',
      }),
    })
    .openapi('StepReply'),
);

export type TimeReply = z.output<ReturnType<typeof timeSchema>>;

export const exampleTimeReply = {
  mode: 'accelerated',
  rate: 1,
  rate_effective: 1,
  clock_time: '12:00:01',
  timezone: 'UTC',
  sim_time: exampleSnapshot.metrics.timestamp,
  wall_time: exampleSnapshot.wall_time,
  tick: exampleSnapshot.tick,
  tick_interval_s: 1.5,
  sim_step_s: 1,
  changed_by: null,
  stepped_by: null,
};
export const exampleStep = {
  time: { ...exampleTimeReply, mode: 'paused', rate_effective: 0, stepped_by: exampleWriter },
  snapshot: exampleSnapshot,
};
