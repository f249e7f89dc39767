import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { skip } from '../support/skip.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = process.env.PHYSICS_DATA_DIR ?? join(root, '..', 'shared', 'data', 'physics');

/** Title part of tests that need the golden data, so that a skipped one says why. */
export const needsGolden = '(golden data: PHYSICS_DATA_DIR)';

/** Rows of a golden file by column name; skips the calling test where the data is not at hand. */
export function goldenRows(test: Mocha.Context, file: string): Record<string, string>[] {
  const path = join(folder, file);
  if (!existsSync(path)) skip(test, `golden data are missing: ${file} (PHYSICS_DATA_DIR names their folder)`);
  const [header = '', ...lines] = readFileSync(path, 'utf8').trim().split('\n');
  const names = header.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, at) => [names[at] ?? '', cell])));
}

interface PvFixture {
  readonly mpp: { readonly rows: readonly [string, number, number, number, number, number, number, number][] };
  readonly iv: { readonly rows: readonly [string, number, number, number, number][] };
  readonly pvwatts: {
    readonly nominal: { readonly ac_w: number; readonly efficiency: number };
    readonly rows: readonly [number, number][];
  };
  readonly sun: {
    readonly rows: readonly [string, number, number, number, number, number, number, number, number, number][];
  };
}

/** The few golden numbers that are always here. */
export const pvFixture = JSON.parse(readFileSync(join(root, 'fixtures', 'pv', 'golden.json'), 'utf8')) as PvFixture;
