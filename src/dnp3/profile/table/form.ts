/** Forms of the rows of the tables of points. */

/** Range in wire units. `pos`: 0 to 2^31 - 1, `neg`: -2^31 to 0, `any`: -2^31 to 2^31 - 1. */
export type WireRange = 'pos' | 'neg' | 'any' | readonly [min: number, max: number];

export type AnalogInputRow = readonly [
  index: number,
  eventClass: 0 | 1 | 2 | 3,
  name: string,
  range: WireRange,
  multiplier: number,
  unit?: string,
  iec61850?: string,
];

/** @property mirror index of the analog input that reads it back */
export type AnalogOutputRow = readonly [
  index: number,
  mirror: number | null,
  range: WireRange,
  multiplier: number,
  unit?: string,
  iec61850?: string,
];

export type BinaryInputRow = readonly [index: number, eventClass: 0 | 1 | 2 | 3, name: string, iec61850?: string];

/** @property mirror index of the binary input that reads it back */
export type BinaryOutputRow = readonly [index: number, mirror: number, iec61850?: string];

const [minInt32, maxInt32] = [-(2 ** 31), 2 ** 31 - 1];

/** Minimum and maximum wire value. */
export function boundsOf(range: WireRange): readonly [min: number, max: number] {
  if (range === 'pos') return [0, maxInt32];
  if (range === 'neg') return [minInt32, 0];
  return range === 'any' ? [minInt32, maxInt32] : range;
}
