import type { Table } from './table.ts';

export interface BenchOptions {
  readonly rounds: number;
  /** short runs, to see that everything works: the figures mean little */
  readonly quick: boolean;
}

/** One group of measurements; `run` reports what goes on through `progress`. */
export interface Group {
  readonly name: string;
  run(options: BenchOptions, progress: (text: string) => void): Promise<readonly Table[]>;
}
