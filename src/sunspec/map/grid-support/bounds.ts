/** Bounds of points as they are now. What a protocol shows as the range of a setting is what a write is held to. */
import type { Bound, Range, RangeRule, ReadPoint } from '../rules.ts';
import type { PointPath } from '../point-path.ts';

export interface Bounds extends Pick<Range, 'orZero'> {
  readonly min?: number;
  readonly max?: number;
}

/**
 * A rating below zero that a device does not have is 0: SunSpec lets a device leave out the ratings of what it cannot do,
 * such as 702.WChaRteMaxRtg where it does not charge, so that nothing below zero can be asked of it. Above zero an absent
 * rating says nothing, and the register alone is the limit.
 */
function boundOf(read: ReadPoint, bound: Bound | undefined): number | undefined {
  if (bound === undefined || typeof bound === 'number') return bound;
  const isNegative = bound.startsWith('-');
  const value = read((isNegative ? bound.slice(1) : bound) as PointPath);
  if (typeof value !== 'number') return isNegative ? 0 : undefined;
  return isNegative ? 0 - value : value;
}

/** The bounds of a rule. @param read other points, where the rule depends on them */
export function boundsOf(rule: RangeRule, read: ReadPoint): Bounds {
  const { min: low, max: high, orZero } = typeof rule === 'function' ? rule(read) : rule;
  const [min, max] = [boundOf(read, low), boundOf(read, high)];
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }), ...(orZero && { orZero }) };
}
