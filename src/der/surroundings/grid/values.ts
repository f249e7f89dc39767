import type { SimTime } from '../../../core/time/clock.ts';
import type { Segment } from './layers.ts';
import { valueAt } from './trajectory.ts';

/** Phase voltages in per unit, frequency and phase angle at the terminals. */
export interface GridValues {
  readonly aPu: number;
  readonly bPu: number;
  readonly cPu: number;
  readonly hz: number;
  readonly angleDeg: number;
  /** the mains are disconnected, and local load keeps voltage and frequency */
  readonly island: boolean;
}

export const voltageQuantities = ['aPu', 'bPu', 'cPu'] as const;
export const measuredQuantities = [...voltageQuantities, 'hz', 'angleDeg'] as const;
/** A quantity that has a value in physical units. */
export type MeasuredQuantity = (typeof measuredQuantities)[number];
/** `outage` and `island` are 1 while they hold, else 0. */
export type GridQuantity = MeasuredQuantity | 'outage' | 'island';

const dead: GridValues = { aPu: 0, bPu: 0, cPu: 0, hz: 0, angleDeg: 0, island: false };

/** Set value of one quantity; an outage does not count. */
export function quantityAt({ tracks }: Segment<GridQuantity>, name: GridQuantity, t: SimTime): number {
  const track = tracks[name];
  return track ? valueAt(track, t) : 0;
}

export function isOut(segment: Segment<GridQuantity>, t: SimTime): boolean {
  return quantityAt(segment, 'outage', t) === 1;
}

/** Values at the terminals at `t`: all zero during an outage. */
export function gridValuesAt(segment: Segment<GridQuantity>, t: SimTime): GridValues {
  if (isOut(segment, t)) return dead;
  const value = (name: GridQuantity) => quantityAt(segment, name, t);
  return {
    aPu: value('aPu'),
    bPu: value('bPu'),
    cPu: value('cPu'),
    hz: value('hz'),
    angleDeg: value('angleDeg'),
    island: value('island') === 1,
  };
}

export function sameGrid(a: GridValues, b: GridValues): boolean {
  return (
    a.aPu === b.aPu &&
    a.bPu === b.bPu &&
    a.cPu === b.cPu &&
    a.hz === b.hz &&
    a.angleDeg === b.angleDeg &&
    a.island === b.island
  );
}
