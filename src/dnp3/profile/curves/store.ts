/** The curves of one outstation, of which a window shows one. AN2018-001 2.5.4; IEEE 1815.2 clause 6.1.3 */
import { pointsPerCurve } from '../table/rows.ts';
import { WindowHolder } from '../window-holder.ts';

/** Curves of an outstation. */
export const curveCount = 100;

/** Codes of AI329 that a function follows. */
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
  type: 0,
  xUnit: 0,
  yUnit: 0,
  count: 0,
  values: new Int32Array(2 * pointsPerCurve),
});

/** Value of a curve that was never written. */
const emptyCurve: Readonly<StoredCurve> = fresh();

export class CurveStore {
  /** number of the curve in the window, from 1 */
  selected = 1;
  readonly holder = new WindowHolder();
  /** as the window shows and changes them */
  readonly #drafts = new Map<number, StoredCurve>();
  /** as functions follow them */
  readonly #curves = new Map<number, StoredCurve>();

  /** A curve as it was committed; before that it is empty. @param number from 1 */
  curve(number: number): Readonly<StoredCurve> {
    return this.#curves.get(number) ?? emptyCurve;
  }

  /** The curve in the window as it has been written so far. */
  get draft(): Readonly<StoredCurve> {
    return this.#drafts.get(this.selected) ?? emptyCurve;
  }

  /** Changes the draft of the curve in the window: no function follows it yet. */
  edit(change: (draft: StoredCurve) => void): void {
    const draft = this.#drafts.get(this.selected) ?? fresh();
    this.#drafts.set(this.selected, draft);
    change(draft);
  }

  /** Commits the draft as the curve. */
  commit(): void {
    const { draft } = this;
    this.#curves.set(this.selected, { ...draft, values: draft.values.slice() });
  }

  clear(): void {
    this.#drafts.clear();
    this.#curves.clear();
    this.selected = 1;
    this.holder.forget();
  }
}
