/** Ride-through curves: thresholds of voltage or frequency over the duration of a deviation. */

/** A point of a curve; of a ride-through curve x is a duration, s, and y a threshold. */
export interface XY {
  readonly x: number;
  readonly y: number;
}

/** Where the curves of each trip function are: model, point of the threshold, and side of nominal on which it lies. */
export const tripModels = {
  lv_trip: { model: 707, y: 'V', side: 'low' },
  hv_trip: { model: 708, y: 'V', side: 'high' },
  lf_trip: { model: 709, y: 'Hz', side: 'low' },
  hf_trip: { model: 710, y: 'Hz', side: 'high' },
} as const;
export type TripName = keyof typeof tripModels;

/** The points of a ride-through curve by duration; of one duration the threshold farthest from nominal first. */
export function outwards(points: readonly XY[], side: 'low' | 'high'): readonly XY[] {
  const sign = side === 'low' ? 1 : -1;
  return [...points].sort((a, b) => a.x - b.x || sign * (a.y - b.y));
}

/**
 * Whether a ride-through curve can bound a region: the longer a deviation lasts, the smaller it may be.
 * @param side on which the thresholds lie
 */
export function isRideThrough(points: readonly XY[], side: 'low' | 'high'): boolean {
  return points.every(({ y }, i) => {
    const before = points[i - 1];
    return !before || (side === 'low' ? y >= before.y : y <= before.y);
  });
}
