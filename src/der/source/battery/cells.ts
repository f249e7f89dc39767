/** The single cells of a bank: their differences and balancing. Refreshed seldom, see `BatteryBank`. */
import type { RandomStream } from '../../../core/random.ts';
import { secondsPerHour } from '../shared.ts';
import type { CellSpec, OcvTable } from './cell-spec.ts';
import { ocvAt } from './cell-spec.ts';

export interface BankShape {
  readonly strings: number;
  /** per string, in series */
  readonly modules: number;
  /** per module, in series */
  readonly cells: number;
}

/** Sums and extremes over the cells of one string; overwritten by each call. */
export interface StringSummary {
  /** mean state of charge, 0..1 */
  soc: number;
  /** mean open-circuit voltage, V */
  ocvV: number;
  /** highest and lowest open-circuit voltage of a cell, V, and the resistance of those cells relative to the mean */
  highV: number;
  lowV: number;
  highResistance: number;
  lowResistance: number;
  /** energy bled by balancing, Wh */
  bledWh: number;
}

const maxDeviations = 3;
/** A cell is bled from this voltage above the lowest cell, V. */
const balanceAboveV = 0.01;
/** Bleeding current per capacity, 1/h. */
const bleedPerHour = 0.002;

/** Cell `c` of string `k` has index `k * series + c`; modules follow one another. */
export class BankCells {
  /** cells of one string */
  readonly series: number;
  readonly soc: Float64Array;
  readonly capacityAh: Float64Array;
  /** resistance relative to the mean cell of the string: they sum up to `series` */
  readonly resistance: Float64Array;
  /** temperature above the mean of the string, K */
  readonly temperatureOffsetK: Float64Array;
  readonly balancing: Uint8Array;
  readonly #socOffset: Float64Array;
  readonly #spec: CellSpec;
  readonly #ocv: OcvTable;
  #maxSocOffset = 0;

  /** @param capacityAh of the mean cell when new */
  constructor(shape: BankShape, spec: CellSpec, capacityAh: number, ocv: OcvTable, random: RandomStream) {
    this.#spec = spec;
    this.#ocv = ocv;
    this.series = shape.modules * shape.cells;
    const count = shape.strings * this.series;
    this.soc = new Float64Array(count);
    this.capacityAh = new Float64Array(count);
    this.resistance = new Float64Array(count);
    this.temperatureOffsetK = new Float64Array(count);
    this.balancing = new Uint8Array(count);
    this.#socOffset = new Float64Array(count);
    this.#draw(shape, capacityAh, random);
  }

