/** What the machine can do against real time, learned from the ticks, so that they keep coming where a rate cannot be held. */
import type { Logger } from '../../core/log/log.ts';
import { maxStepS } from '../inverter/inverter.ts';

/** first guess of what a simulated second of a device costs */
const guessedMsPerDeviceSecond = 0.01;
/** no tick is cut below this: less would not cost less */
const minCutS = maxStepS;
/** part of the rate below which it does not count as held */
const heldShare = 0.9;
const warnEveryMs = 60_000;
const lastingMs = 3_000;
/** part of the tick interval that a tick may take before the simulated time per tick is cut */
const workShare = 0.8;

export interface PaceOptions {
  readonly tickIntervalS: number;
  readonly deviceCount: number;
  /** simulated seconds per real second, at start */
  readonly rate: number;
  readonly log: Logger;
}

/** One tick as it went; times in real milliseconds. */
interface TickRun {
  readonly beginMs: number;
  readonly endMs: number;
  /** end of the tick before */
  readonly lastEndMs: number;
  /** simulated seconds */
  readonly doneS: number;
  /** asked for */
  readonly rate: number;
}

export class Pace {
  readonly #options: PaceOptions;
  /** simulated seconds per tick that the machine can do; grows back when it has room */
  #affordableS: number;
  #rateEffective: number;
  #warnedMs = -Infinity;
  /** when the present rate was asked for: what passed before says nothing about it */
  #rateSinceMs = -Infinity;
  /** when the rate was held last; null before the first tick, which the start of the process may have made late */
  #heldMs: number | null = null;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#rateEffective = options.rate;
    this.#affordableS = this.budgetMs / (guessedMsPerDeviceSecond * Math.max(1, options.deviceCount));
  }

  /** Real milliseconds that a tick may take. */
  get budgetMs(): number {
    return workShare * this.#options.tickIntervalS * 1000;
  }

  /** Simulated seconds per real second that the last ticks reached. */
  get rateEffective(): number {
    return this.#rateEffective;
  }

  holds(rate: number): boolean {
    return this.#rateEffective >= heldShare * rate;
  }

  /** Another rate is asked for: it counts as reached until ticks say otherwise. @param nowMs real milliseconds */
  changeRate(rate: number, nowMs: number): void {
    this.#rateEffective = rate;
    this.#rateSinceMs = nowMs;
  }

  /** Of the simulated seconds that a tick should have, those that it can have. */
  cut(askedS: number): number {
    return Math.min(askedS, Math.max(this.#affordableS, minCutS));
  }

  learn({ beginMs, endMs, lastEndMs, doneS, rate }: TickRun): void {
    const tookMs = endMs - beginMs;
    this.#affordableS =
      tookMs > this.budgetMs ? (doneS * this.budgetMs) / tookMs : Math.max(2 * this.#affordableS, doneS);
    if (this.#heldMs === null) {
      this.#heldMs = endMs;
      return;
    }
    const sinceMs = Math.max(lastEndMs, this.#rateSinceMs);
    if (endMs <= sinceMs) return;
    const passedS = (endMs - sinceMs) / 1000;
    // ticks jitter by milliseconds; only a lasting shortfall should show, and a long tick has lasted
    const weight = 1 - 0.8 ** Math.max(1, passedS / this.#options.tickIntervalS);
    this.#rateEffective = Math.min(rate, this.#rateEffective + weight * (doneS / passedS - this.#rateEffective));
    this.#warnWhenBehind(endMs, rate);
  }

  #warnWhenBehind(nowMs: number, rate: number): void {
    if (this.#heldMs === null || this.holds(rate)) this.#heldMs = nowMs;
    if (nowMs - this.#heldMs < lastingMs || nowMs - this.#warnedMs < warnEveryMs) return;
    this.#warnedMs = nowMs;
    this.#options.log.warning(`the machine cannot hold rate ${rate}: it reaches ${this.#rateEffective.toPrecision(3)}`);
  }
}
