/** A processor for the server and another for its load, so that neither waits for the other. */
import { readFile } from 'node:fs/promises';
import { pinnableProcessor } from './processes.ts';

export interface Cores {
  /** null where processes cannot be pinned, or there is only one processor */
  readonly server: number | null;
  readonly load: number | null;
  readonly note: string;
}

export async function twoCores(): Promise<Cores> {
  const server = await pinnableProcessor();
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const first = /^Cpus_allowed_list:\s*(\d+)/m.exec(status)?.[1];
  const load = first === undefined ? null : Number(first);
  if (server === null || load === null || load === server)
    return { server: null, load: null, note: 'not pinned: there is no taskset, or one processor only' };
  return { server, load, note: `servers on processor ${server}, load on ${load}` };
}

/** `command` on one processor. */
export function onProcessor(processor: number | null, command: readonly string[]): readonly [string, ...string[]] {
  const [first = '', ...rest] = processor === null ? command : ['taskset', '-c', String(processor), ...command];
  return [first, ...rest];
}
