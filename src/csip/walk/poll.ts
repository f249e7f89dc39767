/** When one resource is read again: at its rate, or after growing waits while it cannot be read. */
import { BackOff, fullJitter } from '../../core/net/back-off.ts';
import type { Jitter } from '../../core/net/back-off.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { retryWaits } from '../transport/retries.ts';

/** 2030.5: without a pollRate a resource is read every 15 minutes. */
export const defaultPollRateS = 900;
/** A server that asks for more is asked again after a day. */
const longestRetryAfterMs = 86_400_000;
/** A rate of 0 is no rate. */
const leastRateS = 1;
/** The first wait is up to so much longer: clients that start together do not read together for ever. */
const spread = 0.25;

/** What a reading has led to: the rate at which to go on, or a failure, after which the server may ask for a wait. */
export type PollResult = { readonly rateS: number } | { readonly retryAfterMs: number } | 'failed';

/** The result of a reading that has failed. */
export function failure({ retryAfterMs }: { readonly retryAfterMs?: number | undefined }): PollResult {
  return retryAfterMs === undefined ? 'failed' : { retryAfterMs };
}

export interface PollOptions {
  readonly clock: WallClock;
  readonly later: Later;
  readonly jitter: Jitter;
  /** never rejects */
  readonly read: () => Promise<PollResult>;
}

/** Waits of one resource. Reading is up to the owner, who may also read in between: the wait begins anew then. */
export class Poll {
  readonly #options: PollOptions;
  readonly #backOff: BackOff;
  #cancel: (() => void) | null = null;
  #underWay: Promise<void> | null = null;
  #phased = false;
  #paused = false;
  #stopped = false;
  #rateS: number | null = null;
  #dueMs = 0;

  constructor(options: PollOptions) {
    this.#options = options;
    this.#backOff = new BackOff(fullJitter(retryWaits, options.jitter));
  }

  /** seconds between two readings, as last known; null: never read */
  get rateS(): number | null {
    return this.#rateS;
  }

  /** ms until it reads by itself; null: it is not waiting */
  get dueInMs(): number | null {
    return this.#cancel === null ? null : Math.max(0, this.#dueMs - this.#options.clock.monotonicMs());
  }

  /** Reads at once; joins a reading under way. */
  now(): Promise<void> {
    this.#underWay ??= this.#read().finally(() => {
      this.#underWay = null;
    });
    return this.#underWay;
  }

  /** Reads at once, after a reading under way: that may have missed what there is to see. */
  anew(): Promise<void> {
    return this.#underWay === null ? this.now() : this.#underWay.then(() => this.now());
  }

  /** No further reading by itself, until `now` is called. */
  pause(): void {
    this.#paused = true;
    this.#endWait();
  }

  /** Ends it for good. */
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

  /** From the begin of a reading to that of the next. */
  #waitMs(result: PollResult): number {
    if (result === 'failed') return Math.min(this.#backOff.nextMs(), (this.#rateS ?? defaultPollRateS) * 1000);
    if ('retryAfterMs' in result) return this.#backOff.nextMs(Math.min(result.retryAfterMs, longestRetryAfterMs));
    this.#backOff.reset();
    this.#rateS = Math.max(result.rateS, leastRateS);
    const longer = this.#phased ? 1 : 1 + spread * this.#options.jitter.next();
    this.#phased = true;
    return this.#rateS * 1000 * longer;
  }
}
