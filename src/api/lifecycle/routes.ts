import { Answer, JsonText, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceQuery } from '../common/schemas.ts';
import { exampleServerInfo, healthSchema, serverInfoSchema, stopBodySchema, stopReplySchema } from './schemas.ts';
import { devicesSchema, exampleDevices, exampleOverview, overviewSchema } from '../devices/snapshot-schemas.ts';
import type { DevicesReply, OverviewReply } from '../devices/snapshot-schemas.ts';
import {
  alarmSummary,
  commStatus,
  deviceEntry,
  deviceSummary,
  latestOf,
  selectedDevice,
  withMembers,
} from '../common/device-replies.ts';

const license = {
  spdx_id: 'Apache-2.0',
  name: 'Apache License 2.0',
  url: 'https://www.apache.org/licenses/LICENSE-2.0',
};
const freshness =
  ' Between two ticks all clients get the same bytes: values that change between ticks (`alarms`, counters and ' +
  'states of `comm_status`) may be 0.1 s old, unless a request has changed something since.';
/** Missing ticks after which the process counts as not alive. */
const missingTicks = 5;

const serverInfo = route({
  method: 'get',
  path: '/server-info',
  tag: 'Core',
  operationId: 'get_server_info',
  summary: 'Version, build, licence and limits',
  reply: serverInfoSchema,
  examples: { reply: exampleServerInfo },
  handle({ info, plant, history, clock, config: { limits } }) {
    return {
      name: 'derbench',
      version: info.version,
      api_version: info.apiVersion,
      build_id: info.buildId,
      license,
      started_at: new Date(info.startedAtMs).toISOString(),
      uptime_s: Math.max(0, clock.nowMs() - info.startedAtMs) / 1000,
      pid: process.pid,
      runtime: `node ${process.version}`,
      tick_interval_s: plant.time.tickIntervalS,
      device_count: plant.devices.length,
      limits: {
        history_samples_per_device: history.depth,
        log_entries: limits.logEntries,
        ws_queue: Math.max(limits.wsQueue, 2 * plant.devices.length),
        max_body_bytes: limits.maxBodyBytes,
      },
    };
  },
});

const overview = route({
  method: 'get',
  path: '/overview',
  tag: 'Core',
  operationId: 'get_overview',
  summary: 'Snapshot of a device, all devices, protocols and alarms',
  description:
    'The snapshot is the same as in the stream. `devices`, `comm_status` and `alarms` cover the whole process.' +
    freshness,
  hot: 'per_tick',
  query: deviceQuery,
  reply: overviewSchema,
  examples: { reply: exampleOverview },
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    const common = ctx.replyCache.of('overview', () =>
      Buffer.from(
        JSON.stringify({
          devices: ctx.plant.devices.map((each) => deviceSummary(ctx, each)),
          comm_status: commStatus(ctx.adapters),
          alarms: alarmSummary(ctx.plant.devices),
        }),
      ),
    );
    return withMembers<OverviewReply>(latestOf(ctx, device), common);
  },
});

const devices = route({
  method: 'get',
  path: '/devices',
  tag: 'Core',
  operationId: 'list_devices',
  summary: 'Telemetry of every device',
  description: `One entry per device; with \`device\` only that one.${freshness}`,
  hot: 'per_tick',
  query: deviceQuery,
  reply: devicesSchema,
  examples: { reply: exampleDevices },
  handle(ctx, { query }) {
    const chosen = query.device === undefined ? ctx.plant.devices : [selectedDevice(ctx, query.device)];
    const entries = chosen.flatMap((device, position) => [
      Buffer.from(position === 0 ? '' : ','),
      deviceEntry(ctx, device).bytes,
    ]);
    return new JsonText<DevicesReply>(Buffer.concat([Buffer.from('{"devices":['), ...entries, Buffer.from(']}')]));
  },
});

const stop = route({
  method: 'post',
  path: '/stop',
  tag: 'Controls',
  operationId: 'stop_simulator',
  summary: 'Shuts the simulator down cleanly',
  description: 'The answer is sent before anything closes. From then on every other request is answered with 503.',
  body: stopBodySchema,
  reply: stopReplySchema,
  status: 202,
  examples: { body: { reason: 'end of the test', delay_s: 0 }, reply: { state: 'stopping', delay_s: 0 } },
  handle(ctx, { body, by }) {
    const first = ctx.stopDelayS === null;
    const delayS = ctx.beginStop(body.delay_s ?? 0);
    const reason = body.reason ?? `${by.source} request`;
    return new Answer(
      { state: 'stopping', delay_s: delayS },
      {
        ...(first && {
          afterwards: () => {
            ctx.requestStop(reason, delayS);
          },
        }),
      },
    );
  },
});

const health = route({
  method: 'get',
  path: '/health',
  tag: 'Core',
  operationId: 'get_health',
  summary: 'Whether the simulation runs',
  description:
    '503 when no tick ended for five intervals (unless the clock is paused), and while stopping. ' +
    '`degraded` with 200: a protocol is in the state `error`, or the machine cannot run the clock at the requested rate.',
  hot: 'per_request',
  reply: healthSchema,
  alsoStatus: [503],
  examples: { reply: { status: 'ok', tick: 40, tick_age_s: 0.8, event_loop_p99_ms: 1.4, stalls: 0 } },
  handle(ctx) {
    const { tick, tickAgeS, paused, rateHeld } = ctx.plant.health;
    const { failed, tickIntervalS } = ctx.replyCache.of('health', () => ({
      // a peer that does not answer is no failure of the simulator
      failed: ctx.adapters.some((adapter) => adapter.outbound !== true && adapter.status().state === 'error'),
      tickIntervalS: ctx.plant.time.tickIntervalS,
    }));
    const stalled = !paused && tickAgeS > missingTicks * tickIntervalS;
    const stopping = ctx.stopDelayS !== null;
    const status = stopping
      ? ('stopping' as const)
      : stalled || failed || !rateHeld
        ? ('degraded' as const)
        : ('ok' as const);
    const { p99Ms, stalls } = ctx.eventLoop;
    return new Answer(
      { status, tick, tick_age_s: Math.round(tickAgeS * 1000) / 1000, event_loop_p99_ms: p99Ms, stalls },
      { status: stopping || stalled ? 503 : 200 },
    );
  },
});

export const lifecycleRoutes: readonly Route[] = [serverInfo, health, overview, devices, stop];
