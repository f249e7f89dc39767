/** The telemetry stream: fan-out to many clients, and clients that never read. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onProcessor, twoCores } from '../support/cores.ts';
import type { Cores } from '../support/cores.ts';
import type { BenchOptions, Group } from '../support/group.ts';
import { freePorts, untilHttpOk, within } from '../support/net.ts';
import { scratchDirectory } from '../support/peers.ts';
import { inCheckout, pin, runJson, startServer } from '../support/processes.ts';
import type { Server } from '../support/processes.ts';
import { startSimulator } from '../support/simulator.ts';
import { medianOf, medianRatio } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';
import type { Table } from '../support/table.ts';

interface Load {
  readonly devices: number;
  readonly clients: number;
  /** number of clients that stop reading after the measurement */
  readonly stopping: number;
  readonly stoppedMs: number;
}

const tickMs = 100;
const fanOut: Load = { devices: 1, clients: 1000, stopping: 0, stoppedMs: 0 };
const half: Load = { devices: 50, clients: 20, stopping: 10, stoppedMs: 16_000 };
const [ours, bare] = ['derbench', 'bare ws 8'];

interface Peer extends Server {
  readonly port: number;
  readonly path: string;
}

interface Measured {
  /** of the server without clients, of one core */
  readonly alonePct: number | null;
  readonly messages: number;
  readonly seconds: number;
  readonly missing: number;
  readonly repeated: number;
  /** of the server per message to a client */
  readonly cpuUs: number | null;
  readonly grownBytes: number | null;
}

const alonePct = (m: Measured) => m.alonePct ?? NaN;
const cpuUs = (m: Measured) => m.cpuUs ?? NaN;
const grownMb = (m: Measured) => (m.grownBytes ?? NaN) / 1e6;

async function startOurs(devices: number): Promise<Peer> {
  const simulator = await startSimulator(devices, ['-N', String(devices), '--tick', String(tickMs / 1000)]);
  await within(20, untilHttpOk(simulator.healthUrl), simulator.failed);
  return { ...simulator, port: Number(new URL(simulator.healthUrl).port), path: '/api/sim/ws/telemetry' };
}

async function startBare(devices: number, snapshotFile: string): Promise<Peer> {
  const port = await freePorts();
  const args = [inCheckout('bench/peers/ws-broadcast.mjs'), snapshotFile, ...[devices, tickMs, port].map(String)];
  const server = startServer(process.execPath, args);
  await within(20, untilHttpOk(`http://127.0.0.1:${port}/`), server.failed);
  return { ...server, port, path: '/' };
}

/** Members of the overview besides the snapshot. */
const ofOverview = new Set(['devices', 'comm_status', 'alarms']);

/** Writes one snapshot of derbench to a file for the other server. */
async function recorded({ port }: Peer): Promise<string> {
  const file = join(scratchDirectory(), 'snapshot.json');
  const answer = await fetch(`http://127.0.0.1:${port}/api/sim/overview`);
  const members = Object.entries((await answer.json()) as Record<string, unknown>);
  writeFileSync(file, JSON.stringify(Object.fromEntries(members.filter(([name]) => !ofOverview.has(name)))));
  return file;
}

function measure(server: Peer, load: Load, { quick }: BenchOptions, { load: processor }: Cores): Promise<Measured> {
  const [warmupMs, measureMs] = quick ? [500, 1000] : [2500, 6000];
  const numbers = [load.clients, load.stopping, warmupMs, measureMs, quick ? 2000 : load.stoppedMs, server.pid];
  const worker = [
    process.execPath,
    inCheckout('bench/workers/stream-load.mjs'),
    String(server.port),
    server.path,
    ...numbers.map(String),
  ];
  const [command, ...args] = onProcessor(processor, worker);
  return runJson<Measured>(command, args);
}

type Rounds = ReadonlyMap<string, readonly Measured[]>;

async function measureAll(
  load: Load,
  rounds: number,
  options: BenchOptions,
  cores: Cores,
  say: (round: number) => void,
): Promise<Rounds> {
  const servers = new Map<string, Peer>();
  const results = new Map<string, Measured[]>();
  try {
    const own = await startOurs(load.devices);
    servers.set(ours, own);
    servers.set(bare, await startBare(load.devices, await recorded(own)));
    if (cores.server !== null) for (const { pid } of servers.values()) await pin(pid, cores.server);
    for (let round = 1; round <= rounds; round += 1) {
      say(round);
      // both at once: they are far from busy, and other load of the machine affects both
      const measured = await Promise.all(
        [...servers].map(async ([name, server]) => [name, await measure(server, load, options, cores)] as const),
      );
      for (const [name, result] of measured) results.set(name, [...(results.get(name) ?? []), result]);
    }
    return results;
  } finally {
    await Promise.all([...servers.values()].map((server) => server.stop()));
  }
}

const ratio = (results: Rounds) => medianRatio(results.get(ours) ?? [], results.get(bare) ?? [], cpuUs);

function rowsOf(results: Rounds, further: (m: Measured) => number): string[][] {
  return [...results].map(([name, rounds]) => [
    name,
    figure(medianOf(rounds, alonePct)),
    figure(medianOf(rounds, (m) => m.messages / m.seconds)),
    figure(medianOf(rounds, cpuUs)),
    name === ours ? '' : figure(ratio(results)),
    String(rounds.reduce((sum, m) => sum + m.missing, 0)),
    String(rounds.reduce((sum, m) => sum + m.repeated, 0)),
    ...(Number.isNaN(further(rounds[0] ?? ({ grownBytes: null } as Measured)))
      ? []
      : [figure(medianOf(rounds, further))]),
  ]);
}

const head = ['server', 'CPU % alone', 'messages/s', 'CPU us/message', 'ours/its CPU', 'missing', 'repeated'];

export const streamGroup: Group = {
  name: 'stream',
  async run(options, progress): Promise<readonly Table[]> {
    const cores = await twoCores();
    const wide = await measureAll(fanOut, options.rounds, options, cores, (round) => {
      progress(`stream: round ${round} of ${options.rounds}`);
    });
    // it takes long, and the question is only whether memory stops growing
    const slow = await measureAll(half, 1, options, cores, () => {
      progress('stream: clients that never read');
    });
    const own = slow.get(ours) ?? [];
    return [
      {
        title: `stream: 1 device at 10 Hz, ${fanOut.clients} clients`,
        head,
        rows: rowsOf(wide, () => NaN),
        notes: [
          `both at once; CPU per message: of the whole process, the simulation ("alone", without clients) included; ${cores.note}`,
        ],
      },
      {
        title: `stream: ${half.devices} devices at 10 Hz, ${half.clients} clients, of which ${half.stopping} stop reading`,
        head: [...head, 'RSS grown MB'],
        rows: rowsOf(slow, grownMb),
        notes: ['CPU while all read; missing and repeated: of clients that read, to the end'],
      },
      aimTable('stream', [
        aimRow(`CPU per message, ${fanOut.clients} clients, ours/bare ws`, ratio(wide), '', { atMost: 1.1 }),
        aimRow(
          'messages missing or repeated',
          [...(wide.get(ours) ?? []), ...own].reduce((sum, m) => sum + m.missing + m.repeated, 0),
          '',
          { atMost: 0 },
        ),
        aimRow(`memory grown by ${half.stopping} clients that never read`, medianOf(own, grownMb), ' MB', {
          atMost: 8,
        }),
      ]),
    ];
  },
};
