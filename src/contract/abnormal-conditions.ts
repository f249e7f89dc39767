/**
 * Requirements of IEEE 1547-2018 clause 6 under abnormal voltage and frequency, by abnormal operating performance
 * category. Start values and the ride-through display of physics derive from these tables, and REST shows them.
 */
import type { CurveFunction, TripFunction } from '../sunspec/map/grid-support/functions.ts';
import type { RideThroughMode } from './grid-trace.ts';

/** Values of 702.AbnOpCatRtg. */
export type AbnormalCategory = 'CAT_1' | 'CAT_2' | 'CAT_3';

/** The functions that trip by a curve over voltage or frequency. */
export type CurveTrip = Extract<TripFunction, CurveFunction>;

/** A setting with its range; a fixed one has the same value three times. */
export interface AdjustableSetting {
  readonly value: number;
  readonly min: number;
  readonly max: number;
}

/** One trip element. Thresholds are percent of nominal voltage, or Hz from nominal. */
export interface TripElement {
  readonly name: 'uv1' | 'uv2' | 'ov1' | 'ov2' | 'uf1' | 'uf2' | 'of1' | 'of2';
  readonly threshold: AdjustableSetting;
  readonly clearingS: AdjustableSetting;
}

/** One band of a ride-through table. */
export interface RideThroughBand {
  /** the band begins beyond this edge and ends at the edge of the band before it: percent of nominal, or Hz from it */
  readonly edge: number;
  /** null: no requirement */
  readonly mode: Exclude<RideThroughMode, 'continuous_operation'> | null;
  /** minimum ride-through time at the outer and at the inner edge, s; null: none */
  readonly rideThroughS: readonly [outer: number, inner: number] | null;
  /** maximum time until current stops, s; null: the device may continue */
  readonly responseS: number | null;
}

/** Frequency can be measured while any phase is above this voltage, percent of nominal (IEEE 1547-2018 6.5.1). */
export const measurablePct = 30;

type Range = readonly [value: number, min: number, max: number];

function element(name: TripElement['name'], threshold: Range, clearingS: Range): TripElement {
  const setting = ([value, min, max]: Range) => ({ value, min, max });
  return { name, threshold: setting(threshold), clearingS: setting(clearingS) };
}

function band(
  edge: number,
  mode: RideThroughBand['mode'],
  rideThroughS: number | readonly [number, number] | null,
  responseS: number | null = null,
): RideThroughBand {
  return {
    edge,
    mode,
    rideThroughS: typeof rideThroughS === 'number' ? [rideThroughS, rideThroughS] : rideThroughS,
    responseS,
  };
}

type ByCategory<Row> = Readonly<Record<AbnormalCategory, readonly Row[]>>;
const allCategories = <Row>(rows: readonly Row[]): ByCategory<Row> => ({ CAT_1: rows, CAT_2: rows, CAT_3: rows });

const ov2 = element('ov2', [120, 120, 120], [0.16, 0.16, 0.16]);
const ov1Range = [110, 110, 120] as const;

/** Tables 11 to 13 (voltage) and 18 (frequency), the outer element first. */
const trips: Readonly<Record<CurveTrip, ByCategory<TripElement>>> = {
  lv_trip: {
    CAT_1: [element('uv2', [45, 0, 50], [0.16, 0.16, 2]), element('uv1', [70, 0, 88], [2, 2, 21])],
    CAT_2: [element('uv2', [45, 0, 50], [0.16, 0.16, 2]), element('uv1', [70, 0, 88], [10, 2, 21])],
    CAT_3: [element('uv2', [50, 0, 50], [2, 2, 21]), element('uv1', [88, 0, 88], [21, 21, 50])],
  },
  hv_trip: {
    CAT_1: [ov2, element('ov1', ov1Range, [2, 1, 13])],
    CAT_2: [ov2, element('ov1', ov1Range, [2, 1, 13])],
    CAT_3: [ov2, element('ov1', ov1Range, [13, 1, 13])],
  },
  lf_trip: allCategories([
    element('uf2', [-3.5, -10, -3], [0.16, 0.16, 1000]),
    element('uf1', [-1.5, -10, -1], [300, 180, 1000]),
  ]),
  hf_trip: allCategories([
    element('of2', [2, 1.8, 6], [0.16, 0.16, 1000]),
    element('of1', [1.2, 1, 6], [300, 180, 1000]),
  ]),
};

