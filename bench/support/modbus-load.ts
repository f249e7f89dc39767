/** Load of Modbus TCP: the generator, and one measurement with it. */
import type { BenchOptions } from './group.ts';
import type { Measured } from './measured.ts';
import { compiled } from './peers.ts';
import type { Peer } from './peers.ts';
import { cpuSeconds, inCheckout, runJson } from './processes.ts';

export interface Load {
  readonly name: string;
  readonly connections: number;
  readonly outstanding: number;
}

export interface Generator {
  readonly command: string;
  readonly args: readonly string[];
  /** of generator and processor, for the table */
  readonly note: string;
}

const pinNote = (processor: number | null) =>
  processor === null
    ? 'not pinned, as taskset is missing: the figures depend on where the scheduler puts server and load'
    : `server and load share processor ${processor}`;

/** @param processor that it runs on; null: any */
export async function loadGenerator(processor: number | null): Promise<Generator> {
  const program = await compiled('bench/workers/modbus_load.c');
  const words = program === null ? [process.execPath, inCheckout('bench/workers/modbus-load.mjs')] : [program];
  const [command = '', ...args] = processor === null ? words : ['taskset', '-c', String(processor), ...words];
  const note =
    program === null
      ? 'load generator: Node, as gcc is missing; it is about as slow as the servers and evens them out'
      : 'load generator: C, epoll';
  return { command, args, note: `${note}; ${pinNote(processor)}` };
}

/** One round: FC3 of 125 registers in a closed loop. */
export async function loadOf(
  server: Peer,
  load: Load,
  { quick }: BenchOptions,
  { command, args }: Generator,
): Promise<Measured> {
  const [warmupMs, measureMs] = quick ? [200, 500] : [700, 2000];
  const before = await cpuSeconds(server.pid);
  const words = [server.port, load.connections, load.outstanding, warmupMs, measureMs].map(String);
  const result = await runJson<Omit<Measured, 'cpuUs'>>(command, [...args, ...words]);
  const after = await cpuSeconds(server.pid);
  // the warm-up runs at about the same pace
  const asked = result.requests * (1 + warmupMs / measureMs);
  return { ...result, cpuUs: before === null || after === null ? NaN : ((after - before) * 1e6) / asked };
}
