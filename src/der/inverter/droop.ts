/**
 * Frequency droop (model 711, IEEE 1547-2018 6.5.2.7): beyond a dead band the power follows the frequency, starting
 * at the power of the moment at which the band was left.
 */
import { respond } from './ramp.ts';
import type { DroopSetting } from './settings.ts';

export interface DroopInput {
  readonly hz: number;
  readonly nominalHz: number;
  readonly wMaxW: number;
  /** output of the last sub-step */
  readonly presentW: number;
  /** what all other functions together would give */
  readonly normalW: number;
  /** the lower of limit and set-point */
  readonly capW: number;
  /** the output follows the functions: no ramp of entering or stopping and no fault holds it */
  readonly free: boolean;
  /** most that the source can give */
  readonly maxW: number;
}

const negligibleW = 1e-3;
/** Share of WMax within which the way back counts as done. */
const doneShare = 1e-4;
/** Share of WMax to which the way out is followed. */
const settledShare = 1e-6;

/** Open-loop responses after which the way back no longer follows the rest with a lag. */
const returnResponses = 4;

export type DroopSide = 'over' | 'under';

export class FrequencyDroop {
  /** which side acts or is on its way back; null: none */
  side: DroopSide | null = null;
  /** frequency is beyond the dead band now */
  outside = false;
  /** power when the dead band was left, moved by commands since, W */
  referenceW = 0;
  targetW = 0;
  /** filtered power, W */
  outputW = 0;
  moving = false;
  /** what droop adds to the reference, and on the way back to the normal power */
  #offsetW = 0;
  #capW = 0;
  #returningS = 0;

  reset(): void {
    this.side = null;
    this.outside = false;
    this.moving = false;
  }

  advance(setting: DroopSetting, input: DroopInput, dtS: number): void {
    const beyond = setting.enabled ? this.#beyond(setting, input.hz - input.nominalHz) : null;
    if (beyond === null && this.side === null) return;
    if (beyond !== null) this.#follow(beyond, input);
    else this.#return(setting, input, dtS);
    this.outside = beyond !== null;
    const baseW = this.outside ? this.referenceW : input.normalW;
    this.targetW = this.outside ? this.#target(setting, input) : baseW;
    const settledAt = (this.outside ? settledShare : doneShare) * input.wMaxW;
    this.#offsetW = respond(this.#offsetW, this.targetW - baseW, setting.responseS, dtS, settledAt);
    this.outputW = baseW + this.#offsetW;
    this.moving = this.#offsetW !== this.targetW - baseW;
    if (!this.outside && !this.moving) this.reset();
  }

  /**
   * On the way back the output goes on from where it is, and follows what other functions do to the normal power with the
   * same response. It follows commands at once, and after some responses everything, so that the way back has an end
   * under a source that never rests.
   */
  #return({ responseS }: DroopSetting, { normalW, capW }: DroopInput, dtS: number): void {
    if (this.outside) this.#returningS = 0;
    const lagged = this.outside || (capW === this.#capW && this.#returningS < returnResponses * responseS);
    if (lagged) this.#offsetW = this.outputW - normalW;
    this.#returningS += dtS;
    this.#capW = capW;
  }

  /** Keeps the reference: the power of the moment at which the band was left; commands move it where they bind. */
  #follow(side: DroopSide, { presentW, normalW, capW, free }: DroopInput): void {
    if (!this.outside) {
      // a fault that holds the output at zero is no operating point to start from
      this.referenceW = free ? presentW : normalW;
      this.#offsetW = 0;
    } else if (!free) {
      this.referenceW = normalW;
    } else if (capW < this.#capW) {
      this.referenceW = Math.min(this.referenceW, capW);
    } else if (capW > this.#capW && this.referenceW >= this.#capW - negligibleW) {
      this.referenceW = Math.max(this.referenceW, normalW);
    }
    this.#capW = capW;
    this.side = side;
  }

  #beyond({ overBandHz, underBandHz }: DroopSetting, offsetHz: number): DroopSide | null {
    // a frequency on the edge is inside, whatever its last bit
    if (offsetHz > overBandHz + 1e-9) return 'over';
    return offsetHz < -underBandHz - 1e-9 ? 'under' : null;
  }

  #target(setting: DroopSetting, { hz, nominalHz, wMaxW, maxW }: DroopInput): number {
    const offsetHz = hz - nominalHz;
    if (this.side === 'over') {
      const lower = this.referenceW - ((offsetHz - setting.overBandHz) / (nominalHz * setting.overDroop)) * wMaxW;
      return Math.min(this.referenceW, Math.max(lower, (setting.leastPct / 100) * wMaxW));
    }
    const higher = this.referenceW + ((-offsetHz - setting.underBandHz) / (nominalHz * setting.underDroop)) * wMaxW;
    return Math.max(this.referenceW, Math.min(higher, maxW));
  }
}
