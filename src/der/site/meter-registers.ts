/**
 * The register map of the meter: its layout by wiring and number format, the points of each quantity, and the values of
 * a reading. Powers and energies drawn from the grid are positive; delivered ones are negative.
 */
import { keptArray, keptList, keptMembers, keptParts } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { acc32Amount } from '../../sunspec/map/codec.ts';
import { buildLayout } from '../../sunspec/map/layout.ts';
import type { Layout, ModelChoice } from '../../sunspec/map/layout.ts';
import type { MapView } from '../../sunspec/map/view.ts';
import type { MeteredFlow } from '../../contract/map-layout.ts';
import { m1 } from '../../sunspec/models/m001.ts';
import { m201 } from '../../sunspec/models/m201.ts';
import { m202 } from '../../sunspec/models/m202.ts';
import { m203 } from '../../sunspec/models/m203.ts';
import { m211 } from '../../sunspec/models/m211.ts';
import { m212 } from '../../sunspec/models/m212.ts';
import { m213 } from '../../sunspec/models/m213.ts';
import type { ModelDef } from '../../sunspec/map/types.ts';
import { nominalLnV, phaseCurrentA, phaseCount } from '../inverter/ac.ts';
import type { Wiring, TerminalVoltages } from '../inverter/ac.ts';
import { scaleFor } from '../inverter/ratings.ts';

const integerModels: Readonly<Record<Wiring, ModelDef>> = { single: m201, split: m202, three: m203 };
const floatModels: Readonly<Record<Wiring, ModelDef>> = { single: m211, split: m212, three: m213 };

export interface MeterShape {
  readonly wiring: Wiring;
  /** values in floating point */
  readonly float: boolean;
  /** as `Ratings.vNomV` */
  readonly vNomV: number;
  /** rated apparent power, from which the scale factors follow, VA */
  readonly ratedVa: number;
}

const int16Max = 32_767;
const acc32Max = 2 ** 32 - 1;
/** The registers hold powers up to this multiple of the rated power, since loads may add to devices. */
export const powerRoom = 2;
/** Minimum time at the rated power before a counter wraps, h. */
const counterHours = 20_000;

export function meterModel({ wiring, float: isFloat }: Pick<MeterShape, 'wiring' | 'float'>): ModelDef {
  return (isFloat ? floatModels : integerModels)[wiring];
}

function scaleOf({ wiring, vNomV, ratedVa }: MeterShape): Readonly<Record<string, number>> {
  const lnV = nominalLnV(wiring, vNomV);
  const power = scaleFor(powerRoom * ratedVa, int16Max, -1);
  const energy = scaleFor(ratedVa * counterHours, acc32Max, 0);
  return {
    A_SF: scaleFor((powerRoom * ratedVa) / lnV, int16Max, -2),
    V_SF: scaleFor(2 * Math.max(vNomV, lnV), int16Max, -1),
    Hz_SF: -2,
    W_SF: power,
    VA_SF: power,
    VAR_SF: power,
    PF_SF: -2,
    TotWh_SF: energy,
    TotVAh_SF: energy,
    TotVArh_SF: energy,
  };
}

/** Points of phases that the wiring does not have, where the definition does not demand them. */
function omitted(def: ModelDef, wiring: Wiring): ReadonlySet<string> {
  const count = phaseCount(wiring);
  const absentNames = {
    1: /^(PPV|.*(ph(AB|BC|CA|B|C)|Ph[BC]))$/,
    2: /^(.*(ph(BC|CA|C)|PhC))$/,
    3: null,
  }[count];
  const names = def.points.filter(({ name, mandatory }) => mandatory !== true && absentNames?.test(name) === true);
  return new Set(names.map(({ name }) => name));
}

/** A meter in a chain of models: its common block, and its model. */
export function meterChoices(shape: MeterShape): readonly [ModelChoice, ModelChoice] {
  const def = meterModel(shape);
  return [
    { def: m1, omit: new Set(['DA']) },
    { def, omit: omitted(def, shape.wiring), ...(!shape.float && { scale: scaleOf(shape) }) },
  ];
}

