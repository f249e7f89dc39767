/** Polls a device: one round at a time, and after a broken connection at growing intervals. */
import { BackOff, halfJitter } from '../../core/net/back-off.ts';
import type { Later } from '../../core/time/timers.ts';
import type { RandomStream } from '../../core/random.ts';
import { Turns } from '../../core/turns.ts';
import type { PolledModel, PollSettings, PollStatus } from '../../contract/sunspec-client.ts';

export const defaultPoll: PollSettings = { enabled: false, intervalMs: 1500, models: null };

const firstRetryMs = 1000;
const maxRetryMs = 60_000;

/** The outcome of a round. */
export interface Round {
  readonly polled: readonly PolledModel[];
  /** it ended before all models were read, or could not begin */
  readonly cut: boolean;
  /** there is no connection, or no map behind it */
  readonly lost: boolean;
}

export interface PollerOptions {
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
  readonly later: Later;
  readonly random: RandomStream;
  /** One round, without effect from the moment it is no longer the current one. Never rejects. */
  readonly round: (settings: PollSettings, isCurrent: () => boolean) => Promise<Round>;
}

export class Poller {
  readonly #options: PollerOptions;
  #settings = defaultPoll;
  #cancel: (() => void) | null = null;
  /** rises with every start, so that rounds of an earlier start do not continue */
  #generation = 0;
  readonly #turns = new Turns();
  readonly #backOff: BackOff;
  /** the last round found no device */
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

  /** Begins with a round at once, where polling is switched on. */
  start(): void {
    this.stop();
    if (this.#settings.enabled) this.#after(0, this.#generation);
  }

  /** No further round begins, and one that is under way is no longer the current one. */
  stop(): void {
    this.#generation += 1;
    this.#cancel?.();
    this.#cancel = null;
    this.#retryAtMs = null;
    this.#found();
  }

  /** Forgets the readings, since the device changes. */
  forget(): void {
    this.#polled = [];
  }

  /** Resolves when no round is under way. */
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
      // a round of an earlier start may be under way
      void this.#turns.take(() => this.#round(generation));
    });
  }

  async #round(generation: number): Promise<void> {
    const isCurrent = () => generation === this.#generation;
    if (!isCurrent()) return;
    const { monotonicMs, nowMs, round } = this.#options;
    const begunMs = monotonicMs();
    this.#retryAtMs = null;
    this.#rounds += 1;
    const { polled, cut, lost } = await round(this.#settings, isCurrent);
    if (!isCurrent()) return;
    const tookMs = monotonicMs() - begunMs;
    this.#polled = polled;
    this.#lastMs = nowMs();
    this.#lastDurationMs = tookMs;
    if (cut || polled.some(({ error }) => error !== null)) this.#failedRounds += 1;
    if (!lost) this.#found();
    this.#after(lost ? this.#retryMs() : this.#waitMs(tookMs), generation);
  }

  /** Wait until the next round on the grid of the interval; intervals that a long round covered are skipped. */
  #waitMs(tookMs: number): number {
    const { intervalMs } = this.#settings;
    const missed = Math.floor(tookMs / intervalMs);
    this.#lateRounds += missed;
    return (missed + 1) * intervalMs - tookMs;
  }

  #retryMs(): number {
    const waitMs = this.#backOff.nextMs();
    this.#lost = true;
    this.#retryAtMs = this.#options.monotonicMs() + waitMs;
    return waitMs;
  }

  #found(): void {
    this.#lost = false;
    this.#backOff.reset();
  }
}
