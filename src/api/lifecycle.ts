import { memo } from '../core/lazy.ts';
import type { PlantHealth } from '../contract/plant.ts';
import type { CommState } from '../core/adapter.ts';
import type { EventLoopState } from '../core/event-loop.ts';
import { latestOf, selectedDevice, withMembers } from './common/device-replies.ts';
import { count, integer, member, members, nested, number, text, time, word } from './common/members.ts';
import type { ReplyOf } from './common/members.ts';
import { deviceParam, maxDeviceIndex, integerParam } from './common/schemas.ts';
import { z } from './description/zod.ts';
import { deviceListRoute } from './device-list.ts';
import { overviewAlarms, overviewRest, overviewSchema } from './devices.ts';
import type { OverviewReply } from './devices.ts';
import { linkStates, missingMember } from './fleet/members.ts';
import type { RouteContext } from './http/context.ts';
import { invalid } from './http/errors.ts';
import { idOfProcess } from './http/reply.ts';
import { Answer, route } from './http/route.ts';
import type { Route } from './http/route.ts';

const license = members<unknown>()(null, () => ({
  spdx_id: text(() => 'Apache-2.0'),
  name: text(() => 'Apache License 2.0'),
  url: text(() => 'https://www.apache.org/licenses/LICENSE-2.0'),
}));

const limits = members<RouteContext>()(null, () => ({
  history_samples_per_device: integer(({ history }) => history.depth),
  log_entries: integer(({ config }) => config.limits.logEntries),
  ws_queue: integer(({ config, plant }) => Math.max(config.limits.wsQueue, 2 * plant.devices.length)),
  max_body_bytes: integer(({ config }) => config.limits.maxBodyBytes),
}));

const gatewayRole = member(() => z.literal('gateway')).optional(
  'Only of a gateway, which shows the shards of a fleet at one address.',
  () => undefined,
);

const serverInfo = members<RouteContext>()('ServerInfo', () => ({
  name: text(() => 'derbench'),
  version: text('Semantic version of the simulator.', ({ info }) => info.version),
  api_version: text('Equal to `info.version` of this description.', ({ info }) => info.apiVersion),
  build_id: text(({ info }) => info.buildId),
  instance_id: text('A random value per process: with another one another process answers at the address.', () =>
    idOfProcess(),
  ),
  license: nested(license)(() => null),
  started_at: time(({ info }) => info.startedAtMs),
  uptime_s: member(() => z.number().min(0))(({ clock, info }) => Math.max(0, clock.nowMs() - info.startedAtMs) / 1000),
  pid: integer(() => process.pid),
  runtime: text(() => `node ${process.version}`),
  tick_interval_s: number(({ plant }) => plant.time.tickIntervalS),
  device_count: integer(({ plant }) => plant.devices.length),
  limits: nested(limits)((ctx) => ctx),
  role: gatewayRole,
}));
/** Licence of the program, as `server-info` shows it. */
export const licenseReply = (): ReplyOf<typeof license> => license.reply(null);
export type ServerInfoReply = ReplyOf<typeof serverInfo>;

interface Health
  extends Pick<PlantHealth, 'tick' | 'tickAgeS' | 'skippedTicks'>,
    Pick<EventLoopState, 'p99Ms' | 'slowPeriods' | 'stalls'> {
  readonly status: 'ok' | 'degraded' | 'stopping';
}

const health = members<Health>()('Health', () => ({
  status: word(['ok', 'degraded', 'stopping'])(
    '`degraded`: no tick for five intervals, a protocol without its port (`error`, `retrying`), `rate` of the clock ' +
      'not reached, or state that is not kept (`failure` of `state`). Of a gateway: a shard is lost, none has joined, or ' +
      'the fleet cannot be reached; ticks are those of the shard that is furthest behind.',
  ),
  tick: integer(),
  tick_age_s: number('Real seconds since the last tick ended, to 1 ms.', (of) => Math.round(of.tickAgeS * 1000) / 1000),
  skipped_ticks: count(
    'Ticks since the start that were joined with later ones because the machine was late.',
    (of) => of.skippedTicks,
  ),
  event_loop_p99_ms: member(() => z.number().min(0))(
    '99th percentile of the delay of timers in the last full 10 s, real milliseconds. Above 100 the machine is overloaded.',
    ({ p99Ms }) => p99Ms,
  ),
  slow_periods: count(
    'Periods of 10 s since the start in which `event_loop_p99_ms` was above 100.',
    ({ slowPeriods }) => slowPeriods,
  ),
  stalls: count('How often the process was blocked for more than 1 s since the start.'),
  role: gatewayRole,
  fleet: word(linkStates).optional('Only of a gateway: its connection to the server of the fleet.', () => undefined),
  shards_live: count.optional('Only of a gateway: shards that renew their leases.', () => undefined),
  missing: missingMember(),
}));
export type HealthReply = ReplyOf<typeof health>;

export const stopBodySchema = memo(() =>
  z
    .strictObject({
      reason: z.string().max(200).optional(),
      delay_s: z.number().min(0).max(60).optional().openapi({ description: 'Seconds; default 0.' }),
      scope: z.enum(['process', 'fleet']).optional().openapi({
        description: 'Only at the gateway of a fleet, `fleet`: all shards end as well; default `process`.',
      }),
    })
    .openapi('StopRequest'),
);

