import { keptArray, keptList, keptMembers, keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import type { RandomStream } from '../../../core/random.ts';
import { gasConstantJMolK, secondsPerHour, zeroCelsiusK } from '../constants.ts';
import { BankCells } from './cells.ts';
import type { BankShape, StringSummary } from './cells.ts';
import { meanOcvV, ocvAt, ocvTable } from './cell-spec.ts';
import type { CellSpec, OcvTable } from './cell-spec.ts';

export interface BankConfig extends BankShape {
  readonly spec: CellSpec;
  /** nameplate energy from empty to full, Wh */
  readonly capacityWh: number;
  /** 0..1 */
  readonly soc: number;
  readonly soh: number;
  readonly thermalTimeConstantS: number;
}

/** Single cells, temperatures and resistances are updated on this grid of simulated time. */
const gridS = 10;
/** Maximum inner step; power is constant over it. */
const innerStepS = 5;
/** Tolerance for sums of steps that reach a grid point. */
const roundingS = 1e-9;
const referenceK = 298.15;
const startTemperatureC = 25;
/** Members of a summary that are read after the refresh that makes it. */
const keptSummary = ['soc', 'usableAh', 'ocvV', 'highV', 'lowV', 'highResistance', 'lowResistance'] as const;

/**
 * Current in A at which `powerW` (+ = discharge) flows behind `emfV` and `ohm`; at most the current of maximum power.
 */
export function currentFor(powerW: number, emfV: number, ohm: number): number {
  if (powerW === 0 || !(emfV > 0)) return 0;
  const root = emfV * emfV - 4 * ohm * powerW;
  // the form without cancellation; above the maximum power there is no root
  return root > 0 ? (2 * powerW) / (emfV + Math.sqrt(root)) : emfV / (2 * ohm);
}

/**
 * Strings in parallel, each modelled as one cell: open-circuit voltage by table, series resistance, one RC pair,
 * heat. Single cells are deviations from the mean, refreshed on a fixed grid of simulated time. Currents and powers:
 * + = discharge.
 */
export class BatteryBank {
  readonly cells: BankCells;
  readonly stringCount: number;
  readonly ocv: OcvTable;
  /** nameplate charge of the bank */
  readonly nominalAh: number;
  // per string:
  /** state of charge between the first empty and the first full cell */
  readonly soc: Float64Array;
  /** sum of the RC voltages */
  readonly rcV: Float64Array;
  readonly temperatureC: Float64Array;
  /** electromotive force */
  readonly emfV: Float64Array;
  readonly r0Ohm: Float64Array;
  readonly r1Ohm: Float64Array;
  readonly currentA: Float64Array;
  readonly capacityAh: Float64Array;
  readonly closed: Uint8Array;
  /** mean open-circuit voltage of the cells less that at `soc`, V per cell */
  readonly ocvShiftV: Float64Array;
  readonly extremes: StringSummary[];
  /** electromotive force of the closed strings together */
  busEmfV = 0;
  /** resistance of the closed strings together */
  busOhm = 0;
  closedCount = 0;
  closedAh = 0;
  /** mean state of charge, 0..1, of the closed strings, or of all when none is closed */
  meanSoc = 0;
  /** current of the operating point */
  busCurrentA = 0;
  /** voltage of the operating point */
  busVoltageV = 0;
  /** heat and balancing losses since the start */
  lossWh = 0;
  soh: number;
  /** counts the refreshes of the cells */
  refreshes = 0;
  readonly #config: BankConfig;
  readonly #chargeAh: Float64Array;
  readonly #heatJ: Float64Array;
  readonly #middleV: Float64Array;
  #ambientC = startTemperatureC;
  #fixedC: number | null = null;
  #elapsedS = 0;
  #refreshedS = 0;
  #decayedS = NaN;
  #decay = 1;
  #halfDecay = 1;

  constructor(config: BankConfig, random: RandomStream) {
    const { spec, strings, modules, cells, capacityWh } = config;
    this.#config = config;
    this.stringCount = strings;
    this.ocv = ocvTable(spec);
    const cellAh = capacityWh / (strings * modules * cells * meanOcvV(spec.ocvV));
    this.nominalAh = cellAh * strings;
    this.soh = config.soh;
    this.cells = new BankCells(config, spec, cellAh, this.ocv, random);
    const perString = (): Float64Array => new Float64Array(strings);
    this.soc = perString();
    this.rcV = perString();
    this.temperatureC = perString().fill(startTemperatureC);
    this.emfV = perString();
    this.r0Ohm = perString();
    this.r1Ohm = perString();
    this.currentA = perString();
    this.capacityAh = perString();
    this.ocvShiftV = perString();
    this.#chargeAh = perString();
    this.#heatJ = perString();
    this.#middleV = perString();
    this.closed = new Uint8Array(strings).fill(1);
    this.extremes = Array.from({ length: strings }, () => ({
      soc: 0,
      usableAh: 0,
      ocvV: 0,
      highV: 0,
      lowV: 0,
      highResistance: 1,
      lowResistance: 1,
      bledWh: 0,
    }));
    this.fill(config.soc);
  }

  /** Mean temperature of the same strings as `meanSoc`, C. */
  get meanTemperatureC(): number {
    return this.#mean(this.temperatureC);
  }

  #mean(values: Float64Array): number {
    let sum = 0;
    let weight = 0;
    for (let k = 0; k < this.stringCount; k += 1) {
      if (this.closed[k] === 0 && this.closedCount > 0) continue;
      const ah = this.capacityAh[k] ?? 0;
      sum += ah * (values[k] ?? 0);
      weight += ah;
    }
    return weight > 0 ? sum / weight : 0;
  }

  /** Sets every string to a state of charge of 0..1, at rest. */
  fill(soc: number): void {
    this.cells.fill(soc);
    this.rcV.fill(0);
    this.#chargeAh.fill(0);
    this.currentA.fill(0);
    this.refresh();
  }

  setClosed(k: number, closed: boolean): void {
    this.closed[k] = closed ? 1 : 0;
    this.#solveBus();
  }

  /** @param fixedC fixed temperature of every string; null: the thermal model runs */
  setSurroundings(ambientC: number, fixedC: number | null): void {
    if (Number.isFinite(ambientC)) this.#ambientC = ambientC;
    if (fixedC === this.#fixedC || (fixedC !== null && !Number.isFinite(fixedC))) return;
    this.#fixedC = fixedC;
    this.refresh();
  }

  /** Sets every string to its temperature at rest. */
  cool(): void {
    this.temperatureC.fill(this.#fixedC ?? this.#ambientC);
    this.#heatJ.fill(0);
    this.refresh();
  }

  /** Restarts at a state of charge of 0..1: losses and clock at 0, cells at ambient temperature. */
  restart(soc: number): void {
    this.lossWh = 0;
    this.#elapsedS = 0;
    this.#refreshedS = 0;
    this.cool();
    this.fill(soc);
  }

  /** Advances by `dtS` at a constant power of the closed strings, W. */
  advance(dtS: number, powerW: number): void {
    if (!(dtS > 0)) return;
    const steps = Math.ceil(dtS / innerStepS);
    const h = dtS / steps;
    for (let step = 0; step < steps; step += 1) {
      this.#innerStep(h, powerW, true);
      this.#afterStep(h);
    }
  }

  /** Advances by `dtS` at a constant current of the closed strings, A. */
  advanceCurrent(dtS: number, currentA: number): void {
    if (!(dtS > 0)) return;
    this.#innerStep(dtS, currentA, false);
    this.#afterStep(dtS);
    this.operateAt(currentA);
  }

  /** Sets the operating point to a power of the closed strings, W; no time passes. */
  operate(powerW: number): void {
    this.operateAt(currentFor(powerW, this.busEmfV, this.busOhm));
  }

  operateAt(currentA: number): void {
    const voltageV = this.busEmfV - currentA * this.busOhm;
    this.busCurrentA = this.closedCount > 0 ? currentA : 0;
    this.busVoltageV = voltageV;
    for (let k = 0; k < this.stringCount; k += 1) {
      this.currentA[k] = this.closed[k] === 1 ? ((this.emfV[k] ?? 0) - voltageV) / (this.r0Ohm[k] ?? 1) : 0;
    }
  }

  /** Share of an RC voltage that is left after `dtS`. */
  decayOver(dtS: number): number {
    if (dtS !== this.#decayedS) {
      this.#decayedS = dtS;
      this.#halfDecay = Math.exp(-dtS / (2 * this.#config.spec.rcTimeConstantS));
      this.#decay = this.#halfDecay * this.#halfDecay;
    }
    return this.#decay;
  }

  #afterStep(dtS: number): void {
    this.#elapsedS += dtS;
    // grid points do not depend on the length of the steps
    if (Math.floor((this.#elapsedS + roundingS) / gridS) > Math.floor((this.#refreshedS + roundingS) / gridS))
      this.refresh();
    else this.#solveBus();
  }

  /** One step of `h` at the constant current at which `demand` (W or A) flows in the middle of the step. */
  #innerStep(h: number, demand: number, isPower: boolean): void {
    const decay = this.decayOver(h);
    const half = this.#halfDecay;
    const { series } = this.cells;
    const startA = isPower ? currentFor(demand, this.busEmfV, this.busOhm) : demand;
    const startV = this.busEmfV - startA * this.busOhm;
    let sum = 0;
    for (let k = 0; k < this.stringCount; k += 1) {
      const closed = this.closed[k] === 1;
      const r0 = this.r0Ohm[k] ?? 1;
      const amps = closed ? ((this.emfV[k] ?? 0) - startV) / r0 : 0;
      const soc = (this.soc[k] ?? 0) - (amps * h) / (2 * secondsPerHour * (this.capacityAh[k] ?? 1));
      const rc = (this.rcV[k] ?? 0) * half + amps * (this.r1Ohm[k] ?? 0) * (1 - half);
      const emf = series * (ocvAt(this.ocv, soc) + (this.ocvShiftV[k] ?? 0)) - rc;
      this.#middleV[k] = emf;
      if (closed) sum += emf / r0;
    }
    const middleEmf = sum * this.busOhm;
    const amps = isPower ? currentFor(demand, middleEmf, this.busOhm) : demand;
    const middleV = middleEmf - amps * this.busOhm;
    for (let k = 0; k < this.stringCount; k += 1) {
      const stringA = this.closed[k] === 1 ? ((this.#middleV[k] ?? 0) - middleV) / (this.r0Ohm[k] ?? 1) : 0;
      this.#flow(k, h, stringA, decay, half);
    }
  }

  #flow(k: number, h: number, amps: number, decay: number, half: number): void {
    const r1 = this.r1Ohm[k] ?? 0;
    const rc = this.rcV[k] ?? 0;
    const middleRc = rc * half + amps * r1 * (1 - half);
    this.soc[k] = (this.soc[k] ?? 0) - (amps * h) / (secondsPerHour * (this.capacityAh[k] ?? 1));
    this.rcV[k] = rc * decay + amps * r1 * (1 - decay);
    this.currentA[k] = amps;
    this.#chargeAh[k] = (this.#chargeAh[k] ?? 0) + (amps * h) / secondsPerHour;
    const heatW = amps * amps * (this.r0Ohm[k] ?? 0) + (r1 > 0 ? (middleRc * middleRc) / r1 : 0);
    this.#heatJ[k] = (this.#heatJ[k] ?? 0) + heatW * h;
    this.lossWh += (heatW * h) / secondsPerHour;
    this.#updateEmf(k);
  }

  #updateEmf(k: number): void {
    const cellV = ocvAt(this.ocv, this.soc[k] ?? 0) + (this.ocvShiftV[k] ?? 0);
    this.emfV[k] = this.cells.series * cellV - (this.rcV[k] ?? 0);
  }

  /** Solves the parallel strings: one voltage, currents add up. */
  #solveBus(): void {
    let conductance = 0;
    let sum = 0;
    let count = 0;
    let ah = 0;
    let charge = 0;
    for (let k = 0; k < this.stringCount; k += 1) {
      if (this.closed[k] === 0) continue;
      const g = 1 / (this.r0Ohm[k] ?? 1);
      conductance += g;
      sum += g * (this.emfV[k] ?? 0);
      count += 1;
      const stringAh = this.capacityAh[k] ?? 0;
      ah += stringAh;
      charge += stringAh * (this.soc[k] ?? 0);
    }
    this.closedCount = count;
    this.closedAh = ah;
    this.busOhm = count > 0 ? 1 / conductance : 0;
    this.busEmfV = count > 0 ? sum / conductance : 0;
    this.meanSoc = ah > 0 ? charge / ah : this.#mean(this.soc);
  }

  /** Updates single cells, temperatures and resistances. */
  refresh(): void {
    const { spec, capacityWh, thermalTimeConstantS } = this.#config;
    const elapsedS = this.#elapsedS - this.#refreshedS;
    const { series } = this.cells;
    const heatCapacityJK = (capacityWh / this.stringCount / 1000) * spec.massKgKwh * spec.specificHeatJKgK;
    const cellOhm = (spec.r0OhmAh * this.stringCount) / (this.nominalAh * this.soh);
    for (let k = 0; k < this.stringCount; k += 1) {
      if (this.#fixedC !== null) {
        this.temperatureC[k] = this.#fixedC;
      } else if (elapsedS > 0) {
        const meanHeatW = (this.#heatJ[k] ?? 0) / elapsedS;
        const goal = this.#ambientC + (meanHeatW * thermalTimeConstantS) / heatCapacityJK;
        const share = -Math.expm1(-elapsedS / thermalTimeConstantS);
        this.temperatureC[k] = (this.temperatureC[k] ?? 0) + (goal - (this.temperatureC[k] ?? 0)) * share;
      }
      const to = this.extremes[k];
      if (!to) continue;
      const currentA = this.closed[k] === 1 ? (this.currentA[k] ?? 0) : null;
      this.cells.advance(k, this.#chargeAh[k] ?? 0, elapsedS, this.soh, cellOhm, currentA, to);
      this.lossWh += to.bledWh;
      this.soc[k] = to.soc;
      this.#takeSummary(k, to);
      const part = resistanceFactor(spec, this.temperatureC[k] ?? startTemperatureC, to.soc);
      this.r0Ohm[k] = cellOhm * series * part;
      this.r1Ohm[k] = (cellOhm * series * part * spec.r1OhmAh) / spec.r0OhmAh;
      this.#updateEmf(k);
    }
    this.#chargeAh.fill(0);
    this.#heatJ.fill(0);
    this.#refreshedS = this.#elapsedS;
    this.refreshes += 1;
    this.#solveBus();
  }

  /** Takes over the cells of string `k`, as they were at its last refresh. */
  #takeSummary(k: number, { soc, ocvV, usableAh }: StringSummary): void {
    this.ocvShiftV[k] = ocvV - ocvAt(this.ocv, soc);
    this.capacityAh[k] = usableAh;
  }

  /** Charge drawn from string `k` since its cells were refreshed, Ah; not yet in the state of charge of its cells. */
  chargeSinceRefreshAh(k: number): number {
    return this.#chargeAh[k] ?? 0;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptParts({
      cells: this.cells.kept(),
      summaries: keptList(this.extremes.map((summary) => keptMembers(summary, ...keptSummary))),
      soc: keptArray(this.soc),
      rcV: keptArray(this.rcV),
      temperatureC: keptArray(this.temperatureC),
      r0Ohm: keptArray(this.r0Ohm),
      r1Ohm: keptArray(this.r1Ohm),
      currentA: keptArray(this.currentA),
      closed: keptArray(this.closed),
      chargeAh: keptArray(this.#chargeAh),
      heatJ: keptArray(this.#heatJ),
      members: this.#keptMembers(),
    });
  }

  #keptMembers(): Kept {
    return keptRecord(
      () => ({
        busCurrentA: this.busCurrentA,
        busVoltageV: this.busVoltageV,
        lossWh: this.lossWh,
        soh: this.soh,
        refreshes: this.refreshes,
        ambientC: this.#ambientC,
        fixedC: this.#fixedC,
        elapsedS: this.#elapsedS,
        refreshedS: this.#refreshedS,
      }),
      (values) => {
        ({
          busCurrentA: this.busCurrentA,
          busVoltageV: this.busVoltageV,
          lossWh: this.lossWh,
          soh: this.soh,
          refreshes: this.refreshes,
          ambientC: this.#ambientC,
          fixedC: this.#fixedC,
          elapsedS: this.#elapsedS,
          refreshedS: this.#refreshedS,
        } = values);
        this.extremes.forEach((summary, k) => {
          this.#takeSummary(k, summary);
          this.#updateEmf(k);
        });
        this.#solveBus();
      },
    );
  }
}

/** Resistance relative to a half-full cell at 25 C: Arrhenius, and a parabola over the state of charge. */
function resistanceFactor(spec: CellSpec, temperatureC: number, soc: number): number {
  const kelvin = Math.max(temperatureC, -60) + zeroCelsiusK;
  const cold = Math.exp((spec.activationJMol / gasConstantJMolK) * (1 / kelvin - 1 / referenceK));
  const off = Math.min(1, Math.abs(2 * soc - 1));
  return cold * (1 + spec.resistanceRiseShare * off * off);
}
