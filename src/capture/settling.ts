/** A device has settled with its power within 1 % of its rating for 1 s, under a grid that stands still. */
import { addSeconds, secondsBetween } from '../core/time/clock.ts';
import type { SimTime } from '../core/time/clock.ts';
import type { StepValues } from '../contract/grid-trace.ts';

const quietS = 1;
const shareOfRating = 0.01;
/** Changes of the grid from which a device has to settle anew: percent of VNom, and Hz. */
const gridPct = 0.5;
const gridHz = 0.02;

/** Deviation of the power that counts as none, W. */
export const toleranceW = (ratingW: number): number => shareOfRating * ratingW;

export class Settling {
  readonly #toleranceW: number;
  #from: StepValues | null = null;
  /** begin of the time within which the power is that of `#from` */
  #since: SimTime | null = null;
  #lastAt: SimTime | null = null;
  #settledAt: SimTime | null = null;

  constructor(ratingW: number) {
    this.#toleranceW = toleranceW(ratingW);
  }

  /** The instant from which the device counts as settled; null: it is not. */
  get settledAt(): SimTime | null {
    return this.#settledAt;
  }

  /** Begins anew with a disturbance at `t`. */
  restart(t: SimTime): void {
    this.#lastAt = t;
    this.#from = null;
    this.#settledAt = null;
  }

  add(step: StepValues): void {
    const from = this.#from;
    if (from === null || this.#isDisturbed(from, step)) {
      this.#begin(step);
      this.#settledAt = null;
    } else if (this.#settledAt === null && Math.abs(step.activePowerW - from.activePowerW) > this.#toleranceW) {
      // once settled, a power that moves with the weather starts nothing
      this.#begin(step);
    }
    this.#lastAt = step.at;
    if (this.#since !== null && secondsBetween(this.#since, step.at) >= quietS)
      this.#settledAt ??= addSeconds(this.#since, quietS);
  }

  #begin(step: StepValues): void {
    this.#from = step;
    // without a slope the values hold from the sub-step before
    this.#since = step.ramps ? step.at : (this.#lastAt ?? step.at);
  }

  #isDisturbed(from: StepValues, step: StepValues): boolean {
    return (
      step.service !== from.service ||
      Math.abs(step.gridVoltagePct - from.gridVoltagePct) > gridPct ||
      Math.abs(step.frequencyHz - from.frequencyHz) > gridHz
    );
  }
}