  #draw({ strings, cells }: BankShape, capacityAh: number, random: RandomStream): void {
    const { spread } = this.#spec;
    const drawn = (): number => Math.max(-maxDeviations, Math.min(maxDeviations, random.normal()));
    for (let at = 0; at < this.soc.length; at += 1) {
      const along = cells > 1 ? (at % cells) / (cells - 1) - 0.5 : 0;
      this.capacityAh[at] = 1 + spread.capacityShare * drawn();
      this.resistance[at] = 1 + spread.resistanceShare * drawn();
      this.#socOffset[at] = spread.socShare * drawn();
      this.temperatureOffsetK[at] = spread.temperatureK * drawn() + spread.moduleGradientK * along;
    }
    let parallel = 0;
    for (let k = 0; k < strings; k += 1) {
      const [from, to] = [k * this.series, (k + 1) * this.series];
      scaleToMeanOne(this.resistance.subarray(from, to));
      shiftToMeanZero(this.temperatureOffsetK.subarray(from, to));
      parallel += this.stringCapacityAh(k);
    }
    // the bank as a whole has its nameplate capacity and starts at the requested state of charge
    let offset = 0;
    for (let k = 0; k < strings; k += 1) {
      const mean =
        this.#socOffset.subarray(k * this.series, (k + 1) * this.series).reduce((a, b) => a + b, 0) / this.series;
      offset += (mean * this.stringCapacityAh(k)) / parallel;
    }
    const scale = (strings * capacityAh) / parallel;
    for (let at = 0; at < this.soc.length; at += 1) {
      this.capacityAh[at] = (this.capacityAh[at] ?? 1) * scale;
      this.#socOffset[at] = (this.#socOffset[at] ?? 0) - offset;
      this.#maxSocOffset = Math.max(this.#maxSocOffset, Math.abs(this.#socOffset[at] ?? 0));
    }
  }

  /** Charge in Ah that moves the mean state of charge of a string from 0 to 1. */
  stringCapacityAh(k: number): number {
    let inverse = 0;
    for (let at = k * this.series; at < (k + 1) * this.series; at += 1) inverse += 1 / (this.capacityAh[at] ?? 1);
    return this.series / inverse;
  }

  /** Sets the cells around a mean state of charge of 0..1; near the ends their deviations shrink. */
  fill(soc: number): void {
    const room = Math.min(soc, 1 - soc);
    const part = this.#maxSocOffset > room ? room / this.#maxSocOffset : 1;
    for (let at = 0; at < this.soc.length; at += 1) this.soc[at] = soc + part * (this.#socOffset[at] ?? 0);
    this.balancing.fill(0);
  }

  /**
   * Draws a charge from every cell of string `k`, bleeds the cells marked for the last `elapsedS`, marks the cells to
   * bleed next, and fills `to`.
   * @param chargeAh positive = discharge
   * @param soh state of health, 0..1
   * @param ohm resistance of the mean cell, for its voltage under `currentA`
   */
  advance(
    k: number,
    chargeAh: number,
    elapsedS: number,
    soh: number,
    ohm: number,
    currentA: number,
    to: StringSummary,
  ): void {
    const { soc, capacityAh, resistance, balancing } = this;
    let sumSoc = 0;
    let sumV = 0;
    let bledWh = 0;
    let highV = -Infinity;
    let lowV = Infinity;
    let high = 0;
    let low = 0;
    for (let at = k * this.series; at < (k + 1) * this.series; at += 1) {
      const bled = balancing[at] === 1 ? (bleedPerHour * elapsedS) / secondsPerHour : 0;
      const cellAh = (capacityAh[at] ?? 1) * soh;
      const s = (soc[at] ?? 0) - chargeAh / cellAh - bled;
      soc[at] = s;
      const v = ocvAt(this.#ocv, s);
      sumSoc += s;
      sumV += v;
      bledWh += bled * cellAh * v;
      if (v > highV) {
        highV = v;
        high = at;
      }
      if (v < lowV) {
        lowV = v;
        low = at;
      }
    }
    to.soc = sumSoc / this.series;
    to.ocvV = sumV / this.series;
    to.bledWh = bledWh;
    to.highV = highV;
    to.lowV = lowV;
    to.highResistance = resistance[high] ?? 1;
    to.lowResistance = resistance[low] ?? 1;
    this.#mark(k, highV, lowV, ohm, currentA);
  }

  #mark(k: number, highV: number, lowV: number, ohm: number, currentA: number): void {
    const from = k * this.series;
    const { balanceV } = this.#spec;
    // a cheap test that rules out every cell most of the time: no cell has twice the mean resistance
    const idle = currentA >= 0 || highV - lowV <= balanceAboveV || highV - 2 * currentA * ohm <= balanceV;
    if (idle) {
      this.balancing.fill(0, from, from + this.series);
      return;
    }
    for (let at = from; at < from + this.series; at += 1) {
      const v = ocvAt(this.#ocv, this.soc[at] ?? 0);
      const onCharge = v - currentA * ohm * (this.resistance[at] ?? 1);
      this.balancing[at] = onCharge > balanceV && v - lowV > balanceAboveV ? 1 : 0;
    }
  }
}

function scaleToMeanOne(values: Float64Array): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  for (let at = 0; at < values.length; at += 1) values[at] = (values[at] ?? 1) / mean;
}

function shiftToMeanZero(values: Float64Array): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  for (let at = 0; at < values.length; at += 1) values[at] = (values[at] ?? 0) - mean;
}
