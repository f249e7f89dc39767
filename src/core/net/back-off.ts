/** Waiting times between attempts to reach something again. */
import type { RandomStream } from '../random.ts';

/** A source of random numbers from 0 to below 1. */
export type Jitter = Pick<RandomStream, 'next'>;

/**
 * How waits grow: the wait after a failure, ms.
 * @param failures before this one, since the last success
 * @param previousMs the wait before this one; 0 for the first
 */
export type BackOffForm = (failures: number, previousMs: number) => number;

export interface DoublingOptions {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** More doublings change no wait; an infinite power would make a first wait of 0 no number. */
const maxDoublings = 60;

const ceilingMs = ({ firstMs, maxMs }: DoublingOptions, failures: number) =>
  Math.min(firstMs * 2 ** Math.min(failures, maxDoublings), maxMs);

/** Waits that double up to a maximum. */
export function doubling(options: DoublingOptions): BackOffForm {
  return (failures) => ceilingMs(options, failures);
}

/** As `doubling`, with half of each wait drawn: many clients do not come back at one moment, and none comes back soon. */
export function halfJitter(options: DoublingOptions, jitter: Jitter): BackOffForm {
  return (failures) => ceilingMs(options, failures) * (0.5 + 0.5 * jitter.next());
}

/** As `doubling`, with the whole wait drawn, from 0 on: the least load when very many clients come back. */
export function fullJitter(options: DoublingOptions, jitter: Jitter): BackOffForm {
  return (failures) => ceilingMs(options, failures) * jitter.next();
}

/** The three variables of OCPP 2.x, in ms. */
export interface OcppBackOffOptions {
  /** RetryBackOffWaitMinimum */
  readonly waitMinimumMs: number;
  /** RetryBackOffRandomRange: 0 to this is added to each wait */
  readonly randomRangeMs: number;
  /** RetryBackOffRepeatTimes: how often the wait doubles */
  readonly repeatTimes: number;
}

/**
 * OCPP-J 5.4 and 8.1 to 8.3: the minimum with a random part; each further wait is twice the one before with a new random
 * part; after so many doublings the wait stays.
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

/** Node runs a timer with a longer delay at once. */
const maxTimerMs = 2 ** 31 - 1;

/** One row of attempts with its form. */
export class BackOff {
  readonly #form: BackOffForm;
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

  /** After a success: the next wait is a first one again. */
  reset(): void {
    this.#failures = 0;
    this.#previousMs = 0;
  }
}
