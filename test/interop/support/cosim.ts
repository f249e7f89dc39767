/** The examples of clients/python/cosim, run from the sources with a simulator of their own. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { packageFile } from '../../../src/core/package-files.ts';
import { programCommand } from '../../support/process.ts';
import { pasted } from './documents.ts';
import { python } from './peers.ts';

interface Row {
  readonly name: string;
  readonly holds: boolean;
  readonly difference?: number;
  readonly computed?: number;
}

/** The table that an example has printed. */
export interface Table {
  readonly rows: readonly Row[];
  readonly figures: Readonly<Record<string, unknown>>;
}

const environment = { ...process.env, PYTHONPATH: packageFile('clients/python'), PYTHONDONTWRITEBYTECODE: '1' };
const simulator = programCommand.join(' ');
/** Below the limit of the tests, so that a program that waits says where. */
const longestRunS = 100;
const longestRunMs = 1000 * (longestRunS + 10);

/** Standard output of a program of Python that uses the package. */
export const runPython = (...args: readonly string[]): Promise<string> =>
  pasted([python, ...args], '', environment, undefined, longestRunMs);

/** Runs an example to its end. @throws Error with its output unless every value of its table is in its bounds */
export async function runExample(name: string, ...flags: readonly string[]): Promise<Table> {
  const folder = await mkdtemp(join(tmpdir(), 'derbench-cosim-'));
  const file = join(folder, 'table.json');
  try {
    const limit = ['--max_s', String(longestRunS)];
    await runPython('-m', `cosim.${name}`, '--derbench', simulator, '--json', file, ...limit, ...flags);
    return JSON.parse(await readFile(file, 'utf8')) as Table;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The largest difference of the rows whose names begin with these words; at least one has to. */
export function differenceOf({ rows }: Table, name: string): number {
  const differences = rows.flatMap((row) => (row.name.startsWith(name) ? [row.difference ?? NaN] : []));
  expect(differences, name).to.have.length.of.at.least(1);
  return Math.max(...differences);
}

/** Standard output of a script of test/interop/python that uses the package. */
export function runScript(script: string, ...args: readonly string[]): Promise<string> {
  const path = fileURLToPath(new URL(`../python/${script}.py`, import.meta.url));
  return runPython(path, simulator, ...args);
}
