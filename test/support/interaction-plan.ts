/** Settings of the grid-support functions and states of the surroundings, in per unit, for rig and oracle. */

export type Kind = 'pv' | 'store';
export type Pairs = readonly (readonly [number, number])[];

/** Settings of 702, of the rating of the same name; current of the nominal one. */
export interface Limits {
  readonly wMax: number;
  readonly vaMax: number;
  readonly varInject: number;
  readonly varAbsorb: number;
  /** a store alone */
  readonly charge: number;
  readonly current: number;
  readonly vNom: number;
}

type Side = { readonly pf: number; readonly over: boolean };

/** The base of the reactive percentages of 704, 705 and 712. */
export type Base = 'W_MAX_PCT' | 'VAR_MAX_PCT' | 'VAR_AVAIL_PCT' | 'VA_MAX_PCT';
export type Priority = 'ACTIVE' | 'REACTIVE';

export type Reactive =
  | { readonly name: 'pf_inject' | 'pf_absorb'; readonly side: Side }
  /** value in percent, for VARS too: of the VA rating */
  | { readonly name: 'constant_var'; readonly mode: Base | 'VARS'; readonly pct: number; readonly priority: Priority }
  | {
      readonly name: 'volt_var';
      readonly points: Pairs;
      readonly base: Base;
      readonly priority: Priority;
      readonly vRefPct: number;
    }
  | { readonly name: 'watt_var'; readonly points: Pairs; readonly base: Base; readonly priority: Priority };

export interface Droop {
  readonly overBandHz: number;
  readonly underBandHz: number;
  readonly overDroop: number;
  readonly underDroop: number;
  readonly minPct: number;
}

/** Percent of VNom, or hertz from nominal, and seconds. */
export interface Thresholds {
  readonly must: Pairs | null;
  readonly cease: Pairs;
}

export const tripSides = ['lowV', 'highV', 'lowF', 'highF'] as const;
export type TripSide = (typeof tripSides)[number];

/** The functions that are enabled; null or absent is off. */
export interface Plan {
  readonly limits: Limits;
  readonly limitPct: number | null;
  readonly setPoint: { readonly mode: 'W_MAX_PCT' | 'WATTS'; readonly value: number } | null;
  readonly voltWatt: { readonly points: Pairs; readonly ofAvailable: boolean } | null;
  readonly droop: Droop | null;
  /** in the order of enabling; the last that fits the direction of power acts */
  readonly reactive: readonly Reactive[];
  readonly trips: Readonly<Partial<Record<TripSide, Thresholds>>>;
  readonly antiIslanding: boolean;
}

/** The operating point of a cell of the matrix. Absent members: nominal grid, ample source, in service. */
export interface Stimulus {
  /** per unit, of all phases or of each */
  readonly v?: number | readonly [number, number, number];
  /** from nominal */
  readonly hz?: number;
  /** available power of a generator, or demand on a store; of rated */
  readonly power?: number;
  readonly island?: boolean;
  /** the device returns to service before the grid changes: it waits, is on its ramp, or has finished it */
  readonly returning?: 'waiting' | 'ramping' | 'done';
  /** time under the changed grid, s */
  readonly holdS?: number;
}

export const defaultHoldS = 3;
/** ramp of `returning: 'ramping'`, and how much of it has passed when the grid changes, s */
export const rampS = 100;
export const rampPassedS = 20;
/** an island is found after this time, s */
export const islandS = 1.5;
/** capability of a store is whole at low power, that of a generator falls */
export const reducedAtLowPower = (kind: Kind) => kind === 'pv';
/** the store could give and take more than its rating */
export const storePower = 1.5;

export const restLimits: Limits = {
  wMax: 1,
  vaMax: 1,
  varInject: 0.6,
  varAbsorb: 0.6,
  charge: 1,
  current: 1.2,
  vNom: 1,
};

export const restPlan: Plan = {
  limits: restLimits,
  limitPct: null,
  setPoint: null,
  voltWatt: null,
  droop: null,
  reactive: [],
  trips: {},
  antiIslanding: false,
};

/** Ample: more than the rating of a generator, most of that of a store. */
export const amplePower = (kind: Kind) => (kind === 'pv' ? 1.2 : 0.9);

/** Mean and extremes over the phases, per unit. */
export function phases(v: Stimulus['v'] = 1): { readonly mean: number; readonly low: number; readonly high: number } {
  const all = typeof v === 'number' ? [v, v, v] : v;
  return { mean: all.reduce((sum, x) => sum + x, 0) / 3, low: Math.min(...all), high: Math.max(...all) };
}
