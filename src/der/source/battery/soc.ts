/** State of charge of a battery: its reported value, and the bounds at which it blocks charging or discharging. */
import type { SocDrift } from '../../../contract/kinds/battery.ts';
import { keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';

const secondsPerDay = 86_400;

/**
 * The state of charge reported by the management system. It counts charge, so its error grows with throughput and time
 * until a full battery corrects it.
 */
export class SocGauge {
  /** reported less true state of charge, points */
  errorPct = 0;
  readonly #drift: SocDrift | null;

  constructor(drift: SocDrift | null) {
    this.#drift = drift;
  }

  /** @param cycles equivalent full cycles of this step */
  advance(dtS: number, cycles: number): void {
    if (this.#drift === null) return;
    this.errorPct += this.#drift.perCyclePct * cycles + (this.#drift.perDayPct * dtS) / secondsPerDay;
  }

  /** Removes the drift once the true state of charge is known: the battery is full, or has been set. */
  reset(): void {
    this.errorPct = 0;
  }

  /** State of charge reported for a true one, both 0..1. */
  reported(soc: number): number {
    return this.errorPct === 0 ? soc : Math.max(0, Math.min(1, soc + this.errorPct / 100));
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ errorPct: this.errorPct }),
      ({ errorPct }) => {
        this.errorPct = errorPct;
      },
    );
  }
}

/** Share of the capacity by which the state of charge must return before a blocked direction reopens. */
const hysteresis = 0.01;
/** Nearer to a bound than this counts as at the bound. */
const boundTolerance = 1e-6;
const rounding = 1e-12;

/** Blocks charging or discharging at the bounds of the state of charge (0..1), with hysteresis. */
export class SocWindow {
  lowBlocked = false;
  highBlocked = false;
  #low = NaN;
  #high = NaN;
  /** state of charge at which blocked discharge reopens */
  #lowOpens = 0;
  /** state of charge at which blocked charge reopens */
  #highOpens = 1;

  /** Forgets the hysteresis: the state of charge has been set from outside. */
  reset(): void {
    this.lowBlocked = this.highBlocked = false;
  }

  /** @param empty,full the cells are at their voltage bounds, whatever the state of charge */
  update(soc: number, low: number, high: number, empty: boolean, full: boolean): void {
    // a moved bound has no hysteresis yet
    if (low !== this.#low) this.lowBlocked = false;
    if (high !== this.#high) this.highBlocked = false;
    this.#low = low;
    this.#high = high;
    // a window narrower than the hysteresis must still reopen
    const reopenMargin = Math.min(hysteresis, (high - low) / 2);
    if (soc <= low + boundTolerance || empty) {
      if (!this.lowBlocked) this.#lowOpens = Math.max(soc, low) + reopenMargin;
      this.lowBlocked = true;
    } else if (soc >= this.#lowOpens - rounding) {
      this.lowBlocked = false;
    }
    if (soc >= high - boundTolerance || full) {
      if (!this.highBlocked) this.#highOpens = Math.min(soc, high) - reopenMargin;
      this.highBlocked = true;
    } else if (soc <= this.#highOpens + rounding) {
      this.highBlocked = false;
    }
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({
        lowBlocked: this.lowBlocked,
        highBlocked: this.highBlocked,
        bounds: [this.#low, this.#high] as const,
        opens: [this.#lowOpens, this.#highOpens] as const,
      }),
      ({ lowBlocked, highBlocked, bounds, opens }) => {
        this.lowBlocked = lowBlocked;
        this.highBlocked = highBlocked;
        [this.#low, this.#high] = bounds;
        [this.#lowOpens, this.#highOpens] = opens;
      },
    );
  }
}
