/** Lines of charts: a value holds until the next sample, and each column of pixels shows its lowest and highest value. */

export type Samples = readonly (readonly [s: number, value: number])[];

/** Pixels of a time and of a value. */
export interface Scales {
  readonly x: (s: number) => number;
  readonly y: (value: number) => number;
}

/** The range of several series; null: no samples. */
export function rangeOf(
  all: readonly Samples[],
): { readonly s: [number, number]; readonly value: [number, number] } | null {
  let s: [number, number] | null = null;
  let value: [number, number] | null = null;
  for (const samples of all)
    for (const [at, each] of samples) {
      s = s === null ? [at, at] : [Math.min(s[0], at), Math.max(s[1], at)];
      value = value === null ? [each, each] : [Math.min(value[0], each), Math.max(value[1], each)];
    }
  return s === null || value === null ? null : { s, value };
}

/** The range with a margin, so that a constant value stands in the middle. */
export function withMargin([low, high]: readonly [number, number]): readonly [number, number] {
  const margin = high > low ? 0.06 * (high - low) : Math.max(1, 0.05 * Math.abs(high));
  return [low - margin, high + margin];
}

/** The path of a series as steps. A dip between two pixels is drawn too. */
export function stepPath(samples: Samples, { x, y }: Scales): string {
  const parts: string[] = [];
  let column = NaN;
  let [low, high, last] = [0, 0, 0];
  const close = () => {
    if (high > low) parts.push(`V${y(low).toFixed(1)}V${y(high).toFixed(1)}V${y(last).toFixed(1)}`);
  };
  for (const [s, value] of samples) {
    const at = Math.round(x(s) * 2) / 2;
    if (at === column) {
      [low, high, last] = [Math.min(low, value), Math.max(high, value), value];
      continue;
    }
    if (!Number.isNaN(column)) close();
    parts.push(parts.length === 0 ? `M${at} ${y(value).toFixed(1)}` : `H${at}V${y(value).toFixed(1)}`);
    [column, low, high, last] = [at, value, value, value];
  }
  close();
  return parts.join('');
}

/** The value that holds at a time; undefined before the first sample. */
export function valueAt(samples: Samples, s: number): number | undefined {
  let [low, high] = [0, samples.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((samples[middle]?.[0] ?? Infinity) <= s) low = middle + 1;
    else high = middle;
  }
  return samples[low - 1]?.[1];
}

const steps = [1, 2, 5, 10];

/** Round values inside a range, about as many as asked for. */
export function ticksOf([low, high]: readonly [number, number], count: number): readonly number[] {
  const rough = (high - low) / Math.max(count, 1);
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (steps.find((each) => each * power >= rough) ?? 10);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_none, n) =>
    Number(((first + n) * step).toPrecision(12)),
  );
}
