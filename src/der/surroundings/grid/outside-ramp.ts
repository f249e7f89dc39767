/** Values of a grid outside on their way to those that were put in. */
import type { SimTime } from '../../../core/time/clock.ts';
import { measuredQuantities } from './layers.ts';
import type { GridValues, MeasuredQuantity } from './layers.ts';
import { ramp, restsFrom, valueAt } from './trajectory.ts';
import type { Trajectory } from './trajectory.ts';

/** Set values, an outage included, under which voltages and frequency are kept for its end. */
export interface OutsideValues extends GridValues {
  readonly outage: boolean;
}

/** The way to new values. */
export interface Approach {
  readonly from: SimTime;
  /** 0: a step */
  readonly rampS: number;
  /** quantities with new values; the others stay on their ramp until it arrives */
  readonly quantities: readonly MeasuredQuantity[];
}

type Tracks = readonly (readonly [MeasuredQuantity, Trajectory])[];

export class OutsideRamp {
  /** the instant from which all values stand still */
  readonly end: SimTime;
  readonly #to: OutsideValues;
  readonly #tracks: Tracks;

  constructor(to: OutsideValues, tracks: Tracks) {
    this.#to = to;
    this.#tracks = tracks;
    this.end = Math.max(...tracks.map(([, track]) => restsFrom(track))) as SimTime;
  }

  /** True under an outage, which hides the way; phases without voltage hide it only as long as they have none. */
  get isHidden(): boolean {
    return this.#to.outage;
  }

  at(t: SimTime): OutsideValues {
    return { ...this.#to, ...Object.fromEntries(this.#tracks.map(([name, track]) => [name, valueAt(track, t)])) };
  }

  /** The next instant after `t` at which a value arrives; Infinity without one. */
  nextBreak(t: SimTime): number {
    return Math.min(...this.#tracks.map(([, track]) => restsFrom(track)).filter((end) => end > t), Infinity);
  }

  /** The ramps that have not ended at `t`, except those of `quantities`. */
  others(t: SimTime, quantities: readonly MeasuredQuantity[]): Tracks {
    return this.#tracks.filter(([name, track]) => restsFrom(track) > t && !quantities.includes(name));
  }
}

/** @param former the ramp under way @returns null: a step */
export function rampTo(
  to: OutsideValues,
  { from, rampS, quantities }: Approach,
  present: OutsideValues,
  former: OutsideRamp | null,
): OutsideRamp | null {
  if (rampS === 0 && former === null) return null;
  const moving = rampS === 0 ? [] : measuredQuantities.filter((name) => quantities.includes(name));
  const tracks = [
    ...(former?.others(from, quantities) ?? []),
    ...moving
      .filter((name) => present[name] !== to[name])
      .map((name) => [name, ramp(present[name], to[name], from, rampS)] as const),
  ];
  return tracks.length === 0 ? null : new OutsideRamp(to, tracks);
}
