/**
 * Polls a device: one round at a time, and after a broken connection at growing intervals. Operations on a device run
 * one after another.
 */
import { BackOff, halfJitter } from '../../core/net/back-off.ts';
import type { Later } from '../../core/time/timers.ts';
import type { RandomStream } from '../../core/random.ts';
import { Turns } from '../../core/turns.ts';
import type { PolledModel, PollSettings, PollStatus } from '../../contract/sunspec-client.ts';
import { SimError } from '../../core/errors.ts';

const defaultPoll: PollSettings = { enabled: false, intervalMs: 1500, models: null };

const firstRetryMs = 1000;
const maxRetryMs = 60_000;

/** The outcome of a round. */
export interface Round {
  readonly polled: readonly PolledModel[];
  /** true if the round ended before all models were read */
  readonly cut: boolean;
  /** true if there is no connection, or no map */
  readonly lost: boolean;
}

interface PollerOptions {
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
  readonly later: Later;
  readonly random: RandomStream;
  /** Reads one round; a round that is no longer current has no effect. Never rejects. */
  readonly round: (settings: PollSettings, isCurrent: () => boolean) => Promise<Round>;
}

export class Poller {
  readonly #options: PollerOptions;
  #settings = defaultPoll;
  #cancel: (() => void) | null = null;
  /** incremented by each start and stop, so that rounds of an earlier start end */
  #generation = 0;
  readonly #turns = new Turns();
  readonly #backOff: BackOff;
  /** true: the last round ended without a connection or a map */
  #lost = false;
  #rounds = 0;
  #failedRounds = 0;
  #lateRounds = 0;
  #lastMs: number | null = null;
  #lastDurationMs: number | null = null;
  #retryAtMs: number | null = null;
  #polled: readonly PolledModel[] = [];

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#backOff = new BackOff(halfJitter({ firstMs: firstRetryMs, maxMs: maxRetryMs }, options.random));
  }

  get rounds(): number {
    return this.#rounds;
  }

  get retrying(): boolean {
    return this.#retryAtMs !== null || this.#lost;
  }

  get settings(): PollSettings {
    return this.#settings;
  }

  set settings(settings: PollSettings) {
    this.#settings = settings;
  }

  /** Begins the first round at once if polling is enabled. */
  start(): void {
    this.stop();
    if (this.#settings.enabled) this.#after(0, this.#generation);
  }

  /** Starts no further round and makes a pending one obsolete. */
  stop(): void {
    this.#generation += 1;
    this.#cancel?.();
    this.#cancel = null;
    this.#retryAtMs = null;
    this.#resetRetries();
  }

  /** Discards the readings of the previous device. */
  forget(): void {
    this.#polled = [];
  }

  /** Resolves when no round is pending. */
  async settled(): Promise<void> {
    await this.#turns.settled();
  }

  status(): PollStatus {
    const retryInMs = this.#retryAtMs === null ? null : Math.max(0, this.#retryAtMs - this.#options.monotonicMs());
    return {
      ...this.#settings,
      rounds: this.#rounds,
      failedRounds: this.#failedRounds,
      lateRounds: this.#lateRounds,
      lastMs: this.#lastMs,
      lastDurationMs: this.#lastDurationMs,
      retryInMs,
      polled: this.#polled,
    };
  }

  #after(ms: number, generation: number): void {
    this.#cancel = this.#options.later(ms, () => {
      this.#cancel = null;
      // a round of an earlier start may be pending
      void this.#turns.take(() => this.#round(generation));
    });
  }

  async #round(generation: number): Promise<void> {
    const isCurrent = () => generation === this.#generation;
    if (!isCurrent()) return;
    const { monotonicMs, nowMs, round } = this.#options;
    const startMs = monotonicMs();
    this.#retryAtMs = null;
    this.#rounds += 1;
    const { polled, cut, lost } = await round(this.#settings, isCurrent);
    if (!isCurrent()) return;
    const durationMs = monotonicMs() - startMs;
    this.#polled = polled;
    this.#lastMs = nowMs();
    this.#lastDurationMs = durationMs;
    if (cut || polled.some(({ error }) => error !== null)) this.#failedRounds += 1;
    if (!lost) this.#resetRetries();
    this.#after(lost ? this.#retryMs() : this.#waitMs(durationMs), generation);
  }

  /** Time to the next multiple of the interval; multiples within a long round are skipped. */
  #waitMs(durationMs: number): number {
    const { intervalMs } = this.#settings;
    const missed = Math.floor(durationMs / intervalMs);
    this.#lateRounds += missed;
    return (missed + 1) * intervalMs - durationMs;
  }

  #retryMs(): number {
    const waitMs = this.#backOff.nextMs();
    this.#lost = true;
    this.#retryAtMs = this.#options.monotonicMs() + waitMs;
    return waitMs;
  }

  #resetRetries(): void {
    this.#lost = false;
    this.#backOff.reset();
  }
}

/** Maximum number of waiting operations. */
const maxWaiting = 16;
/** An operation that waited longer is refused. */
const maxWaitMs = 30_000;

/** Serialises operations: a device has one connection, and interleaved requests would mix. */
export class OperationQueue {
  readonly #monotonicMs: () => number;
  readonly #turns = new Turns();

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** @throws SimError COMMAND_QUEUE_FULL, PEER_TIMEOUT when its turn comes too late, and whatever `work` throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#turns.waiting >= maxWaiting) {
      throw new SimError('COMMAND_QUEUE_FULL', `${maxWaiting} operations of the SunSpec client wait already`);
    }
    const sinceMs = this.#monotonicMs();
    return this.#turns.take(() => {
      if (this.#monotonicMs() - sinceMs > maxWaitMs)
        throw new SimError(
          'PEER_TIMEOUT',
          `the operation waited longer than ${maxWaitMs / 1000} s for others and was not started`,
        );
      return work();
    });
  }

  /** Rejects all waiting operations. */
  clear(error: SimError): void {
    this.#turns.refuseWaiting(error);
  }
}
