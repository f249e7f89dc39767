/** The single cells of a bank: their differences and balancing. Refreshed seldom, see `BatteryBank`. */
import { SimError } from '../../../core/errors.ts';
import { keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import type { RandomStream } from '../../../core/random.ts';
import { secondsPerHour } from '../constants.ts';
import type { CellSpec, OcvTable } from './cell-spec.ts';
import { ocvAt } from './cell-spec.ts';

export interface BankShape {
  readonly strings: number;
  /** modules per string, in series */
  readonly modules: number;
  /** cells per module, in series */
  readonly cells: number;
}

/** Sums and extremes over the cells of one string; overwritten by each call. */
export interface StringSummary {
  /** state of charge, 0..1: 0 when the first cell is empty, 1 when the first one is full */
  soc: number;
  /** charge between these two states, Ah */
  usableAh: number;
  /** mean open-circuit voltage, V */
  ocvV: number;
  /** highest open-circuit voltage of a cell, V */
  highV: number;
  /** lowest open-circuit voltage of a cell, V */
  lowV: number;
  /** resistance of the cell with `highV`, relative to the mean */
  highResistance: number;
  /** resistance of the cell with `lowV`, relative to the mean */
  lowResistance: number;
  /** energy bled by balancing, Wh */
  bledWh: number;
}

const maxDeviations = 3;
/** Maximum lead of a cell over the others of its string at either end, in deviations: makers grade cells. */
const matchedDeviations = 1.5;
/** State of charge at which the deviations of the cells hold. */
const middleSoc = 0.5;
/** A cell is bled from this voltage above the lowest cell, V. */
const balanceAboveV = 0.005;
/** Up to this discharge per capacity, 1/h, a string is at rest: its own consumption flows. */
const restPerHour = 0.02;
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
  /** result of `#measure`: charge down to the first empty cell */
  #emptyAh = 0;
  /** result of `#measure`: charge up to the first full cell */
  #fullAh = 0;

  /** @param capacityAh capacity of the mean cell when new */
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
    const deviation = (): number => Math.max(-maxDeviations, Math.min(maxDeviations, random.normal()));
    for (let at = 0; at < this.soc.length; at += 1) {
      const along = cells > 1 ? (at % cells) / (cells - 1) - 0.5 : 0;
      this.capacityAh[at] = 1 + spread.capacityShare * deviation();
      this.resistance[at] = 1 + spread.resistanceShare * deviation();
      this.#socOffset[at] = spread.socShare * deviation();
      this.temperatureOffsetK[at] = spread.temperatureK * deviation() + spread.moduleGradientK * along;
    }
    for (let k = 0; k < strings; k += 1) {
      const [from, to] = [k * this.series, (k + 1) * this.series];
      scaleToMeanOne(this.resistance.subarray(from, to));
      shiftToMeanZero(this.temperatureOffsetK.subarray(from, to));
      this.#match(from, to);
    }
    // scales the bank to its nameplate capacity
    this.fill(middleSoc);
    let parallel = 0;
    for (let k = 0; k < strings; k += 1) {
      this.#measure(k);
      parallel += this.#emptyAh + this.#fullAh;
    }
    const scale = (strings * capacityAh) / parallel;
    for (let at = 0; at < this.soc.length; at += 1) this.capacityAh[at] = (this.capacityAh[at] ?? 1) * scale;
  }

  /**
   * Matches the cells of a string, as makers grade them: all strings then reach their ends at nearly the same voltage.
   * Bounds the lead of a cell at the full end, `top`, and at the empty end, `bottom`.
   */
  #match(from: number, to: number): void {
    const { spread } = this.#spec;
    const bound = matchedDeviations * Math.hypot(spread.socShare, middleSoc * spread.capacityShare);
    const top = new Float64Array(to - from);
    const bottom = new Float64Array(to - from);
    for (let i = 0; i < top.length; i += 1) {
      const offset = this.#socOffset[from + i] ?? 0;
      const less = middleSoc * (1 / (this.capacityAh[from + i] ?? 1) - 1);
      top[i] = offset + less;
      bottom[i] = offset - less;
    }
    for (const lead of [top, bottom]) {
      shiftToMeanZero(lead);
      for (let i = 0; i < lead.length; i += 1) lead[i] = Math.max(-bound, Math.min(bound, lead[i] ?? 0));
    }
    for (let i = 0; i < top.length; i += 1) {
      const [full, empty] = [top[i] ?? 0, bottom[i] ?? 0];
      this.#socOffset[from + i] = (full + empty) / 2;
      this.capacityAh[from + i] = 1 / (1 + (full - empty) / (2 * middleSoc));
    }
  }

  /** Sets `#emptyAh` and `#fullAh` to those of string `k`, Ah when new. */
  #measure(k: number): void {
    let [emptyAh, fullAh] = [Infinity, Infinity];
    for (let at = k * this.series; at < (k + 1) * this.series; at += 1) {
      const ah = this.capacityAh[at] ?? 1;
      const s = this.soc[at] ?? 0;
      if (s * ah < emptyAh) emptyAh = s * ah;
      if ((1 - s) * ah < fullAh) fullAh = (1 - s) * ah;
    }
    this.#emptyAh = emptyAh;
    this.#fullAh = fullAh;
  }

  /** Sets every string to a state of charge of 0..1, its cells at their deviations. */
  fill(soc: number): void {
    for (let at = 0; at < this.soc.length; at += 1) this.soc[at] = middleSoc + (this.#socOffset[at] ?? 0);
    for (let k = 0; k * this.series < this.soc.length; k += 1) {
      this.#measure(k);
      const chargeAh = soc * (this.#emptyAh + this.#fullAh) - this.#emptyAh;
      for (let at = k * this.series; at < (k + 1) * this.series; at += 1)
        this.soc[at] = (this.soc[at] ?? 0) + chargeAh / (this.capacityAh[at] ?? 1);
    }
    this.balancing.fill(0);
  }

  /**
   * Draws a charge from every cell of string `k`, bleeds the cells marked for the last `elapsedS`, marks the cells to
   * bleed next, while charging or at rest, and fills `to`.
   * @param chargeAh positive = discharge
   * @param soh state of health, 0..1
   * @param ohm resistance of the mean cell, for its voltage under `currentA`
   * @param currentA null: the string is open, and its management system sleeps
   */
  // eslint-disable-next-line max-params -- called per string and tick: an object of arguments would be garbage
  advance(
    k: number,
    chargeAh: number,
    elapsedS: number,
    soh: number,
    ohm: number,
    currentA: number | null,
    to: StringSummary,
  ): void {
    const { soc, capacityAh, resistance, balancing } = this;
    let emptyAh = Infinity;
    let fullAh = Infinity;
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
      if (s * cellAh < emptyAh) emptyAh = s * cellAh;
      if ((1 - s) * cellAh < fullAh) fullAh = (1 - s) * cellAh;
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
    to.usableAh = emptyAh + fullAh;
    to.soc = emptyAh / to.usableAh;
    to.ocvV = sumV / this.series;
    to.bledWh = bledWh;
    to.highV = highV;
    to.lowV = lowV;
    to.highResistance = resistance[high] ?? 1;
    to.lowResistance = resistance[low] ?? 1;
    this.#mark(k, highV, lowV, ohm, currentA);
  }

  #mark(k: number, highV: number, lowV: number, ohm: number, currentA: number | null): void {
    const from = k * this.series;
    if (currentA === null) {
      this.balancing.fill(0, from, from + this.series);
      return;
    }
    const atRest = currentA >= 0;
    const balanceV = atRest ? this.#spec.restBalanceV : this.#spec.balanceV;
    const restA = restPerHour * (this.capacityAh[from] ?? 0);
    // a cheap test that rules out every cell most of the time: no cell has twice the mean resistance
    const idle = currentA > restA || highV - lowV <= balanceAboveV || highV - 2 * currentA * ohm <= balanceV;
    if (idle) {
      this.balancing.fill(0, from, from + this.series);
      return;
    }
    for (let at = from; at < from + this.series; at += 1) {
      const v = ocvAt(this.#ocv, this.soc[at] ?? 0);
      const terminalV = v - currentA * ohm * (this.resistance[at] ?? 1);
      this.balancing[at] = terminalV > balanceV && v - lowV > balanceAboveV ? 1 : 0;
    }
  }

  /** State that a restart keeps; the differences between the cells follow from their random numbers. */
  kept(): Kept {
    return keptParts({
      soc: keptDoubles(this.soc),
      // few cells are balanced at a time, and mostly none
      balancing: keptRecord(
        () => ({ cells: indexesOfOnes(this.balancing) }),
        ({ cells }) => {
          this.balancing.fill(0);
          for (const at of cells) this.balancing[at] = 1;
        },
      ),
    });
  }
}

function indexesOfOnes(flags: Uint8Array): number[] {
  const indexes: number[] = [];
  for (let at = flags.indexOf(1); at >= 0; at = flags.indexOf(1, at + 1)) indexes.push(at);
  return indexes;
}

const bytesOfDouble = 8;

/** Numbers of fixed count as one text: a bank has too many cells to write each of them in digits. */
function keptDoubles(values: Float64Array): Kept {
  const length = bytesOfDouble * values.length;
  return {
    save() {
      const bytes = Buffer.allocUnsafe(length);
      for (let at = 0; at < values.length; at += 1) bytes.writeDoubleLE(values[at] ?? 0, bytesOfDouble * at);
      return bytes.toString('base64');
    },
    restore(saved) {
      const bytes = Buffer.from(typeof saved === 'string' ? saved : '', 'base64');
      if (bytes.length !== length)
        throw new SimError('INTERNAL', `${values.length} kept cells have become ${bytes.length / bytesOfDouble}`);
      for (let at = 0; at < values.length; at += 1) values[at] = bytes.readDoubleLE(bytesOfDouble * at);
    },
  };
}

function scaleToMeanOne(values: Float64Array): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  for (let at = 0; at < values.length; at += 1) values[at] = (values[at] ?? 1) / mean;
}

function shiftToMeanZero(values: Float64Array): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  for (let at = 0; at < values.length; at += 1) values[at] = (values[at] ?? 0) - mean;
}
