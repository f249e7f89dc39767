/** A fleet of shards behind a gateway, beside one process with the devices of one shard. */
import type { Group } from '../support/group.ts';
import { untilHttpOk, within } from '../support/net.ts';
import { cpuSeconds, inCheckout, runJson, sleep } from '../support/processes.ts';
import type { Server } from '../support/processes.ts';
import {
  answerOf,
  fleetCounts,
  lateSlots,
  natsProgram,
  plainFlags,
  shardSizes,
  startFleet,
} from '../support/shards.ts';
import { spawnSimulator } from '../support/simulator.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';
import type { Table } from '../support/table.ts';

const ratePerS = 50;
const steps = 40;
const startS = 120;
const maxRounds = 3;

interface Case {
  readonly devices: number;
  readonly tickS: number;
}

const quickCases: readonly Case[] = [{ devices: 300, tickS: 1.5 }];
const cases: readonly Case[] = [
  { devices: 2, tickS: 1.5 },
  { devices: 1000, tickS: 1.5 },
  { devices: 1000, tickS: 0.1 },
  { devices: 3000, tickS: 1.5 },
  { devices: 10_000, tickS: 1.5 },
  { devices: 20_000, tickS: 1.5 },
  { devices: 30_000, tickS: 1.5 },
];

interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Load {
  readonly reads: Times;
  readonly steps: Times;
}

interface Round extends Load {
  /** processor time per device and tick, us */
  readonly shardUs: number;
  readonly natsUs: number;
  readonly gatewayUs: number;
  /** with one client of all devices */
  readonly gatewayClientUs: number;
  readonly missed: number;
  readonly late: number;
  /** of one process with the devices of one shard */
  readonly aloneUs: number;
  readonly aloneStepMs: number;
}

/** Processor seconds of servers while they are left alone. */
async function cpuOf(servers: readonly Server[], seconds: number): Promise<readonly number[]> {
  const all = () => Promise.all(servers.map(async ({ pid }) => (await cpuSeconds(pid)) ?? NaN));
  const before = await all();
  await sleep(seconds * 1000);
  return (await all()).map((spent, i) => spent - (before[i] ?? NaN));
}

const loadOf = (port: number, devices: number, seconds: number) =>
  runJson<Load>(process.execPath, [
    inCheckout('bench/workers/gateway-load.mjs'),
    ...[port, devices, seconds, ratePerS, steps].map(String),
  ]);

/** Microseconds of the gateway per message of one client of all devices. */
async function clientUs(port: number, { pid }: Server, seconds: number): Promise<number> {
  const [warmupMs, measureMs] = [2000, seconds * 1000];
  const worker = inCheckout('bench/workers/stream-load.mjs');
  const words = [port, '/api/sim/ws/telemetry', 1, 0, warmupMs, measureMs, 0, pid].map(String);
  const { cpuUs } = await runJson<{ readonly cpuUs: number | null }>(process.execPath, [worker, ...words]);
  return cpuUs ?? NaN;
}

/** One process with the devices of one shard: processor time, and a step of one tick. */
async function alone(devices: number, tickS: number, seconds: number) {
  const simulator = await spawnSimulator(1, plainFlags(devices, tickS));
  try {
    await within(startS, untilHttpOk(simulator.healthUrl), simulator.failed);
    const [cpuS = NaN] = await cpuOf([simulator], seconds);
    const { steps: taken } = await loadOf(Number(new URL(simulator.healthUrl).port), devices, 0);
    return { aloneUs: (cpuS * 1e6) / (devices * (seconds / tickS)), aloneStepMs: taken.p50Ms };
  } finally {
    await simulator.stop();
  }
}

async function round(program: string, { devices, tickS }: Case, seconds: number): Promise<Round> {
  const fleet = await startFleet(program, devices, tickS);
  const { port, shards, nats, gateway } = fleet;
  try {
    const before = [await fleetCounts(port), await lateSlots(port)] as const;
    const spent = await cpuOf([nats, gateway, ...shards], seconds);
    const [natsUs = NaN, gatewayUs = NaN, ...ofShards] = spent.map(
      (cpuS) => (cpuS * 1e6) / (devices * (seconds / tickS)),
    );
    const missed = (await fleetCounts(port)).ticks_missed - before[0].ticks_missed;
    const late = (await lateSlots(port)) - before[1];
    const gatewayClientUs = await clientUs(port, gateway, seconds);
    const load = await loadOf(port, devices, seconds);
    await answerOf(port, 'controls/time', { mode: 'accelerated', rate: 1 });
    const shardUs = ofShards.reduce((sum, us) => sum + us, 0);
    return { ...load, shardUs, natsUs, gatewayUs, gatewayClientUs, missed, late, aloneUs: NaN, aloneStepMs: NaN };
  } finally {
    await fleet.stop();
  }
}

