/** Moves `from` towards `to` by at most `ratePerS` x `dtS`. */
export function rampTowards(from: number, to: number, ratePerS: number, dtS: number): number {
  const step = ratePerS * dtS;
  if (Math.abs(to - from) <= step) return to;
  return to > from ? from + step : from - step;
}

/**
 * An upper limit that is ramped when it changes: falling, it starts at the power of the moment (a limit far above
 * the output must not delay the change), rising, at the last limit (704.WRmp).
 */
export function rampCeiling(ceilingW: number, targetW: number, outputW: number, ratePerS: number, dtS: number): number {
  if (targetW >= ceilingW) return rampTowards(ceilingW, targetW, ratePerS, dtS);
  return rampTowards(Math.max(targetW, Math.min(ceilingW, outputW)), targetW, ratePerS, dtS);
}
