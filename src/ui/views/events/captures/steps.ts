/** Rows of a capture as curves: steps that hold backwards from their row, slopes only where the row is reached along one. */

/** A quantity over time. A value holds from the row before to its own instant. */
export interface Steps {
  readonly t: readonly number[];
  readonly values: readonly number[];
  /** 1: the row is reached along a slope */
  readonly ramp: readonly number[];
}

type Point = readonly [x: number, y: number];

/** Maps data to pixels. */
export type Scale = (value: number) => number;

/** Seconds in view. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Corners of the curve that the span needs. */
export function* cornersOf({ t, values, ramp }: Steps, { from, to }: Span): Generator<Point> {
  for (let row = 0; row < t.length; row += 1) {
    const [at = 0, value = 0] = [t[row], values[row]];
    const before = t[row - 1] ?? at;
    if (at < from || before > to) continue;
    if (ramp[row] === 1) yield [before, values[row - 1] ?? value];
    else yield [before, value];
    yield [at, value];
  }
}

const px = (value: number) => String(Math.round(value * 100) / 100);

/** Corners within one pixel of the screen, of which the first, the extremes and the last are drawn. */
class PixelColumn {
  readonly #points: Point[] = [];

  get x(): number {
    return Math.floor(this.#points[0]?.[0] ?? NaN);
  }

  add(point: Point): void {
    this.#points.push(point);
  }

  /** Takes the points that are drawn. */
  take(): readonly Point[] {
    const points = this.#points.splice(0);
    if (points.length <= 4) return points;
    const low = points.reduce((least, point) => (point[1] < least[1] ? point : least));
    const high = points.reduce((most, point) => (point[1] > most[1] ? point : most));
    return points.filter((point, n) => n === 0 || n === points.length - 1 || point === low || point === high);
  }
}

/** Path of SVG through the curve in a span. A dip is in it however short it is. */
export function pathOf(steps: Steps, span: Span, x: Scale, y: Scale): string {
  const drawn: string[] = [];
  const column = new PixelColumn();
  const draw = () => {
    for (const [atX, atY] of column.take()) {
      const point = `${px(atX)} ${px(atY)}`;
      if (point !== drawn.at(-1)) drawn.push(point);
    }
  };
  for (const [at, value] of cornersOf(steps, span)) {
    const point: Point = [x(at), y(value)];
    if (column.x !== Math.floor(point[0])) draw();
    column.add(point);
  }
  draw();
  return drawn.length === 0 ? '' : `M${drawn.join('L')}`;
}

/** The value of a curve at an instant; null: outside of it. */
export function valueAt({ t, values, ramp }: Steps, at: number): number | null {
  const row = t.findIndex((each) => each >= at);
  if (row === -1 || at < (t[0] ?? Infinity)) return null;
  const [value = 0, before = 0] = [values[row], values[row - 1]];
  if (ramp[row] !== 1) return value;
  const [fromT = 0, toT = 0] = [t[row - 1], t[row]];
  return toT === fromT ? value : before + ((value - before) * (at - fromT)) / (toT - fromT);
}

/** Lowest and highest of several curves. */
export interface Band {
  readonly low: Steps;
  readonly high: Steps;
}

/** The extremes of one curve in the time of one row, which may be shorter than its own. */
class Walk {
  readonly #of: Steps;
  #row = 0;

  constructor(of: Steps) {
    this.#of = of;
  }

  /** Extremes until `at`, which rises from call to call; null: the curve does not reach there. */
  until(at: number): Point | null {
    const { t, values, ramp } = this.#of;
    while ((t[this.#row] ?? Infinity) < at) this.#row += 1;
    const value = values[this.#row];
    if (value === undefined || at < (t[0] ?? Infinity)) return null;
    const before = ramp[this.#row] === 1 ? (values[this.#row - 1] ?? value) : value;
    return [Math.min(value, before), Math.max(value, before)];
  }
}

/** The band that several curves fill, in steps at the instants of all of them. */
export function bandOf(curves: readonly Steps[]): Band {
  const t = [...new Set(curves.flatMap((curve) => curve.t))].sort((a, b) => a - b);
  const walks = curves.map((curve) => new Walk(curve));
  const rows = t.map((at) => walks.flatMap((walk) => [walk.until(at) ?? []].flat()));
  const ramp = t.map(() => 0);
  return {
    low: { t, ramp, values: rows.map((values) => Math.min(...values)) },
    high: { t, ramp, values: rows.map((values) => Math.max(...values)) },
  };
}

/** Path of SVG around a band. */
export function bandPath({ low, high }: Band, span: Span, x: Scale, y: Scale): string {
  const upper = pathOf(high, span, x, y);
  const lower = pathOf(low, span, x, y);
  if (upper === '' || lower === '') return '';
  return `${upper}L${lower.slice(1).split('L').reverse().join('L')}Z`;
}

/** Smallest and largest value of curves; null: there is no value. */
export function extentOf(curves: readonly Steps[]): Point | null {
  let [low, high] = [Infinity, -Infinity];
  for (const { values } of curves)
    for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low > high ? null : [low, high];
}
