/** The clock of one master: the remote clock of the house with what DNP3 adds. */
import { SimError } from '../core/errors.ts';
import type { SimTime } from '../core/time/clock.ts';
import type { RemoteClock } from '../core/time/remote-clock.ts';
import type { AssociationClock } from './stack/outstation/types.ts';

/** @param offsetS seconds by which the master is ahead @param ms its time, at `monotonicMs` of this machine */
export type TimeListener = (offsetS: number, ms: number, monotonicMs: number) => void;

export class MasterClock implements AssociationClock {
  readonly #clock: RemoteClock;
  readonly #isLost: () => boolean;
  readonly #written: TimeListener;
  #isSynchronised = false;
  #needsTime = true;

  /**
   * @param isLost whether the time counts as not written (fault injection)
   * @param written called when the master has written the time
   */
  constructor(clock: RemoteClock, isLost: () => boolean = () => false, written: TimeListener = () => undefined) {
    this.#clock = clock;
    this.#isLost = isLost;
    this.#written = written;
  }

  get needsTime(): boolean {
    return this.#needsTime;
  }

  /** seconds by which the master is ahead; null: it has written no time */
  get offsetS(): number | null {
    return this.#clock.offsetS;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  timeOf(stamp: number) {
    return { ms: this.#clock.ofSim(stamp as SimTime), synchronised: this.#isSynchronised && !this.#isLost() };
  }

  sync(ms: number, monotonicMs: number): boolean {
    try {
      this.#clock.sync(ms, monotonicMs);
    } catch (error) {
      if (error instanceof SimError) return false;
      throw error;
    }
    this.#isSynchronised = true;
    this.#needsTime = false;
    this.#written(this.#clock.offsetS ?? 0, ms, monotonicMs);
    return true;
  }

  forget(): void {
    this.#needsTime = true;
    this.#isSynchronised = false;
  }

  close(): void {
    this.#clock.clear();
  }
}
