/**
 * Ticks of real time follow the rate of the clock as far as the machine can: its speed is measured, and ticks that
 * cannot keep the rate are shortened.
 */
import { simStepS } from '../../contract/plant.ts';
import type { Logger } from '../../core/log/log.ts';
import type { TickGuide } from '../../contract/plant.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { tickSeconds } from '../../core/time/sim-clock.ts';
import type { SimClock } from '../../core/time/sim-clock.ts';

/** first estimate of the time for one simulated second of one device */
const initialMsPerDeviceSecond = 0.01;
/** minimum simulated time of a tick: a shorter tick takes no less real time */
const minCutS = simStepS;
/** share of the rate from which the rate counts as held */
const minRateShare = 0.9;
/** minimum time between two warnings */
const warnEveryMs = 60_000;
/** time for which the rate must not be held before a warning */
const shortfallMs = 3_000;
/** share of the tick interval that a tick may take before the simulated time per tick is cut */
const workShare = 0.8;

interface PaceOptions {
  readonly tickIntervalS: number;
  readonly deviceCount: number;
  /** simulated seconds per real second, at start */
  readonly rate: number;
  readonly log: Logger;
}

/** Measurements of one tick; times in real milliseconds. */
interface TickRun {
  readonly beginMs: number;
  readonly endMs: number;
  /** end of the previous tick */
  readonly lastEndMs: number;
  /** simulated seconds */
  readonly doneS: number;
  /** requested rate */
  readonly rate: number;
}

