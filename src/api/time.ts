/** The simulated clock: operations, and members of replies and requests. */
import { memo } from '../core/lazy.ts';
import { clockRefusal } from '../contract/exchange.ts';
import type { Plant, TickEvent } from '../contract/plant.ts';
import { positionOf } from '../contract/snapshot.ts';
import type { Snapshot } from '../contract/snapshot.ts';
import { clockModes } from '../core/time/clock.ts';
import type { ClockMode } from '../core/time/clock.ts';
import { isTimeZone } from '../core/time/zone.ts';
import { integer, member, members, nested, number, text, time, word, camelCased } from './common/members.ts';
import { checkClockHasNoOwner, checkIsNoMember } from './common/clock-owner.ts';
import { isoMember, deviceQuery } from './common/schemas.ts';
import { writer } from './common/writers.ts';
import { z } from './description/zod.ts';
import { snapshotSchema } from './devices.ts';
import { SimError } from '../core/errors.ts';
import type { Origin } from '../core/origin.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';
import type { RouteContext } from './http/context.ts';
import { invalid } from './http/errors.ts';
import { selectedDevice } from './common/device-replies.ts';

export const clock = members<Plant['time'], { readonly plant: Pick<Plant, 'dateMs'> }>()('Time', () => ({
  mode: word(clockModes)(),
  rate: number(),
  rate_effective: number('Below `rate` when the machine is too slow for it.'),
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

/** Reply of a step. */
export const stepResult = members<
  { readonly snapshot: Snapshot | null },
  { readonly plant: Pick<Plant, 'time' | 'dateMs'> }
>()('StepReply', () => ({
  time: nested(clock)((_of, { plant }) => plant.time),
  snapshot: member(() => z.union([snapshotSchema, z.null()]))(
    'Null: `device` was removed during the step; without `device`: the first device of the start is no longer there.',
  ),
}));

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
          'the present time up to 100 000 ticks ahead. The present time runs no tick.',
      ).optional(),
    })
    .refine(({ ticks, until }) => ticks === undefined || until === undefined, {
      path: ['until'],
      error: 'cannot be given together with ticks',
    })
    .openapi('StepRequest'),
);

/**
 * Refuses a request while a scenario, an exchange or a fleet owns the clock.
 * @throws SimError COMMAND_CONFLICT, HttpProblem `fleet-member`
 */
function checkClockIsFree(ctx: RouteContext): void {
  checkIsNoMember(ctx);
  const refusal = clockRefusal(ctx.plant.exchange);
  if (refusal !== null) throw new SimError('COMMAND_CONFLICT', refusal);
  checkClockHasNoOwner(ctx);
}

/** @param untilMs simulated date, ms since the epoch */
async function runUntil(plant: Plant, untilMs: number, by: Origin): Promise<TickEvent> {
  const { sim, dateMs } = plant.time;
  try {
    // replies show the present time without microseconds: such a target is not in the past
    return await plant.runTo(Math.floor(dateMs) === untilMs ? sim : plant.simAt(untilMs), by);
  } catch (error) {
    if (error instanceof SimError && error.code === 'COMMAND_BAD_VALUE') throw invalid('body', '/until', error.message);
    throw error;
  }
}

export type TimeBody = z.infer<ReturnType<typeof timeBodySchema>>;

/** @param present mode of the clock @throws HttpProblem `validation` */
export function checkTimeChange(body: TimeBody, present: ClockMode): void {
  if (Object.keys(body).length === 0) {
    throw invalid('body', '', `at least one of ${Object.keys(timeBodySchema().shape).join(', ')} is required`);
  }
  if ((body.mode ?? present) !== 'wall_clock') return;
  if (body.rate !== undefined && body.rate !== 1) throw invalid('body', '/rate', 'must be 1 in the mode wall_clock');
  if (body.clock_time !== undefined) throw invalid('body', '/clock_time', 'cannot be set in the mode wall_clock');
}

export const timeRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/controls/time',
    tag: 'Controls',
    operationId: 'get_time',
    summary: 'The simulated clock',
    reply: clock.schema,
    handle: ({ plant }) => clock.reply(plant.time, { plant }),
  }),
  route({
    method: 'post',
    path: '/controls/time',
    tag: 'Controls',
    operationId: 'set_time',
    summary: 'Sets mode, rate, time of day and time zone of the simulated clock',
    description:
      '`wall_clock` ties the simulated clock to real time. A pause sets the clock to the end of the last tick, which registers ' +
      'and snapshots show, and from which the next step continues. A rate belongs to `accelerated` or `paused`. At least one ' +
      'member is required.',
    body: timeBodySchema,
    reply: clock.schema,
    problems: ['conflict', 'fleet-member'],
    handle(ctx, { body, by }) {
      const { plant } = ctx;
      checkClockIsFree(ctx);
      checkTimeChange(body, plant.time.mode);
      plant.setTime(camelCased(body), by);
      return clock.reply(plant.time, { plant });
    },
  }),
  route({
    method: 'post',
    path: '/controls/time/step',
    tag: 'Controls',
    operationId: 'step_time',
    routine: true,
    summary: 'Runs ticks immediately while the clock is paused',
    description:
      'Each tick advances `rate` x `tick_interval_s`; with `until` the last tick is shortened to end at ' +
      'that time. The answer is sent when all ticks are done, which takes long for many ' +
      'ticks of many devices; the time limit of requests does not apply. Step requests run one after the other. Devices can ' +
      'be added and removed between ticks. `conflict` ends the step when the clock leaves the mode `paused`, also if it is paused ' +
      'again; its text has the number of ticks that have run. The snapshot is the one of `device` after the last tick.',
    query: deviceQuery,
    body: stepBodySchema,
    reply: stepResult.schema,
    problems: ['conflict', 'fleet-member'],
    async handle(ctx, { query, body, by }) {
      checkClockIsFree(ctx);
      const index = query.device === undefined ? ctx.plant.firstIndex : selectedDevice(ctx, query.device).index;
      const { published } =
        body.until === undefined
          ? await ctx.plant.step(body.ticks ?? 1, by)
          : await runUntil(ctx.plant, body.until, by);
      return stepResult.reply({ snapshot: published[positionOf(published, index)]?.snapshot ?? null }, ctx);
    },
  }),
];
