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
  /** farthest from that before, until the grid and the device are back */
  readonly duringKw: number;
  readonly afterKw: number;
  /** instant from which the power was that before; null: at no time, or never away */
  readonly backS: number | null;
}

/** Tells of a row whether the device lacks its power, or has changed it beyond what its source explains. */
function awayFrom({ facts, columns }: Course, beforeKw: number): (row: number) => boolean {
  const { pKw, possibleKw } = columns;
  const tolerance = toleranceKw(facts);
  return (row) => {
    const power = pKw[row] ?? 0;
    if (Math.abs(power - beforeKw) <= tolerance) return false;
    // a source that has less than before gives all of it
    const isWhole = beforeKw > tolerance && power > tolerance && power >= (possibleKw[row] ?? 0) - tolerance;
    // a return to service passes the power before on its way to what the source has by then
    const isBeyond = stateAt(columns, row) === 'ramping' && power * Math.sign(beforeKw) > Math.abs(beforeKw);
    return !isWhole && !isBeyond;
  };
}

export function powersOf(course: Course): Powers {
  const { gridBackS } = course;
  const { pKw, tS, ramp, length } = course.columns;
  const first = rowBefore(course.columns);
  const beforeKw = pKw[first] ?? 0;
  const isAway = awayFrom(course, beforeKw);
  let [duringKw, lastAway] = [beforeKw, -1];
  for (let row = first + 1; row < length; row += 1) {
    const power = pKw[row] ?? 0;
    if (isAway(row)) lastAway = row;
    // wind and sun change the power in the minutes after a disturbance too
    else if ((tS[row] ?? 0) > gridBackS) continue;
    if (Math.abs(power - beforeKw) > Math.abs(duringKw - beforeKw)) duringKw = power;
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
