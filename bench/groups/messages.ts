/** The cost of the wire log: Modbus TCP over loopback with messages kept and not kept, FC3 of 125 registers. */
import { accessSync } from 'node:fs';
import type { Peer, PeerKind } from '../support/peers.ts';
import type { BenchOptions, Group } from '../support/group.ts';
import { loadGenerator, loadOf } from '../support/modbus-load.ts';
import type { Generator, Load } from '../support/modbus-load.ts';
import { pin, pinnableProcessor } from '../support/processes.ts';
import { startSimulator } from '../support/simulator.ts';
import type { Simulator } from '../support/simulator.ts';
import { medianOf, medianRatio } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';
import type { Table } from '../support/table.ts';
import { perSecond } from '../support/measured.ts';
import type { Measured } from '../support/measured.ts';

/** `main.js` of another build, to compare with. */
const before = process.env['BENCH_BEFORE'];

async function keeping(): Promise<Simulator> {
  const simulator = await startSimulator(1);
  const url = new URL('modbus/messages', simulator.healthUrl);
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ enabled: true }),
  });
  if (!answer.ok) throw new Error(`${url.href} answered ${answer.status}: ${await answer.text()}`);
  return simulator;
}

const always = () => Promise.resolve(null);
const off: PeerKind = { name: 'not kept', missing: always, start: () => startSimulator(1) };
const on: PeerKind = { name: 'kept', missing: always, start: keeping };
const earlier: PeerKind = {
  name: 'earlier build',
  missing() {
    try {
      if (before === undefined) return Promise.resolve('BENCH_BEFORE does not name its main.js');
      accessSync(before);
      return Promise.resolve(null);
    } catch {
      return Promise.resolve(`there is no ${before ?? ''}`);
    }
  },
  start: () => startSimulator(1, undefined, before),
};

const sixteen: Load = { name: '16 connections, 1 outstanding each', connections: 16, outstanding: 1 };
const eightDeep: Load = { name: '1 connection, 8 outstanding', connections: 1, outstanding: 8 };
const loads = [sixteen, eightDeep];

type Rounds = ReadonlyMap<PeerKind, Measured[]>;

async function measureAll(
  servers: ReadonlyMap<PeerKind, Peer>,
  options: BenchOptions,
  generator: Generator,
  progress: (text: string) => void,
): Promise<ReadonlyMap<Load, Rounds>> {
  const results = new Map(
    loads.map((load) => [load, new Map([...servers.keys()].map((kind) => [kind, [] as Measured[]]))]),
  );
  for (let round = 1; round <= options.rounds; round += 1) {
    progress(`messages: round ${round} of ${options.rounds}`);
    for (const [load, rounds] of results) {
      // in turn from the front and from the back: what gets slower with time evens out
      const inTurn = round % 2 === 0 ? [...servers].reverse() : [...servers];
      for (const [kind, server] of inTurn) rounds.get(kind)?.push(await loadOf(server, load, options, generator));
    }
  }
  return results;
}

const ratioOf = (rounds: Rounds | undefined, kind: PeerKind, over: PeerKind, value: (m: Measured) => number) => {
  const [own, other] = [rounds?.get(kind), rounds?.get(over)];
  return own === undefined || other === undefined ? null : medianRatio(own, other, value);
};

function table(load: Load, rounds: Rounds, notes: readonly string[]): Table {
  const rows = [...rounds].map(([kind, measured]) => [
    kind.name,
    figure(medianOf(measured, perSecond)),
    figure(medianOf(measured, (m) => m.p50Us)),
    figure(medianOf(measured, (m) => m.cpuUs)),
    kind === off ? '' : figure(ratioOf(rounds, kind, off, perSecond)),
    kind === off ? '' : figure(ratioOf(rounds, kind, off, (m) => m.cpuUs)),
  ]);
  const head = ['messages', 'requests/s', 'p50 us', 'CPU us/request', 'rate/not kept', 'CPU/not kept'];
  return { title: `messages: FC3 of 125 registers, ${load.name}`, head, rows, notes };
}

export const messagesGroup: Group = {
  name: 'messages',
  async run(options, progress) {
    const processor = await pinnableProcessor();
    const generator = await loadGenerator(processor);
    const notes = [generator.note];
    const servers = new Map<PeerKind, Peer>();
    try {
      for (const kind of [off, on, earlier]) {
        const missing = await kind.missing();
        if (missing !== null) {
          notes.push(`skipped ${kind.name}: ${missing}`);
          continue;
        }
        const server = await kind.start();
        servers.set(kind, server);
        if (processor !== null) await pin(server.pid, processor);
      }
      const results = await measureAll(servers, options, generator, progress);
      const at16 = results.get(sixteen);
      return [
        ...[...results].map(([load, rounds]) => table(load, rounds, notes)),
        aimTable('messages', [
          aimRow('requests/s at 16 connections, kept/not kept', ratioOf(at16, on, off, perSecond), '', {
            atLeast: 0.9,
          }),
          aimRow('requests/s at 16 connections, not kept/earlier build', ratioOf(at16, off, earlier, perSecond), '', {
            atLeast: 0.98,
          }),
        ]),
      ];
    } finally {
      await Promise.all([...servers.values()].map((server) => server.stop()));
    }
  },
};
