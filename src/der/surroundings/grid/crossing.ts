/** Where something that changes between two instants does so. */

/**
 * First instant after `from`, to the microsecond, from which on `changed` holds up to `to`; `to` when it does not hold
 * there. Of several changes between the two it finds one.
 */
export function firstChange(from: number, to: number, changed: (t: number) => boolean): number {
  if (!changed(to)) return to;
  let [before, after] = [from, to];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (changed(middle)) after = middle;
    else before = middle;
  }
  return after;
}
