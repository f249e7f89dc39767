/**
 * The client procedures of the CSIP-AUS test definitions, read as data from their wheel. None of its code runs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { installedPath } from '../support/peers.ts';

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

/** @throws Error where `npm run peers` has not installed them */
export function procedures(): readonly Procedure[] {
  const folder = join(installedPath('cactus'), 'cactus_test_definitions', 'client', 'procedures');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => ({
      id: name.slice(0, -5),
      ...(parse(readFileSync(join(folder, name), 'utf8')) as Omit<Procedure, 'id'>),
    }));
}
