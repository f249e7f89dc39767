/** Response of an output to its target: linear ramps and the open-loop response. */

/** Moves `from` towards `to` by at most `ratePerS` x `dtS`. */
export function rampTowards(from: number, to: number, ratePerS: number, dtS: number): number {
  const step = dtS === Infinity ? Infinity : ratePerS * dtS;
  if (Math.abs(to - from) <= step) return to;
  return to > from ? from + step : from - step;
}

/**
 * A command that is ramped when it changes (704.WRmp). The ramp starts at the present output if the output lies between
 * the old and the new value: a command that had no effect does not delay the change.
 * @param from ramped value of the command so far
 */
export function rampCommand(from: number, target: number, output: number, ratePerS: number, dtS: number): number {
  const start = target >= from ? Math.min(target, Math.max(from, output)) : Math.max(target, Math.min(from, output));
  return rampTowards(start, target, ratePerS, dtS);
}

/**
 * The open-loop response of IEEE 1547-2018: a first-order lag that completes 90 % of a step in `responseS`. Exact for
 * any `dtS` while the target is constant. @param settledAt distance at which the target counts as reached
 */
export function respond(from: number, to: number, responseS: number, dtS: number, settledAt: number): number {
  if (responseS <= 0 || from === to) return to;
  const next = to + (from - to) * 10 ** (-dtS / responseS);
  return Math.abs(to - next) <= settledAt ? to : next;
}
