/**
 * The client procedures of the CSIP-AUS test definitions, read as data from their wheel. The wheel is not installed and
 * none of its code runs; it is kept in the cache of the machine.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { python } from '../support/peers.ts';

const version = '1.18.2';
const cache = join(process.env['XDG_CACHE_HOME'] ?? tmpdir(), `derbench-cactus-test-definitions-${version}`);

export type Value = string | number | boolean | null | readonly Value[];
export type Parameters = Readonly<Record<string, Value>>;

export interface Typed {
  readonly type: string;
  readonly parameters?: Parameters;
}

export interface Step {
  readonly event: Typed & { readonly checks?: readonly Typed[] };
  readonly actions?: readonly Typed[];
  readonly instructions?: readonly string[];
}

export interface Procedure {
  readonly id: string;
  readonly Description: string;
  readonly Classes: readonly string[];
  readonly Criteria?: { readonly checks?: readonly Typed[] };
  readonly Preconditions?: {
    readonly immediate_start?: boolean;
    readonly init_actions?: readonly Typed[];
    readonly actions?: readonly Typed[];
    readonly checks?: readonly Typed[];
    readonly instructions?: readonly string[];
  };
  readonly Steps: Readonly<Record<string, Step>>;
}

/** @throws Error when the wheel cannot be had */
export function procedures(): readonly Procedure[] {
  const folder = join(cache, 'cactus_test_definitions', 'client', 'procedures');
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    const only = ['--no-deps', '--python-version', '3.12', '--only-binary=:all:', '--dest', cache];
    const options = { stdio: 'pipe', timeout: 60_000 } as const;
    execFileSync(python, ['-m', 'pip', 'download', '-q', ...only, `cactus-test-definitions==${version}`], options);
    const wheel = readdirSync(cache).find((name) => name.endsWith('.whl')) ?? '';
    execFileSync(python, ['-m', 'zipfile', '-e', join(cache, wheel), cache], options);
  }
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => ({
      id: name.slice(0, -5),
      ...(parse(readFileSync(join(folder, name), 'utf8')) as Omit<Procedure, 'id'>),
    }));
}
