/** Masters beside clients that ask for as much work as one request can. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memo } from '../../src/core/lazy.ts';
import type { Group } from '../support/group.ts';
import { freePorts } from '../support/net.ts';
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

const alone = (): readonly string[] => [];

/** A folder of test certificates, which is made once. */
const testPki = memo(() => {
  const folder = mkdtempSync(join(tmpdir(), 'derbench-bench-pki-'));
  execFileSync(process.execPath, [inCheckout('dist/main.js'), 'pki', folder]);
  process.once('exit', () => {
    rmSync(folder, { recursive: true });
  });
  return folder;
});

/** Sorts of attackers as `bench/workers/attackers.mjs` has them, with the flags that open the simulator to them. */
const sorts = {
  'empty points': alone,
  trace: alone,
  metrics: alone,
  battery: alone,
  faults: alone,
  'faulty reads': alone,
  'reads by chance': alone,
  'slow readers': alone,
  scenarios: alone,
  'DNP3 crowd': (port: number) => ['--dnp3_enable', 'yes', '--dnp3_port', String(port)],
  'central system': (port: number) => ['--ocpp_enable', 'yes', '--ocpp_csms_url', `ws://127.0.0.1:${port}/ocpp`],
  'head-end': (port: number) => [
    '--csip_identity',
    'site',
    '--use_test_pki_certs',
    testPki(),
    '--csip_client_enable',
    'yes',
    '--csip_enc',
    'no',
    '--csip_server_port',
    String(port),
    '--csip_website_port',
    '0',
  ],
} as const;
type Sort = keyof typeof sorts;
const sortNames = Object.keys(sorts) as readonly Sort[];

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
async function beside(sort: Sort, seconds: number): Promise<{ alone: Measured; both: Measured }> {
  const peerPort = await freePorts(2);
  const simulator = await startSimulator(
    2,
    ['--config', inCheckout('bench/attackers.yaml'), ...sorts[sort](peerPort)],
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
        ...[clients, 0, Number(new URL(simulator.healthUrl).port), simulator.port, peerPort].map(String),
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
    const results = new Map(sortNames.map((sort) => [sort, { alone: [] as Measured[], both: [] as Measured[] }]));
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
