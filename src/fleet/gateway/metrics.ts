/** `GET metrics` of a gateway: its process, the shards, and sums over them that Prometheus makes. */
import { lateExposition } from '../../api/metrics/exposition.ts';
import type { Exposition } from '../../api/metrics/exposition.ts';
import { bit, single } from '../../api/metrics/family.ts';
import type { Family, ProcessView, Sample } from '../../api/metrics/family.ts';
import { ofProcess } from '../../api/metrics/process-families.ts';
import { Turns } from '../../core/turns.ts';
import type { ObservedShard } from '../registry/observer.ts';
import { requestBounds } from './request-counts.ts';
import type { RequestCounts, RequestTimes } from './request-counts.ts';
import type { ShardTick, TickCounts } from './tick-book.ts';
import type { FleetView } from './view.ts';

/** Shards with series of their own, in the order of their devices. */
export const maxShardsWithSeries = 256;

interface ShardView extends ObservedShard {
  readonly name: string;
  /** null: none has come, or the shard is lost */
  readonly newest: ShardTick | null;
  readonly counts: TickCounts;
}

interface FleetMetricsView extends ProcessView {
  readonly fleet: FleetView;
  readonly requests: RequestCounts;
  readonly all: readonly ObservedShard[];
  readonly shards: readonly ShardView[];
}

type FleetFamily = Family<FleetMetricsView>;

const sum = (values: Iterable<number>) => {
  let total = 0;
  for (const value of values) total += value;
  return total;
};

/** Samples of the live and of the lost shards. */
const byState =
  (count: (shards: readonly ObservedShard[]) => number) =>
  ({ all }: FleetMetricsView): readonly Sample[] =>
    [true, false].map((isLive) => [count(all.filter((shard) => shard.isLive === isLive)), isLive ? 'live' : 'lost']);

function perShard(
  type: Family['type'],
  name: string,
  help: string,
  read: (shard: ShardView, view: FleetMetricsView) => number | null,
): FleetFamily {
  return {
    type,
    name: `derbench_fleet_${name}`,
    help,
    labels: ['shard'],
    samples: (view) => view.shards.map((shard) => [read(shard, view), shard.name]),
  };
}

const powerOf = (column: 'powerW' | 'reactiveVar') => (shard: ShardView) =>
  shard.newest && sum(shard.newest.parts.map((part) => sum(part[column])));

function* requestSamples({ shards, requests }: FleetMetricsView): Iterable<Sample> {
  for (const { name } of shards) for (const [statusClass, times] of requests.of(name)) yield [times, name, statusClass];
}

/** Families of a gateway, apart from the histogram of its requests. */
export const gatewayFamilies: readonly FleetFamily[] = [
  ...ofProcess,
  single(
    'gauge',
    'derbench_fleet_connected',
    '1 while the gateway has a connection to the server of the fleet.',
    (view) => bit(view.fleet.link.state === 'connected'),
  ),
  single(
    'counter',
    'derbench_fleet_reconnects_total',
    'Connections to the server of the fleet that came back.',
    ({ fleet }) => fleet.reconnects,
  ),
  {
    type: 'gauge',
    name: 'derbench_fleet_shards',
    help: 'Shards by state.',
    labels: ['state'],
    samples: byState((shards) => shards.length),
  },
  {
    type: 'gauge',
    name: 'derbench_fleet_devices',
    help: 'Devices of the shards by their state.',
    labels: ['state'],
    samples: byState((shards) => sum(shards.map(({ lease }) => lease.count))),
  },
  perShard('gauge', 'shard_active_power_watts', 'Sum of active power in the newest tick.', powerOf('powerW')),
  perShard('gauge', 'shard_reactive_power_vars', 'Sum of reactive power in the newest tick.', powerOf('reactiveVar')),
  perShard(
    'gauge',
    'tick_seconds',
    'Real time in which the shard made the messages of the tick before its newest one.',
    ({ newest }) => newest && newest.head.tookMs / 1000,
  ),
  perShard(
    'gauge',
    'tick_age_seconds',
    'Real time since the newest tick came.',
    ({ newest }, { fleet }) => newest && (fleet.nowMs - newest.arrivedMs) / 1000,
  ),
  perShard('counter', 'ticks_total', 'Whole ticks that came.', ({ counts }) => counts.ticks),
  perShard('counter', 'ticks_missed_total', 'Ticks that did not come, or not whole.', ({ counts }) => counts.missed),
  perShard('counter', 'bytes_total', 'Bytes of tick messages.', ({ counts }) => counts.bytes),
  {
    type: 'counter',
    name: 'derbench_fleet_requests_total',
    help: 'Requests to shards by class of status.',
    labels: ['shard', 'status'],
    samples: requestSamples,
  },
  single(
    'counter',
    'derbench_fleet_stream_ticks_dropped_total',
    'Ticks that the stream left out, since a newer one of their shard came first.',
    ({ fleet }) => fleet.source.dropped,
  ),
];

/** The histogram of requests, for documents. */
export const requestHistogram = {
  type: 'histogram',
  name: 'derbench_fleet_request_seconds',
  help: 'Times of the answers of shards.',
  labels: ['le'],
} as const;

/** The text of that histogram: a registry would keep counts of its own beside those of the requests. */
function histogramText({ within, count, sumS }: RequestTimes): string {
  const { name, help, type } = requestHistogram;
  const buckets = within.map((times, at) => `${name}_bucket{le="${requestBounds[at] ?? 0}"} ${times}`);
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...buckets,
    `${name}_bucket{le="+Inf"} ${count}`,
    `${name}_sum ${sumS}`,
    `${name}_count ${count}`,
    '',
  ].join('\n');
}

export interface GatewayMetricsOptions {
  readonly view: FleetView;
  readonly counts: RequestCounts;
  readonly info: ProcessView['ctx']['info'];
  readonly eventLoop: ProcessView['ctx']['eventLoop'];
}

export class GatewayMetrics {
  readonly #options: GatewayMetricsOptions;
  readonly #exposition: () => Promise<Exposition<FleetMetricsView>> = lateExposition(gatewayFamilies);
  /** one registry holds the values of one scrape */
  readonly #scrapes = new Turns();

  constructor(options: GatewayMetricsOptions) {
    this.#options = options;
  }

  /** The present values in the text exposition format. */
  text(): Promise<string> {
    return this.#scrapes.take(async () => {
      const exposition = await this.#exposition();
      exposition.read(this.#view());
      return `${(await exposition.text()).trimEnd()}\n${histogramText(this.#options.counts.times)}`;
    });
  }

  #view(): FleetMetricsView {
    const { view, counts, info, eventLoop } = this.#options;
    const { shards, ticks } = view;
    counts.keep(new Set(shards.keys()));
    return {
      ctx: { info, eventLoop },
      memory: process.memoryUsage(),
      cpu: process.cpuUsage(),
      fleet: view,
      requests: counts,
      all: [...shards.values()],
      shards: [...shards]
        .sort(([, a], [, b]) => a.lease.first - b.lease.first)
        .slice(0, maxShardsWithSeries)
        .map(([name, shard]) => ({
          ...shard,
          name,
          newest: shard.isLive ? ticks.newest(name) : null,
          counts: ticks.counts(name),
        })),
    };
  }
}
