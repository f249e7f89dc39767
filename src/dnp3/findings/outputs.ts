/** Ranges of the outputs that a point map names. */
import { isOutput, pointName } from '../profile/table/rows.ts';
import type { PointName, PointRow } from '../profile/types.ts';
import type { Control } from '../stack/outstation/types.ts';
import type { OutputRange } from './dialogue.ts';

/** shared by the outstations of one map */
const rangesOf = new WeakMap<readonly PointRow[], ReadonlyMap<PointName, OutputRange>>();

/** Range of an output without `min` and `max`: 32 bits. */
const [lowest, highest] = [-(2 ** 31), 2 ** 31 - 1];

export function outputRanges(
  rows: readonly PointRow[],
): (kind: Control['kind'], index: number) => OutputRange | undefined {
  let ranges = rangesOf.get(rows);
  if (ranges === undefined) {
    ranges = new Map(
      rows.filter(isOutput).map((row) => [pointName(row), { min: row.min ?? lowest, max: row.max ?? highest }]),
    );
    rangesOf.set(rows, ranges);
  }
  const byName = ranges;
  return (kind, index) => byName.get(kind === 'binary' ? `BO${index}` : `AO${index}`);
}
