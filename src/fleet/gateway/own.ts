/** Answers that a gateway gives itself: about the fleet, and about its own process. */
import { HttpProblem } from '../../api/http/errors.ts';
import type { ObservedShard } from '../registry/observer.ts';
import type { FleetView } from './view.ts';

/** Constant facts of the process. */
export interface GatewayInfo {
  readonly version: string;
  readonly apiVersion: string;
  readonly buildId: string;
  /** wall time in ms since the epoch */
  readonly startedAtMs: number;
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
    .map(([shard, { lease }]) => ({ shard, first: lease.first, count: lease.count }));

function stateOf(view: FleetView) {
  const shards = inOrder(view);
  const missing = missingIn(shards);
  const isWhole = view.link.state === 'connected' && missing.length === 0 && shards.length > 0;
  return { shards, missing, isWhole };
}

function shardBody(view: FleetView, name: string, { lease, isLive, seenMs }: ObservedShard) {
  const newest = view.ticks.newest(name);
  const counts = view.ticks.counts(name);
  return {
    shard: name,
    state: isLive ? 'live' : 'lost',
    seen_s: seconds(view.nowMs - seenMs),
    first: lease.first,
    room: lease.room,
    count: lease.count,
    host: lease.host,
    http: lease.http === '' ? null : lease.http,
    pid: lease.pid,
    version: lease.version,
    api_version: lease.apiVersion,
    session: lease.session,
    tick: newest?.head.tick ?? null,
    tick_age_s: newest && seconds(view.nowMs - newest.arrivedMs),
    late_slots: newest?.head.lateSlots ?? null,
    rate_effective: newest?.head.rateEffective ?? null,
    ticks: counts.ticks,
    ticks_missed: counts.missed,
    messages_fenced: counts.fenced,
    messages_repeated: counts.repeated,
    messages_broken: counts.broken,
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
  return {
    state: view.link.state,
    prefix: view.prefix,
    server: view.link.server,
    shards_live: live.length,
    shards_lost: missing.length,
    devices: sum(parts.map(({ index }) => index.length)),
    power_kw: sum(parts.map(({ powerW }) => sum(powerW))) / 1000,
    reactive_power_kvar: sum(parts.map(({ reactiveVar }) => sum(reactiveVar))) / 1000,
    tick_span: span,
    ticks_missed: sum(shards.map(([name]) => view.ticks.counts(name).missed)),
    stream_ticks_dropped: view.source.dropped,
    missing,
  };
}

/** `GET fleet/shards` */
export function shardsBody(view: FleetView) {
  const { shards, missing } = stateOf(view);
  return { shards: shards.map(([name, shard]) => shardBody(view, name, shard)), missing };
}

/** `GET fleet/shards/{name}` @throws HttpProblem `unknown-resource` */
export function oneShardBody(view: FleetView, name: string) {
  const shard = view.shards.get(name);
  if (shard === undefined) throw new HttpProblem('unknown-resource', `There is no shard "${name}" in the fleet.`);
  return shardBody(view, name, shard);
}

/** `GET health`: a fleet that lacks a part is `degraded`, and its other parts work. */
export function healthBody(view: FleetView) {
  const { missing, isWhole, shards } = stateOf(view);
  return {
    status: isWhole ? 'ok' : 'degraded',
    role: 'gateway',
    fleet: view.link.state,
    shards_live: shards.length - missing.length,
    missing,
  };
}

/** `GET server-info` */
export function infoBody(view: FleetView, info: GatewayInfo, nowMs: number) {
  return {
    version: info.version,
    api_version: info.apiVersion,
    build_id: info.buildId,
    role: 'gateway',
    pid: process.pid,
    started_at: new Date(info.startedAtMs).toISOString(),
    uptime_s: seconds(nowMs - info.startedAtMs),
    prefix: view.prefix,
    devices: view.source.devices.length,
  };
}

/** Text of `/`: there are no pages yet. */
export const frontPage = `derbench: gateway of a fleet

It has no pages yet. Its addresses:

  GET /api/sim/fleet                  the fleet: its shards, devices, sums, and what is missing
  GET /api/sim/fleet/shards           the shards; /api/sim/fleet/shards/NAME has one of them
  GET /api/sim/health                 degraded while something is missing
  GET /api/sim/server-info            this process
  GET /api/sim/devices                the devices of all shards
      /api/sim/...?device=K           operations of a device go to its shard
      /api/sim/ws/telemetry           the telemetry stream (WebSocket)

The page "A fleet of several processes" (docs/fleet.md) explains them. A shard has the pages at its own address.
`;
