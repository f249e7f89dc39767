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
  let wasBeyond = false;
  for (let row = 0; row < columns.length; row += 1) {
    const input = inputAt(columns, name, row);
    const isBeyond = input !== null && (isLow(name) ? input < value : input > value);
    const toS = columns.tS[row] ?? 0;
    const open = wasBeyond ? runs.pop() : undefined;
    if (open) runs.push(isBeyond ? { ...open, toS } : open);
    else if (isBeyond) runs.push({ fromS: columns.tS[row - 1] ?? toS, toS, hasBegin: row > 0 });
    wasBeyond = isBeyond;
  }
  return runs;
}

export const lengthS = ({ fromS, toS }: Run): number => toS - fromS;
