/** The rows of one device as columns that grow: ten numbers of a row take a tenth of their memory as objects. */
import type { CaptureColumns } from '../contract/captures.ts';
import { serviceWords } from '../contract/grid-trace.ts';
import type { StepValues } from '../contract/grid-trace.ts';

const firstRows = 64;

function columnsOf(rows: number) {
  return {
    tS: new Float64Array(rows),
    gridVPct: new Float32Array(rows),
    // exact, as they are compared with thresholds
    vLowPct: new Float64Array(rows),
    vHighPct: new Float64Array(rows),
    fHz: new Float64Array(rows),
    pKw: new Float32Array(rows),
    qKvar: new Float32Array(rows),
    possibleKw: new Float32Array(rows),
    state: new Uint8Array(rows),
    ramp: new Uint8Array(rows),
    tick: new Uint8Array(rows),
  };
}

type Arrays = ReturnType<typeof columnsOf>;

function resized(from: Arrays, rows: number): Arrays {
  const to = columnsOf(rows);
  for (const name of Object.keys(to) as (keyof Arrays)[]) to[name].set(from[name].subarray(0, rows));
  return to;
}

/** Bytes of one row. */
const bytesOfRow = Object.values(columnsOf(1)).reduce((sum, { BYTES_PER_ELEMENT: size }) => sum + size, 0);

export class Columns implements CaptureColumns {
  #arrays = columnsOf(firstRows);
  length = 0;
  readonly extremes = { lowPct: Infinity, highPct: -Infinity, lowHz: Infinity, highHz: -Infinity };

  get tS() {
    return this.#arrays.tS;
  }

  get gridVPct() {
    return this.#arrays.gridVPct;
  }

  get vLowPct() {
    return this.#arrays.vLowPct;
  }

  get vHighPct() {
    return this.#arrays.vHighPct;
  }

  get fHz() {
    return this.#arrays.fHz;
  }

  get pKw() {
    return this.#arrays.pKw;
  }

  get qKvar() {
    return this.#arrays.qKvar;
  }

  get possibleKw() {
    return this.#arrays.possibleKw;
  }

  get state() {
    return this.#arrays.state;
  }

  get ramp() {
    return this.#arrays.ramp;
  }

  get tick() {
    return this.#arrays.tick;
  }

  /** The rows so far, for a reader that lets further rows come meanwhile. */
  get present(): CaptureColumns {
    return { ...this.#arrays, length: this.length, extremes: this.extremes };
  }

  get bytes(): number {
    return this.#arrays.tS.length * bytesOfRow;
  }

  /** Time of the last row; -Infinity without one. */
  get endS(): number {
    return this.length === 0 ? -Infinity : (this.#arrays.tS[this.length - 1] ?? -Infinity);
  }

  /** Adds a row. @param isTick true: it is the end of a tick */
  add(tS: number, step: StepValues, isTick: boolean): void {
    if (this.length === this.#arrays.tS.length) this.#arrays = resized(this.#arrays, 2 * this.length);
    this.#put(this.length, tS, step, isTick);
    this.length += 1;
  }

  /** Puts a row in the place of the last one; the first row if there is none. */
  replaceLast(tS: number, step: StepValues, isTick: boolean): void {
    this.length = Math.max(0, this.length - 1);
    this.add(tS, step, isTick);
  }

  #put(row: number, tS: number, step: StepValues, isTick: boolean): void {
    const { extremes } = this;
    extremes.lowPct = Math.min(extremes.lowPct, step.lowestVoltagePct);
    extremes.highPct = Math.max(extremes.highPct, step.highestVoltagePct);
    extremes.lowHz = Math.min(extremes.lowHz, step.frequencyHz);
    extremes.highHz = Math.max(extremes.highHz, step.frequencyHz);
    const to = this.#arrays;
    to.tS[row] = tS;
    to.gridVPct[row] = step.gridVoltagePct;
    to.vLowPct[row] = step.lowestVoltagePct;
    to.vHighPct[row] = step.highestVoltagePct;
    to.fHz[row] = step.frequencyHz;
    to.pKw[row] = step.activePowerW / 1000;
    to.qKvar[row] = step.reactivePowerVar / 1000;
    to.possibleKw[row] = step.availableW / 1000;
    to.state[row] = serviceWords.indexOf(step.service);
    to.ramp[row] = Number(step.ramps);
    to.tick[row] = Number(isTick);
  }

  /** Drops the rows after `tS`. */
  cutAfter(tS: number): void {
    while (this.length > 0 && this.endS > tS) this.length -= 1;
  }

  /** Gives back the memory of rows that will not come. */
  trim(): void {
    this.#arrays = resized(this.#arrays, this.length);
  }
}
