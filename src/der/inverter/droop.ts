/**
 * Frequency droop (model 711, IEEE 1547-2018 6.5.2.7): outside a dead band the power follows the frequency. It starts
 * from the power at the moment when the frequency left the band.
 */
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { respond } from './ramp.ts';
import type { DroopSetting } from './settings.ts';

export interface DroopInput {
  readonly hz: number;
  readonly nominalHz: number;
  readonly wMaxW: number;
  /** output of the last sub-step, W */
  readonly presentW: number;
  /** power that all other functions together would give, W */
  readonly normalW: number;
  /** the lower of limit and set-point, W */
  readonly capW: number;
  /** true: in service and not in momentary cessation, so that the output follows the functions */
  readonly free: boolean;
  /** maximum power of the source, W */
  readonly maxW: number;
}

const negligibleW = 1e-3;
/** Distance from the normal power, as a share of WMax, at which the return has ended. */
const doneShare = 1e-4;
/** Distance from the droop target, as a share of WMax, at which the response has ended. */
const settledShare = 1e-6;

/** The return follows other functions with a lag for at most this many open-loop response times. */
const returnResponses = 4;

export type DroopSide = 'over' | 'under';

export class FrequencyDroop {
  /** the side that acts or returns; null: droop is inactive */
  side: DroopSide | null = null;
  /** the frequency is outside the dead band now */
  outside = false;
  /** power when the frequency left the dead band, moved by commands since, W */
  referenceW = 0;
  targetW = 0;
  /** filtered power, W */
  outputW = 0;
  moving = false;
  /** offset of the output from the reference; during the return: from the normal power, W */
  #offsetW = 0;
  /** `capW` of the last input */
  #capW = 0;
  /** time since the return began */
  #returningS = 0;

  reset(): void {
    this.side = null;
    this.outside = false;
    this.moving = false;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => this.#state,
      (saved) => {
        this.#state = saved;
      },
    );
  }

  /** Takes over the state of another one, which advances by itself. */
  resume(other: FrequencyDroop): void {
    this.#state = other.#state;
  }

  get #state() {
    return {
      side: this.side,
      outside: this.outside,
      referenceW: this.referenceW,
      targetW: this.targetW,
      outputW: this.outputW,
      moving: this.moving,
      offsetW: this.#offsetW,
      capW: this.#capW,
      returningS: this.#returningS,
    };
  }

  set #state(state) {
    ({
      side: this.side,
      outside: this.outside,
      referenceW: this.referenceW,
      targetW: this.targetW,
      outputW: this.outputW,
      moving: this.moving,
      offsetW: this.#offsetW,
      capW: this.#capW,
      returningS: this.#returningS,
    } = state);
  }

  advance(setting: DroopSetting, input: DroopInput, dtS: number): void {
    const beyond = setting.enabled ? this.#sideOf(setting, input.hz - input.nominalHz) : null;
    if (beyond === null && this.side === null) return;
    if (beyond !== null) this.#updateReference(beyond, input);
    else this.#followOnReturn(setting, input, dtS);
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
   * During the return the output continues from its present value. It follows commands at once, and other changes of
   * the normal power with the droop response; from `returnResponses` response times on it follows every change at once,
   * so that the return ends even if the source always moves.
   */
  #followOnReturn({ responseS }: DroopSetting, { normalW, capW }: DroopInput, dtS: number): void {
    if (this.outside) this.#returningS = 0;
    const lagged = this.outside || (capW === this.#capW && this.#returningS < returnResponses * responseS);
    if (lagged) this.#offsetW = this.outputW - normalW;
    this.#returningS += dtS;
    this.#capW = capW;
  }

  /** The reference is the power when the frequency left the band; a command moves it only where it limits the power. */
  #updateReference(side: DroopSide, { presentW, normalW, capW, free }: DroopInput): void {
    if (!this.outside) {
      // an output that a cessation holds at zero is no operating point to start from
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

  #sideOf({ overBandHz, underBandHz }: DroopSetting, offsetHz: number): DroopSide | null {
    // a rounding error must not put a frequency outside exactly at the edge
    if (offsetHz > overBandHz + 1e-9) return 'over';
    return offsetHz < -underBandHz - 1e-9 ? 'under' : null;
  }

  #target(setting: DroopSetting, { hz, nominalHz, wMaxW, maxW }: DroopInput): number {
    const offsetHz = hz - nominalHz;
    if (this.side === 'over') {
      const lower = this.referenceW - ((offsetHz - setting.overBandHz) / (nominalHz * setting.overDroop)) * wMaxW;
      return Math.min(this.referenceW, Math.max(lower, (setting.minPowerPct / 100) * wMaxW));
    }
    const higher = this.referenceW + ((-offsetHz - setting.underBandHz) / (nominalHz * setting.underDroop)) * wMaxW;
    return Math.max(this.referenceW, Math.min(higher, maxW));
  }
}
