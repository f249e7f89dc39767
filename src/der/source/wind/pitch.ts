/** Pitch drive with its speed controller. */
import { keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import { featherDeg } from './cp.ts';
import type { Machine } from './machine.ts';

/** Maximum pitch in operation; larger angles lead to feather. */
const maxPitchDeg = 60;
/** Minimum pitch rate in an emergency, driven by stored energy. */
const emergencyRateDegS = 8;

export class PitchDrive {
  readonly #m: Machine;
  #deg = featherDeg;
  #fineDeg = 0;
  #integralDeg = 0;
  #leadDeg = 0;

  constructor(machine: Machine) {
    this.#m = machine;
  }

  get deg(): number {
    return this.#deg;
  }

  /** Pitch above the minimum pitch in operation, degrees. */
  get aboveFineDeg(): number {
    return this.#deg - this.#fineDeg;
  }

  jump(deg: number, fineDeg: number): void {
    this.#deg = deg;
    this.#fineDeg = fineDeg;
    this.#integralDeg = deg;
    this.#leadDeg = 0;
  }

  /** Moves towards an angle at the rate of the drive; the controller continues from there. */
  moveTo(goalDeg: number, stepS: number): void {
    const maxMoveDeg = this.#m.pitchRateDegS * stepS;
    this.#deg += Math.min(Math.max(goalDeg - this.#deg, -maxMoveDeg), maxMoveDeg);
    this.#integralDeg = Math.min(this.#deg, maxPitchDeg);
    this.#leadDeg = 0;
  }

  /** Moves towards feather on loss of grid or overspeed. */
  feather(stepS: number): void {
    const maxMoveDeg = Math.max(this.#m.pitchRateDegS, emergencyRateDegS) * stepS;
    this.#deg = Math.min(featherDeg, this.#deg + maxMoveDeg);
    this.#integralDeg = Math.min(this.#deg, maxPitchDeg);
    this.#leadDeg = 0;
  }

  /** Feed-forward pitch of the controller, degrees; 0: none. The blades do not jump when it starts or ends. */
  get leadDeg(): number {
    return this.#leadDeg;
  }

  set leadDeg(deg: number) {
    if (this.#leadDeg === 0 || deg === 0) this.#integralDeg += this.#leadDeg - deg;
    this.#leadDeg = deg;
  }

  /**
   * PI control of the rotor speed with gain schedule, limits of angle and rate, and anti-windup.
   * @param error speed above its reference, of rated speed
   * @param fineDeg minimum pitch at this wind
   */
  control(error: number, fineDeg: number, stepS: number): void {
    const m = this.#m;
    this.#fineDeg = fineDeg;
    const lead = this.#leadDeg;
    const minDeg = Math.max(0, fineDeg - lead);
    const gain = 1 / (1 + this.#deg / m.gainHalfDeg);
    const integral = Math.min(
      Math.max(this.#integralDeg + gain * m.pitchGainDegS * error * stepS, minDeg),
      maxPitchDeg - lead,
    );
    const demandDeg = Math.min(Math.max(lead + integral + gain * m.pitchGainDeg * error, fineDeg), maxPitchDeg);
    const maxMoveDeg = m.pitchRateDegS * stepS;
    const change = demandDeg - this.#deg;
    // anti-windup: while the drive cannot follow, the integral may only move back
    if (Math.abs(change) <= maxMoveDeg || (integral - this.#integralDeg) * change < 0) this.#integralDeg = integral;
    this.#deg += Math.min(Math.max(change, -maxMoveDeg), maxMoveDeg);
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({
        deg: this.#deg,
        fineDeg: this.#fineDeg,
        integralDeg: this.#integralDeg,
        leadDeg: this.#leadDeg,
      }),
      (values) => {
        this.#deg = values.deg;
        this.#fineDeg = values.fineDeg;
        this.#integralDeg = values.integralDeg;
        this.#leadDeg = values.leadDeg;
      },
    );
  }
}
