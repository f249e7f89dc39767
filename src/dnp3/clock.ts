/** The clock that one master sets: a remote clock with NEED_TIME and the times of events. */
import { SimError } from '../core/errors.ts';
import { keptRecord } from '../core/kept.ts';
import type { Kept } from '../core/kept.ts';
import type { SimTime } from '../core/time/clock.ts';
import type { RemoteClock } from '../core/time/remote-clock.ts';
import type { AssociationClock, Instant } from './stack/outstation/types.ts';

/** Time from a time write to the next NEED_TIME, s: a crystal drifts by a second or two in a day. */
export const needTimeAfterS = 24 * 3600;

/** @param offsetS seconds by which the master is ahead @param ms time of the master at `monotonicMs` of this machine */
export type TimeListener = (offsetS: number, ms: number, monotonicMs: number) => void;

export interface MasterClockOptions {
  readonly clock: RemoteClock;
  readonly monotonicMs: () => number;
  /** true: events count as not synchronised (fault injection) */
  readonly isLost?: () => boolean;
  /** called when the master has written the time */
  readonly written?: TimeListener;
}

/** Sets a clock that has no offset yet. @param offsetS seconds by which it was ahead of the local calendar; null: none */
function restoreOffset(clock: RemoteClock, offsetS: number | null, monotonicMs: number): void {
  if (offsetS !== null) clock.sync(clock.nowMs() + offsetS * 1000, monotonicMs);
}

/** The offset of a clock that several masters set, as state that a restart keeps. */
export function keptOffset(clock: RemoteClock, monotonicMs: () => number): Kept {
  return keptRecord(
    () => ({ offsetS: clock.offsetS }),
    ({ offsetS }) => restoreOffset(clock, offsetS, monotonicMs()),
  );
}

export class MasterClock implements AssociationClock {
  readonly #clock: RemoteClock;
  readonly #monotonicMs: () => number;
  readonly #isLost: () => boolean;
  readonly #written: TimeListener;
  /** monotonic ms of the last time write; null: none since the restart */
  #writtenMs: number | null = null;
  /** the master has written the time, perhaps before a restart */
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
    return this.#writtenMs === null || this.#monotonicMs() - this.#writtenMs >= needTimeAfterS * 1000;
  }

  /** seconds by which the master is ahead; null: it has written no time */
  get offsetS(): number | null {
    return this.#clock.offsetS;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  instantOf(stamp: number): Instant {
    // times never go back: consequences of a control may have the stamp of a tick that began before it
    this.#lastMs = Math.max(this.#lastMs, this.#clock.localOf(stamp as SimTime));
    return { localMs: this.#lastMs, dateMs: this.#clock.ofLocal(this.#lastMs) };
  }

  timeOf({ localMs, dateMs }: Instant) {
    // without an offset the clock is the local calendar: a later change of it must not move the event
    const ms = this.#hasOffset ? this.#clock.ofLocal(localMs) : dateMs;
    return { ms, synchronised: this.#writtenMs !== null && !this.#isLost() };
  }

  restoredInstant(ms: number): Instant {
    // `ofLocal(0)` is the present offset of the clock
    return { localMs: ms - this.#clock.ofLocal(0), dateMs: ms };
  }

  /** State that a restart keeps, as that of a clock with a battery; the master must write the time again. */
  kept(): Kept {
    return keptRecord(
      () => ({ offsetS: this.#hasOffset ? this.#clock.offsetS : null }),
      ({ offsetS }) => {
        this.#hasOffset = offsetS !== null;
        restoreOffset(this.#clock, offsetS, this.#monotonicMs());
      },
    );
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
