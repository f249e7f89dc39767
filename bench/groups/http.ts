/** Hot reads over loopback: closed loop on keep-alive connections. */
import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { onProcessor, twoCores } from '../support/cores.ts';
import type { Cores } from '../support/cores.ts';
import type { BenchOptions, Group } from '../support/group.ts';
import { perSecond } from '../support/measured.ts';
import type { Measured } from '../support/measured.ts';
import { freePorts, untilHttpOk, within } from '../support/net.ts';
import { compiled, scratchDirectory } from '../support/peers.ts';
import { cpuSeconds, inCheckout, pin, runJson, startServer } from '../support/processes.ts';
import type { Server } from '../support/processes.ts';
import { startSimulator } from '../support/simulator.ts';
import { medianOf, medianRatio } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';
import type { Table } from '../support/table.ts';

const connections = 32;
/** Many short turns instead of a long one, so that other load of the machine affects all servers alike. */
const turnsPerRound = 5;
const overview = '/api/sim/overview';
const paths = [overview, '/api/sim/devices', '/api/sim/health'];
const [ours, bare, express] = ['derbench', 'bare node:http', 'express 5'];

interface Peer extends Server {
  readonly port: number;
}
interface Reply {
  readonly headers: readonly string[];
  readonly body: string;
}

const cpuUs = (m: Measured) => m.cpuUs;

/** Headers that Node adds to every answer. */
const ofNode = new Set(['date', 'connection', 'keep-alive']);

function replyOf(url: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const raw = response.rawHeaders;
        const headers = raw.flatMap((name, i) =>
          i % 2 === 0 && !ofNode.has(name.toLowerCase()) ? [name, raw[i + 1] ?? ''] : [],
        );
        resolve({ headers, body: Buffer.concat(chunks).toString() });
      });
    }).on('error', reject);
  });
}

async function startOurs(): Promise<Peer> {
  const simulator = await startSimulator(1);
  await within(20, untilHttpOk(simulator.healthUrl), simulator.failed);
  return { ...simulator, port: Number(new URL(simulator.healthUrl).port) };
}

async function startPeer(script: string, file: string): Promise<Peer> {
  const port = await freePorts();
  const server = startServer(process.execPath, [inCheckout(script), file, String(port)]);
  await within(20, untilHttpOk(`http://127.0.0.1:${port}${overview}`), server.failed);
  return { ...server, port };
}

/** Writes the present answer of derbench to a file for the other servers. */
async function recorded({ port }: Peer): Promise<string> {
  const file = join(scratchDirectory(), 'replies.json');
  const replies = await Promise.all(
    paths.map(async (path) => [path, await replyOf(`http://127.0.0.1:${port}${path}`)]),
  );
  writeFileSync(file, JSON.stringify(Object.fromEntries(replies)));
  return file;
}

type Command = readonly [string, ...string[]];

async function measure(
  { port, pid }: Peer,
  path: string,
  [warmupMs, measureMs]: readonly [number, number],
  [command, ...args]: Command,
): Promise<Measured> {
  const before = await cpuSeconds(pid);
  const result = await runJson<Omit<Measured, 'cpuUs'>>(command, [
    ...args,
    ...[port, path, connections, warmupMs, measureMs].map(String),
  ]);
  const after = await cpuSeconds(pid);
  // the warm-up runs at about the same pace
  const asked = result.requests * (1 + warmupMs / measureMs);
  return { ...result, cpuUs: before === null || after === null ? NaN : ((after - before) * 1e6) / asked };
}

type Rounds = ReadonlyMap<string, readonly Measured[]>;

async function measureAll(
  servers: ReadonlyMap<string, Peer>,
  { rounds, quick }: BenchOptions,
  load: Command,
  progress: (text: string) => void,
): Promise<ReadonlyMap<string, Rounds>> {
  const results = new Map(paths.map((path) => [path, new Map<string, Measured[]>()]));
  progress('http: warming up');
  for (const path of paths)
    for (const server of servers.values()) await measure(server, path, [0, quick ? 200 : 1500], load);
  const turns = quick ? 1 : rounds * turnsPerRound;
  for (let turn = 1; turn <= turns; turn += 1) {
    if (turn % turnsPerRound === 1) progress(`http: turn ${turn} of ${turns}`);
    for (const [path, byName] of results) {
      for (const [name, server] of servers)
        byName.set(name, [...(byName.get(name) ?? []), await measure(server, path, [50, 350], load)]);
    }
  }
  return results;
}

function pathTable(path: string, byName: Rounds, notes: readonly string[]): Table {
  const own = byName.get(ours) ?? [];
  const rows = [...byName].map(([name, rounds]) => [
    name,
    ...[perSecond, (m: Measured) => m.p50Us, (m: Measured) => m.p99Us, cpuUs].map((value) =>
      figure(medianOf(rounds, value)),
    ),
    ...(name === ours ? ['', ''] : [perSecond, cpuUs].map((value) => figure(medianRatio(own, rounds, value)))),
  ]);
  return {
    title: `http: GET ${path}, ${connections} connections`,
    head: ['server', 'requests/s', 'p50 us', 'p99 us', 'CPU us/request', 'ours/its rate', 'ours/its CPU'],
    rows,
    notes,
  };
}

function aims(byName: Rounds | undefined): Table {
  const ratio = (name: string, value: (m: Measured) => number) =>
    medianRatio(byName?.get(ours) ?? [], byName?.get(name) ?? [], value);
  return aimTable('http', [
    aimRow('overview, requests/s, ours/bare node:http', ratio(bare, perSecond), '', { atLeast: 0.8 }),
    aimRow('the same by CPU time of the servers', 1 / ratio(bare, cpuUs), '', { atLeast: 0.8 }),
    aimRow('overview, requests/s, ours/express 5', ratio(express, perSecond), '', { atLeast: 3 }),
    aimRow('the same by CPU time of the servers', 1 / ratio(express, cpuUs), '', { atLeast: 3 }),
  ]);
}

async function generator({ load }: Cores): Promise<{ readonly command: Command; readonly note: string }> {
  const program = await compiled('bench/workers/http_load.c');
  const words = program === null ? [process.execPath, inCheckout('bench/workers/http-load.mjs')] : [program];
  const note =
    program === null ? 'load generator: Node, as gcc is missing; it evens the rates out' : 'load generator: C, epoll';
  return { command: onProcessor(load, words), note };
}

export const httpGroup: Group = {
  name: 'http',
  async run(options, progress) {
    const cores = await twoCores();
    const load = await generator(cores);
    const servers = new Map<string, Peer>();
    try {
      const own = await startOurs();
      servers.set(ours, own);
      const file = await recorded(own);
      servers.set(bare, await startPeer('bench/peers/http-bare.mjs', file));
      servers.set(express, await startPeer('bench/peers/http-express.mjs', file));
      if (cores.server !== null) for (const { pid } of servers.values()) await pin(pid, cores.server);
      const results = await measureAll(servers, options, load.command, progress);
      const notes = [`${load.note}; ${cores.note}`];
      return [...[...results].map(([path, byName]) => pathTable(path, byName, notes)), aims(results.get(overview))];
    } finally {
      await Promise.all([...servers.values()].map((server) => server.stop()));
    }
  },
};
