/** Writes a reading of the meter to its registers. */
import type { TerminalVoltages } from '../../inverter/ac.ts';
import type { EnergyCounters, MeterEnergy } from './energy.ts';
import type { MeterNames, QuantityNames } from './map.ts';

/** Powers drawn from the grid, by phase of the meter. */
export interface MeterPowers {
  readonly watts: Float64Array;
  readonly vars: Float64Array;
}

export interface MeterReading extends MeterPowers {
  readonly volts: TerminalVoltages;
  readonly hz: number;
}

/** The points of the meter model by name; values beyond a register saturate. */
export type MeterPoints = Record<string, number | null>;

/** How values become those of the model. */
export interface MeterForm {
  readonly names: MeterNames;
  readonly phases: number;
  /** 1 as the model has it: 1 in floating point, else percent */
  readonly unityPf: number;
  /** energy of one count where counters go round; null: in floating point */
  readonly countWh: number | null;
  /** below this a power factor is noise, VA */
  readonly minVa: number;
}

const acc32Modulus = 2 ** 32;
/** Bit of Evt. */
const powerFailure = 2 ** 2;
/** A phase below this share of its nominal voltage has failed. */
const failedPu = 0.1;

function write(
  points: MeterPoints,
  names: QuantityNames,
  total: number,
  of: (phase: number) => number,
  form: MeterForm,
) {
  points[names.total] = total;
  for (let i = 0; i < form.phases; i += 1) points[names.phases[i] ?? ''] = of(i);
}

/** Meters count whole units. */
function counted(value: number, { countWh }: MeterForm): number {
  return countWh === null ? value : (Math.floor(value / countWh) % acc32Modulus) * countWh;
}

function powerFactor(watts: number, va: number, { unityPf, minVa: leastVa }: MeterForm): number {
  return va < leastVa ? unityPf : (unityPf * watts) / va;
}

function sum(values: Float64Array): number {
  return values.reduce((total, each) => total + each, 0);
}

export function publishPowers(points: MeterPoints, reading: MeterReading, form: MeterForm): void {
  const { names, phases } = form;
  const { watts, vars, volts, hz } = reading;
  const w = (i: number) => watts[i] ?? 0;
  const va = (i: number) => Math.hypot(w(i), vars[i] ?? 0);
  const amps = (i: number) => ((volts.ln[i] ?? 0) > 0 ? va(i) / (volts.ln[i] ?? 0) : 0);
  let [totalVa, totalA] = [0, 0];
  for (let i = 0; i < phases; i += 1) {
    totalVa += va(i);
    totalA += amps(i);
  }
  const totalW = sum(watts);
  write(points, names.a, totalA, amps, form);
  write(points, names.lnV, volts.meanLnV, (i) => volts.ln[i] ?? 0, form);
  if (volts.meanLlV !== null) {
    points[names.llV.total] = volts.meanLlV;
    for (let i = 0; i < (phases === 3 ? 3 : 1); i += 1) points[names.llV.phases[i] ?? ''] = volts.ll[i] ?? 0;
  }
  points['Hz'] = hz;
  write(points, names.w, totalW, w, form);
  write(points, names.va, totalVa, va, form);
  write(points, names.var, sum(vars), (i) => vars[i] ?? 0, form);
  write(points, names.pf, powerFactor(totalW, totalVa, form), (i) => powerFactor(w(i), va(i), form), form);
}

/** @param failed a phase of the grid has no voltage */
export function publishEvents(points: MeterPoints, failed: boolean): void {
  points['Evt'] = failed ? powerFailure : 0;
}

export function hasFailed(perUnit: readonly number[]): boolean {
  return perUnit.some((pu) => pu < failedPu);
}

export function publishEnergy(points: MeterPoints, { total, phases }: MeterEnergy, form: MeterForm): void {
  const { names } = form;
  const eachPhase = (of: QuantityNames, value: (counters: EnergyCounters) => number) => {
    write(
      points,
      of,
      counted(value(total), form),
      (i) => {
        const counters = phases[i];
        return counters ? counted(value(counters), form) : 0;
      },
      form,
    );
  };
  eachPhase(names.exportedWh, ({ exportedWh }) => exportedWh);
  eachPhase(names.importedWh, ({ importedWh }) => importedWh);
  eachPhase(names.exportedVAh, ({ exportedVAh }) => exportedVAh);
  eachPhase(names.importedVAh, ({ importedVAh }) => importedVAh);
  names.varh.forEach((of, quadrant) => {
    eachPhase(of, ({ varh }) => varh[quadrant] ?? 0);
  });
}
