/** Masters beside clients that ask for as much work as one request can. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Group } from '../support/group.ts';
import { masters, pollFleet, ratePerS } from '../support/masters.ts';
import type { FleetLoad } from '../support/masters.ts';
import { inCheckout, residentBytes } from '../support/processes.ts';
import { startSimulator } from '../support/simulator.ts';
import type { Simulator } from '../support/simulator.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

const clients = 20;
/** every round takes long: a few are enough */
const mostRounds = 3;

/** As `bench/workers/attackers.mjs` knows them. */
const sorts = [
  'empty points',
  'trace',
  'metrics',
  'battery',
  'faults',
  'faulty reads',
  'reads by chance',
  'slow readers',
] as const;

/** What the masters measured, and the memory of the server afterwards. */
interface Measured extends FleetLoad {
  readonly residentMb: number;
}

async function measured(simulator: Simulator, seconds: number): Promise<Measured> {
  const load = await pollFleet(
    simulator,
    Array.from({ length: masters }, () => simulator.port),
    seconds,
  );
  return { ...load, residentMb: ((await residentBytes(simulator.pid)) ?? NaN) / 1e6 };
}

/** Lets simulated time run ahead, so that the trace has its rows. */
async function runAhead({ healthUrl }: Simulator): Promise<void> {
  const post = async (path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(new URL(path, healthUrl), { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  };
  await post('grid-support/trace', { rows: 5000 });
  await post('controls/time', { mode: 'paused' });
  // a grid that moves ends each sub-step early
  await post('controls/grid/event', { event: 'oscillation' });
  await post('controls/time/step', { ticks: 400 });
  await post('controls/time', { mode: 'wall_clock' });
}

/** Clients of one sort beside the masters, on a process of their own. */
async function beside(sort: (typeof sorts)[number], seconds: number): Promise<{ alone: Measured; both: Measured }> {
  const simulator = await startSimulator(
    1,
    ['--config', inCheckout('bench/attackers.yaml')],
    process.env['BENCH_BEFORE'],
  );
  try {
    await runAhead(simulator);
    const alone = await measured(simulator, seconds);
    const attackers = spawn(
      process.execPath,
      [
        inCheckout('bench/workers/attackers.mjs'),
        sort,
        ...[clients, 0, Number(new URL(simulator.healthUrl).port), simulator.port].map(String),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    try {
      await Promise.race([once(attackers.stdout, 'data'), once(attackers, 'exit'), simulator.failed]);
      if (attackers.exitCode !== null) throw new Error(`the clients of ${sort} ended at once`);
      return { alone, both: await measured(simulator, seconds) };
    } finally {
      attackers.kill('SIGKILL');
    }
  } finally {
    await simulator.stop();
  }
}

export const attackersGroup: Group = {
  name: 'attackers',
  async run({ rounds, quick }, progress) {
    const seconds = quick ? 4 : 10;
    const count = Math.min(rounds, mostRounds);
    const results = new Map(sorts.map((sort) => [sort, { alone: [] as Measured[], both: [] as Measured[] }]));
    for (let round = 1; round <= count; round += 1) {
      for (const [sort, { alone, both }] of results) {
        progress(`attackers: ${sort}, round ${round} of ${count}`);
        const measuredNow = await beside(sort, seconds);
        alone.push(measuredNow.alone);
        both.push(measuredNow.both);
      }
    }
    const p99 = (loads: readonly Measured[]) => medianOf(loads, (m) => m.p99Ms);
    return [
      {
        title: `attackers: ${masters} masters at ${ratePerS} Hz beside ${clients} clients of one sort, ${seconds} s, ${count} rounds`,
        head: ['clients', 'p99 ms alone', 'p99 ms beside', 'max ms beside', 'answered', 'RSS MB'],
        rows: [...results].map(([sort, { alone, both }]) => [
          sort,
          figure(p99(alone)),
          figure(p99(both)),
          figure(medianOf(both, (m) => m.maxMs)),
          `${Math.min(...both.map((m) => m.answered))} of ${Math.max(...both.map((m) => m.asked))}`,
          figure(medianOf(both, (m) => m.residentMb)),
        ]),
      },
      aimTable(
        'attackers',
        [...results].map(([sort, { both }]) => aimRow(`p99 beside ${sort}`, p99(both), ' ms', { atMost: 100 })),
      ),
    ];
  },
};
