import type { DeviceHistory } from '../history/history.ts';
import { columnsJson, samplesCsv, samplesJson } from '../history/encode.ts';
import type { Metric } from '../history/metrics.ts';
import { select } from '../history/select.ts';
import type { Window } from '../history/select.ts';
import { tickSeconds } from '../../core/sim-clock.ts';
import type { Plant } from '../../sunspec/map/device.ts';
import { invalid, invalidAll } from '../errors.ts';
import { Answer, PiecesReply, route } from '../route.ts';
import type { Route } from '../route.ts';
import {
  defaultHistoryLimit, exampleHistory, exampleHistoryCsv, historyQuerySchema, historySchema,
} from '../schemas/history.ts';
import type { HistoryReply } from '../schemas/history.ts';
import { selectedDevice } from '../views.ts';

const mostNamed = 5;

/** @throws HttpProblem `validation` with the names that there are */
function chosenMetrics({ metrics }: DeviceHistory, names: readonly string[] | undefined, kind: string): readonly Metric[] {
  if (names === undefined) return metrics;
  const byName = new Map(metrics.map((metric) => [metric.name, metric]));
  const unknown = names.filter((name) => !byName.has(name));
  if (unknown.length > 0) {
    const shown = unknown.slice(0, mostNamed).map((name) => JSON.stringify(name)).join(', ');
    const detail = `a device of kind ${kind} has no metric ${shown}${unknown.length > mostNamed ? ', ...' : ''}`;
    throw invalid('query', 'metrics', detail, [...byName.keys()]);
  }
  return names.flatMap((name) => byName.get(name) ?? []);
}

interface TimeQuery {
  readonly seconds?: number | undefined;
  /** ms since the epoch */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** @throws HttpProblem `validation` */
function windowOf({ time }: Plant, { seconds, since, until }: TimeQuery): Window {
  if (seconds === undefined) {
    if (since !== undefined && until !== undefined && since >= until) throw invalid('query', 'until', 'must be later than since');
    return { sinceMs: since ?? null, untilMs: until ?? null };
  }
  const both = Object.entries({ since, until }).filter(([, ms]) => ms !== undefined).map(([name]) => name);
  if (both.length > 0) {
    throw invalidAll(both.map((name) => ({ in: 'query' as const, name, detail: 'cannot be given together with seconds' })));
  }
  // samples have whole milliseconds, cut off; the present one is included
  const nowMs = Math.floor(time.dateMs);
  return { sinceMs: nowMs - seconds * 1000, untilMs: nowMs + 1 };
}

const getHistory = route({
  method: 'get',
  path: '/history',
  tag: 'Core',
  operationId: 'get_history',
  summary: 'Samples of the past ticks of a device',
  description: 'One sample per tick since the start of the device; when more than `capacity` are kept, the oldest go. Numbers are '
    + 'those that snapshot and paths of the kind showed at that tick. Samples stand in the order of their ticks, and are chosen by '
    + 'their own simulated time: when `controls/time` has set the clock, times repeat or leave a gap, and samples of a repeated '
    + 'time are all answered. A change of rate changes the distance of samples from then on. CSV is RFC 4180 under one line of '
    + 'names; an empty field is null.',
  query: historyQuerySchema,
  reply: historySchema,
  otherMedia: { type: 'text/csv', example: exampleHistoryCsv },
  examples: { reply: exampleHistory },
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    const history = ctx.history.of(device);
    const chosen = chosenMetrics(history, query.metrics, device.assetType);
    const selection = select(history.cut(), windowOf(ctx.plant, query), query.limit ?? defaultHistoryLimit);
    if (query.format === 'csv') {
      const lines = samplesCsv(selection, history.metrics, chosen);
      return new Answer<HistoryReply>(new PiecesReply('text/csv; charset=utf-8; header=present', lines), {
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
    return new PiecesReply('application/json', write(head, selection, history.metrics, chosen));
  },
});

export const historyRoutes: readonly Route[] = [getHistory];
