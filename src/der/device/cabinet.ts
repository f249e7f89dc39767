/** The temperature inside the cabinet of an inverter (701.TmpCab). */
import { lagged } from '../source/lag.ts';

/** the losses at full load warm it by so much above ambient in the end, K */
const fullLoadK = 25;
/** heat capacity of heat sink and air */
const timeConstantS = 600;

export class Cabinet {
  #targetC = 20;
  #temperatureC = 20;

  /** Degrees Celsius. */
  get temperatureC(): number {
    return this.#temperatureC;
  }

  /** As after a long time at this ambient temperature and share of the rated power. */
  settle(ambientC: number, loadShare: number): void {
    this.#temperatureC = this.#targetC = steadyC(ambientC, loadShare);
  }

  /**
   * Advances by `dtS` seconds that end at this ambient temperature and share of the rated power.
   * @param held the power has been the same for all of them; otherwise it has moved linearly
   */
  advance(dtS: number, ambientC: number, loadShare: number, held: boolean): void {
    const targetC = steadyC(ambientC, loadShare);
    // a model that has failed gives no temperature
    if (!Number.isFinite(targetC)) return;
    this.#temperatureC = lagged(this.#temperatureC, held ? targetC : this.#targetC, targetC, dtS, timeConstantS);
    this.#targetC = targetC;
  }
}

function steadyC(ambientC: number, loadShare: number): number {
  return ambientC + fullLoadK * Math.abs(loadShare);
}
