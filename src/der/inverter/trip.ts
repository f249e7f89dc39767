/**
 * Timers of the curves of models 707-710 (IEEE 1547-2018 6.4, 6.5): one timer per threshold. A timer runs while any
 * phase exceeds the threshold, is cleared at once on return, and trips at the computed instant. The curves of momentary
 * cessation use the same timers.
 */
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { TripSetting } from '../../sunspec/map/grid-support/trip-curves.ts';
import type { TripSettings } from './settings.ts';
import { measurablePct, rideThroughBands } from '../../contract/abnormal-conditions.ts';
import type { AbnormalCategory } from '../../contract/abnormal-conditions.ts';
import type { RideThroughMode } from '../../contract/grid-trace.ts';
import type { InverterParameters } from '../../contract/device.ts';

export const tripKinds = ['lowVoltage', 'highVoltage', 'lowFrequency', 'highFrequency'] as const;
export type TripKind = (typeof tripKinds)[number];

const isLowLimit: Readonly<Record<TripKind, boolean>> = {
  lowVoltage: true,
  highVoltage: false,
  lowFrequency: true,
  highFrequency: false,
};

/** Measurements of the trip functions: extremes over the phases in percent of VNom, and frequency. */
export interface TripInput {
  readonly lowestVoltagePct: number;
  readonly highestVoltagePct: number;
  readonly hz: number;
}

/** Timer of an exceeded threshold. */
interface Running {
  readonly limit: number;
  readonly since: SimTime;
  readonly due: SimTime;
}

const isBeyond = (kind: TripKind, limit: number, value: number) => (isLowLimit[kind] ? value < limit : value > limit);

/** The measurement for a kind of limit; null: it cannot be measured. */
function measure(kind: TripKind, { lowestVoltagePct, highestVoltagePct, hz }: TripInput): number | null {
  if (kind === 'lowVoltage') return lowestVoltagePct;
  if (kind === 'highVoltage') return highestVoltagePct;
  return highestVoltagePct > measurablePct ? hz : null;
}

/** The counts of exceeded thresholds by kind, as a text: while it stays the same no timer starts or ends. */
export function exceededKey(input: TripInput, trips: TripSettings): string {
  return tripKinds
    .map((kind) => {
      const value = measure(kind, input);
      return value === null ? '-' : trips[kind].points.filter(({ limit }) => isBeyond(kind, limit, value)).length;
    })
    .join();
}

export class TripTimers {
  /** created on first use: few devices ever exceed a threshold */
  #running: Map<TripKind, readonly Running[]> | null = null;
  readonly #begun: (kind: TripKind, t: SimTime) => void;

  /** @param begun called when the first threshold of a kind is exceeded */
  constructor(begun: (kind: TripKind, t: SimTime) => void = () => undefined) {
    this.#begun = begun;
  }

  /** The next trip after `t` if nothing changes; Infinity without one. */
  nextDue(t: SimTime): number {
    let next = Infinity;
    if (!this.#running) return next;
    for (const list of this.#running.values()) for (const { due } of list) if (due > t && due < next) next = due;
    return next;
  }

  /** True if any timer runs. */
  get counting(): boolean {
    return this.#running !== null && this.#running.size > 0;
  }

  /** Instant at which this kind trips if nothing changes; null: no timer runs. */
  due(kind: TripKind): SimTime | null {
    const dues = this.#running?.get(kind)?.map(({ due }) => due);
    return dues ? (Math.min(...dues) as SimTime) : null;
  }

  /** Kinds with an exceeded threshold. */
  pending(): TripKind[] {
    return [...(this.#running?.keys() ?? [])];
  }

  /** Kinds with a threshold that has been exceeded for its whole time at `t`. */
  elapsed(t: SimTime): TripKind[] {
    return this.pending().filter((kind) => (this.due(kind) ?? Infinity) <= t);
  }

  clear(): void {
    this.#running = null;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ running: [...(this.#running ?? [])] }),
      ({ running }) => {
        this.#running = running.length === 0 ? null : new Map(running);
      },
    );
  }

  /** Updates the timers at `t`. @returns the kind that trips now, or null */
  update(t: SimTime, input: TripInput, trips: TripSettings): TripKind | null {
    let tripped: TripKind | null = null;
    for (const kind of tripKinds) {
      if (this.#follow(t, kind, measure(kind, input), trips[kind])) tripped ??= kind;
    }
    return tripped;
  }

  #follow(t: SimTime, kind: TripKind, value: number | null, { enabled, points }: TripSetting): boolean {
    const exceeded = enabled && value !== null ? points.filter(({ limit }) => isBeyond(kind, limit, value)) : [];
    if (exceeded.length === 0) {
      this.#running?.delete(kind);
      return false;
    }
    const before = this.#running?.get(kind);
    const list = exceeded.map(({ limit, seconds }) => {
      // after an adoption a threshold in both curves keeps its elapsed time, and the new time setting applies
      const since = before?.find((timer) => timer.limit === limit)?.since ?? t;
      return { limit, since, due: addSeconds(since, seconds) };
    });
    this.#running ??= new Map();
    this.#running.set(kind, list);
    if (!before) this.#begun(kind, t);
    return list.some(({ due }) => due <= t);
  }
}

/** Tolerance of a frequency on an edge, so that rounding does not decide. */
const slackHz = 1e-9;

/** The region of voltage and frequency, for display: cessation itself follows the registers. */
export function rideThroughMode(abnormal: AbnormalCategory, input: TripInput, nominalHz: number): RideThroughMode {
  const low = rideThroughBands('lv_trip', abnormal).find(({ edge }) => input.lowestVoltagePct < edge);
  const voltage = low ?? rideThroughBands('hv_trip', abnormal).find(({ edge }) => input.highestVoltagePct > edge);
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

  /** Updates the timers at `t`. @returns true if cessation has begun or ended */
  update(
    t: SimTime,
    input: TripInput,
    curves: TripSettings,
    { cessationReturnS, cessationRampS }: InverterParameters,
  ): boolean {
    const before = this.#kind;
    this.#kind = this.#timers.update(t, input, curves);
    if (before !== null && this.#kind === null) this.#endedAt = t;
    const hasReturned = this.#endedAt !== null && secondsBetween(this.#endedAt, t) >= cessationReturnS + cessationRampS;
    if (this.#kind !== null || hasReturned) this.#endedAt = null;
    return (before === null) !== (this.#kind === null);
  }

  clear(): void {
    this.#timers.clear();
    this.#kind = null;
    this.#endedAt = null;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptParts({
      timers: this.#timers.kept(),
      members: keptRecord(
        () => ({ kind: this.#kind, endedAt: this.#endedAt }),
        (saved) => {
          ({ kind: this.#kind, endedAt: this.#endedAt } = saved);
        },
      ),
    });
  }

  /** True if a timer runs, cessation acts, or the output returns. */
  get pending(): boolean {
    return this.#kind !== null || this.#endedAt !== null || this.#timers.counting;
  }

  /** True while the output returns. */
  get returns(): boolean {
    return this.#endedAt !== null;
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
