/** The time base of series. */
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { SimClock } from '../../core/time/sim-clock.ts';

/** Counts seconds since local midnight of the date at which the plant, or the fleet that it has joined, started. */
export class SeriesTime {
  readonly #clock: Pick<SimClock, 'dateMs'>;
  #midnightMs: number;
  #originS: number;

  /** @param fleetStart start of the fleet, whose date was that instant; clients may have set the clock since */
  constructor(clock: Pick<SimClock, 'dateMs' | 'midnightMs' | 'tickTime' | 'simAt'>, fleetStart?: SimTime) {
    this.#clock = clock;
    const start = fleetStart === undefined ? clock.tickTime : clock.simAt(fleetStart / 1000);
    this.#midnightMs = clock.midnightMs(start);
    this.#originS = this.at(start);
  }

  /** Series time at the start of the plant, s. */
  get originS(): number {
    return this.#originS;
  }

  /** Series time of an instant, s. */
  at(t: SimTime): number {
    return (this.#clock.dateMs(t) - this.#midnightMs) / 1000;
  }

  /** State that a restart keeps: the start date remains that of the first process. */
  kept(): Kept {
    return keptRecord(
      () => ({ midnightMs: this.#midnightMs, originS: this.#originS }),
      ({ midnightMs, originS }) => {
        this.#midnightMs = midnightMs;
        this.#originS = originS;
      },
    );
  }
}
