/** Integrity polls of a whole DER map over DNP3, beside a responder that replays the same octets, and py1815. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { an2018Rows } from '../../src/dnp3/profile/table/rows.ts';
import { py1815Tables } from '../../test/interop/support/dnp3-tables.ts';
import { onProcessor } from '../support/cores.ts';
import type { BenchOptions, Group } from '../support/group.ts';
import { freePorts, untilListening, within } from '../support/net.ts';
import { python, scratchDirectory } from '../support/peers.ts';
import {
  cpuSeconds,
  inCheckout,
  pin,
  pinnableProcessor,
  runJson,
  startServer,
  succeeds,
} from '../support/processes.ts';
import type { Server } from '../support/processes.ts';
import { startSimulator } from '../support/simulator.ts';
import { medianOf, medianRatio } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';
import type { Table } from '../support/table.ts';

interface Polled {
  readonly polls: number;
  readonly seconds: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly fragments: number;
  readonly octets: number;
}

interface Measured extends Polled {
  /** of the server, per poll */
  readonly cpuUs: number;
}

interface Outstation {
  readonly server: Server;
  readonly port: number;
}

const startS = 30;
const perSecond = ({ polls, seconds }: Measured) => polls / seconds;

async function listening(command: string, args: readonly string[], port: number): Promise<Outstation> {
  const server = startServer(command, args);
  await within(startS, untilListening(port), server.failed);
  return { server, port };
}

/** The clock stands still, so that no event comes between the polls. */
async function ours(): Promise<Outstation> {
  const port = await freePorts();
  const flags = ['-d', 'Batt-3Phase', '--start_paused', 'yes', '--dnp3_enable', 'yes', '--dnp3_port', String(port)];
  return { server: await startSimulator(1, flags), port };
}

async function py1815(): Promise<Outstation> {
  const port = await freePorts();
  const tables = join(scratchDirectory(), 'tables.json');
  writeFileSync(tables, JSON.stringify(py1815Tables(an2018Rows)));
  const program = ['-c', 'from py1815.profile.cli import main; raise SystemExit(main())', 'run', '--tables', tables];
  const bound = ['--bind', `127.0.0.1:${port}`, '--outstation-address', '1', '--any-master'];
  return listening(python, [...program, ...bound], port);
}

const load = (processor: number | null, port: number, more: readonly string[]) => {
  const worker = inCheckout('bench/workers/dnp3-load.mjs');
  const [program, ...args] = onProcessor(processor, [process.execPath, worker, String(port), '1', '4', ...more]);
  return runJson<Polled>(program, args);
};

async function measured({ server, port }: Outstation, processor: number | null, seconds: number): Promise<Measured> {
  const before = (await cpuSeconds(server.pid)) ?? NaN;
  const polled = await load(processor, port, [String(seconds)]);
  const spentS = ((await cpuSeconds(server.pid)) ?? NaN) - before;
  return { ...polled, cpuUs: (spentS * 1e6) / polled.polls };
}

async function startAll(notes: string[]): Promise<Map<string, Outstation>> {
  const outstations = new Map([['derbench', await ours()]]);
  const recording = join(scratchDirectory(), 'dnp3.json');
  const own = outstations.get('derbench');
  if (own !== undefined) await load(null, own.port, ['0', recording]);
  const port = await freePorts();
  const replay = inCheckout('bench/peers/dnp3-replay.mjs');
  outstations.set('minimal replay', await listening(process.execPath, [replay, String(port), recording], port));
  if (await succeeds(python, ['-c', 'import py1815'])) outstations.set('py1815', await py1815());
  else notes.push(`skipped py1815: ${python} cannot import it`);
  return outstations;
}

function resultTable(results: ReadonlyMap<string, readonly Measured[]>, notes: readonly string[]): Table {
  const own = results.get('derbench') ?? [];
  return {
    title: 'dnp3: integrity polls of a battery, one after another on one connection',
    head: ['outstation', 'polls/s', 'p50 us', 'p99 us', 'CPU us/poll', 'fragments', 'octets', 'ours/its rate'],
    rows: [...results].map(([name, rounds]) => [
      name,
      figure(medianOf(rounds, perSecond)),
      figure(medianOf(rounds, (m) => m.p50Us)),
      figure(medianOf(rounds, (m) => m.p99Us)),
      figure(medianOf(rounds, (m) => m.cpuUs)),
      figure(medianOf(rounds, (m) => m.fragments)),
      figure(medianOf(rounds, (m) => m.octets)),
      name === 'derbench' ? '' : figure(medianRatio(own, rounds, perSecond)),
    ]),
    notes,
  };
}

async function rounds(
  outstations: ReadonlyMap<string, Outstation>,
  { rounds: count, quick }: BenchOptions,
  processor: number | null,
  progress: (text: string) => void,
) {
  const results = new Map<string, Measured[]>();
  for (let round = 1; round <= count; round += 1) {
    progress(`dnp3: round ${round} of ${count}`);
    for (const [name, outstation] of outstations)
      results.set(name, [...(results.get(name) ?? []), await measured(outstation, processor, quick ? 1 : 4)]);
  }
  return results;
}

export const dnp3Group: Group = {
  name: 'dnp3',
  async run(options, progress) {
    const processor = await pinnableProcessor();
    const notes = [processor === null ? 'not pinned' : 'outstation and master on one processor'];
    const outstations = await startAll(notes);
    try {
      if (processor !== null) for (const { server } of outstations.values()) await pin(server.pid, processor);
      const results = await rounds(outstations, options, processor, progress);
      const [own = [], replay = []] = [results.get('derbench'), results.get('minimal replay')];
      const aims = [aimRow('polls/s, ours/minimal replay', medianRatio(own, replay, perSecond), '', { atLeast: 0.3 })];
      return [resultTable(results, notes), aimTable('dnp3', aims)];
    } finally {
      await Promise.all([...outstations.values()].map(({ server }) => server.stop()));
    }
  },
};
