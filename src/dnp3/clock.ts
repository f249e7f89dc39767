/** The remote clock of one master, with the additions of DNP3. */
import { SimError } from '../core/errors.ts';
import type { SimTime } from '../core/time/clock.ts';
import type { RemoteClock } from '../core/time/remote-clock.ts';
import type { AssociationClock, Instant } from './stack/outstation/types.ts';

/** Time after which a clock counts as stale, ms: a crystal is off by a second or two in a day. */
const staleMs = 24 * 3_600_000;

/** @param offsetS seconds by which the master is ahead @param ms its time, at `monotonicMs` of this machine */
export type TimeListener = (offsetS: number, ms: number, monotonicMs: number) => void;

export interface MasterClockOptions {
  readonly clock: RemoteClock;
  readonly monotonicMs: () => number;
  /** true if the time counts as not written (fault injection) */
  readonly isLost?: () => boolean;
  /** called when the master has written the time */
  readonly written?: TimeListener;
}

export class MasterClock implements AssociationClock {
  readonly #clock: RemoteClock;
  readonly #monotonicMs: () => number;
  readonly #isLost: () => boolean;
  readonly #written: TimeListener;
  /** monotonic ms of the last time write; null: none since the restart */
  #writtenMs: number | null = null;
  /** a master has written the time, if only before a restart */
  #hasOffset = false;
  /** local instant of the last event */
  #lastMs = -Infinity;

  constructor({ clock, monotonicMs, isLost = () => false, written = () => undefined }: MasterClockOptions) {
    this.#clock = clock;
    this.#monotonicMs = monotonicMs;
    this.#isLost = isLost;
    this.#written = written;
  }

  get needsTime(): boolean {
    return this.#writtenMs === null || this.#monotonicMs() - this.#writtenMs >= staleMs;
  }

  /** seconds by which the master is ahead; null: it has written no time */
  get offsetS(): number | null {
    return this.#clock.offsetS;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  instantOf(stamp: number): Instant {
    // a control acts between ticks, and its consequences in a tick that has begun before: they come after it
    this.#lastMs = Math.max(this.#lastMs, this.#clock.localOf(stamp as SimTime));
    return { localMs: this.#lastMs, dateMs: this.#clock.ofLocal(this.#lastMs) };
  }

  timeOf({ localMs, dateMs }: Instant) {
    // without an offset the clock is the calendar here, which may be set and corrected
    const ms = this.#hasOffset ? this.#clock.ofLocal(localMs) : dateMs;
    return { ms, synchronised: this.#writtenMs !== null && !this.#isLost() };
  }

  sync(ms: number, monotonicMs: number): boolean {
    try {
      this.#clock.sync(ms, monotonicMs);
    } catch (error) {
      if (error instanceof SimError) return false;
      throw error;
    }
    this.#hasOffset = true;
    this.#writtenMs = this.#monotonicMs();
    this.#written(this.#clock.offsetS ?? 0, ms, monotonicMs);
    return true;
  }

  forget(): void {
    this.#writtenMs = null;
  }

  close(): void {
    this.#clock.clear();
  }
}