export function meterLayout(shape: MeterShape): Layout {
  return buildLayout(meterChoices(shape));
}

const titles: Readonly<Record<MeteredFlow, readonly [model: string, serial: string]>> = {
  site: ['Site meter', 'DB-METER'],
  generation: ['Generation meter', 'DB-METER-GEN'],
  load: ['Load meter', 'DB-METER-LOAD'],
};

/** Texts of the common block of a meter. @param version of the simulator */
export function meterIdentity(of: MeteredFlow, version: string) {
  const [model, serial] = titles[of];
  return { Mn: 'derbench', Md: model, Opt: '', Vr: version, SN: serial };
}

/** The points of a meter model in a map. Views have all models of the layout, their type only the models of devices. */
export function pointsOf(views: MapView, modelName: string): MeterPoints {
  return (views as unknown as Readonly<Record<string, MeterPoints>>)[`m${modelName}`] ?? {};
}

/** Names of a quantity: of the total, and by phase. */
interface QuantityNames {
  readonly total: string;
  readonly phases: readonly string[];
}

const letters = ['A', 'B', 'C'];
const quantity = (total: string, ph: string): QuantityNames => ({
  total,
  phases: letters.map((letter) => `${total}${ph}${letter}`),
});

/** Names of every quantity; the floating-point models spell some of them differently. */
export function quantityNames(isFloat: boolean) {
  const lines = isFloat ? 'PPVph' : 'PhVph';
  return {
    a: quantity('A', 'ph'),
    lnV: quantity('PhV', 'ph'),
    llV: { total: 'PPV', phases: ['AB', 'BC', 'CA'].map((pair) => `${lines}${pair}`) },
    w: quantity('W', 'ph'),
    va: quantity('VA', 'ph'),
    var: quantity('VAR', 'ph'),
    pf: quantity('PF', 'ph'),
    exportedWh: quantity('TotWhExp', 'Ph'),
    importedWh: quantity('TotWhImp', 'Ph'),
    exportedVAh: quantity('TotVAhExp', 'Ph'),
    importedVAh: quantity('TotVAhImp', 'Ph'),
    varh: ['TotVArhImpQ1', 'TotVArhImpQ2', 'TotVArhExpQ3', 'TotVArhExpQ4'].map((name) =>
      quantity(name, isFloat ? 'ph' : 'Ph'),
    ),
  };
}

type MeterNames = ReturnType<typeof quantityNames>;

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

/** Form of the values in the model. */
export interface MeterForm {
  readonly names: MeterNames;
  readonly phases: number;
  /** power factor 1 in the model: 1 in floating point, else 100 percent */
  readonly unityPf: number;
  /** energy of one count of a counter that wraps; null: floating point */
  readonly countWh: number | null;
  /** apparent power below which a power factor is noise, VA */
  readonly minVa: number;
}

/** Mask of the bit of Evt. */
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

/** An energy in the form of the model: a count of whole units that wraps, or unchanged in floating point. */
function wholeUnits(value: number, { countWh }: MeterForm): number {
  return countWh === null ? value : acc32Amount(value, countWh);
}

function powerFactor(watts: number, va: number, { unityPf, minVa }: MeterForm): number {
  return va < minVa ? unityPf : (unityPf * watts) / va;
}

function sum(values: Float64Array): number {
  return values.reduce((total, each) => total + each, 0);
}

