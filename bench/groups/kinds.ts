/** Cost of a device of each kind at rest and at work, and of a fleet of all kinds. */
import type { BenchOptions, Group } from '../support/group.ts';
import { kindCases } from '../support/kind-cases.ts';
import type { KindCase } from '../support/kind-cases.ts';
import { masters, pollFleet, ratePerS, spreadOver } from '../support/masters.ts';
import type { FleetLoad } from '../support/masters.ts';
import { inCheckout, runJson } from '../support/processes.ts';
import { startSimulator } from '../support/simulator.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';
import type { Table } from '../support/table.ts';

interface One {
  readonly tickUs: number;
  readonly powerKw: number;
}
interface Many extends One {
  readonly physicsUs: number;
  readonly publishUs: number;
}
interface Round {
  readonly one: One;
  readonly many: Many;
  readonly fast: Many;
}

const tickS = 1.5;
const fast = 60;
const many = 200;
const fleetDevices = 1000;
const fleetFlags = ['--config', inCheckout('bench/kinds-fleet.yaml')];
/** every round takes minutes: a few are enough */
const mostRounds = 3;

function worker<T extends One>(one: KindCase, devices: number, rate: number, { quick }: BenchOptions): Promise<T> {
  const request = {
    flags: ['-N', String(devices), ...one.flags],
    devices,
    tick_s: tickS * rate,
    warm_ms: quick ? 300 : 1200,
    measure_ms: quick ? 100 : 500,
    begin: one.begin ?? [],
    again: one.again ?? [],
    set_points_pct: one.setPointsPct ?? [],
    every_s: one.everyS ?? null,
  };
  return runJson<T>(process.execPath, [inCheckout('bench/workers/kinds.mjs'), JSON.stringify(request)]);
}

async function measure(one: KindCase, options: BenchOptions): Promise<Round> {
  return {
    one: await worker<One>(one, 1, 1, options),
    many: await worker<Many>(one, many, 1, options),
    fast: await worker<Many>(one, many, fast, options),
  };
}

function ticksTables(results: ReadonlyMap<KindCase, readonly Round[]>): Table[] {
  const value = (one: KindCase, of: (round: Round) => number) => medianOf(results.get(one) ?? [], of);
  const rows = kindCases.map((one) => [
    one.name,
    ...[
      (r: Round) => r.one.tickUs,
      (r: Round) => r.many.tickUs,
      (r: Round) => r.many.physicsUs,
      (r: Round) => r.many.publishUs,
      (r: Round) => r.fast.tickUs,
      (r: Round) => r.fast.physicsUs / (tickS * fast),
      (r: Round) => r.many.powerKw,
    ].map((of) => figure(value(one, of))),
  ]);
  return [
    {
      title: `kinds: us of processor time per device and tick of ${tickS} s`,
      head: [
        '',
        '1 device',
        `${many} devices`,
        'physics',
        'publication',
        `rate ${fast}`,
        'physics per simulated s',
        'kW at the end',
      ],
      rows,
      notes: [
        `physics and publication: of ${many} devices, timed apart from the whole tick`,
        'no peer: the figures are absolute; the row PV says how fast the machine is',
      ],
    },
    aimTable(
      'kinds',
      kindCases
        .filter(({ aimUs }) => Number.isFinite(aimUs))
        .flatMap((one) => [
          aimRow(
            `${one.name}, 1 device`,
            value(one, (r) => r.one.tickUs),
            ' us',
            { atMost: one.aimUs },
          ),
          aimRow(
            `${one.name}, ${many} devices`,
            value(one, (r) => r.many.tickUs),
            ' us',
            { atMost: one.aimUs },
          ),
        ]),
    ),
  ];
}

interface Held {
  readonly totalBytes: number;
}

async function fleetTables(count: number, quick: boolean, progress: (text: string) => void): Promise<Table[]> {
  const seconds = quick ? 4 : 20;
  progress('kinds: fleet');
  const held = await runJson<Held>(process.execPath, [
    '--expose-gc',
    inCheckout('bench/workers/memory.mjs'),
    String(fleetDevices),
    ...fleetFlags,
  ]);
  const loads: FleetLoad[] = [];
  const fleet = await startSimulator(fleetDevices, fleetFlags);
  try {
    for (let round = 0; round < count; round += 1)
      loads.push(await pollFleet(fleet, spreadOver(fleet.port, fleetDevices), seconds));
  } finally {
    await fleet.stop();
  }
  const cpuPct = medianOf(loads, (m) => m.cpuPct);
  const p99Ms = medianOf(loads, (m) => m.p99Ms);
  const heldKb = held.totalBytes / 1000;
  return [
    {
      title:
        `kinds: ${fleetDevices} mixed devices, default tick, ${masters} masters on ${masters} devices at ` +
        `${ratePerS} Hz for ${seconds} s, ${count} rounds`,
      head: ['', 'CPU %', 'p50 ms', 'p99 ms', 'max ms', 'kB per device'],
      rows: [
        [
          'all kinds alike',
          ...[cpuPct, medianOf(loads, (m) => m.p50Ms), p99Ms, medianOf(loads, (m) => m.maxMs), heldKb].map(figure),
        ],
      ],
      notes: [
        'CPU %: of one core',
        'kB: heap and external after garbage collection, with what the devices of a profile share',
      ],
    },
    aimTable('kinds, mixed fleet', [
      aimRow('share of one core', cpuPct, ' %', { atMost: 5 }),
      aimRow('p99', p99Ms, ' ms', { atMost: 10 }),
    ]),
  ];
}

export const kindsGroup: Group = {
  name: 'kinds',
  async run(options, progress) {
    const results = new Map(kindCases.map((one) => [one, [] as Round[]]));
    const count = Math.min(options.rounds, mostRounds);
    for (let round = 1; round <= count; round += 1) {
      progress(`kinds: round ${round} of ${count}`);
      for (const [one, rounds] of results) rounds.push(await measure(one, options));
    }
    return [...ticksTables(results), ...(await fleetTables(count, options.quick, progress))];
  },
};
