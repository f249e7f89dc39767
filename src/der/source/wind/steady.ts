/** Steady states of a machine under constant wind, solved once into a table; and a turbine without rotor dynamics. */
import { keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import { rotorCp } from './cp.ts';
import { lawTorqueNm } from './machine.ts';
import type { Machine } from './machine.ts';

const stepMS = 0.1;
const maxMS = 60;
const bisections = 50;
/** Maximum pitch of a steady state in region 3. */
const maxPitchDeg = 60;
const maxFineDeg = 6;

export interface SteadyTable {
  readonly shaftW: Float64Array;
  readonly radS: Float64Array;
  readonly pitchDeg: Float64Array;
  /** minimum pitch in operation */
  readonly fineDeg: Float64Array;
}

/** Aerodynamic power in W at a wind speed above 0. */
export function aeroW(m: Machine, windMS: number, radS: number, pitchDeg: number): number {
  return m.halfRhoA * windMS * windMS * windMS * rotorCp(m.cp, (radS * m.radiusM) / windMS, pitchDeg);
}

/**
 * Largest root of a function within low..high that is positive below the root and negative above; `low` without
 * such a root.
 */
function lastRoot(f: (x: number) => number, low: number, high: number, scan: number): number {
  let top = high;
  for (let n = 1; n <= scan; n += 1) {
    const x = high - ((high - low) * n) / scan;
    if (f(x) > 0) {
      let bottom = x;
      for (let i = 0; i < bisections; i += 1) {
        const middle = (bottom + top) / 2;
        if (f(middle) > 0) bottom = middle;
        else top = middle;
      }
      return (bottom + top) / 2;
    }
    top = x;
  }
  return low;
}

/** Pitch in degrees at which the rotor gives `shaftW` at this wind and speed; 0 if that power is out of reach. */
export function pitchForPower(m: Machine, windMS: number, radS: number, shaftW: number): number {
  const surplus = (pitchDeg: number) => aeroW(m, windMS, radS, pitchDeg) - shaftW;
  return lastRoot(surplus, 0, maxPitchDeg, maxPitchDeg);
}

/** Minimum slope of power over pitch for a Newton step, of rated power per degree. */
const minSlope = 1e-3;
const slopeDeg = 0.5;

/** One Newton step from `fromDeg` towards {@link pitchForPower}, at most `maxStepDeg`. */
export function pitchTowardsPower(
  m: Machine,
  windMS: number,
  radS: number,
  shaftW: number,
  fromDeg: number,
  maxStepDeg: number,
): number {
  const hereW = aeroW(m, windMS, radS, fromDeg);
  const slopeW = (aeroW(m, windMS, radS, fromDeg + slopeDeg) - hereW) / slopeDeg;
  const surplusW = hereW - shaftW;
  const stepDeg = slopeW < -minSlope * m.ratedShaftW ? -surplusW / slopeW : Math.sign(surplusW) * maxStepDeg;
  return Math.min(Math.max(fromDeg + Math.min(Math.max(stepDeg, -maxStepDeg), maxStepDeg), 0), maxPitchDeg);
}

/**
 * Minimum pitch in operation, degrees. In weak wind the blades are too fast at minimum speed, and on the analytic
 * surfaces a small pitch then gives more power. The table of the NREL rotor is used at pitch 0, as published.
 */
function finePitchDeg(m: Machine, windMS: number): number {
  if (m.cp.model === 'nrel-5mw' || (m.minRadS * m.radiusM) / windMS <= m.cp.bestRatio) return 0;
  let bestDeg = 0;
  for (let pitchDeg = 0; pitchDeg <= maxFineDeg; pitchDeg += 0.25) {
    if (aeroW(m, windMS, m.minRadS, pitchDeg) > aeroW(m, windMS, m.minRadS, bestDeg)) bestDeg = pitchDeg;
  }
  return bestDeg;
}

function solve(m: Machine, windMS: number, fineDeg: number): { shaftW: number; radS: number; pitchDeg: number } {
  if (aeroW(m, windMS, m.ratedRadS, 0) >= m.ratedShaftW) {
    return { shaftW: m.ratedShaftW, radS: m.ratedRadS, pitchDeg: pitchForPower(m, windMS, m.ratedRadS, m.ratedShaftW) };
  }
  const surplus = (radS: number) => aeroW(m, windMS, radS, fineDeg) - lawTorqueNm(m, radS) * radS;
  const radS = lastRoot(surplus, 0.3 * m.minRadS, m.ratedRadS, 100);
  const shaftW = lawTorqueNm(m, radS) * radS;
  // in a storm an analytic surface may reach its rating only at a pitch above 0
  const pitchDeg = windMS > 10 ? pitchForPower(m, windMS, m.ratedRadS, m.ratedShaftW) : 0;
  return pitchDeg > 0 ? { shaftW: m.ratedShaftW, radS: m.ratedRadS, pitchDeg } : { shaftW, radS, pitchDeg: fineDeg };
}

export function steadyTable(m: Machine): SteadyTable {
  const size = Math.round(maxMS / stepMS) + 1;
  const out = {
    shaftW: new Float64Array(size),
    radS: new Float64Array(size),
    pitchDeg: new Float64Array(size),
    fineDeg: new Float64Array(size),
  };
  for (let n = 1; n < size; n += 1) {
    const fineDeg = finePitchDeg(m, n * stepMS);
    const state = solve(m, n * stepMS, fineDeg);
    out.fineDeg[n] = fineDeg;
    out.shaftW[n] = state.shaftW;
    out.radS[n] = state.radS;
    out.pitchDeg[n] = state.pitchDeg;
  }
  return out;
}

/** Value of a column of the table at a wind speed from 0 up, m/s. */
export function steadyAt(column: Float64Array, windMS: number): number {
  const x = Math.min(windMS / stepMS, column.length - 1.000001);
  const row = Math.floor(x);
  const low = column[row] ?? 0;
  return low + ((column[row + 1] ?? low) - low) * (x - row);
}

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
    const retained = Math.exp(-stepS / lagS);
    this.#powerW = goalW + missing * retained;
    return goalW * stepS + missing * lagS * (1 - retained);
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ slowMS: this.#slowMS, powerW: this.#powerW }),
      ({ slowMS, powerW }) => {
        this.begin(powerW, slowMS);
      },
    );
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
