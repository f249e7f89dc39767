/**
 * Timers of the curves of models 707-710 (IEEE 1547-2018 6.4, 6.5): one timer per threshold, counting while any phase is
 * beyond it, cleared at once on return, acting at the computed instant.
 */
import { addSeconds } from '../../core/clock.ts';
import type { SimTime } from '../../core/clock.ts';
import type { TripSetting, TripSettings } from './settings.ts';

export const tripKinds = ['lowVoltage', 'highVoltage', 'lowFrequency', 'highFrequency'] as const;
export type TripKind = (typeof tripKinds)[number];

const below: Readonly<Record<TripKind, boolean>> = {
  lowVoltage: true, highVoltage: false, lowFrequency: true, highFrequency: false,
};

/** Frequency trips need a voltage above this on some phase (IEEE 1547-2018 6.5.1). */
const frequencyNeedsPct = 30;

/** What the trip functions measure: extremes over the phases in percent of VNom, and frequency. */
export interface TripInput {
  readonly lowestPct: number;
  readonly highestPct: number;
  readonly hz: number;
}

/** A threshold that is exceeded now. */
interface Running {
  readonly limit: number;
  readonly since: SimTime;
  readonly due: SimTime;
}

export class TripTimers {
  readonly #running = new Map<TripKind, readonly Running[]>();

  /** The next instant after `t` at which a trip will happen if nothing changes; Infinity without one. */
  nextDue(t: SimTime): number {
    let next = Infinity;
    for (const list of this.#running.values()) for (const { due } of list) if (due > t && due < next) next = due;
    return next;
  }

  /** Whether any threshold is exceeded. */
  get counting(): boolean { return this.#running.size > 0; }

  /** When this kind will trip if nothing changes; null: nothing counts. */
  due(kind: TripKind): SimTime | null {
    const dues = this.#running.get(kind)?.map(({ due }) => due);
    return dues ? Math.min(...dues) as SimTime : null;
  }

  /** Kinds with a threshold exceeded. */
  pending(): TripKind[] {
    return [...this.#running.keys()];
  }

  clear(): void {
    this.#running.clear();
  }

  /** Follows the measurements at `t`; returns the kind that trips now, or null. */
  update(t: SimTime, input: TripInput, trips: TripSettings): TripKind | null {
    const hz = input.highestPct > frequencyNeedsPct ? input.hz : null;
    let tripped: TripKind | null = null;
    for (const kind of tripKinds) {
      const value = kind === 'lowVoltage' ? input.lowestPct : kind === 'highVoltage' ? input.highestPct : hz;
      if (this.#follow(t, kind, value, trips[kind])) tripped ??= kind;
    }
    return tripped;
  }

  #follow(t: SimTime, kind: TripKind, value: number | null, { enabled, points }: TripSetting): boolean {
    const beyond = (limit: number) => value !== null && (below[kind] ? value < limit : value > limit);
    const exceeded = enabled ? points.filter((point) => beyond(point.limit)) : [];
    if (exceeded.length === 0) {
      this.#running.delete(kind);
      return false;
    }
    const before = this.#running.get(kind);
    const list = exceeded.map(({ limit, seconds }) => {
      // an adopted curve keeps what has passed at a threshold it shares, and counts by its own times
      const since = before?.find((known) => known.limit === limit)?.since ?? t;
      return { limit, since, due: addSeconds(since, seconds) };
    });
    this.#running.set(kind, list);
    return list.some(({ due }) => due <= t);
  }
}
