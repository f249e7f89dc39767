/** A running turbine without rotor dynamics, for high simulation rates. */
import type { Machine } from './machine.ts';
import { aeroW, steadyAt } from './steady.ts';
import type { SteadyTable } from './steady.ts';

const lagS = 3;
const ratedShare = 0.99;

/**
 * Power follows the steady curve with a first-order lag, exact for any step. The curve alone would give up to 0.8 % too
 * much energy under turbulence, because inertia keeps the rotor from its best tip-speed ratio in gusts. The goal is
 * therefore the power of the present wind on a rotor whose speed follows the wind with a lag.
 */
export class QuasiSteady {
  readonly #m: Machine;
  readonly #steady: SteadyTable;
  /** wind whose steady rotor speed has been reached, m/s */
  #slowMS = 0;
  #powerW = 0;

  constructor(machine: Machine, steady: SteadyTable) {
    this.#m = machine;
    this.#steady = steady;
  }

  get slowMS(): number {
    return this.#slowMS;
  }
  /** Shaft power at the end of the last step, W. */
  get powerW(): number {
    return this.#powerW;
  }

  begin(powerW: number, windMS: number): void {
    this.#powerW = powerW;
    this.#slowMS = windMS;
  }

  /** @returns energy at the shaft over the step, J */
  advance(stepS: number, windMS: number, energized: boolean): number {
    const m = this.#m;
    const speedRadS = Math.max(steadyAt(this.#steady.radS, this.#slowMS), m.minRadS);
    // linearised response of the speed in region 2
    const inertiaS = m.inertiaKgM2 / (3 * m.torqueFactor * speedRadS);
    this.#slowMS -= (windMS - this.#slowMS) * Math.expm1(-stepS / inertiaS);
    const goalW = energized ? this.#goalW(windMS) : 0;
    const missing = this.#powerW - goalW;
    const kept = Math.exp(-stepS / lagS);
    this.#powerW = goalW + missing * kept;
    return goalW * stepS + missing * lagS * (1 - kept);
  }

  #goalW(windMS: number): number {
    const m = this.#m;
    const radS = steadyAt(this.#steady.radS, this.#slowMS);
    const steadyW = steadyAt(this.#steady.shaftW, windMS);
    if (steadyW >= m.ratedShaftW * ratedShare && radS >= m.ratedRadS * ratedShare) return steadyW;
    if (!(radS > 0)) return 0;
    const power = aeroW(m, windMS, radS, steadyAt(this.#steady.fineDeg, windMS));
    return Math.min(Math.max(power, 0), m.ratedShaftW);
  }
}
