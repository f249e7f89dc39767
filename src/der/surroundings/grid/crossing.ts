/**
 * Finds by halving, to the microsecond, an instant between `from` and `to` at which `changed` becomes true. Returns
 * `to` when `changed` is false there. Of several such instants it finds one.
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
