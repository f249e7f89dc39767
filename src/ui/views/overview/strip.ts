/** Axes and paths of a strip chart. */

export type Point = readonly [atMs: number, value: number];

export interface Axis {
  readonly min: number;
  readonly max: number;
  readonly ticks: readonly number[];
  readonly decimals: number;
}

/** The next of 1, 2 or 5 times a power of ten. */
function niceStep(rough: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5].find((each) => each * magnitude >= rough) ?? 10;
  return factor * magnitude;
}

/** Least span of an axis, so that noise does not fill it. */
const minSpan = 0.1;

/** An axis with whole steps around values. @param count of steps at most */
export function axisOf(values: readonly number[], count: number): Axis {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const step = niceStep(Math.max(high - low, minSpan) / count);
  const [first, last] = [Math.floor(low / step), Math.max(Math.ceil(high / step), Math.floor(low / step) + 1)];
  const ticks = Array.from({ length: last - first + 1 }, (_none, index) => (first + index) * step);
  return { min: first * step, max: last * step, ticks, decimals: Math.max(0, -Math.floor(Math.log10(step))) };
}

/** Steps: a value holds until the next one. Samples more than three usual gaps apart are not joined. */
export function pathOf(points: readonly Point[], x: (atMs: number) => number, y: (value: number) => number): string {
  const gaps = points.slice(1).map(([at], index) => at - (points[index]?.[0] ?? at));
  const usualMs = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
  return points
    .map(([at, value], index) => {
      const isJoined = index > 0 && (gaps[index - 1] ?? 0) <= 3 * usualMs;
      const place = x(at).toFixed(1);
      return isJoined ? `H${place}V${y(value).toFixed(1)}` : `M${place} ${y(value).toFixed(1)}`;
    })
    .join('');
}

/** Width of a flag with its gap, px. */
const flagPx = 18;

/** Places of flags over marks, which ascend: where marks are close, flags give way to the left. */
export function flagPlaces(marks: readonly number[]): readonly number[] {
  let limit = Infinity;
  return marks
    .toReversed()
    .map((mark) => {
      const place = Math.min(mark, limit);
      limit = place - flagPx;
      return place;
    })
    .toReversed();
}

/** Least distance of two labels one below the other, px. */
const labelRowPx = 13;

/** Places of labels beside the ends of lines: where ends are close, their labels are around the middle of them. */
export function labelPlaces(ends: readonly number[]): readonly number[] {
  const groups: { readonly ends: readonly number[]; readonly middle: number }[] = [];
  for (const end of ends.toSorted((a, b) => a - b)) {
    let group = { ends: [end], middle: end };
    for (let above = groups.at(-1); above !== undefined; above = groups.at(-1)) {
      if (group.middle - above.middle >= ((above.ends.length + group.ends.length) / 2) * labelRowPx) break;
      groups.pop();
      const all = [...above.ends, ...group.ends];
      group = { ends: all, middle: all.reduce((sum, one) => sum + one, 0) / all.length };
    }
    groups.push(group);
  }
  const sorted = groups.flatMap(({ ends: { length }, middle }) =>
    Array.from({ length }, (_none, at) => middle + (at - (length - 1) / 2) * labelRowPx),
  );
  const order = ends.map((_end, at) => at).toSorted((a, b) => (ends[a] ?? 0) - (ends[b] ?? 0));
  const places: number[] = [];
  order.forEach((at, place) => (places[at] = sorted[place] ?? 0));
  return places;
}

const minuteMs = 60_000;
/** Least distance of two labels, px. */
const labelPx = 80;

/** Whole minutes to label. */
export function timeTicks(fromMs: number, endMs: number, widthPx: number): readonly number[] {
  const roughMs = ((endMs - fromMs) / widthPx) * labelPx;
  const stepMs =
    [5, 10, 15, 20, 30, 60].map((minutes) => minutes * minuteMs).find((step) => step >= roughMs) ?? 60 * minuteMs;
  const first = Math.ceil(fromMs / stepMs) * stepMs;
  return Array.from(
    { length: Math.max(0, Math.floor((endMs - first) / stepMs) + 1) },
    (_none, index) => first + index * stepMs,
  );
}
