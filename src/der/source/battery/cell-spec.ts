/** Cell data by chemistry, and the limits of the battery management system. */
import type { BatteryChemistry } from '../../../contract/kinds/battery.ts';
import { lfpOcvV, nmcOcvV } from './ocv-tables.ts';

/** Linear between points of rising x, constant outside. */
export type Polyline = readonly (readonly [x: number, y: number])[];

/** Standard deviations between the cells of a bank; values are drawn within 3 deviations of the mean. */
export interface CellSpread {
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
  /** series resistance and RC pair, times the capacity: Ohm Ah */
  readonly r0OhmAh: number;
  readonly r1OhmAh: number;
  readonly rcTimeConstantS: number;
  /** rise of both resistances of an empty or full cell relative to a half-full one */
  readonly resistanceRiseShare: number;
  /** activation energy of the resistances, J/mol; their values are for 25 C */
  readonly activationJMol: number;
  readonly specificHeatJKgK: number;
  readonly massKgKwh: number;
  /** discharge and charge end when a cell reaches these */
  readonly minV: number;
  readonly maxV: number;
  /** beyond these the strings open to protect the cell */
  readonly faultMinV: number;
  readonly faultMaxV: number;
  /** cells above these are balanced while charging, and at rest, where the voltage tells the state of charge */
  readonly balanceV: number;
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
