/** The chains of models that a master finds, written down apart from the simulator. */
import type { Layout } from './field-clients.ts';

export interface Shape {
  readonly layout: Layout;
  readonly phases: 1 | 2 | 3;
  readonly float?: boolean;
  readonly storage?: boolean;
}

const current = [701, 702, 703, 704, 705, 706, 707, 708, 709, 710, 711, 712, 713, 714, 715];

export function inverterModel({ phases, float = false }: Shape): number {
  return (float ? 110 : 100) + phases;
}

export function chainOf(shape: Shape): number[] {
  const { layout, storage = false } = shape;
  const classic = [inverterModel(shape), 120, 121, 122, 123, ...(storage ? [124] : []), 160];
  const middle = {
    current,
    classic,
    both: [...classic, ...current],
    mixed: [123, ...current],
  }[layout];
  return [1, ...middle, ...(storage ? [802] : [])];
}
