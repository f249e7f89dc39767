import { commStates } from '../../core/adapter.ts';
import { deskOf } from '../exchange/desk.ts';
import { assetTypes } from '../../contract/device.ts';
import { faultProtocols } from '../../core/faults/kinds.ts';
import { bit, info, single } from './family.ts';
import type { Family, MetricsView, ProcessView, Sample } from './family.ts';
import type { CommReply } from '../devices.ts';

/** ms to s */
const seconds = (ms: number) => ms / 1000;

/** Families of a process with or without devices: names that every exporter uses, those usual for Node.js, and the build. */
export const ofProcess: readonly Family<ProcessView>[] = [
  single(
    'counter',
    'process_cpu_seconds_total',
    'User and system CPU time.',
    ({ cpu }) => (cpu.user + cpu.system) / 1e6,
  ),
  single('gauge', 'process_resident_memory_bytes', 'Resident memory.', ({ memory }) => memory.rss),
  single('gauge', 'process_start_time_seconds', 'Start of the simulator, Unix time.', ({ ctx }) =>
    seconds(ctx.info.startedAtMs),
  ),
  single('gauge', 'nodejs_heap_size_used_bytes', 'Used part of the JavaScript heap.', ({ memory }) => memory.heapUsed),
  single('gauge', 'nodejs_heap_size_total_bytes', 'Size of the JavaScript heap.', ({ memory }) => memory.heapTotal),
  single(
    'gauge',
    'nodejs_external_memory_bytes',
    'Memory of buffers outside the JavaScript heap.',
    ({ memory }) => memory.external,
  ),
  single('gauge', 'nodejs_eventloop_lag_p50_seconds', 'Median delay of timers in the last full 10 s.', ({ ctx }) =>
    seconds(ctx.eventLoop.p50Ms),
  ),
  single(
    'gauge',
    'nodejs_eventloop_lag_p99_seconds',
    '99th percentile of the delay of timers in the last full 10 s.',
    ({ ctx }) => seconds(ctx.eventLoop.p99Ms),
  ),
  info(
    'derbench_build_info',
    'Version, build and interface; always 1.',
    ['version', 'api_version', 'build_id', 'runtime'],
    ({
      ctx: {
        info: { version, apiVersion, buildId },
      },
    }) => [[version, apiVersion, buildId, `node ${process.version}`]],
  ),
  single(
    'counter',
    'derbench_event_loop_stalls_total',
    'How often the event loop was blocked for more than 1 s.',
    ({ ctx }) => ctx.eventLoop.stalls,
  ),
  single(
    'counter',
    'derbench_event_loop_slow_periods_total',
    'Periods of 10 s in which the 99th percentile of the delay was above 100 ms.',
    ({ ctx }) => ctx.eventLoop.slowPeriods,
  ),
];

