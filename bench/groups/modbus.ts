/** Modbus TCP over loopback: FC3 of 125 registers, closed loop. */
import { libmodbus, minimal, modbusSerial, pymodbus } from '../support/peers.ts';
import type { Peer, PeerKind } from '../support/peers.ts';
import type { BenchOptions, Group } from '../support/group.ts';
import { loadGenerator, loadOf } from '../support/modbus-load.ts';
import type { Generator, Load } from '../support/modbus-load.ts';
import { pin, pinnableProcessor } from '../support/processes.ts';
import { startSimulator } from '../support/simulator.ts';
import { medianOf, medianRatio } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';
import type { Table } from '../support/table.ts';
import { perSecond } from '../support/measured.ts';
import type { Measured } from '../support/measured.ts';

const always = () => Promise.resolve(null);
const ours: PeerKind = { name: 'derbench', missing: always, start: () => startSimulator(1) };
const withoutFindings: PeerKind = {
  name: 'derbench, findings off',
  missing: always,
  start: () => startSimulator(1, ['-N', '1', '--findings', 'no']),
};
const kinds = [ours, withoutFindings, minimal, modbusSerial, pymodbus, libmodbus];

const oneByOne: Load = { name: '1 connection, 1 outstanding', connections: 1, outstanding: 1 };
const sixteen: Load = { name: '16 connections, 1 outstanding each', connections: 16, outstanding: 1 };
const eightDeep: Load = { name: '1 connection, 8 outstanding', connections: 1, outstanding: 8 };
const sixteenDeep: Load = { name: '16 connections, 8 outstanding each', connections: 16, outstanding: 8 };
const loads = [oneByOne, sixteen, eightDeep, sixteenDeep];

/** Rounds by load and server name. */
type Results = ReadonlyMap<Load, ReadonlyMap<string, readonly Measured[]>>;

type Servers = ReadonlyMap<PeerKind, Peer>;

const canTake = (kind: PeerKind, load: Load) => load.outstanding === 1 || kind.oneAtATime !== true;

async function measureAll(
  servers: Servers,
  options: BenchOptions,
  load: Generator,
  progress: (text: string) => void,
): Promise<Results> {
  const results = new Map(loads.map((one) => [one, new Map<string, Measured[]>()]));
  for (let round = 1; round <= options.rounds; round += 1) {
    progress(`modbus: round ${round} of ${options.rounds}`);
    for (const [one, byName] of results) {
      for (const [kind, server] of servers) {
        if (!canTake(kind, one)) continue;
        const rounds = byName.get(kind.name) ?? [];
        byName.set(kind.name, [...rounds, await loadOf(server, one, options, load)]);
      }
    }
  }
  return results;
}

function loadTable(load: Load, byName: ReadonlyMap<string, readonly Measured[]>, notes: readonly string[]): Table {
  const own = byName.get(ours.name) ?? [];
  const rows = [...byName].map(([name, rounds]) => [
    name,
    figure(medianOf(rounds, perSecond)),
    figure(medianOf(rounds, (m) => m.p50Us)),
    figure(medianOf(rounds, (m) => m.p99Us)),
    figure(medianOf(rounds, (m) => m.cpuUs)),
    name === ours.name ? '' : figure(medianRatio(own, rounds, perSecond)),
    name === ours.name ? '' : figure(medianRatio(own, rounds, (m) => m.p50Us)),
    name === ours.name ? '' : figure(medianRatio(own, rounds, (m) => m.cpuUs)),
  ]);
  return {
    title: `modbus: FC3 of 125 registers, ${load.name}`,
    head: [
      'server',
      'requests/s',
      'p50 us',
      'p99 us',
      'CPU us/request',
      'ours/its rate',
      'ours/its p50',
      'ours/its CPU',
    ],
    rows,
    notes,
  };
}

const reciprocal = (value: number | null) => (value === null ? null : 1 / value);

const unable = (servers: Servers, load: Load) =>
  [...servers.keys()]
    .filter((kind) => !canTake(kind, load))
    .map(({ name }) => `skipped ${name}: it drops requests that come before the last answer`);

function aims(results: Results): Table {
  const ratio = (load: Load, peer: PeerKind, value: (m: Measured) => number): number | null => {
    const byName = results.get(load);
    const other = byName?.get(peer.name);
    return other === undefined ? null : medianRatio(byName?.get(ours.name) ?? [], other, value);
  };
  return aimTable('modbus', [
    aimRow('requests/s at 16 connections, ours/minimal', ratio(sixteen, minimal, perSecond), '', { atLeast: 0.9 }),
    aimRow('the same by CPU time of the servers alone', reciprocal(ratio(sixteen, minimal, (m) => m.cpuUs)), '', {
      atLeast: 0.9,
    }),
    aimRow('requests/s at 16 connections, ours/pymodbus', ratio(sixteen, pymodbus, perSecond), '', { atLeast: 4 }),
    aimRow('requests/s at 8 outstanding, ours/libmodbus', ratio(eightDeep, libmodbus, perSecond), '', { atLeast: 2 }),
    aimRow(
      'requests/s at 16 connections with 8 outstanding, findings on/off',
      ratio(sixteenDeep, withoutFindings, perSecond),
      '',
      {
        atLeast: 0.95,
      },
    ),
    aimRow(
      'p50 at 1 connection, ours/minimal',
      ratio(oneByOne, minimal, (m) => m.p50Us),
      '',
      { atMost: 1.25 },
    ),
  ]);
}

export const modbusGroup: Group = {
  name: 'modbus',
  async run(options, progress) {
    const processor = await pinnableProcessor();
    const load = await loadGenerator(processor);
    const notes = [load.note];
    const servers = new Map<PeerKind, Peer>();
    try {
      for (const kind of kinds) {
        const missing = await kind.missing();
        if (missing !== null) {
          notes.push(`skipped ${kind.name}: ${missing}`);
          continue;
        }
        const server = await kind.start();
        servers.set(kind, server);
        if (processor !== null) await pin(server.pid, processor);
      }
      const results = await measureAll(servers, options, load, progress);
      return [
        ...[...results].map(([one, byName]) => loadTable(one, byName, [...notes, ...unable(servers, one)])),
        aims(results),
      ];
    } finally {
      await Promise.all([...servers.values()].map((server) => server.stop()));
    }
  },
};