const sizeOf = (devices: number) => Math.max(...shardSizes(devices));

export const shardsGroup: Group = {
  name: 'shards',
  async run({ rounds, quick }, progress) {
    const program = natsProgram();
    if (program === null) {
      progress('shards: left out, there is no nats-server (npm run peers, or NATS_SERVER)');
      return [];
    }
    const seconds = quick ? 4 : 15;
    const count = Math.min(rounds, maxRounds);
    const measured: { readonly of: Case; readonly taken: readonly Round[] }[] = [];
    for (const of of quick ? quickCases : cases) {
      const taken: Round[] = [];
      for (let n = 1; n <= count; n += 1) {
        progress(`shards: ${of.devices} devices, tick of ${of.tickS} s, round ${n} of ${count}`);
        taken.push({ ...(await round(program, of, seconds)), ...(await alone(sizeOf(of.devices), of.tickS, seconds)) });
      }
      measured.push({ of, taken });
    }
    return [tableOf(measured, seconds, count), aimsOf(measured)];
  },
};

type Measured = readonly { readonly of: Case; readonly taken: readonly Round[] }[];

function tableOf(measured: Measured, seconds: number, count: number): Table {
  const columns: readonly (readonly [string, (round: Round) => number])[] = [
    ['shard us', (one) => one.shardUs],
    ['alone us', (one) => one.aloneUs],
    ['nats us', (one) => one.natsUs],
    ['gateway us', (one) => one.gatewayUs],
    ['+ client us', (one) => one.gatewayClientUs],
    ['read p50 ms', (one) => one.reads.p50Ms],
    ['read p99 ms', (one) => one.reads.p99Ms],
    ['step p50 ms', (one) => one.steps.p50Ms],
    ['step p99 ms', (one) => one.steps.p99Ms],
    ['alone step ms', (one) => one.aloneStepMs],
    ['late', (one) => one.late],
    ['missed', (one) => one.missed],
  ];
  return {
    title: `shards: fleets behind one gateway, each without Modbus, for ${seconds} s, ${count} rounds`,
    head: ['devices, tick', 'shards', ...columns.map(([name]) => name)],
    rows: measured.map(({ of: { devices, tickS }, taken }) => [
      `${devices}, ${tickS} s`,
      String(shardSizes(devices).length),
      ...columns.map(([, value]) => figure(medianOf(taken, value))),
    ]),
    notes: [
      'us: processor time per device and tick; + client: of the gateway with one client of all devices, per message',
      `read: one point of one device, ${ratePerS} requests per second; alone: one process with the devices of one shard`,
      'late: slots that shards joined in one tick; missed: ticks that did not reach the gateway',
    ],
  };
}

function aimsOf(measured: Measured): Table {
  const at = (devices: number) => measured.find(({ of }) => of.devices === devices && of.tickS === 1.5)?.taken;
  const figureAt = (devices: number, value: (one: Round) => number) => {
    const taken = at(devices);
    return taken === undefined ? null : medianOf(taken, value);
  };
  const whole = measured.filter(
    ({ of, taken }) => of.tickS === 1.5 && taken.every(({ late, missed }) => late + missed === 0),
  );
  const middle = measured.find(({ of }) => of.devices === 3000) ?? measured.at(-1);
  const size = middle?.of.devices ?? 0;
  return aimTable('shards', [
    aimRow(
      'shard over one process, part of its time',
      figureAt(size, (one) => one.shardUs / one.aloneUs - 1),
      '',
      {
        atMost: 0.15,
      },
    ),
    aimRow(
      'gateway per device and tick',
      figureAt(size, (one) => one.gatewayUs),
      ' us',
      { atMost: 5 },
    ),
    aimRow(
      'gateway with one client of all',
      figureAt(size, (one) => one.gatewayClientUs),
      ' us',
      { atMost: 10 },
    ),
    aimRow(
      'routed read p99',
      figureAt(size, (one) => one.reads.p99Ms),
      ' ms',
      { atMost: 5 },
    ),
    aimRow(
      'step beyond 1.1 of one process',
      figureAt(size, (one) => one.steps.p50Ms - 1.1 * one.aloneStepMs),
      ' ms',
      {
        atMost: 2,
      },
    ),
    aimRow('most devices without a late tick at 1.5 s', Math.max(0, ...whole.map(({ of }) => of.devices)), '', {
      atLeast: 10_000,
    }),
  ]);
}
