/** Answers that a gateway gives itself: about the fleet, and about its own process. */
import type { EventLoopState } from '../../core/event-loop.ts';
import { fleetMapTable, fleetTable, shardsTable, shardTable } from '../../api/fleet/routes.ts';
import type { ShardFacts, ShardMap } from '../../api/fleet/routes.ts';
import type { ApiLimits } from '../../api/http/context.ts';
import { HttpProblem } from '../../api/http/errors.ts';
import { idOfProcess } from '../../api/http/reply.ts';
import { Answer, TextReply } from '../../api/http/route.ts';
import type { Adapter } from '../../core/adapter.ts';
import type { StreamReporter } from '../../contract/stream-report.ts';
import { licenseReply, stopping } from '../../api/lifecycle.ts';
import { logsReply } from '../../api/logs.ts';
import type { ShownLog } from '../../api/logs.ts';
import { streamClientsReply } from '../../api/stream.ts';
import type { HealthReply, ServerInfoReply } from '../../api/lifecycle.ts';
import { expositionType } from '../../api/metrics/exposition.ts';
import type { ObservedShard } from '../registry/observer.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { RoutedRequest } from './router.ts';
import type { FleetView } from './view.ts';

/** Constant facts of the process. */
export interface GatewayInfo {
  readonly version: string;
  readonly apiVersion: string;
  readonly buildId: string;
  /** wall time in ms since the epoch */
  readonly startedAtMs: number;
}

export interface OwnContext {
  readonly view: FleetView;
  readonly info: GatewayInfo;
  readonly eventLoop: EventLoopState;
  readonly limits: Pick<ApiLimits, 'logEntries' | 'wsQueue' | 'maxBodyBytes'>;
  /** wall time, ms since the epoch */
  readonly nowMs: () => number;
  readonly isStopping: () => boolean;
  readonly logs: ShownLog;
  readonly metrics: Pick<GatewayMetrics, 'text'>;
  readonly stream: () => (Pick<Adapter, 'status'> & StreamReporter) | null;
  /** Ends the process after a delay, once the answer is sent; the first call counts. @returns the delay in force, s */
  readonly beginStop: (delayS: number) => { readonly delayS: number; readonly afterwards: () => void };
}

type Shards = readonly (readonly [name: string, shard: ObservedShard])[];

const inOrder = (view: FleetView): Shards => [...view.shards].sort(([, a], [, b]) => a.lease.first - b.lease.first);
const seconds = (ms: number) => Math.round(ms) / 1000;
const sum = (values: Iterable<number>) => {
  let total = 0;
  for (const value of values) total += value;
  return total;
};

/** Shards that sums and lists are without. */
const missingIn = (shards: Shards) =>
  shards
    .filter(([, { isLive }]) => !isLive)
    .map(([shard, { lease }]) => ({ shard, first: lease.first, count: lease.count, code: 'shard-lost' }));

function stateOf(view: FleetView) {
  const shards = inOrder(view);
  const missing = missingIn(shards);
  const isWhole = view.link.state === 'connected' && missing.length === 0 && shards.length > 0;
  return { shards, missing, isWhole };
}

function shardFacts(view: FleetView, name: string, { lease, isLive, seenMs }: ObservedShard): ShardFacts {
  const newest = view.ticks.newest(name);
  const counts = view.ticks.counts(name);
  return {
    shard: name,
    state: isLive ? 'live' : 'lost',
    seenS: seconds(view.nowMs - seenMs),
    first: lease.first,
    room: lease.room,
    count: lease.count,
    host: lease.host,
    http: lease.http === '' ? null : lease.http,
    ports: lease.ports,
    pid: lease.pid,
    version: lease.version,
    apiVersion: lease.apiVersion,
    session: lease.session,
    epoch: lease.epoch,
    tick: newest?.head.tick ?? null,
    tickAgeS: newest && seconds(view.nowMs - newest.arrivedMs),
    lateSlots: newest?.head.lateSlots ?? null,
    rateEffective: newest?.head.rateEffective ?? null,
    ticks: counts.ticks,
    ticksMissed: counts.missed,
    messagesFenced: counts.fenced,
    messagesRepeated: counts.repeated,
    messagesBroken: counts.broken,
  };
}

/** `GET fleet`. Sums are those of the newest ticks of the shards that live. */
export function fleetBody(view: FleetView) {
  const { shards, missing } = stateOf(view);
  const live = shards.filter(([, { isLive }]) => isLive);
  const newest = live.flatMap(([name]) => view.ticks.newest(name) ?? []);
  const parts = newest.flatMap((tick) => tick.parts);
  const numbers = newest.map(({ head }) => head.tick);
  const span = numbers.length === 0 ? null : { lowest: Math.min(...numbers), highest: Math.max(...numbers) };
  return fleetTable.reply({
    state: view.link.state,
    prefix: view.prefix,
    server: view.link.server,
    shardsLive: live.length,
    shardsLost: missing.length,
    devices: sum(parts.map(({ index }) => index.length)),
    powerKw: sum(parts.map(({ powerW }) => sum(powerW))) / 1000,
    reactivePowerKvar: sum(parts.map(({ reactiveVar }) => sum(reactiveVar))) / 1000,
    tickSpan: span,
    ticksMissed: sum(shards.map(([name]) => view.ticks.counts(name).missed)),
    streamTicksDropped: view.source.dropped,
    missing,
  });
}

/** Share of the power that a device could give or take, whole percent. */
function shareOf(powerW: number, injectW: number, absorbW: number): number {
  const reachW = powerW < 0 ? absorbW : injectW;
  return reachW > 0 ? Math.min(100, Math.round((Math.abs(powerW) / reachW) * 100)) : 0;
}

