/** For how long a device was beyond a threshold, from its rows. */
import { measurablePct } from '../contract/abnormal-conditions.ts';
import type { CurveTrip } from '../contract/abnormal-conditions.ts';
import type { CaptureColumns } from '../contract/captures.ts';
import { isLow, isVoltage } from './facts.ts';

/** A span without a break in which a threshold was exceeded. */
export interface Run {
  readonly fromS: number;
  readonly toS: number;
  /** false: it may have begun before the first row */
  readonly hasBegin: boolean;
}

/** The input of a trip function in a row; null: frequency cannot be measured. */
export function inputAt({ vLowPct, vHighPct, fHz }: CaptureColumns, name: CurveTrip, row: number): number | null {
  const [low, high] = [vLowPct[row] ?? 100, vHighPct[row] ?? 100];
  if (isVoltage(name)) return name === 'lv_trip' ? low : high;
  return high > measurablePct ? (fHz[row] ?? null) : null;
}

/** False where a look at each row would be in vain, as for most thresholds. */
function isEverBeyond({ extremes }: CaptureColumns, name: CurveTrip, value: number): boolean {
  const { lowPct, highPct, lowHz, highHz } = extremes;
  if (isLow(name)) return (isVoltage(name) ? lowPct : lowHz) < value;
  return (isVoltage(name) ? highPct : highHz) > value;
}

/** The spans beyond a value, in order. A row holds from the one before it to its own instant. */
export function runsBeyond(columns: CaptureColumns, name: CurveTrip, value: number): readonly Run[] {
  const runs: Run[] = [];
  if (!isEverBeyond(columns, name, value)) return runs;
  const { tS, length } = columns;
  /** first row of the run under way; -1: none */
  let first = -1;
  for (let row = 0; row <= length; row += 1) {
    const input = row < length ? inputAt(columns, name, row) : null;
    const isBeyond = input !== null && (isLow(name) ? input < value : input > value);
    if (isBeyond === first >= 0) continue;
    if (!isBeyond) runs.push({ fromS: tS[Math.max(0, first - 1)] ?? 0, toS: tS[row - 1] ?? 0, hasBegin: first > 0 });
    first = isBeyond ? row : -1;
  }
  return runs;
}

export const lengthS = ({ fromS, toS }: Run): number => toS - fromS;
