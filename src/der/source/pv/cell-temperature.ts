import { lagged } from '../lag.ts';
import type { PvThermalConfig } from './config.ts';

/** A gap to a target at rest that the lag would close without an effect on any figure, K. */
const restK = 1e-6;

/** Cell temperature: a first-order lag behind Faiman's steady temperature, or a given temperature. Degrees Celsius. */
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

  /** No change is under way. */
  get atRest(): boolean {
    return this.#valueC === this.#targetC;
  }

  /** The target has jumped. @param fixed the temperature is given and has no lag */
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
}
