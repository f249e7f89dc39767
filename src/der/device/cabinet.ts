/** The temperature inside the cabinet of an inverter (701.TmpCab). */
import { lagged } from '../source/lag.ts';

/** final rise above ambient at full load, K */
const fullLoadK = 25;
/** time constant from the heat capacity of heat sink and air */
const timeConstantS = 600;

export class Cabinet {
  #targetC = 20;
  #temperatureC = 20;

  /** Degrees Celsius. */
  get temperatureC(): number {
    return this.#temperatureC;
  }

  /** Jumps to the steady state at an ambient temperature and share of the rated power. */
  settle(ambientC: number, loadShare: number): void {
    this.#temperatureC = this.#targetC = steadyC(ambientC, loadShare);
  }

  /**
   * Advances by `dtS` seconds that end at this ambient temperature and share of the rated power.
   * @param held true: constant power; false: linear change
   */
  advance(dtS: number, ambientC: number, loadShare: number, held: boolean): void {
    const targetC = steadyC(ambientC, loadShare);
    // a failed model gives no temperature
    if (!Number.isFinite(targetC)) return;
    this.#temperatureC = lagged(this.#temperatureC, held ? targetC : this.#targetC, targetC, dtS, timeConstantS);
    this.#targetC = targetC;
  }
}

function steadyC(ambientC: number, loadShare: number): number {
  return ambientC + fullLoadK * Math.abs(loadShare);
}
