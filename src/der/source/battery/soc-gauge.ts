import type { SocDrift } from '../../../contract/kinds/battery.ts';

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

  /** The true state of charge is known: the battery is full, or has been set. */
  reset(): void {
    this.errorPct = 0;
  }

  /** Reported for a true state of charge, both 0..1. */
  reported(soc: number): number {
    return this.errorPct === 0 ? soc : Math.max(0, Math.min(1, soc + this.errorPct / 100));
  }
}
