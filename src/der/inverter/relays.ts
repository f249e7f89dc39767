/**
 * Protection besides voltage and frequency limits: anti-islanding (704.AntiIslEna, IEEE 1547-2018 8.1), and two
 * optional relays outside the standard: rate of change of frequency, and vector shift.
 */
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { InverterParameters } from '../../contract/device.ts';

export const relayKinds = ['island', 'rocof', 'vectorShift'] as const;
export type RelayKind = (typeof relayKinds)[number];

export interface RelayInput {
  readonly hz: number;
  readonly angleDeg: number;
  readonly island: boolean;
  /** true: the device feeds the grid and can measure it */
  readonly watching: boolean;
  readonly antiIslanding: boolean;
}

/** Time constant of the measured rate of change, s. */
const rocofWindowS = 0.1;
const negligibleHz = 1e-4;

export class Relays {
  readonly #parameters: InverterParameters;
  #islandDue: SimTime | null = null;
  /** low-pass of the frequency; the last frequency and its instant */
  #meanHz: number | null = null;
  #lastHz: number | null = null;
  #at: SimTime | null = null;
  #angleDeg: number | null = null;
  /** the rate of change is still being measured */
  moving = false;

  constructor(parameters: InverterParameters) {
    this.#parameters = parameters;
  }

  /** Instant at which the present island is detected; null: no island. */
  get islandDue(): SimTime | null {
    return this.#islandDue;
  }

  nextDue(t: SimTime): number {
    return this.#islandDue !== null && this.#islandDue > t ? this.#islandDue : Infinity;
  }

  /** Sets the angle before the first update. */
  begin(angleDeg: number): void {
    this.#angleDeg = angleDeg;
  }

  clear(): void {
    this.#islandDue = null;
    this.#meanHz = null;
    this.#lastHz = null;
    this.#angleDeg = null;
    this.moving = false;
  }

  /** Updates all relays at `t`. @returns the relay that trips now, or null */
  update(t: SimTime, input: RelayInput): RelayKind | null {
    if (!input.watching) {
      this.clear();
      return null;
    }
    if (!input.island || !input.antiIslanding) this.#islandDue = null;
    else this.#islandDue ??= addSeconds(t, this.#parameters.antiIslandingS);
    const rate = this.#rocofHzS(t, input.hz);
    const shift = this.#angleShiftDeg(input.angleDeg);
    const { rocofRelayHzS, vectorShiftRelayDeg } = this.#parameters;
    if (this.#islandDue !== null && this.#islandDue <= t) return 'island';
    if (rocofRelayHzS !== null && rate > rocofRelayHzS) return 'rocof';
    return vectorShiftRelayDeg !== null && shift >= vectorShiftRelayDeg ? 'vectorShift' : null;
  }

  /** Rate of change of frequency over a short window; updates the low-pass and `moving`. */
  #rocofHzS(t: SimTime, hz: number): number {
    if (this.#parameters.rocofRelayHzS === null) return 0;
    const passedS = this.#at === null ? 0 : Math.max(0, secondsBetween(this.#at, t));
    // the last frequency was held until now: a change after a long pause is a step, not a slow ramp
    const heldHz = this.#lastHz ?? hz;
    this.#meanHz = heldHz + ((this.#meanHz ?? hz) - heldHz) * Math.exp(-passedS / rocofWindowS);
    this.#at = t;
    this.#lastHz = hz;
    const gap = Math.abs(hz - this.#meanHz);
    this.moving = gap > negligibleHz;
    // sampling a ramp in steps adds a lag of half a step
    return gap / (rocofWindowS + Math.min(passedS, rocofWindowS) / 2);
  }

  /** Change of the phase angle since the last update. */
  #angleShiftDeg(angleDeg: number): number {
    const before = this.#angleDeg ?? angleDeg;
    this.#angleDeg = angleDeg;
    const turn = Math.abs(angleDeg - before) % 360;
    return Math.min(turn, 360 - turn);
  }
}
