/**
 * Frequency droop (model 711, IEEE 1547-2018 6.5.2.7): beyond a dead band the power follows the frequency, starting
 * at the power of the moment at which the band was left.
 */
import { respondToRamp } from './ramp.ts';
import type { DroopSetting } from './settings.ts';

export interface DroopInput {
  readonly hz: number;
  readonly nominalHz: number;
  readonly wMaxW: number;
  /** output of the last sub-step, or what it would be where a fault holds it at zero */
  readonly presentW: number;
  /** what all other functions together would give */
  readonly normalW: number;
  /** a command is changing the power: the reference goes with it */
  readonly commanded: boolean;
  /** limit or set-point is on its ramp, and felt */
  readonly ramped?: boolean;
  /** most that the source can give, least that it can (negative = take) */
  readonly mostW: number;
}

/** Share of WMax within which the way back counts as done. */
const doneShare = 1e-4;

export type DroopSide = 'over' | 'under';

export class FrequencyDroop {
  /** which side acts or is on its way back; null: none */
  side: DroopSide | null = null;
  /** frequency is beyond the dead band now */
  outside = false;
  /** power when the dead band was left, W */
  referenceW = 0;
  targetW = 0;
  /** filtered power, W */
  outputW = 0;
  moving = false;
  #before: Pick<DroopInput, 'hz' | 'ramped'> = { hz: 0 };

  reset(): void {
    this.side = null;
    this.outside = false;
    this.moving = false;
  }

  advance(setting: DroopSetting, input: DroopInput, dtS: number): void {
    const beyond = setting.enabled ? this.#beyond(setting, input.hz - input.nominalHz) : null;
    if (beyond === null && this.side === null) return;
    if (beyond !== null && !this.outside) {
      if (this.side === null) this.outputW = input.presentW;
      this.referenceW = input.presentW;
    }
    // with nothing but a command at work the target goes straight, not in steps
    const sameSide = this.outside === (beyond !== null) && this.side === (beyond ?? this.side);
    const straight = sameSide && input.ramped === true && this.#before.ramped === true && this.#before.hz === input.hz;
    const fromW = this.targetW;
    this.#before = input;
    this.outside = beyond !== null;
    if (beyond !== null) this.side = beyond;
    if (this.outside && input.commanded) this.referenceW = input.normalW;
    this.targetW = this.outside ? this.#target(setting, input) : input.normalW;
    const settledAt = doneShare * input.wMaxW;
    const within = this.outside ? settledAt / 100 : settledAt;
    this.outputW = respondToRamp(this.outputW, straight ? fromW : this.targetW, this.targetW, setting.responseS, dtS, within);
    this.moving = this.outputW !== this.targetW;
    if (!this.outside && !this.moving) this.reset();
  }

  #beyond({ overBandHz, underBandHz }: DroopSetting, offsetHz: number): DroopSide | null {
    // a frequency on the edge is inside, whatever its last bit
    if (offsetHz > overBandHz + 1e-9) return 'over';
    return offsetHz < -underBandHz - 1e-9 ? 'under' : null;
  }

  #target(setting: DroopSetting, { hz, nominalHz, wMaxW, mostW }: DroopInput): number {
    const offsetHz = hz - nominalHz;
    if (this.side === 'over') {
      const lower = this.referenceW - (offsetHz - setting.overBandHz) / (nominalHz * setting.overDroop) * wMaxW;
      return Math.min(this.referenceW, Math.max(lower, setting.leastPct / 100 * wMaxW));
    }
    const higher = this.referenceW + (-offsetHz - setting.underBandHz) / (nominalHz * setting.underDroop) * wMaxW;
    return Math.max(this.referenceW, Math.min(higher, mostW));
  }
}
