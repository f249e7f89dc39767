/** The rows of one device as columns that grow: ten numbers of a row take a tenth of their memory as objects. */
import type { CaptureColumns } from '../contract/captures.ts';
import { serviceWords } from '../contract/grid-trace.ts';
import type { StepValues } from '../contract/grid-trace.ts';
import { SimError } from '../core/errors.ts';

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

export const bytesOfRows = (rows: number): number => rows * bytesOfRow;

const columnNames = Object.keys(columnsOf(0)) as readonly (keyof Arrays)[];

/** One column behind the other. */
export function octetsOf(columns: CaptureColumns): Buffer {
  return Buffer.concat(
    columnNames.map((name) => {
      const { buffer, byteOffset, byteLength } = columns[name].subarray(0, columns.length);
      return Buffer.from(buffer, byteOffset, byteLength);
    }),
  );
}

const noExtremes = { lowPct: Infinity, highPct: -Infinity, lowHz: Infinity, highHz: -Infinity };

/** The reverse of `octetsOf`. @throws SimError INTERNAL for octets of another length */
export function columnsFrom(octets: Buffer, length: number): CaptureColumns {
  if (octets.length !== bytesOfRows(length))
    throw new SimError('INTERNAL', `${octets.length} octets are not ${length} rows`);
  const arrays = columnsOf(length);
  const extremes = { ...noExtremes };
  let at = 0;
  for (const name of columnNames) {
    const { buffer, byteLength } = arrays[name];
    new Uint8Array(buffer).set(octets.subarray(at, at + byteLength));
    at += byteLength;
  }
  for (let row = 0; row < length; row += 1) extend(extremes, arrays, row);
  return { ...arrays, length, extremes };
}

function extend(extremes: typeof noExtremes, { vLowPct, vHighPct, fHz }: Arrays, row: number): void {
  extremes.lowPct = Math.min(extremes.lowPct, vLowPct[row] ?? Infinity);
  extremes.highPct = Math.max(extremes.highPct, vHighPct[row] ?? -Infinity);
  extremes.lowHz = Math.min(extremes.lowHz, fHz[row] ?? Infinity);
  extremes.highHz = Math.max(extremes.highHz, fHz[row] ?? -Infinity);
}

export class Columns implements CaptureColumns {
  #arrays = columnsOf(firstRows);
  length = 0;
  readonly extremes = { ...noExtremes };

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
    return bytesOfRows(this.#arrays.tS.length);
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
    extend(this.extremes, to, row);
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
