/** Enter service (model 703, IEEE 1547-2018 4.10): delay with its random part, then a ramp of the power ceiling. */
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { RandomStream } from '../../core/random.ts';
import type { Settings } from './settings.ts';

type EnterSetting = Settings['enterService'];

export class EnterService {
  readonly #random: RandomStream;
  #delaySince: SimTime | null = null;
  /** share of 703.ESRndTms that this delay takes, 0 to 1 */
  #share = 0;
  #rampSince: SimTime | null = null;

  constructor(random: RandomStream) {
    this.#random = random;
  }

  /** The delay runs: the grid is inside the window. */
  get delayRuns(): boolean {
    return this.#delaySince !== null;
  }

  /** Starts the delay unless it runs already. */
  startDelay(t: SimTime): void {
    if (this.#delaySince !== null) return;
    this.#delaySince = t;
    this.#share = this.#random.next();
  }

  /** Ends the delay early; the next one starts from zero. */
  cancelDelay(): void {
    this.#delaySince = null;
  }

  startRamp(t: SimTime): void {
    this.#rampSince = t;
  }

  endRamp(): void {
    this.#rampSince = null;
  }

  /** End of the running delay; a change of its settings applies at once. */
  delayDue({ delayS, randomDelayS }: EnterSetting): SimTime | null {
    return this.#delaySince === null ? null : addSeconds(this.#delaySince, delayS + this.#share * randomDelayS);
  }

  rampEnd({ rampS }: EnterSetting): SimTime | null {
    return this.#rampSince === null ? null : addSeconds(this.#rampSince, rampS);
  }

  /** The next instant after `t` at which delay or ramp ends. */
  nextDue(t: SimTime, setting: EnterSetting): number {
    let next = Infinity;
    for (const due of [this.delayDue(setting), this.rampEnd(setting)])
      if (due !== null && due > t && due < next) next = due;
    return next;
  }

  /** Share of rated power that the ramp admits at `t`: rises from 0 to 1 over the duration (4.10.3). */
  admittedShare(t: SimTime, { rampS }: EnterSetting): number {
    if (this.#rampSince === null || rampS <= 0) return 1;
    return Math.min(1, secondsBetween(this.#rampSince, t) / rampS);
  }
}
