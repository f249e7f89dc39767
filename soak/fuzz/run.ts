/**
 * `npm run fuzz [-- --seconds N] [--only NAME ...] [--file FILE]`: mutations of valid inputs against every parser and
 * listener, from FC_SEED. An input that fails is made small and written to `.cache/fuzz`. See soak/README.md.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { formatTable } from '../../bench/support/table.ts';
import { runSeed } from '../../test/support/seed.ts';
import { textOf } from '../tally.ts';
import { targets } from './targets/all.ts';
import { sharedHead, sharedOctets } from './worker.ts';
import type { Find, FuzzResult, FuzzTask } from './worker.ts';

const folder = '.cache/fuzz';
/** an input under way for so long hangs, ms */
const hangMs = 10_000;
const lookMs = 200;

/** Runs one target in a thread. A thread that hangs is ended, and its input is the failure. */
function fuzzed(task: FuzzTask): Promise<FuzzResult> {
  const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: task, stdout: false });
  const [head, octets] = [new Float64Array(task.shared, 0, sharedHead / 8), new Uint8Array(task.shared, sharedHead)];
  return new Promise((resolve) => {
    const failed = (reason: string) => {
      const [, number = 0, length = 0] = head;
      const input = new Uint8Array(octets.slice(0, length));
      resolve({ cases: number, finds: [{ name: task.name, number, reason, input }] });
    };
    const look = setInterval(() => {
      const [sinceMs = 0] = head;
      if (sinceMs === 0 || Date.now() - sinceMs < hangMs) return;
      failed(`it takes more than ${hangMs} ms`);
      void worker.terminate();
    }, lookMs);
    worker.on('message', resolve);
    worker.on('error', (error) => {
      failed(`the thread ended: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    });
    worker.on('exit', () => {
      clearInterval(look);
      failed('the thread ended');
    });
  });
}

function written({ name, number, reason, input }: Find): string {
  mkdirSync(folder, { recursive: true });
  const file = `${folder}/${name}-${runSeed}-${number}.bin`;
  writeFileSync(file, input);
  const lines = reason.split('\n').slice(0, 10);
  return [`${name}, case ${number}:`, ...lines, `repeat with: npm run fuzz -- --only ${name} --file ${file}`].join(
    '\n    ',
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      only: { type: 'string', multiple: true },
      file: { type: 'string' },
    },
  });
  const names = targets.map(({ name }) => name);
  const only = values.only ?? names;
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`there is no target ${unknown}; targets are ${names.join(', ')}`);
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new Error(`--seconds is ${values.seconds}; allowed: a number above 0`);
  const input = values.file === undefined ? null : new Uint8Array(readFileSync(values.file));
  const rows: string[][] = [];
  const finds: Find[] = [];
  for (const name of only) {
    const shared = new SharedArrayBuffer(sharedOctets);
    const result = await fuzzed({ name, seed: runSeed, seconds: seconds / only.length, input, shared });
    rows.push([name, String(result.cases), String(result.finds.length)]);
    finds.push(...result.finds);
    process.stderr.write(`${name}: ${result.cases} cases, ${result.finds.length} finds\n`);
  }
  const title = `fuzz: FC_SEED=${runSeed}`;
  process.stdout.write(`${formatTable({ title, head: ['target', 'cases', 'finds'], rows })}\n`);
  for (const find of finds) process.stdout.write(`${written(find)}\n`);
  process.exit(finds.length > 0 ? 1 : 0);
}

main().catch((error: unknown) => {
  process.stderr.write(`fuzz: ${textOf(error)}\n`);
  process.exit(2);
});
