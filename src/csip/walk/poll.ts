/** Timing of the readings of one resource: at its rate, or after growing delays while it is unreadable. */
import { BackOff, fullJitter } from '../../core/net/back-off.ts';
import type { Jitter } from '../../core/net/back-off.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { retryWaits } from '../transport/exchange.ts';

import { remarksOfMissed } from './remarks.ts';
import type { Missed, Remark } from './remarks.ts';

/** Default pollRate of IEEE 2030.5: 15 minutes. */
export const defaultPollRateS = 900;
/** Maximum of a delay that a server asks for: one day. */
const maxRetryAfterMs = 86_400_000;
/** Minimum of a rate, also for a pollRate of 0. */
const minRateS = 1;
/** Random extension of the first delay, so that clients that start together do not stay in step. */
const spread = 0.25;

/** Result of a reading: the rate, or a failure, for which the server may ask for a delay. */
export type PollResult =
  | {
      readonly rateS: number;
      /** absent: no remarks */
      readonly remarks?: readonly Remark[];
    }
  | { readonly retryAfterMs: number | undefined; readonly remarks?: readonly Remark[] }
  | 'failed';

/** The result of a reading that failed. */
export function failure(missed: Missed): PollResult {
  return { retryAfterMs: missed.retryAfterMs, remarks: remarksOfMissed(missed) };
}

/** The result of a reading that would fail again before the next poll. */
export function missing(missed: Missed, rateS: number): PollResult {
  return { rateS, remarks: remarksOfMissed(missed) };
}

interface PollOptions {
  readonly clock: WallClock;
  readonly later: Later;
  readonly jitter: Jitter;
  /** never rejects */
  readonly read: () => Promise<PollResult>;
}

/** Schedules the readings of one resource. A reading by the owner in between restarts the delay. */
export class Poll {
  readonly #options: PollOptions;
  readonly #backOff: BackOff;
  #cancel: (() => void) | null = null;
  #underWay: Promise<void> | null = null;
  /** true after the first delay, which is extended by `spread` */
  #isSpread = false;
  #paused = false;
  #stopped = false;
  #rateS: number | null = null;
  #remarks: readonly Remark[] = [];
  #dueMs = 0;

  constructor(options: PollOptions) {
    this.#options = options;
    this.#backOff = new BackOff(fullJitter(retryWaits, options.jitter));
  }

  /** seconds between two readings; null: never read */
  get rateS(): number | null {
    return this.#rateS;
  }

  /** remarks of the last reading */
  get remarks(): readonly Remark[] {
    return this.#remarks;
  }

  /** ms until the next scheduled reading; null: none is scheduled */
  get dueInMs(): number | null {
    return this.#cancel === null ? null : Math.max(0, this.#dueMs - this.#options.clock.monotonicMs());
  }

  /** Reads at once, or joins a reading under way. */
  now(): Promise<void> {
    this.#underWay ??= this.#read().finally(() => {
      this.#underWay = null;
    });
    return this.#underWay;
  }

  /** Reads at once or, since a reading under way may have missed the latest change, after it. */
  anew(): Promise<void> {
    return this.#underWay === null ? this.now() : this.#underWay.then(() => this.now());
  }

  /** Stops reading until `now` is called. */
  pause(): void {
    this.#paused = true;
    this.#endWait();
  }

  /** Stops for good. */
  stop(): void {
    this.#stopped = true;
    this.#endWait();
  }

  #endWait(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  async #read(): Promise<void> {
    if (this.#stopped) return;
    this.#endWait();
    this.#paused = false;
    const beganMs = this.#options.clock.monotonicMs();
    const result = await this.#options.read();
    if (result !== 'failed') this.#remarks = result.remarks ?? [];
    this.#plan(result, beganMs);
  }

  #plan(result: PollResult, beganMs: number): void {
    if (this.#stopped || this.#paused) return;
    const { clock, later } = this.#options;
    this.#dueMs = Math.max(clock.monotonicMs(), beganMs + this.#waitMs(result));
    this.#cancel = later(this.#dueMs - clock.monotonicMs(), () => {
      void this.now();
    });
  }

  /** Delay from the start of a reading to the start of the next. */
  #waitMs(result: PollResult): number {
    if (result === 'failed' || !('rateS' in result)) {
      const retryAfterMs = result === 'failed' ? undefined : result.retryAfterMs;
      if (retryAfterMs !== undefined) return this.#backOff.nextMs(Math.min(retryAfterMs, maxRetryAfterMs));
      return Math.min(this.#backOff.nextMs(), (this.#rateS ?? defaultPollRateS) * 1000);
    }
    this.#backOff.reset();
    this.#rateS = Math.max(result.rateS, minRateS);
    const factor = this.#isSpread ? 1 : 1 + spread * this.#options.jitter.next();
    this.#isSpread = true;
    return this.#rateS * 1000 * factor;
  }
}
