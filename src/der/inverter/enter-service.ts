/** Enter service (model 703, IEEE 1547-2018 4.10): delay with its random part, then a ramp of the power ceiling. */
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { RandomStream } from '../../core/random.ts';
import type { Settings } from './settings.ts';

type EnterSetting = Settings['enterService'];

export class EnterService {
  readonly #random: RandomStream;
  #delayFrom: SimTime | null = null;
  /** this delay's part of 703.ESRndTms, 0 to 1 */
  #share = 0;
  #rampFrom: SimTime | null = null;

  constructor(random: RandomStream) {
    this.#random = random;
  }

  /** The grid is good and only time is missing. */
  get waiting(): boolean {
    return this.#delayFrom !== null;
  }

  /** Begins the delay, unless it runs. */
  wait(t: SimTime): void {
    if (this.#delayFrom !== null) return;
    this.#delayFrom = t;
    this.#share = this.#random.next();
  }

  /** The delay must be held without a break: the next one begins anew. */
  breakOff(): void {
    this.#delayFrom = null;
  }

  /** Begins the ramp. */
  ramp(t: SimTime): void {
    this.#rampFrom = t;
  }

  endRamp(): void {
    this.#rampFrom = null;
  }

  /** End of the delay under way; a change of its settings counts at once. */
  delayDue({ delayS, randomDelayS }: EnterSetting): SimTime | null {
    return this.#delayFrom === null ? null : addSeconds(this.#delayFrom, delayS + this.#share * randomDelayS);
  }

  rampEnd({ rampS }: EnterSetting): SimTime | null {
    return this.#rampFrom === null ? null : addSeconds(this.#rampFrom, rampS);
  }

  /** The next instant after `t` at which delay or ramp ends. */
  nextDue(t: SimTime, setting: EnterSetting): number {
    let next = Infinity;
    for (const due of [this.delayDue(setting), this.rampEnd(setting)])
      if (due !== null && due > t && due < next) next = due;
    return next;
  }

  /** Part of rated power that the ramp admits at `t`: from 0 to all of it over the duration (4.10.3). */
  admitted(t: SimTime, { rampS }: EnterSetting): number {
    if (this.#rampFrom === null || rampS <= 0) return 1;
    return Math.min(1, secondsBetween(this.#rampFrom, t) / rampS);
  }
}
