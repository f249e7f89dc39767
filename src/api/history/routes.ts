import { tickSeconds } from '../../core/time/sim-clock.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { historyAnswer } from './encode.ts';
import { historyQuerySchema, historySchema } from './members.ts';

const getHistory = route({
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
});

export const historyRoutes: readonly Route[] = [getHistory];
