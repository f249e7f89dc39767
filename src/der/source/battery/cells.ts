/** The cells of a bank one by one: what tells them apart, and balancing. Looked at seldom, see `BatteryBank`. */
import type { RandomStream } from '../../../core/random.ts';
import { secondsPerHour } from '../shared.ts';
import type { CellSpec, OcvTable } from './cell-spec.ts';
import { ocvAt } from './cell-spec.ts';

export interface BankShape {
  readonly strings: number;
  /** of one string, in series */
  readonly modules: number;
  /** of one module, in series */
  readonly cells: number;
}

/** What the cells of one string add up to; filled anew by each call. */
export interface StringSummary {
  /** mean state of charge, 0..1 */
  soc: number;
  /** mean open-circuit voltage, V */
  ocvV: number;
  /** the cells of highest and lowest open-circuit voltage, V, and their resistance over the mean one */
  highV: number;
  lowV: number;
  highResistance: number;
  lowResistance: number;
  /** energy that balancing has bled, Wh */
  bledWh: number;
}

const maxDeviations = 3;
/** Voltage over the lowest cell from which a cell is bled. */
const balanceAboveV = 0.01;
/** Bleeding current per capacity, 1/h. */
const bleedPerHour = 0.002;

/** Cell `c` of string `k` is at `k * series + c`; module by module. */
export class BankCells {
  /** cells of one string */
  readonly series: number;
  readonly soc: Float64Array;
  readonly capacityAh: Float64Array;
  /** resistance over that of the mean cell of the string: their sum is `series` */
  readonly resistance: Float64Array;
  /** temperature over the mean of the string, K */
  readonly temperatureOffsetK: Float64Array;
  readonly balancing: Uint8Array;
  readonly #socOffset: Float64Array;
  readonly #spec: CellSpec;
  readonly #ocv: OcvTable;
  #maxSocOffset = 0;

  /** @param capacityAh of the mean cell, new */
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
    // The bank as a whole has the capacity of its nameplate and starts at the state of charge asked for.
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

  /** Sets every cell around a state of charge of 0..1 of the bank; near the ends the cells stand closer together. */
  fill(soc: number): void {
    const room = Math.min(soc, 1 - soc);
    const part = this.#maxSocOffset > room ? room / this.#maxSocOffset : 1;
    for (let at = 0; at < this.soc.length; at += 1) this.soc[at] = soc + part * (this.#socOffset[at] ?? 0);
    this.balancing.fill(0);
  }

  /**
   * Takes a charge out of every cell of string `k`, which has flowed over `elapsedS` while the cells marked before
   * were bled, marks those to bleed from now on, and sums up.
   * @param chargeAh positive = discharge
   * @param soh share of the capacity that is left
   * @param ohm of the mean cell, for its voltage under `currentA`
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
    // most of the time no cell can be meant; twice the mean resistance is more than any cell has
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

/** Scales to a mean of 1. */
function scaleToMeanOne(values: Float64Array): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  for (let at = 0; at < values.length; at += 1) values[at] = (values[at] ?? 1) / mean;
}

/** Moves to a mean of 0. */
function shiftToMeanZero(values: Float64Array): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  for (let at = 0; at < values.length; at += 1) values[at] = (values[at] ?? 0) - mean;
}
