/** One device through a capture: its rows read as power before, during and after, and as states. */
import type { CaptureColumns } from '../contract/captures.ts';
import { serviceWords } from '../contract/grid-trace.ts';
import type { ServiceWord } from '../contract/grid-trace.ts';
import type { DeviceFacts } from './facts.ts';
import { toleranceW } from './settling.ts';

/** A change of the service state. */
export interface ServiceChange {
  readonly tS: number;
  readonly from: ServiceWord;
  readonly to: ServiceWord;
  /** name of the trip; null: not a trip */
  readonly cause: string | null;
}

export interface Course {
  readonly facts: DeviceFacts;
  readonly columns: CaptureColumns;
  readonly changes: readonly ServiceChange[];
  /** the grid is back, or has reached its new values */
  readonly gridBackS: number;
}

const outOfService: readonly ServiceWord[] = ['waiting', 'ceased', 'off', 'tripped'];
export const isOut = (word: ServiceWord): boolean => outOfService.includes(word);

export const stateAt = ({ state }: CaptureColumns, row: number): ServiceWord =>
  serviceWords[state[row] ?? 0] ?? 'in_service';

/** The last row at or before the begin, else the first one. */
export function rowBefore({ tS, length }: CaptureColumns): number {
  let row = 0;
  while (row + 1 < length && (tS[row + 1] ?? 0) <= 0) row += 1;
  return row;
}

export const toleranceKw = ({ ratingW }: DeviceFacts): number => toleranceW(ratingW) / 1000;

export interface Powers {
  readonly beforeKw: number;
  /** farthest from that before */
  readonly duringKw: number;
  readonly afterKw: number;
  /** instant from which the power was that before; null: at no time, or never away */
  readonly backS: number | null;
}

export function powersOf({ facts, columns }: Course): Powers {
  const { pKw, possibleKw, tS, ramp, length } = columns;
  const first = rowBefore(columns);
  const beforeKw = pKw[first] ?? 0;
  const tolerance = toleranceKw(facts);
  let [duringKw, lastAway] = [beforeKw, -1];
  for (let row = first + 1; row < length; row += 1) {
    const power = pKw[row] ?? 0;
    const away = Math.abs(power - beforeKw);
    if (away > Math.abs(duringKw - beforeKw)) duringKw = power;
    // a source that has less than before gives all of it
    const isWhole = beforeKw > tolerance && power > tolerance && power >= (possibleKw[row] ?? 0) - tolerance;
    if (away > tolerance && !isWhole) lastAway = row;
  }
  const isBack = lastAway >= 0 && lastAway + 1 < length;
  // a row holds from the one before, unless it is reached along a slope
  const backRow = ramp[lastAway + 1] === 1 ? lastAway + 1 : lastAway;
  return {
    beforeKw,
    duringKw,
    afterKw: pKw[length - 1] ?? 0,
    backS: isBack ? Math.max(0, tS[backRow] ?? 0) : null,
  };
}
