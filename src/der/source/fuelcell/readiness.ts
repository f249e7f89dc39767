/** Loading ramp of a plant, and the dwell before it reverses: readiness of either direction. */
import type { FuelCellParameters } from '../../../contract/kinds/fuelcell.ts';

/** Minimum load of fuel cell and electrolyser, share of rated power; below it they idle. */
export const minFuelCellShare = 0.03;
export const minElectrolyserShare = 0.1;
/** a dwell shorter than this has ended */
const clockResolutionS = 1e-6;

type Limits = Pick<FuelCellParameters, 'rampUpPctS' | 'rampDownPctS' | 'dwellS' | 'operatingMode'>;

export class Readiness {
  readonly #limits: Limits;
  /** direction of the last power, while it still blocks the other one */
  #side: -1 | 0 | 1 = 0;
  /** load that the plant is ready for in that direction, of rated */
  #level = 0;
  /** time until the other direction may start, s */
  #dwellS = 0;
  #counting = false;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Remaining dwell before the other direction may start, s; 0 while power flows. */
  get dwellRemainingS(): number {
    return this.#counting ? this.#dwellS : 0;
  }

  /** Time until the dwell ends if the plant stays idle, s. */
  get untilOpenS(): number {
    return this.#counting ? this.#dwellS : Infinity;
  }

  /** Maximum load of one direction at the end of `dtS`, of rated. @param pctS ramp, percent of rated per second */
  maxShare(side: -1 | 1, dtS: number, pctS: number): number {
    if (this.#dwellS > 0 && side !== this.#side) return 0;
    // an idle plant is ready for its minimum load
    const minShare = side > 0 ? minFuelCellShare : minElectrolyserShare;
    return Math.max(this.#side === side ? this.#level : 0, minShare) + (pctS / 100) * dtS;
  }

  /** Runs for `dtS` at a share of rated power, + fuel cell, - electrolysis. */
  run(share: number, dtS: number): void {
    const { operatingMode, rampDownPctS } = this.#limits;
    const magnitude = Math.abs(share);
    const side = share > 0 ? 1 : share < 0 ? -1 : this.#side;
    const decayedLevel = side === this.#side ? this.#level - (rampDownPctS / 100) * dtS : 0;
    this.#level = Math.max(magnitude, decayedLevel);
    if (operatingMode === 'bidirectional') this.#wait(magnitude, side !== this.#side, dtS);
    this.#side = side;
  }

  #wait(magnitude: number, turned: boolean, dtS: number): void {
    this.#counting = false;
    if (magnitude >= minFuelCellShare || turned) this.#dwellS = this.#limits.dwellS;
    if (magnitude >= minFuelCellShare) return;
    const leftS = this.#dwellS - dtS;
    this.#dwellS = leftS < clockResolutionS ? 0 : leftS;
    this.#counting = this.#dwellS > 0;
  }

  /** Jumps to the state after a long run at a share of rated power. */
  settle(share: number): void {
    this.#level = 0;
    this.#side = 0;
    this.#dwellS = 0;
    this.#counting = false;
    if (Math.abs(share) >= minFuelCellShare) this.run(share, 0);
  }
}
