import type { SimTime } from '../../../core/time/clock.ts';
import type { Segment } from './layers.ts';
import { valueAt } from './trajectory.ts';

/** Phase voltages in per unit and frequency, as the terminals see them. */
export interface GridValues {
  readonly aPu: number;
  readonly bPu: number;
  readonly cPu: number;
  readonly hz: number;
  readonly angleDeg: number;
  /** the mains are gone, and local load keeps voltage and frequency */
  readonly island: boolean;
}

export const voltageQuantities = ['aPu', 'bPu', 'cPu'] as const;
export const measuredQuantities = [...voltageQuantities, 'hz', 'angleDeg'] as const;
/** A quantity that has a value in physical units. */
export type MeasuredQuantity = (typeof measuredQuantities)[number];
/** `outage` and `island` are 1 where they hold, else 0. */
export type GridQuantity = MeasuredQuantity | 'outage' | 'island';

const dead: GridValues = { aPu: 0, bPu: 0, cPu: 0, hz: 0, angleDeg: 0, island: false };

/** Value of one quantity as it is set, an outage left aside. */
export function quantityAt({ tracks }: Segment<GridQuantity>, name: GridQuantity, t: SimTime): number {
  const track = tracks[name];
  return track ? valueAt(track, t) : 0;
}

export function isOut(segment: Segment<GridQuantity>, t: SimTime): boolean {
  return quantityAt(segment, 'outage', t) === 1;
}

/** What the terminals see at `t`: nothing at all during an outage. */
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
