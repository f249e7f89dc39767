/** The simulated clock: members of replies and requests. */
import type { Plant } from '../../contract/plant.ts';
import type { Snapshot } from '../../contract/snapshot.ts';
import { memo } from '../../core/lazy.ts';
import { clockModes } from '../../core/time/clock.ts';
import { isTimeZone } from '../../core/time/zone.ts';
import { integer, member, members, nested, number, text, time, word } from '../common/members.ts';
import { isoMember } from '../common/schemas.ts';
import { writer } from '../common/writer-replies.ts';
import { z } from '../description/zod.ts';
import { snapshotSchema } from '../devices/members.ts';

export const clock = members<Plant['time'], { readonly plant: Pick<Plant, 'dateMs'> }>()('Time', () => ({
  mode: word(clockModes)(),
  rate: number(),
  rate_effective: number('Below `rate` when the machine cannot hold it.'),
  clock_time: text(),
  timezone: text(),
  sim_time: time(({ dateMs }) => dateMs),
  wall_time: time(({ wallMs }) => wallMs),
  tick: integer(),
  tick_interval_s: number(),
  sim_step_s: number(),
  changed_by: writer.orNull('Last writer of mode, rate, time of day or zone; null: as started.'),
  stepped_by: writer.orNull('Last writer that ran ticks by `controls/time/step`; null: none.'),
}));

export const stepResult = members<{ readonly snapshot: Snapshot | null }, { readonly plant: Plant }>()(
  'StepReply',
  () => ({
    time: nested(clock)((_of, { plant }) => plant.time),
    snapshot: member(() => z.union([snapshotSchema, z.null()]))(
      'Null: `device` was removed during the step; without `device`: the first device of the start is no longer there.',
    ),
  }),
);

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
