import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Logger } from './log/log.ts';
import { callEvery } from './time/timers.ts';
import type { Every } from './time/timers.ts';

/** Delay of the event loop, as health and metrics show it. */
export interface EventLoopState {
  /** delay of timers in the last full period, ms; during the first period, in its part so far */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** how often the loop was blocked for more than 1 s */
  readonly stalls: number;
  /** periods of 10 s in which 1 % of the timers were more than 100 ms late */
  readonly slowPeriods: number;
}

/** The part of Node's `IntervalHistogram` that is used; it records ns between samples, the resolution included. */
export interface DelayHistogram {
  readonly count: number;
  readonly max: number;
  percentile(percentile: number): number;
  reset(): void;
  enable(): boolean;
  disable(): boolean;
}

export interface EventLoopOptions {
  readonly log: Logger;
  readonly histogram?: DelayHistogram;
  readonly every?: Every;
}

const resolutionMs = 20;
const checkMs = 1000;
const checksPerPeriod = 10;
const slowMs = 100;
const stallMs = 1000;
/** a gap of this length disturbs measurements of time at peers */
const gapMs = 250;
/** a loop that stays slow is reported again after this many periods */
const periodsPerWarning = 6;

/** Delay of a sample beyond its due time, ms with three decimals. */
const lateMs = (ns: number) => Math.max(0, Math.round(ns / 1e3) - resolutionMs * 1e3) / 1e3;

/** Measures the delay of the event loop; counts and logs delays that are too long. */
export class EventLoopWatch implements EventLoopState {
  readonly #log: Logger;
  readonly #histogram: DelayHistogram;
  readonly #every: Every;
  #end: (() => void) | null = null;
  #checks = 0;
  #stallsOfPeriod = 0;
  #slowInARow = 0;
  #lastMaxMs = 0;
  #lastPeriod: { readonly p50Ms: number; readonly p99Ms: number } | null = null;
  stalls = 0;
  slowPeriods = 0;

  constructor({ log, histogram, every = callEvery }: EventLoopOptions) {
    this.#log = log;
    this.#histogram = histogram ?? monitorEventLoopDelay({ resolution: resolutionMs });
    this.#every = every;
  }

  get p50Ms(): number {
    return (this.#lastPeriod ?? this.#percentiles()).p50Ms;
  }

  get p99Ms(): number {
    return (this.#lastPeriod ?? this.#percentiles()).p99Ms;
  }

  /** True: it stood still for more than 250 ms in this period or the last one. */
  get hasStalled(): boolean {
    return this.#lastMaxMs > gapMs || (this.#histogram.count > 0 && lateMs(this.#histogram.max) > gapMs);
  }

  start(): void {
    if (this.#end) return;
    this.#histogram.enable();
    this.#end = this.#every(checkMs, () => {
      this.#check();
    });
  }

  /** Ends timer and measurement; the counts stay. */
  stop(): void {
    this.#end?.();
    this.#end = null;
    this.#histogram.disable();
  }

  #percentiles(): { p50Ms: number; p99Ms: number } {
    // an empty histogram returns meaningless values
    if (this.#histogram.count === 0) return { p50Ms: 0, p99Ms: 0 };
    return { p50Ms: lateMs(this.#histogram.percentile(50)), p99Ms: lateMs(this.#histogram.percentile(99)) };
  }

  #check(): void {
    const stalls = this.#countStalls();
    if (stalls > this.#stallsOfPeriod) {
      this.stalls += stalls - this.#stallsOfPeriod;
      this.#stallsOfPeriod = stalls;
      const maxLateS = (lateMs(this.#histogram.max) / 1000).toFixed(1);
      this.#log.error(
        `the event loop stood still for more than 1 s (the longest of these 10 s: ${maxLateS} s); ` +
          'nothing was computed or answered meanwhile',
      );
    }
    this.#checks += 1;
    if (this.#checks >= checksPerPeriod) this.#endPeriod();
  }

  /** Samples of this period above the limit, by walking down from the largest. */
  #countStalls(): number {
    const { count } = this.#histogram;
    let stalls = 0;
    while (stalls < count && lateMs(this.#histogram.percentile((100 * (count - stalls - 0.5)) / count)) > stallMs)
      stalls += 1;
    return stalls;
  }

  #endPeriod(): void {
    const { p50Ms, p99Ms } = this.#percentiles();
    this.#lastPeriod = { p50Ms, p99Ms };
    this.#lastMaxMs = lateMs(this.#histogram.max);
    this.#histogram.reset();
    this.#checks = 0;
    this.#stallsOfPeriod = 0;
    if (p99Ms <= slowMs) {
      this.#slowInARow = 0;
      return;
    }
    this.slowPeriods += 1;
    if (this.#slowInARow % periodsPerWarning === 0) {
      this.#log.warning(
        `the machine is busy: in the last 10 s one timer of a hundred was ${Math.round(p99Ms)} ms late or more`,
      );
    }
    this.#slowInARow += 1;
  }
}
