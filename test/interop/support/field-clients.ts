/** The request sequences of clients in the field (fixtures/clients), as data. */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../../fixtures/clients/', import.meta.url));

/** `model+offset`, the offset counted from the ID register. */
export type Place = string;
export type Layout = 'current' | 'classic' | 'both' | 'mixed';
/** `own`: as the profile says. */
export type RunLayout = Layout | 'own';

/** A register, or a percentage with the offset of its scale factor. */
export type Word = number | { readonly percent: number; readonly sf: number };

/** A value that the client takes from an answer. */
export interface Taken {
  readonly offset: number;
  readonly type: 'int16' | 'uint16' | 'uint32' | 'float32';
  readonly sf?: number;
  /** the point of the REST interface that must have this value, `701.W` */
  readonly shows?: string;
  readonly is?: number;
  readonly above?: number;
}

export type Step =
  | { readonly do: 'marker'; readonly bases: readonly number[]; readonly count: number }
  | {
      readonly do: 'walk';
      readonly heads: 'pair' | 'single';
      readonly needs: readonly (number | readonly number[])[];
      readonly until_found?: readonly number[];
      readonly end_length?: number;
      readonly contents?: Readonly<Record<string, readonly [offset: number, count: number]>>;
    }
  | {
      readonly do: 'read';
      readonly at: Place | readonly Place[];
      readonly count: number;
      readonly words?: readonly Taken[];
    }
  | { readonly do: 'modules'; readonly least?: number }
  | { readonly do: 'write'; readonly function: 6 | 16; readonly at: Place; readonly values: readonly Word[] }
  | {
      readonly do: 'write_model';
      readonly at: Place;
      readonly count: number;
      readonly zero: readonly number[];
      readonly set: Readonly<Record<string, Word>>;
    }
  | { readonly do: 'limit'; readonly percent: number | null }
  | { readonly do: 'power'; readonly battery: 'charges' | 'discharges' | 'rests' };

export interface Run {
  readonly title: string;
  readonly device: string;
  readonly layouts: readonly RunLayout[];
  readonly flags?: readonly string[];
  readonly unit?: number;
  /** skipped where the help text of the simulator does not have this */
  readonly needs?: string;
  /** rules that it breaks */
  readonly breaks?: readonly string[];
  readonly steps: readonly Step[];
}

export interface FieldClient {
  readonly client: string;
  readonly sources: readonly {
    readonly repository: string;
    readonly commit: string;
    readonly paths: readonly string[];
  }[];
  readonly default_unit: number;
  readonly runs: readonly Run[];
}

export function fieldClients(): FieldClient[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(folder + name, 'utf8')) as FieldClient);
}
