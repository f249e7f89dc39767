/** First-order lag of a quantity behind its target. */

/**
 * Value after `dtS` seconds of a quantity that follows its target with a first-order lag, while the target moves on a
 * straight line from `fromTarget` to `toTarget`: the exact solution, so that the length of sub-steps does not matter.
 */
export function lagged(
  value: number,
  fromTarget: number,
  toTarget: number,
  dtS: number,
  timeConstantS: number,
): number {
  const x = dtS / timeConstantS;
  // at rest, as most sub-steps are, there is nothing to solve
  if (!(x > 0) || (value === fromTarget && value === toTarget)) return value;
  const reached = -Math.expm1(-x);
  return value + (fromTarget - value) * reached + (toTarget - fromTarget) * (1 - reached / x);
}
