/** The curves of one outstation, of which a window shows one. AN2018-001 2.5.4; IEEE 1815.2 clause 6.1.3 */
import { pointsPerCurve } from '../table/rows.ts';

/** Curves of an outstation. */
export const curveCount = 100;

/** Codes of AI329 that some function follows. */
export const curveType = {
  undefined: 0,
  voltVar: 2,
  wattVar: 4,
  voltWatt: 5,
  hvMustTrip: 9,
  hvMomentary: 10,
  lvMustTrip: 11,
  lvMomentary: 12,
  hfMustTrip: 13,
  hfMomentary: 14,
  lfMustTrip: 15,
  lfMomentary: 16,
} as const;

/** Codes of AI331 and AI332. */
export const xUnit = { timeMs: 4, volts: 29, watts: 38, voltagePct: 129, wattsPct: 138 } as const;
export const yUnit = { varMaxPct: 2, varAvailablePct: 3, varOfWMaxPct: 4, wMaxPct: 5, vRefPct: 8, hzPct: 9 } as const;

/** One curve in wire units. */
export interface StoredCurve {
  type: number;
  xUnit: number;
  yUnit: number;
  /** points in use; written last */
  count: number;
  /** X and Y in turn */
  readonly values: Int32Array;
}

const fresh = (): StoredCurve => ({
  ...{ type: 0, xUnit: 0, yUnit: 0, count: 0 },
  values: new Int32Array(2 * pointsPerCurve),
});

/** What a curve shows that nothing was written to; never changed. */
const emptyCurve: Readonly<StoredCurve> = fresh();

export class CurveStore {
  /** number of the curve in the window, from 1 */
  selected = 1;
  readonly #curves = new Map<number, StoredCurve>();

  /** A curve to be read; one that nothing was written to is empty. @param number from 1 */
  curve(number: number): Readonly<StoredCurve> {
    return this.#curves.get(number) ?? emptyCurve;
  }

  /** A curve to be written. */
  edit(number: number): StoredCurve {
    const curve = this.#curves.get(number) ?? fresh();
    this.#curves.set(number, curve);
    return curve;
  }

  clear(): void {
    this.#curves.clear();
    this.selected = 1;
  }
}
