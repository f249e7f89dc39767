import { keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import { lagged } from '../lag.ts';
import type { PvThermalConfig } from './config.ts';

/** Gap to a constant target that is closed at once, K: too small for a visible effect. */
const restK = 1e-6;

/** Cell temperature: a first-order lag behind Faiman's steady temperature, or a fixed temperature. Degrees Celsius. */
export class CellTemperature {
  readonly #timeConstantS: number;
  #valueC = 25;
  #targetC = 25;

  constructor({ timeConstantS }: PvThermalConfig) {
    this.#timeConstantS = timeConstantS;
  }

  get valueC(): number {
    return this.#valueC;
  }

  /** True if no change is under way. */
  get atRest(): boolean {
    return this.#valueC === this.#targetC;
  }

  /** Jumps to another target. @param fixed true: the temperature jumps as well, without lag */
  jump(targetC: number, fixed: boolean): void {
    this.#targetC = targetC;
    if (fixed) this.#valueC = targetC;
  }

  /** Advances by `dtS`, in which the target has moved linearly to `targetC`. */
  advance(dtS: number, targetC: number, fixed: boolean): void {
    const fromC = this.#targetC;
    this.#targetC = targetC;
    if (fixed) this.#valueC = targetC;
    else if (this.#valueC !== targetC || fromC !== targetC) {
      const valueC = lagged(this.#valueC, fromC, targetC, dtS, this.#timeConstantS);
      this.#valueC = fromC === targetC && Math.abs(targetC - valueC) < restK ? targetC : valueC;
    }
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ valueC: this.#valueC, targetC: this.#targetC }),
      ({ valueC, targetC }) => {
        this.#valueC = valueC;
        this.#targetC = targetC;
      },
    );
  }
}
