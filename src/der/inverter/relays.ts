/**
 * Protection besides voltage and frequency limits: anti-islanding (704.AntiIslEna, IEEE 1547-2018 8.1), and two relays
 * that the standard does not ask for and that some devices have: rate of change of frequency, and vector shift.
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
  /** the device feeds the grid and can measure it */
  readonly watching: boolean;
  readonly antiIslanding: boolean;
}

/** Time constant of the measured rate of change, s. */
const rocofWindowS = 0.1;
const negligibleHz = 1e-4;

export class Relays {
  readonly #parameters: InverterParameters;
  #islandDue: SimTime | null = null;
  /** low-pass of the frequency; what was seen last, and when */
  #meanHz: number | null = null;
  #lastHz: number | null = null;
  #at: SimTime | null = null;
  #angleDeg: number | null = null;
  /** the rate of change is still being measured */
  moving = false;

  constructor(parameters: InverterParameters) {
    this.#parameters = parameters;
  }

  /** When the island under way is found; null: none. */
  get islandDue(): SimTime | null {
    return this.#islandDue;
  }

  nextDue(t: SimTime): number {
    return this.#islandDue !== null && this.#islandDue > t ? this.#islandDue : Infinity;
  }

  /** Takes this angle as the one before the first look. */
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

  /** Follows the grid at `t`; returns the relay that trips now, or null. */
  update(t: SimTime, input: RelayInput): RelayKind | null {
    if (!input.watching) {
      this.clear();
      return null;
    }
    if (!input.island || !input.antiIslanding) this.#islandDue = null;
    else this.#islandDue ??= addSeconds(t, this.#parameters.antiIslandingS);
    const rate = this.#rate(t, input.hz);
    const shift = this.#shift(input.angleDeg);
    const { rocofRelayHzS, vectorShiftRelayDeg } = this.#parameters;
    if (this.#islandDue !== null && this.#islandDue <= t) return 'island';
    if (rocofRelayHzS !== null && rate > rocofRelayHzS) return 'rocof';
    return vectorShiftRelayDeg !== null && shift >= vectorShiftRelayDeg ? 'vectorShift' : null;
  }

  /** Rate of change of frequency, Hz/s, over a short window. */
  #rate(t: SimTime, hz: number): number {
    if (this.#parameters.rocofRelayHzS === null) return 0;
    const passedS = this.#at === null ? 0 : Math.max(0, secondsBetween(this.#at, t));
    // what was seen last has held until now: a step after a long calm is a step
    const heldHz = this.#lastHz ?? hz;
    this.#meanHz = heldHz + ((this.#meanHz ?? hz) - heldHz) * Math.exp(-passedS / rocofWindowS);
    this.#at = t;
    this.#lastHz = hz;
    const gap = Math.abs(hz - this.#meanHz);
    this.moving = gap > negligibleHz;
    // a ramp that is looked at in steps lags by half a step more
    return gap / (rocofWindowS + Math.min(passedS, rocofWindowS) / 2);
  }

  /** Change of the phase angle since the last look, degrees. */
  #shift(angleDeg: number): number {
    const before = this.#angleDeg ?? angleDeg;
    this.#angleDeg = angleDeg;
    const turn = Math.abs(angleDeg - before) % 360;
    return Math.min(turn, 360 - turn);
  }
}