const ofSimulator: readonly Family[] = [
  single('counter', 'derbench_ticks_total', 'Ticks since the start.', ({ ctx }) => ctx.plant.health.tick),
  single(
    'counter',
    'derbench_ticks_skipped_total',
    'Tick slots skipped because the machine was late.',
    ({ ctx }) => ctx.plant.health.skippedTicks,
  ),
  single(
    'gauge',
    'derbench_tick_age_seconds',
    'Real time since the last tick ended.',
    ({ ctx }) => ctx.plant.health.tickAgeS,
  ),
  single(
    'gauge',
    'derbench_tick_interval_seconds',
    'Real time between ticks, as configured.',
    ({ ctx }) => ctx.plant.time.tickIntervalS,
  ),
  single(
    'gauge',
    'derbench_clock_rate_ratio',
    'Requested simulated seconds per real second.',
    ({ ctx }) => ctx.plant.time.rate,
  ),
  single(
    'gauge',
    'derbench_clock_effective_rate_ratio',
    'Simulated seconds per real second reached by the last ticks; 0 while paused.',
    ({ ctx }) => ctx.plant.time.rateEffective,
  ),
  single('gauge', 'derbench_clock_paused', '1 while the clock is paused.', ({ ctx }) => bit(ctx.plant.health.paused)),
  single('gauge', 'derbench_simulated_time_seconds', 'Simulated date, Unix time.', ({ ctx }) =>
    seconds(ctx.plant.time.dateMs),
  ),
  single(
    'counter',
    'derbench_exchange_steps_total',
    'Steps by exchanges with a grid outside.',
    ({ ctx }) => deskOf(ctx).counts.steps,
  ),
  single(
    'counter',
    'derbench_exchange_step_seconds_total',
    'Real time that these steps have taken, their answers not included.',
    ({ ctx }) => deskOf(ctx).counts.stepSeconds,
  ),
  single(
    'counter',
    'derbench_exchange_trials_total',
    'Trials by exchanges with a grid outside.',
    ({ ctx }) => deskOf(ctx).counts.trials,
  ),
  single(
    'counter',
    'derbench_exchange_silence_total',
    'How often the client of an exchange has sent no values within its time.',
    ({ ctx }) => deskOf(ctx).counts.silences,
  ),
  single(
    'counter',
    'derbench_log_entries_dropped_total',
    'Log entries that are no longer kept.',
    ({ ctx }) => ctx.logBook.dropped,
  ),
  single(
    'gauge',
    'derbench_state_failed',
    '1 while changes of the state are not kept on disk although there is a state folder.',
    ({ ctx }) => bit(ctx.state.failure !== null),
  ),
  {
    type: 'gauge',
    name: 'derbench_devices',
    help: 'Simulated devices.',
    labels: ['asset_type'],
    samples: ({ devices }) =>
      assetTypes.map((type) => [devices.filter(({ device }) => device.assetType === type).length, type]),
  },
  {
    type: 'gauge',
    name: 'derbench_faults',
    help: 'Injected faults in force.',
    labels: ['protocol'],
    samples: ({ ctx: { faults } }) =>
      faultProtocols.map((name) => [faults.active.filter(({ protocol }) => protocol === name).length, name]),
  },
  single(
    'gauge',
    'derbench_http_unread_bytes',
    'Bytes of answers that clients have not read yet.',
    ({ ctx }) => ctx.unread.bytes,
  ),
  single(
    'counter',
    'derbench_http_slow_clients_closed_total',
    'Connections closed because their clients read their answers too slowly.',
    ({ ctx }) => ctx.unread.closed,
  ),
  {
    type: 'counter',
    name: 'derbench_http_requests_total',
    help: 'Requests answered, by operation and class of status.',
    labels: ['method', 'route', 'code'],
    samples: ({ answers }) =>
      answers.map(({ method, route, statusClass, times }) => [times, method, route, statusClass]),
  },
];

function perProtocol(
  type: Family['type'],
  name: string,
  help: string,
  read: (status: CommReply) => number | null,
): Family {
  return {
    type,
    name: `derbench_protocol_${name}`,
    help,
    labels: ['protocol'],
    samples: ({ protocols }) => protocols.map(([protocol, status]) => [read(status), protocol]),
  };
}

function* stateSamples({ protocols }: MetricsView): Iterable<Sample> {
  for (const [protocol, status] of protocols) {
    for (const state of commStates) yield [bit(status.state === state), protocol, state];
  }
}

function* droppedSamples({ ctx }: MetricsView): Iterable<Sample> {
  for (const adapter of ctx.adapters) {
    const { droppedCount } = adapter.status();
    if (droppedCount !== undefined) yield [droppedCount, adapter.comm];
  }
}

const ofProtocols: readonly Family[] = [
  perProtocol('gauge', 'enabled', '1 for a protocol that this process runs.', ({ enabled }) => bit(enabled)),
  {
    type: 'gauge',
    name: 'derbench_protocol_state',
    help: '1 for the state of the protocol, 0 for every other.',
    labels: ['protocol', 'state'],
    samples: stateSamples,
  },
  perProtocol('gauge', 'peers', 'Connected clients or masters.', ({ peers }) => peers),
  perProtocol('counter', 'received_total', 'Requests or messages received.', ({ rx_count }) => rx_count),
  perProtocol('counter', 'sent_total', 'Answers or messages sent.', ({ tx_count }) => tx_count),
  perProtocol('counter', 'errors_total', 'Errors.', ({ error_count }) => error_count),
  perProtocol(
    'gauge',
    'last_activity_timestamp_seconds',
    'Last activity, Unix time; absent before the first.',
    ({ last_activity }) => (last_activity === null ? null : seconds(Date.parse(last_activity))),
  ),
  {
    type: 'counter',
    name: 'derbench_protocol_dropped_total',
    help: 'Messages dropped for slow clients.',
    labels: ['protocol'],
    samples: droppedSamples,
  },
];

/** Families that do not concern a device or a kind of device. */
export const processFamilies: readonly Family[] = [...ofProcess, ...ofSimulator, ...ofProtocols];