function shardMap(view: FleetView, name: string, { lease: { first, count }, isLive }: ObservedShard): ShardMap {
  const newest = isLive ? view.ticks.newest(name) : null;
  const parts = newest?.parts ?? [];
  return {
    shard: name,
    state: isLive ? 'live' : 'lost',
    first,
    count,
    tick: newest?.head.tick ?? null,
    tickAgeS: newest && seconds(view.nowMs - newest.arrivedMs),
    index: parts.flatMap(({ index }) => [...index]),
    powerW: parts.flatMap(({ powerW }) => [...powerW]),
    sharePct: parts.flatMap(({ powerW, injectW, absorbW }) =>
      Array.from(powerW, (power, at) => shareOf(power, injectW[at] ?? 0, absorbW[at] ?? 0)),
    ),
    inverterState: parts.flatMap(({ inverterState }) => [...inverterState]),
    alarmSeverity: parts.flatMap(({ alarmSeverity }) => [...alarmSeverity]),
  };
}

/** `GET fleet/map` */
export function mapBody(view: FleetView) {
  return fleetMapTable.reply(inOrder(view).map(([name, shard]) => shardMap(view, name, shard)));
}

/** `GET fleet/shards` */
export function shardsBody(view: FleetView) {
  const { shards, missing } = stateOf(view);
  return shardsTable.reply({ shards: shards.map(([name, shard]) => shardFacts(view, name, shard)), missing });
}

/** `GET fleet/shards/{name}` @throws HttpProblem `unknown-resource` */
export function oneShardBody(view: FleetView, name: string) {
  const shard = view.shards.get(name);
  if (shard === undefined) throw new HttpProblem('unknown-resource', `There is no shard "${name}" in the fleet.`);
  return shardTable.reply(shardFacts(view, name, shard));
}

/** Newest ticks of the shards that live: that which is furthest behind, and the ticks joined since their starts. */
function ticksOf(view: FleetView) {
  const newest = [...view.shards].flatMap(([name, { isLive }]) => (isLive ? (view.ticks.newest(name) ?? []) : []));
  return {
    tick: newest.length === 0 ? 0 : Math.min(...newest.map(({ head }) => head.tick)),
    tick_age_s: seconds(Math.max(0, ...newest.map(({ arrivedMs }) => view.nowMs - arrivedMs))),
    skipped_ticks: sum(newest.map(({ head }) => head.lateSlots)),
  };
}

/** `GET health`: a fleet that lacks a part is `degraded`, and its other parts work. */
export function healthBody({ view, eventLoop, isStopping }: OwnContext): HealthReply {
  const { missing, isWhole, shards } = stateOf(view);
  const { p99Ms, slowPeriods, stalls } = eventLoop;
  return {
    status: isStopping() ? 'stopping' : isWhole ? 'ok' : 'degraded',
    ...ticksOf(view),
    event_loop_p99_ms: p99Ms,
    slow_periods: slowPeriods,
    stalls,
    role: 'gateway',
    fleet: view.link.state,
    shards_live: shards.length - missing.length,
    missing,
  };
}

/** `GET server-info` */
export function infoBody({ view, info, limits, nowMs }: OwnContext): ServerInfoReply {
  const { length } = view.source.devices;
  return {
    name: 'derbench',
    version: info.version,
    api_version: info.apiVersion,
    build_id: info.buildId,
    instance_id: idOfProcess(),
    license: licenseReply(),
    started_at: new Date(info.startedAtMs).toISOString(),
    uptime_s: Math.max(0, seconds(nowMs() - info.startedAtMs)),
    pid: process.pid,
    runtime: `node ${process.version}`,
    tick_interval_s: Math.max(0, ...[...view.shards.values()].map(({ lease }) => lease.tickS ?? 0)),
    device_count: length,
    limits: {
      // shards keep it
      history_samples_per_device: 0,
      log_entries: limits.logEntries,
      ws_queue: Math.max(limits.wsQueue, 2 * length),
      max_body_bytes: limits.maxBodyBytes,
    },
    role: 'gateway',
  };
}

/** A request for the gateway itself, checked by its form. */
export type OwnRequest = Pick<RoutedRequest, 'route' | 'params' | 'query' | 'body'>;

type OwnAnswer = (context: OwnContext, request: OwnRequest) => Answer<unknown> | Promise<Answer<unknown>>;

/** Answers of the gateway by operation. */
export const ownAnswers: Readonly<Record<string, OwnAnswer>> = {
  get_fleet: ({ view }) => new Answer(fleetBody(view)),
  get_fleet_map: ({ view }) => new Answer(mapBody(view)),
  list_shards: ({ view }) => new Answer(shardsBody(view)),
  get_shard: ({ view }, { params: { name = '' } }) => new Answer(oneShardBody(view, name)),
  get_health: (context) => new Answer(healthBody(context), { status: context.isStopping() ? 503 : 200 }),
  get_server_info: (context) => new Answer(infoBody(context)),
  get_metrics: async ({ metrics }) => new Answer(new TextReply(expositionType, await metrics.text())),
  get_logs: ({ logs }, { query }) => new Answer(logsReply(logs, query)),
  list_stream_clients: ({ stream }, { query: { limit } }) =>
    new Answer(streamClientsReply(stream(), limit === undefined ? undefined : Number(limit))),
  stop_simulator({ beginStop }, { body }) {
    const { delay_s: wanted = 0 } = (body ?? {}) as { readonly delay_s?: number };
    const { delayS, afterwards } = beginStop(wanted);
    return new Answer(stopping.reply(delayS), { status: 202, afterwards });
  },
};