/** Reply to a stop after a delay in seconds. */
export const stopping = members<number>()('Stopping', () => ({
  state: member(() => z.literal('stopping'))(() => 'stopping' as const),
  delay_s: number((delayS) => delayS),
}));

const overviewQuery = z.strictObject({
  device: deviceParam.optional(),
  limit: integerParam('limit', 0, 10_000, 'Maximum number of entries of `devices`, the first; default all.').optional(),
  after: integerParam('after', 0, maxDeviceIndex, 'Only entries of `devices` with a higher index.').optional(),
});

const freshness =
  ' Between two ticks all clients get the same bytes: values that change between ticks (`alarms`, counters and ' +
  'states of `comm_status`) may be 0.1 s old, unless a request has changed something since.';
/** States of a protocol with clients that has lost its port. */
const failedStates: ReadonlySet<CommState> = new Set(['error', 'retrying']);
/** Missing ticks after which the process counts as not alive. */
const missingTicks = 5;

export const lifecycleRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/server-info',
    tag: 'Core',
    operationId: 'get_server_info',
    summary: 'Version, build, licence and limits',
    reply: serverInfo.schema,
    handle: (ctx) => serverInfo.reply(ctx),
  }),
  route({
    method: 'get',
    path: '/health',
    tag: 'Core',
    operationId: 'get_health',
    summary: 'State of the simulation: running or not',
    description:
      '503 when no tick ended for five intervals (unless the clock is paused), and while stopping. ' +
      '`degraded` with 200: a protocol that others connect to has lost a port (`error`, `retrying`), the machine cannot ' +
      'run the clock at the requested rate, or the state folder takes no changes, or not all of them.',
    hot: 'per_request',
    reply: health.schema,
    alsoStatus: [503],
    handle(ctx) {
      const { tick, tickAgeS, skippedTicks, paused, rateHeld } = ctx.plant.health;
      const { failed, tickIntervalS } = ctx.replyCache.of('health', () => ({
        // a silent peer is not a failure of the simulator
        failed: ctx.adapters.some((adapter) => adapter.outbound !== true && failedStates.has(adapter.status().state)),
        tickIntervalS: ctx.plant.time.tickIntervalS,
      }));
      const stalled = !paused && tickAgeS > missingTicks * tickIntervalS;
      const stopping = ctx.stopDelayS !== null;
      const degraded = stalled || failed || !rateHeld || ctx.state.failure !== null;
      const status = stopping ? 'stopping' : degraded ? 'degraded' : 'ok';
      const { p99Ms, slowPeriods, stalls } = ctx.eventLoop;
      return new Answer(health.reply({ status, tick, tickAgeS, skippedTicks, p99Ms, slowPeriods, stalls }), {
        status: stopping || stalled ? 503 : 200,
      });
    },
  }),
  route({
    method: 'get',
    path: '/overview',
    tag: 'Core',
    operationId: 'get_overview',
    summary: 'Snapshot of a device, all devices, protocols and alarms',
    description:
      'The snapshot is the same as in the stream. `devices` and `comm_status` cover the whole process, `alarms` too unless ' +
      '`device` is given. The gateway of a fleet lists at most 1,000 devices: read further ones by `after`.' +
      freshness,
    hot: 'per_tick',
    query: overviewQuery,
    reply: overviewSchema,
    handle(ctx, { query }) {
      const device = selectedDevice(ctx, query.device);
      const { limit, after = -1 } = query;
      const common = ctx.replyCache.of(`overview ${limit ?? 'whole'} ${after}`, () => {
        const { devices } = ctx.plant;
        const following = after < 0 ? devices : devices.filter(({ index }) => index > after);
        const shown = following.slice(0, limit);
        const total = limit === undefined ? undefined : devices.length;
        const listed = { devices: shown, total, isCut: shown.length < following.length };
        return Buffer.from(JSON.stringify(overviewRest.reply(listed, ctx)));
      });
      const alarmDevices = query.device === undefined ? ctx.plant.devices : [device];
      const alarms = Buffer.from(JSON.stringify(overviewAlarms.reply(alarmDevices)));
      return withMembers<OverviewReply>(latestOf(ctx, device), common, alarms);
    },
  }),
  deviceListRoute,
  route({
    method: 'post',
    path: '/stop',
    tag: 'Controls',
    operationId: 'stop_simulator',
    summary: 'Shuts the simulator down cleanly',
    description: 'The answer is sent before anything closes. From then on every other request is answered with 503.',
    body: stopBodySchema,
    reply: stopping.schema,
    status: 202,
    handle(ctx, { body, by }) {
      if (body.scope === 'fleet') throw invalid('body', '/scope', 'must be process: this is no gateway of a fleet');
      const isFirst = ctx.stopDelayS === null;
      const delayS = ctx.beginStop(body.delay_s ?? 0);
      const reason = body.reason ?? `${by.source} request`;
      return new Answer(
        stopping.reply(delayS),
        isFirst
          ? {
              afterwards() {
                ctx.requestStop(reason, delayS);
              },
            }
          : {},
      );
    },
  }),
];
