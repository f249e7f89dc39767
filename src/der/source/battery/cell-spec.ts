/** Cell data by chemistry with open-circuit voltages, and the limits of the battery management system. */
import type { BatteryChemistry } from '../../../contract/kinds/battery.ts';

/** Graphite-silicon against NMC 811. */
const nmcOcvV: readonly number[] = [
  2.5, 2.71143, 2.86249, 2.97119, 3.0504, 3.10945, 3.15529, 3.19328, 3.22763, 3.26135, 3.29591, 3.33074, 3.36368,
  3.39241, 3.41573, 3.4339, 3.44798, 3.45922, 3.46868, 3.47715, 3.48519, 3.49317, 3.50136, 3.50993, 3.51898, 3.52856,
  3.53864, 3.54913, 3.55988, 3.57072, 3.58145, 3.5919, 3.60193, 3.61148, 3.62051, 3.62905, 3.63715, 3.6449, 3.6524,
  3.65973, 3.66701, 3.67431, 3.68174, 3.68935, 3.69722, 3.7054, 3.7139, 3.72274, 3.73188, 3.74128, 3.75087, 3.76056,
  3.77024, 3.77981, 3.7892, 3.79835, 3.80722, 3.81581, 3.82417, 3.83238, 3.84058, 3.84895, 3.85777, 3.86734, 3.87793,
  3.88959, 3.90201, 3.91455, 3.92655, 3.93766, 3.94791, 3.95751, 3.96676, 3.97588, 3.98503, 3.9943, 4.00373, 4.0133,
  4.02295, 4.03259, 4.04208, 4.05125, 4.05991, 4.06786, 4.07491, 4.08091, 4.08578, 4.08955, 4.09239, 4.09461, 4.09666,
  4.09909, 4.1025, 4.10745, 4.11437, 4.12355, 4.13507, 4.14881, 4.16449, 4.1817, 4.2,
];

/** Graphite against lithium iron phosphate. */
const lfpOcvV: readonly number[] = [
  2.0, 2.26547, 2.46002, 2.60276, 2.70774, 2.78532, 2.84325, 2.88737, 2.92225, 2.95152, 2.97809, 3.00414, 3.03082,
  3.05799, 3.08433, 3.10803, 3.12773, 3.14303, 3.15436, 3.16254, 3.16849, 3.17296, 3.17654, 3.17967, 3.18265, 3.1857,
  3.18898, 3.19259, 3.1966, 3.20101, 3.20582, 3.21095, 3.21631, 3.22175, 3.22715, 3.23236, 3.23727, 3.24178, 3.24583,
  3.2494, 3.2525, 3.25515, 3.25739, 3.25927, 3.26084, 3.26214, 3.26323, 3.26412, 3.26487, 3.2655, 3.26603, 3.26648,
  3.26687, 3.2672, 3.2675, 3.26776, 3.26801, 3.26823, 3.26843, 3.26863, 3.26882, 3.26901, 3.26921, 3.26942, 3.26967,
  3.26996, 3.27033, 3.27083, 3.27153, 3.27255, 3.27403, 3.27615, 3.27908, 3.28291, 3.28753, 3.29257, 3.2975, 3.30183,
  3.30529, 3.30786, 3.30969, 3.31095, 3.31182, 3.31243, 3.31286, 3.31318, 3.31344, 3.31365, 3.31383, 3.314, 3.31417,
  3.31433, 3.31452, 3.31479, 3.31527, 3.31639, 3.31931, 3.32738, 3.35017, 3.41502, 3.6,
];

/** Linear between points of rising x, constant outside. */
type Polyline = readonly (readonly [x: number, y: number])[];

/** Standard deviations between the cells of a bank; values are drawn within 3 deviations of the mean. */
interface CellSpread {
  readonly capacityShare: number;
  readonly resistanceShare: number;
  readonly socShare: number;
  readonly temperatureK: number;
  /** temperature difference from one end of a module to the other */
  readonly moduleGradientK: number;
}

