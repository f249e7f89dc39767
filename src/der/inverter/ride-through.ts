/** Ride-through regions by abnormal category (IEEE 1547-2018 Tables 14 to 16 and 19), and momentary cessation. */
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { rideThroughBands } from '../../contract/abnormal-conditions.ts';
import type { AbnormalCategory } from '../../contract/abnormal-conditions.ts';
import type { RideThroughMode } from '../../contract/grid-trace.ts';
import type { InverterParameters } from '../../contract/device.ts';
import { TripTimers } from './trip.ts';
import type { TripInput, TripKind } from './trip.ts';
import type { TripSettings } from './settings.ts';

/** Tolerance of a frequency on an edge, so that rounding does not decide. */
const slackHz = 1e-9;

/** The region of voltage and frequency. It is for display: cessation itself follows the registers. */
export function rideThroughMode(abnormal: AbnormalCategory, input: TripInput, nominalHz: number): RideThroughMode {
  const low = rideThroughBands('lv_trip', abnormal).find(({ edge }) => input.lowestPct < edge);
  const voltage = low ?? rideThroughBands('hv_trip', abnormal).find(({ edge }) => input.highestPct > edge);
  if (voltage?.mode) return voltage.mode;
  const offsetHz = input.hz - nominalHz;
  const beyond = (name: 'lf_trip' | 'hf_trip', sign: 1 | -1) =>
    rideThroughBands(name, abnormal).some(({ edge }) => sign * (offsetHz - edge) > slackHz);
  // without a requirement of the standard a device continues operation
  return beyond('lf_trip', -1) || beyond('hf_trip', 1) ? 'mandatory_operation' : 'continuous_operation';
}

/** Momentary cessation by the MomCess curves of 707-710: no power flows, but the device stays connected and returns. */
export class Cessation {
  readonly #timers = new TripTimers();
  #kind: TripKind | null = null;
  #endedAt: SimTime | null = null;

  /** The curve that holds the output at zero, or null. */
  get kind(): TripKind | null {
    return this.#kind;
  }

  /** Updates the timers at `t`. @returns whether cessation has begun or ended */
  update(
    t: SimTime,
    input: TripInput,
    curves: TripSettings,
    { cessationReturnS, cessationRampS }: InverterParameters,
  ): boolean {
    const before = this.#kind;
    this.#kind = this.#timers.update(t, input, curves);
    if (before !== null && this.#kind === null) this.#endedAt = t;
    const back = this.#endedAt !== null && secondsBetween(this.#endedAt, t) >= cessationReturnS + cessationRampS;
    if (this.#kind !== null || back) this.#endedAt = null;
    return (before === null) !== (this.#kind === null);
  }

  clear(): void {
    this.#timers.clear();
    this.#kind = null;
    this.#endedAt = null;
  }

  /** True if a timer runs, cessation acts, or the output returns. */
  get pending(): boolean {
    return this.#kind !== null || this.#endedAt !== null || this.#timers.counting;
  }

  /** The next instant after `t` at which cessation, its return delay or its return ramp begins or ends. */
  nextDue(t: SimTime, { cessationReturnS, cessationRampS }: InverterParameters): number {
    let next = this.#timers.nextDue(t);
    if (this.#endedAt === null) return next;
    for (const seconds of [cessationReturnS, cessationReturnS + cessationRampS]) {
      const due = addSeconds(this.#endedAt, seconds);
      if (due > t && due < next) next = due;
    }
    return next;
  }

  /** Share of the rated power that may flow at `t`, 0 to 1. */
  admittedShare(t: SimTime, { cessationReturnS, cessationRampS }: InverterParameters): number {
    if (this.#kind !== null) return 0;
    if (this.#endedAt === null) return 1;
    const passedS = secondsBetween(this.#endedAt, t) - cessationReturnS;
    return passedS >= cessationRampS ? 1 : Math.max(0, passedS / cessationRampS);
  }
}