export class Pace {
  readonly #options: PaceOptions;
  /** simulated seconds per tick that the machine can afford; rises again when ticks take less time */
  #affordableS: number;
  #rateEffective: number;
  #warnedMs = -Infinity;
  /** start of the present rate: earlier ticks do not count for it */
  #rateSinceMs = -Infinity;
  /** instant at which the rate was last held; null before the first tick, which a slow start may delay */
  #rateHeldAtMs: number | null = null;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#rateEffective = options.rate;
    this.#affordableS = this.budgetMs / (initialMsPerDeviceSecond * Math.max(1, options.deviceCount));
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
    return this.#rateEffective >= minRateShare * rate;
  }

  /** Sets a new rate, which counts as held until ticks show otherwise. @param nowMs real milliseconds */
  changeRate(rate: number, nowMs: number): void {
    this.#rateEffective = rate;
    this.#rateSinceMs = nowMs;
  }

  /** Simulated seconds of a tick, at most `requestedS`. */
  cut(requestedS: number): number {
    return Math.min(requestedS, Math.max(this.#affordableS, minCutS));
  }

  /** Updates pace and effective rate from the measurements of a tick. */
  learn({ beginMs, endMs, lastEndMs, doneS, rate }: TickRun): void {
    const durationMs = endMs - beginMs;
    this.#affordableS =
      durationMs > this.budgetMs ? (doneS * this.budgetMs) / durationMs : Math.max(2 * this.#affordableS, doneS);
    if (this.#rateHeldAtMs === null) {
      this.#rateHeldAtMs = endMs;
      return;
    }
    const sinceMs = Math.max(lastEndMs, this.#rateSinceMs);
    if (endMs <= sinceMs) return;
    const passedS = (endMs - sinceMs) / 1000;
    // ticks jitter by milliseconds, so only a lasting shortfall or one long tick counts
    const weight = 1 - 0.8 ** Math.max(1, passedS / this.#options.tickIntervalS);
    this.#rateEffective = Math.min(rate, this.#rateEffective + weight * (doneS / passedS - this.#rateEffective));
    this.#warnWhenBehind(endMs, rate);
  }

  #warnWhenBehind(nowMs: number, rate: number): void {
    if (this.#rateHeldAtMs === null || this.holds(rate)) this.#rateHeldAtMs = nowMs;
    if (nowMs - this.#rateHeldAtMs < shortfallMs || nowMs - this.#warnedMs < warnEveryMs) return;
    this.#warnedMs = nowMs;
    this.#options.log.warning(`the machine cannot hold rate ${rate}: it reaches ${this.#rateEffective.toPrecision(3)}`);
  }
}

/** The plant as ticks of real time use it. */
interface TickedPlant {
  readonly clock: SimClock;
  readonly tickIntervalS: number;
  readonly pace: Pace;
  readonly monotonicMs: () => number;
  readonly hasEnded: () => boolean;
  /** end of the last tick, real ms */
  readonly lastEndMs: () => number;
  /** Runs `work` while no device joins or leaves and no other tick runs. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Runs one tick, which ends after the first piece beyond the deadline. @returns the simulated seconds done */
  readonly run: (seconds: number, deadlineMs: number, number?: number) => Promise<number>;
}

/** End of a tick, and its number; undefined: the next one. */
interface TickTarget {
  readonly end: SimTime;
  readonly number: number | undefined;
}

export class RealTicks {
  readonly #plant: TickedPlant;
  #guide: TickGuide | null = null;

  constructor(plant: TickedPlant) {
    this.#plant = plant;
  }

  /** @see Plant.guideTicks */
  follow(guide: TickGuide): () => void {
    const { clock } = this.#plant;
    this.#guide = guide;
    clock.waitFor(() => guide.due());
    return () => {
      if (this.#guide !== guide) return;
      this.#guide = null;
      clock.waitFor(null);
      clock.goOn();
    };
  }

  /** The next instant of the guide; Infinity: none. */
  get guideDue(): number {
    return this.#guide?.due() ?? Infinity;
  }

  /** @see SimPlant.tick */
  async tick(slots: number, number?: number, until?: SimTime): Promise<void> {
    let target: TickTarget | null = null;
    for (;;) {
      const isOver = await this.#plant.inTurn(async () => {
        if (this.#plant.clock.paused || this.#plant.hasEnded()) return true;
        target ??= until === undefined ? { end: this.#tickEnd(slots), number } : this.#gridEnd(until, number);
        if (target.end <= this.#plant.clock.tickTime) return true;
        return this.#tickPiece(target, until !== undefined);
      });
      await this.#awaitGuide();
      if (isOver) return;
    }
  }

  async #awaitGuide(): Promise<void> {
    if (this.#guide === null) return;
    const { clock } = this.#plant;
    clock.stand();
    await this.#guide.reached();
    clock.goOn();
  }

  #tickEnd(slots: number): SimTime {
    const { clock, tickIntervalS, pace } = this.#plant;
    const requestedS = secondsBetween(clock.tickTime, clock.tickEnd(tickSeconds(clock.rate, tickIntervalS * slots)));
    return addSeconds(clock.tickTime, pace.cut(requestedS));
  }

  /** The end of a tick that must be one of a grid of whole ticks: where the machine is slow an earlier one than `until`. */
  #gridEnd(until: SimTime, number: number | undefined): TickTarget {
    const { clock, tickIntervalS, pace } = this.#plant;
    const tickS = tickSeconds(clock.rate, tickIntervalS);
    const requestedS = secondsBetween(clock.tickTime, until);
    const left = Math.max(0, Math.ceil(requestedS / tickS) - 1);
    const firstS = requestedS - left * tickS;
    const more = Math.min(left, Math.max(0, Math.floor((pace.cut(requestedS) - firstS) / tickS)));
    const fewer = left - more;
    return { end: addSeconds(until, -fewer * tickS), number: number === undefined ? number : number - fewer };
  }

  /**
   * Ticks to the end of the target, or to an earlier instant of the guide.
   * @param isWhole true: the end does not move forward where the machine is slow
   * @returns true if the tick is over
   */
  async #tickPiece({ end, number }: TickTarget, isWhole: boolean): Promise<boolean> {
    const { clock } = this.#plant;
    const dueAt = this.guideDue;
    const until = dueAt > clock.tickTime && dueAt < end ? (dueAt as SimTime) : end;
    // from the very end of the tick on: a listener that asks for the time must not move it
    if (this.#guide !== null) clock.stand();
    clock.beginTick(until);
    // pieces that end earlier, at the guide, have the numbers that follow the last one
    const seconds = secondsBetween(clock.tickTime, until);
    await this.#runMeasured(seconds, until === end ? number : undefined, isWhole);
    // cut short: the machine had no time for more
    return until === end || clock.tickTime < until;
  }

  /** Runs a tick, and updates the pace by its duration. */
  async #runMeasured(seconds: number, number: number | undefined, isWhole: boolean): Promise<void> {
    const { clock, pace, monotonicMs, run } = this.#plant;
    const beginMs = monotonicMs();
    const lastEndMs = this.#plant.lastEndMs();
    const doneS = await run(seconds, isWhole ? Infinity : beginMs + pace.budgetMs, number);
    pace.learn({ beginMs, endMs: monotonicMs(), lastEndMs, doneS, rate: clock.rate });
  }
}