export interface CellSpec {
  /** open-circuit voltage at equal steps of the state of charge, empty to full */
  readonly ocvV: readonly number[];
  /** series resistance times the capacity, Ohm Ah */
  readonly r0OhmAh: number;
  /** resistance of the RC pair times the capacity, Ohm Ah */
  readonly r1OhmAh: number;
  readonly rcTimeConstantS: number;
  /** rise of both resistances of an empty or full cell relative to a half-full one */
  readonly resistanceRiseShare: number;
  /** activation energy of the resistances, J/mol; their values are for 25 C */
  readonly activationJMol: number;
  readonly specificHeatJKgK: number;
  readonly massKgKwh: number;
  /** cell voltage at which discharge ends */
  readonly minV: number;
  /** cell voltage at which charge ends */
  readonly maxV: number;
  /** cell voltage below which the strings open */
  readonly faultMinV: number;
  /** cell voltage above which the strings open */
  readonly faultMaxV: number;
  /** voltage above which a cell is balanced while charging */
  readonly balanceV: number;
  /** voltage above which a cell is balanced at rest, where the voltage shows the state of charge */
  readonly restBalanceV: number;
  readonly spread: CellSpread;
}

const usualSpread: CellSpread = {
  capacityShare: 0.005,
  resistanceShare: 0.03,
  socShare: 0.003,
  temperatureK: 0.5,
  moduleGradientK: 1,
};

const common = {
  r1OhmAh: 0.03,
  rcTimeConstantS: 30,
  resistanceRiseShare: 0.2,
  activationJMol: 20_000,
  specificHeatJKgK: 1000,
  spread: usualSpread,
} as const;

export const cellSpecs: Readonly<Record<BatteryChemistry, CellSpec>> = {
  nmc: {
    ...common,
    ocvV: nmcOcvV,
    r0OhmAh: 0.05,
    massKgKwh: 4.5,
    minV: 2.5,
    maxV: 4.2,
    faultMinV: 2.2,
    faultMaxV: 4.35,
    balanceV: 4,
    restBalanceV: 3.5,
  },
  lfp: {
    ...common,
    ocvV: lfpOcvV,
    r0OhmAh: 0.04,
    massKgKwh: 6.5,
    minV: 2,
    maxV: 3.6,
    faultMinV: 1.7,
    faultMaxV: 3.8,
    balanceV: 3.35,
    restBalanceV: 3.35,
  },
};

/** Share of the rating that is allowed at a temperature in C. */
export const chargeOverTemperature: Polyline = [
  [-10, 0],
  [0, 0.5],
  [15, 1],
  [40, 1],
  [50, 0.5],
  [60, 0],
];
export const dischargeOverTemperature: Polyline = [
  [-20, 0],
  [-10, 0.5],
  [0, 1],
  [40, 1],
  [50, 0.5],
  [60, 0],
];
/** Share of the rating that is allowed at a state of charge of 0..1. */
export const chargeOverSoc: Polyline = [
  [0.95, 1],
  [1, 0.2],
];
export const dischargeOverSoc: Polyline = [
  [0, 0.2],
  [0.05, 1],
];

/** Temperatures in C of warnings, and of faults that open the strings. */
export const temperatureBounds = { warnLowC: -10, warnHighC: 50, faultLowC: -30, faultHighC: 65 } as const;

/** Ratio of the maximum current to the current of rated power at the mean open-circuit voltage. */
export const currentHeadroom = 1.3;

/** Standby loss while a string is closed, of the rated power. */
export const standbyShare = 0.003;

export function alongPolyline(line: Polyline, x: number): number {
  let [x0, y0] = line[0] ?? [0, 0];
  if (x <= x0) return y0;
  for (let at = 1; at < line.length; at += 1) {
    const [x1, y1] = line[at] ?? [x0, y0];
    if (x < x1) return y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
    x0 = x1;
    y0 = y1;
  }
  return y0;
}

/** Mean open-circuit voltage over the state of charge, V: energy per charge of one cell. */
export function meanOcvV(ocvV: readonly number[]): number {
  const last = ocvV.length - 1;
  const ends = ((ocvV[0] ?? 0) + (ocvV[last] ?? 0)) / 2;
  return ocvV.slice(1, last).reduce((sum, v) => sum + v, ends) / last;
}

/** A table of the open-circuit voltage for fast lookups. */
export type OcvTable = Float64Array;

export function ocvTable(spec: CellSpec): OcvTable {
  return Float64Array.from(spec.ocvV);
}

/** Open-circuit voltage in V at a state of charge of 0..1; outside, the last slope of the table continues. */
export function ocvAt(table: OcvTable, soc: number): number {
  const last = table.length - 1;
  const at = soc * last;
  // |0 of NaN is 0: a lookup never leaves the table
  const index = at <= 0 ? 0 : at >= last ? last - 1 : at | 0;
  const low = table[index] ?? 0;
  return low + ((table[index + 1] ?? low) - low) * (at - index);
}
