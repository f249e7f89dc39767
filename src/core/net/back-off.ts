/** Waiting times between attempts to reach something again. */
import type { RandomStream } from '../random.ts';

/** A source of random numbers from 0 to below 1. */
export type Jitter = Pick<RandomStream, 'next'>;

/**
 * Growth of waits: the wait after a failure, ms.
 * @param failures number of failures before this one, since the last success
 * @param previousMs the wait before this one; 0 for the first
 */
export type BackOffForm = (failures: number, previousMs: number) => number;

export interface DoublingOptions {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Further doublings change no wait; and 0 * Infinity, for a first wait of 0, would be NaN. */
const maxDoublings = 60;

const ceilingMs = ({ firstMs, maxMs }: DoublingOptions, failures: number) =>
  Math.min(firstMs * 2 ** Math.min(failures, maxDoublings), maxMs);

/** Waits that double up to a maximum. */
export function doubling(options: DoublingOptions): BackOffForm {
  return (failures) => ceilingMs(options, failures);
}

/** Half of each wait of `doubling` is random: many clients do not return at one moment, and none returns soon. */
export function halfJitter(options: DoublingOptions, jitter: Jitter): BackOffForm {
  return (failures) => ceilingMs(options, failures) * (0.5 + 0.5 * jitter.next());
}

/** The whole wait of `doubling` is random, from 0 on: the lowest load when very many clients return. */
export function fullJitter(options: DoublingOptions, jitter: Jitter): BackOffForm {
  return (failures) => ceilingMs(options, failures) * jitter.next();
}

/** The three variables of OCPP 2.x; times in ms. */
export interface OcppBackOffOptions {
  /** RetryBackOffWaitMinimum */
  readonly waitMinimumMs: number;
  /** RetryBackOffRandomRange: maximum random part of each wait */
  readonly randomRangeMs: number;
  /** RetryBackOffRepeatTimes: how often the wait doubles */
  readonly repeatTimes: number;
}

/**
 * Waits by OCPP-J 5.4 and 8.1 to 8.3: the minimum with a random part; each further wait is twice the one before with a
 * new random part; after `repeatTimes` doublings the wait stays.
 */
export function ocppBackOff(
  { waitMinimumMs, randomRangeMs, repeatTimes }: OcppBackOffOptions,
  jitter: Jitter,
): BackOffForm {
  return (failures, previousMs) => {
    if (failures > repeatTimes) return previousMs;
    return (failures === 0 ? waitMinimumMs : 2 * previousMs) + randomRangeMs * jitter.next();
  };
}

/** Longest delay of a Node timer; a longer one fires at once. */
const maxTimerMs = 2 ** 31 - 1;

/** The waits in one series of attempts. */
export class BackOff {
  #form: BackOffForm;
  #failures = 0;
  #previousMs = 0;

  constructor(form: BackOffForm) {
    this.#form = form;
  }

  /**
   * The wait before the next attempt, ms.
   * @param minMs minimum requested by the peer (`Retry-After`); later waits do not depend on it
   */
  nextMs(minMs = 0): number {
    this.#previousMs = Math.min(this.#form(this.#failures, this.#previousMs), maxTimerMs);
    this.#failures += 1;
    return Math.min(Math.max(this.#previousMs, minMs), maxTimerMs);
  }

  /**
   * Gives the waits from the next one on another form. They go on growing: the failures so far count as if their waits
   * had been of the new form.
   */
  change(form: BackOffForm): void {
    this.#form = form;
    this.#previousMs = 0;
    for (let failure = 0; failure < this.#failures; failure += 1)
      this.#previousMs = Math.min(form(failure, this.#previousMs), maxTimerMs);
  }

  /** Makes the next wait a first one again, after a success. */
  reset(): void {
    this.#failures = 0;
    this.#previousMs = 0;
  }
}
