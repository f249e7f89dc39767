import { positionOf } from '../../contract/snapshot.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { invalid } from '../http/errors.ts';
import { deviceQuery } from '../common/schemas.ts';
import {
  exampleStep,
  exampleTimeReply,
  stepBodySchema,
  stepReplySchema,
  timeBodySchema,
  timeSchema,
} from '../controls/schemas.ts';
import { exampleWriter } from '../common/writer-schemas.ts';
import { timeReply } from './replies.ts';
import { firstIndex, selectedDevice } from '../common/device-replies.ts';

const getTime = route({
  method: 'get',
  path: '/controls/time',
  tag: 'Controls',
  operationId: 'get_time',
  summary: 'The simulated clock',
  reply: timeSchema,
  examples: { reply: exampleTimeReply },
  handle: ({ plant }) => timeReply(plant),
});

const setTime = route({
  method: 'post',
  path: '/controls/time',
  tag: 'Controls',
  operationId: 'set_time',
  summary: 'Sets mode, rate, time of day and time zone of the simulated clock',
  description:
    '`wall_clock` ties the simulated clock to real time. A rate belongs to `accelerated` or `paused`. At least one ' +
    'member is required.',
  body: timeBodySchema,
  reply: timeSchema,
  problems: ['conflict'],
  examples: {
    body: { mode: 'accelerated', rate: 60 },
    reply: { ...exampleTimeReply, rate: 60, rate_effective: 60, changed_by: exampleWriter },
  },
  handle({ plant }, { body, by }) {
    if (Object.keys(body).length === 0) {
      throw invalid('body', '', `at least one of ${Object.keys(timeBodySchema.shape).join(', ')} is required`);
    }
    const mode = body.mode ?? plant.time.mode;
    if (mode === 'wall_clock') {
      if (body.rate !== undefined && body.rate !== 1)
        throw invalid('body', '/rate', 'must be 1 in the mode wall_clock');
      if (body.clock_time !== undefined) throw invalid('body', '/clock_time', 'cannot be set in the mode wall_clock');
    }
    plant.setTime(
      {
        ...(body.mode !== undefined && { mode: body.mode }),
        ...(body.rate !== undefined && { rate: body.rate }),
        ...(body.clock_time !== undefined && { clockTime: body.clock_time }),
        ...(body.timezone !== undefined && { timezone: body.timezone }),
      },
      by,
    );
    return timeReply(plant);
  },
});

const step = route({
  method: 'post',
  path: '/controls/time/step',
  tag: 'Controls',
  operationId: 'step_time',
  summary: 'Runs ticks immediately while the clock is paused',
  description:
    'Each tick advances `rate` x `tick_interval_s`. The answer is sent when all ticks are done, which takes long for many ' +
    'ticks of many devices; the time limit of requests does not apply. Step requests run one after the other. Devices can ' +
    'join and leave between ticks, and `conflict` ends the step when the clock is no longer paused. The snapshot is the one ' +
    'of `device` after the last tick.',
  query: deviceQuery,
  body: stepBodySchema,
  reply: stepReplySchema,
  problems: ['conflict'],
  examples: { body: { ticks: 1 }, reply: exampleStep },
  async handle(ctx, { query, body, by }) {
    const index = query.device === undefined ? firstIndex(ctx.plant) : selectedDevice(ctx, query.device).index;
    const { published } = await ctx.plant.step(body.ticks ?? 1, by);
    return { time: timeReply(ctx.plant), snapshot: published[positionOf(published, index)]?.snapshot ?? null };
  },
});

export const timeRoutes: readonly Route[] = [getTime, setTime, step];
