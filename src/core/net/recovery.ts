/** Attempts to open a port again after it has failed. */
import { errorText } from '../errors.ts';
import type { WallClock } from '../time/clock.ts';
import type { Later } from '../time/timers.ts';
import { BackOff, doubling } from './back-off.ts';

/** Waits between attempts, ms. */
const waits = doubling({ firstMs: 1000, maxMs: 60_000 });

export interface RecoveryOptions {
  /** Opens the port. @throws Error, whose message is the reason for the next wait */
  readonly attempt: () => Promise<void>;
  /** Called with the reason when the failure begins and when its reason changes, and with null when it is over. */
  readonly onChange: (reason: string | null) => void;
  readonly clock: Pick<WallClock, 'monotonicMs'>;
  readonly later: Later;
}

/** The attempts to open one port again: the first after 1 s, then at intervals that double up to 60 s. */
export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #backOff = new BackOff(waits);
  /** null: the port is open */
  #reason: string | null = null;
  /** monotonic ms of the next attempt */
  #dueMs = 0;
  #cancel: (() => void) | undefined;
  #attempting: Promise<void> | undefined;
  /** failures that were reported; tells an attempt whether the port failed again meanwhile */
  #failures = 0;
  /** number of calls of `end`; tells an attempt whether one came meanwhile */
  #ends = 0;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** The reason of the present failure; null: the port is open. */
  get reason(): string | null {
    return this.#reason;
  }

  /** The reason and the time to the next attempt, in words; null: the port is open. */
  get words(): string | null {
    if (this.#reason === null) return null;
    const waitS = Math.ceil(Math.max(0, this.#dueMs - this.#options.clock.monotonicMs()) / 1000);
    return `${this.#reason}; tries again ${waitS === 0 ? 'now' : `in ${waitS} s`}`;
  }

  /** Begins the attempts; while they run, only the reason changes. */
  begin(reason: string): void {
    this.#failures += 1;
    const isNew = this.#reason === null;
    this.#report(reason);
    if (isNew) this.#wait();
  }

  /** Ends the attempts; resolves when one under way has ended. */
  async end(): Promise<void> {
    this.#ends += 1;
    this.#reason = null;
    this.#backOff.reset();
    this.#cancel?.();
    await this.#attempting;
  }

  #wait(): void {
    const ms = this.#backOff.nextMs();
    this.#dueMs = this.#options.clock.monotonicMs() + ms;
    this.#cancel = this.#options.later(ms, () => {
      this.#attempting = this.#attempt();
    });
  }

  async #attempt(): Promise<void> {
    const [ends, failures] = [this.#ends, this.#failures];
    try {
      await this.#options.attempt();
    } catch (error) {
      if (this.#ends > ends) return;
      this.#report(errorText(error));
      this.#wait();
      return;
    }
    if (this.#ends > ends) return;
    if (this.#failures > failures) {
      this.#wait();
      return;
    }
    this.#backOff.reset();
    this.#report(null);
  }

  #report(reason: string | null): void {
    if (reason === this.#reason) return;
    this.#reason = reason;
    this.#options.onChange(reason);
  }
}