export function publishPowers(points: MeterPoints, reading: MeterReading, form: MeterForm): void {
  const { names, phases } = form;
  const { watts, vars, volts, hz } = reading;
  const w = (i: number) => watts[i] ?? 0;
  const va = (i: number) => Math.hypot(w(i), vars[i] ?? 0);
  const amps = (i: number) => phaseCurrentA(va(i), volts.ln[i] ?? 0);
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

/** @param failed true: a phase of the grid has no voltage */
export function publishEvents(points: MeterPoints, failed: boolean): void {
  points['Evt'] = failed ? powerFailure : 0;
}

export function hasFailed(perUnit: readonly number[]): boolean {
  return perUnit.some((pu) => pu < failedPu);
}

export function publishEnergy(points: MeterPoints, { total, phases }: MeterEnergy, form: MeterForm): void {
  const { names } = form;
  const addPhases = (of: QuantityNames, value: (counters: EnergyCounters) => number) => {
    write(
      points,
      of,
      wholeUnits(value(total), form),
      (i) => {
        const counters = phases[i];
        return counters ? wholeUnits(value(counters), form) : 0;
      },
      form,
    );
  };
  addPhases(names.exportedWh, ({ exportedWh }) => exportedWh);
  addPhases(names.importedWh, ({ importedWh }) => importedWh);
  addPhases(names.exportedVAh, ({ exportedVAh }) => exportedVAh);
  addPhases(names.importedVAh, ({ importedVAh }) => importedVAh);
  names.varh.forEach((of, quadrant) => {
    addPhases(of, ({ varh }) => varh[quadrant] ?? 0);
  });
}

/** Counters of one phase, or of all phases together: Wh, VAh and varh, doubles that never fall. */
interface EnergyCounters {
  importedWh: number;
  exportedWh: number;
  importedVAh: number;
  exportedVAh: number;
  /** counters by quadrant: 1 both drawn, 2 active power delivered, 3 both delivered, 4 reactive power delivered */
  readonly varh: [number, number, number, number];
}

export const noEnergy = (): EnergyCounters => ({
  importedWh: 0,
  exportedWh: 0,
  importedVAh: 0,
  exportedVAh: 0,
  varh: [0, 0, 0, 0],
});

function keptCounters(counters: EnergyCounters): Kept {
  return keptParts({
    members: keptMembers(counters, 'importedWh', 'exportedWh', 'importedVAh', 'exportedVAh'),
    varh: keptArray(counters.varh),
  });
}

/** Adds the net energies of one interval. */
export function addFlow(to: EnergyCounters, wh: number, varh: number, vah: number): void {
  const isDrawn = wh >= 0;
  if (isDrawn) {
    to.importedWh += wh;
    to.importedVAh += vah;
  } else {
    to.exportedWh -= wh;
    to.exportedVAh += vah;
  }
  const quadrant = varh >= 0 ? (isDrawn ? 0 : 1) : isDrawn ? 3 : 2;
  to.varh[quadrant] += Math.abs(varh);
}

/** Energies of the running interval by phase, and the counters to which its end adds them. */
export class MeterEnergy {
  readonly phases: readonly EnergyCounters[];
  /** Counters of the sums over all phases. */
  readonly total = noEnergy();
  readonly #wh: Float64Array;
  readonly #varh: Float64Array;

  constructor(phaseCount: number) {
    this.phases = Array.from({ length: phaseCount }, noEnergy);
    this.#wh = new Float64Array(phaseCount);
    this.#varh = new Float64Array(phaseCount);
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptParts({
      phases: keptList(this.phases.map(keptCounters)),
      total: keptCounters(this.total),
      wh: keptArray(this.#wh),
      varh: keptArray(this.#varh),
    });
  }

  add(phase: number, wh: number, varh: number): void {
    // a counter would never recover from a NaN
    if (!Number.isFinite(wh + varh)) return;
    this.#wh[phase] = (this.#wh[phase] ?? 0) + wh;
    this.#varh[phase] = (this.#varh[phase] ?? 0) + varh;
  }

  /** Ends the interval. */
  settle(): void {
    let [wh, varh, vah] = [0, 0, 0];
    this.phases.forEach((counters, i) => {
      const [phaseWh, phaseVarh] = [this.#wh[i] ?? 0, this.#varh[i] ?? 0];
      const phaseVAh = Math.hypot(phaseWh, phaseVarh);
      addFlow(counters, phaseWh, phaseVarh, phaseVAh);
      wh += phaseWh;
      varh += phaseVarh;
      vah += phaseVAh;
    });
    addFlow(this.total, wh, varh, vah);
    this.#wh.fill(0);
    this.#varh.fill(0);
  }
}
