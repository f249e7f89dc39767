import { columnsJson, samplesCsv, samplesJson } from './encode.ts';
import { chosenMetrics, windowOf } from './query.ts';
import { select } from './select.ts';
import { tickSeconds } from '../../core/time/sim-clock.ts';
import { Answer, StreamedReply, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  defaultHistoryLimit,
  exampleHistory,
  exampleHistoryCsv,
  historyQuerySchema,
  historySchema,
} from './schemas.ts';
import type { HistoryReply } from './schemas.ts';
import { selectedDevice } from '../common/device-replies.ts';

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
  otherMedia: [{ type: 'text/csv', example: exampleHistoryCsv }],
  examples: { reply: exampleHistory },
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    const history = ctx.history.of(device);
    const chosen = chosenMetrics(history.metrics, query.metrics, `a device of kind ${device.assetType}`);
    const selection = select(history.cut(), windowOf(ctx.plant.time.dateMs, query), query.limit ?? defaultHistoryLimit);
    if (query.format === 'csv') {
      const lines = samplesCsv(selection, history.metrics, chosen);
      return new Answer<HistoryReply>(new StreamedReply('text/csv; charset=utf-8; header=present', lines), {
        headers: { 'Content-Disposition': `attachment; filename="history-device-${device.index}.csv"` },
      });
    }
    const { rate, tickIntervalS } = ctx.plant.time;
    const head = {
      device_index: device.index,
      asset_type: device.assetType,
      interval_s: tickSeconds(rate, tickIntervalS),
      capacity: ctx.history.depth,
      metrics: chosen.map(({ name }) => name),
      count: selection.count,
      truncated: selection.truncated,
    };
    const write = query.format === 'columns' ? columnsJson : samplesJson;
    return new StreamedReply('application/json', write(head, selection, history.metrics, chosen));
  },
});

export const historyRoutes: readonly Route[] = [getHistory];