/** Above 110 % in categories I and II. */
const permissiveHigh = [
  band(120, 'cease_to_energize', null, 0.16),
  band(117.5, 'permissive_operation', 0.2),
  band(115, 'permissive_operation', 0.5),
  band(110, 'permissive_operation', 1),
];

/** Tables 14 to 16 (voltage) and 19 (frequency), the outer band first. */
const rideThrough: Readonly<Record<CurveTrip, ByCategory<RideThroughBand>>> = {
  lv_trip: {
    CAT_1: [
      band(50, 'cease_to_energize', null, 0.16),
      band(70, 'permissive_operation', 0.16),
      // 0.7 s at 70 %, and 4 s per unit of voltage
      band(88, 'mandatory_operation', [0.7, 1.42]),
    ],
    CAT_2: [
      band(30, 'cease_to_energize', null, 0.16),
      band(45, 'permissive_operation', 0.16),
      band(65, 'permissive_operation', 0.32),
      // 3 s at 65 %, and 8.7 s per unit of voltage
      band(88, 'mandatory_operation', [3, 5]),
    ],
    CAT_3: [
      band(50, 'momentary_cessation', 1, 0.083),
      band(70, 'mandatory_operation', 10),
      band(88, 'mandatory_operation', 20),
    ],
  },
  hv_trip: {
    CAT_1: permissiveHigh,
    CAT_2: permissiveHigh,
    CAT_3: [band(120, 'cease_to_energize', null, 0.16), band(110, 'momentary_cessation', 12, 0.083)],
  },
  lf_trip: allCategories([band(-3, null, null), band(-1.2, 'mandatory_operation', 299)]),
  hf_trip: allCategories([band(1.8, null, null), band(1.2, 'mandatory_operation', 299)]),
};

/** The trip elements of a function in a category, the outer one first. */
export function tripElements(name: CurveTrip, category: AbnormalCategory): readonly TripElement[] {
  return trips[name][category];
}

/** The ride-through bands on one side of continuous operation, the outermost first. */
export function rideThroughBands(name: CurveTrip, category: AbnormalCategory): readonly RideThroughBand[] {
  return rideThrough[name][category];
}

/** One side of the nominal value, and the function of its tables. */
export interface Side {
  readonly name: CurveTrip;
  /** 1: values beyond an edge are above it; -1: below it */
  readonly sign: 1 | -1;
}

/** Index of the band that holds `x`; -1: none. */
export function bandAt(bands: readonly RideThroughBand[], { sign }: Side, x: number): number {
  return bands.findIndex(({ edge }) => sign * (x - edge) > 0);
}

/** Minimum ride-through at `x`, which lies in the band at `place` or on its edges, s. */
export function rideThroughAt(bands: readonly RideThroughBand[], place: number, x: number): number {
  const band = bands[place];
  if (!band?.rideThroughS) return 0;
  const [outerS, innerS] = band.rideThroughS;
  const outer = bands[place - 1]?.edge ?? band.edge;
  return outer === band.edge ? innerS : outerS + ((innerS - outerS) * (x - outer)) / (band.edge - outer);
}

/** Clauses and tables of the trip and ride-through requirements. */
export interface Clause {
  readonly trip: string;
  readonly rideThrough: string;
}

const voltageTables = { CAT_1: [11, 14], CAT_2: [12, 15], CAT_3: [13, 16] } as const;

/** Clauses and tables of IEEE 1547-2018 for a category, of voltage or frequency. */
export function clausesOf(quantity: 'voltage' | 'frequency', category: AbnormalCategory): Clause {
  if (quantity === 'frequency') return { trip: '6.5.1, Table 18', rideThrough: '6.5.2, Table 19' };
  const [trip, ride] = voltageTables[category];
  return { trip: `6.4.1, Table ${trip}`, rideThrough: `6.4.2, Table ${ride}` };
}
