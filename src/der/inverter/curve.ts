/** Piecewise linear curves of the grid-support functions. */

/** One point, in percent as in the registers. */
export interface CurvePoint {
  readonly x: number;
  readonly y: number;
}

/** Value at `x` between points with rising x; outside, the end values hold. An empty curve gives 0. */
export function interpolate(points: readonly CurvePoint[], x: number): number {
  let before: CurvePoint | undefined;
  for (const point of points) {
    if (x < point.x) {
      if (!before) return point.y;
      return before.y + ((point.y - before.y) * (x - before.x)) / (point.x - before.x);
    }
    before = point;
  }
  return before?.y ?? 0;
}
