/**
 * Must-trip timers of models 707-710 (IEEE 1547-2018 6.4.1, 6.5.1): one timer per threshold, counting while any
 * phase is beyond it, cleared at once on return, tripping at the computed instant.
 */
import { addSeconds } from '../../core/clock.ts';
import type { SimTime } from '../../core/clock.ts';
import type { Settings, TripSetting } from './settings.ts';

export const tripKinds = ['lowVoltage', 'highVoltage', 'lowFrequency', 'highFrequency'] as const;
export type TripKind = (typeof tripKinds)[number];

const below: Readonly<Record<TripKind, boolean>> = {
  lowVoltage: true, highVoltage: false, lowFrequency: true, highFrequency: false,
};

/** What the trip functions measure: extremes over the phases in percent of VNom, and frequency. */
export interface TripInput {
  readonly lowestPct: number;
  readonly highestPct: number;
  readonly hz: number;
}

export class TripTimers {
  /** instants at which the thresholds now beyond will trip, by kind and position of the threshold */
  readonly #due = new Map<TripKind, SimTime[]>();

  /** The next instant at which a trip will happen if nothing changes; Infinity without one. */
  nextDue(): number {
    let next = Infinity;
    for (const list of this.#due.values()) for (const due of list) if (due < next) next = due;
    return next;
  }

  /** Kinds with a threshold exceeded. */
  pending(): TripKind[] {
    return [...this.#due.keys()];
  }

  clear(): void {
    this.#due.clear();
  }

  /** Follows the measurements at `t`; returns the kind that trips now, or null. */
  update(t: SimTime, input: TripInput, trips: Settings['trips']): TripKind | null {
    let tripped: TripKind | null = null;
    for (const kind of tripKinds) {
      const value = kind === 'lowVoltage' ? input.lowestPct : kind === 'highVoltage' ? input.highestPct : input.hz;
      if (this.#follow(t, kind, value, trips[kind])) tripped ??= kind;
    }
    return tripped;
  }

  #follow(t: SimTime, kind: TripKind, value: number, { enabled, points }: TripSetting): boolean {
    const beyond = (limit: number) => (below[kind] ? value < limit : value > limit);
    if (!enabled || !points.some((point) => beyond(point.limit))) {
      this.#due.delete(kind);
      return false;
    }
    const before = this.#due.get(kind) ?? [];
    const list = points.map((point, i) => {
      if (!beyond(point.limit)) return Infinity as SimTime;
      const known = before[i];
      return known !== undefined && known < Infinity ? known : addSeconds(t, point.seconds);
    });
    this.#due.set(kind, list);
    return list.some((due) => due <= t);
  }
}
