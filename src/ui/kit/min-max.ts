/** Fewer rows for a chart with more samples than pixels, without the loss of a short dip. */
import type { Zoom } from './uplot-chart';

type Value = number | null | undefined;
type Columns = readonly (readonly Value[])[];

/** Index of the first time from `limit` on. */
function firstFrom(times: readonly Value[], limit: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The least and the largest value of the rows of a bucket in the order in which they come, so that a step line draws a
 * band between them. Null: the bucket has no value; a gap in a bucket with values is narrower than a pixel.
 */
function extremes(column: readonly Value[], from: number, to: number): readonly [Value, Value] {
  let [min, max]: [number | null, number | null] = [null, null];
  for (let row = from; row < to; row += 1) {
    const value = column[row];
    if (value === null || value === undefined) continue;
    if (min === null || value < (column[min] ?? Infinity)) min = row;
    if (max === null || value > (column[max] ?? -Infinity)) max = row;
  }
  if (min === null || max === null) return [null, null];
  return [column[Math.min(min, max)], column[Math.max(min, max)]];
}

/**
 * Two rows per pixel with the extremes of the rows there; the rows themselves while there are no more than that.
 * @param columns times, then the values of each series
 * @param zoom visible range; rows beside it are left out, except the next one on each side
 * @param pixels width of the picture
 */
export function minMaxRows(columns: Columns, zoom: Zoom, pixels: number): Columns {
  const times = columns[0] ?? [];
  const first = zoom === null ? 0 : Math.max(0, firstFrom(times, zoom[0]) - 1);
  const last = zoom === null ? times.length : Math.min(times.length, firstFrom(times, zoom[1]) + 1);
  const buckets = Math.max(1, Math.floor(pixels));
  if (last - first <= 2 * buckets) return columns;
  const begin = times[first] ?? 0;
  const step = ((times[last - 1] ?? 0) - begin) / buckets;
  const reduced: Value[][] = columns.map(() => []);
  let from = first;
  for (let bucket = 1; bucket <= buckets; bucket += 1) {
    const to = bucket === buckets ? last : Math.min(last, firstFrom(times, begin + bucket * step));
    if (to === from) continue;
    columns.forEach((column, place) => {
      const pair = place === 0 ? [times[from], times[to - 1]] : extremes(column, from, to);
      reduced[place]?.push(...(to - from === 1 ? [column[from]] : pair));
    });
    from = to;
  }
  return reduced;
}
