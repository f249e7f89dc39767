/** Clients of IEEE 2030.5 at a head-end: their memory, and what they cost Modbus masters. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Group } from '../support/group.ts';
import { HeadEndProcess } from '../support/head-end.ts';
import type { Counts } from '../support/head-end.ts';
import { masters, pollFleet, ratePerS, spreadOver } from '../support/masters.ts';
import type { FleetLoad } from '../support/masters.ts';
import { residentBytes } from '../support/processes.ts';
import { startSimulator } from '../support/simulator.ts';
import type { Simulator } from '../support/simulator.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

const clients = 200;
/** every round takes minutes */
const mostRounds = 2;
/** all resources are read and everything is posted once a minute */
const rateS = 60;

interface Measured extends FleetLoad {
  readonly residentMb: number;
}

/** After as many polls as it takes until memory is that of normal running. */
async function measured(simulator: Simulator, settleS: number, seconds: number): Promise<Measured> {
  await wait(settleS * 1000);
  const load = await pollFleet(simulator, spreadOver(simulator.port, clients), seconds);
  return { ...load, residentMb: ((await residentBytes(simulator.pid)) ?? NaN) / 1e6 };
}

async function alone(settleS: number, seconds: number): Promise<Measured> {
  const simulator = await startSimulator(clients);
  try {
    return await measured(simulator, settleS, seconds);
  } finally {
    await simulator.stop();
  }
}

async function connected(settleS: number, seconds: number): Promise<Measured & { readonly counts: Counts }> {
  const headEnd = new HeadEndProcess(clients);
  try {
    const flags = ['-N', String(clients), '--csip_client_enable', 'yes', '--csip_website_port', '0'];
    const port = ['--csip_server_port', String(await headEnd.port())];
    const files = ['--csip_cert_dir', headEnd.directory, '--csip_root_cert', join(headEnd.directory, 'root.pem')];
    const simulator = await startSimulator(clients, [...flags, ...port, ...files]);
    try {
      const load = await measured(simulator, settleS, seconds);
      return { ...load, counts: await headEnd.counts() };
    } finally {
      await simulator.stop();
    }
  } finally {
    await headEnd.stop();
  }
}

export const csipGroup: Group = {
  name: 'csip',
  async run({ rounds, quick }, progress) {
    const seconds = quick ? 10 : rateS;
    const settleS = quick ? 30 : 2 * rateS;
    const count = Math.min(rounds, mostRounds);
    const without: Measured[] = [];
    const beside: Awaited<ReturnType<typeof connected>>[] = [];
    for (let round = 1; round <= count; round += 1) {
      progress(`csip: without clients, round ${round} of ${count}`);
      without.push(await alone(settleS, seconds));
      progress(`csip: ${clients} clients, round ${round} of ${count}`);
      beside.push(await connected(settleS, seconds));
    }
    const row = (name: string, loads: readonly Measured[], counts: readonly Counts[]) => [
      name,
      ...[(m: Measured) => m.p50Ms, (m: Measured) => m.p99Ms, (m: Measured) => m.maxMs, (m: Measured) => m.cpuPct].map(
        (value) => figure(medianOf(loads, value)),
      ),
      figure(medianOf(loads, (m) => m.residentMb)),
      counts.length === 0 ? '-' : String(Math.min(...counts.map((each) => each.clients))),
      counts.length === 0 ? '-' : String(Math.max(...counts.map((each) => each.refused))),
    ];
    const pairs = beside.map((each, index) => ({ each, base: without[index] ?? each }));
    return [
      {
        title:
          `csip: ${clients} devices, each with a client over TLS, polls and posts every ${rateS} s; ${masters} ` +
          `masters at ${ratePerS} Hz for ${seconds} s, ${count} rounds`,
        head: ['', 'p50 ms', 'p99 ms', 'max ms', 'CPU %', 'RSS MB', 'clients that report', 'refused'],
        rows: [
          row('without clients', without, []),
          row(
            'with clients',
            beside,
            beside.map(({ counts }) => counts),
          ),
        ],
        notes: [`measured ${settleS} s after the last device answers`],
      },
      aimTable('csip', [
        aimRow(
          'memory of a client',
          medianOf(pairs, ({ each, base }) => ((each.residentMb - base.residentMb) * 1e6) / 2 ** 20 / clients),
          ' MiB',
          { atMost: 2 },
        ),
        aimRow(
          'p99 with clients / without',
          medianOf(pairs, ({ each, base }) => each.p99Ms / base.p99Ms),
          '',
          {
            atMost: 1.5,
          },
        ),
      ]),
    ];
  },
};
