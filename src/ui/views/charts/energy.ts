/** Energies per hour or day from samples of power, as bars. */
import type { ChartData, Series } from '../../kit/chart';
import { gapsOf } from './panels';

const [hourS, dayS] = [3600, 86_400];
/** Span from which bars are of days, s. */
const daysFromS = 2 * dayS;

export interface EnergyBars {
  /** true: a bar is a day, otherwise an hour, both of the zone of the clock */
  readonly isByDay: boolean;
  /** begin of each bar, seconds since the epoch */
  readonly starts: readonly number[];
  /** end of the last bar, s */
  readonly end: number;
  /** kWh, at least 0 */
  readonly delivered: readonly number[];
  /** kWh, at most 0 */
  readonly absorbed: readonly number[];
}

/** Begin of the hour or day that has an instant, both s. */
type StartOf = (atS: number) => number;

function startsIn(timezone: string, spanS: number): StartOf {
  // "sv" formats dates as ISO does
  const format = new Intl.DateTimeFormat('sv', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' });
  const offsetOf = (atS: number) =>
    Date.parse(`${format.format(atS * 1000).replace(' ', 'T')}Z`) / 1000 - Math.floor(atS);
  return (atS) => {
    const offset = offsetOf(atS);
    const local = Math.floor((atS + offset) / spanS) * spanS;
    // summer time may have begun or ended since
    return local - offsetOf(local - offset);
  };
}

/** Begins of the hours or days from the first to the last instant, and the end of the last one. */
function boundsOf(first: number, last: number, timezone: string, spanS: number): readonly number[] {
  const startOf = startsIn(timezone, spanS);
  let bound = startOf(first);
  const bounds = [bound];
  while (bound <= last) {
    // a day has 23 to 25 hours
    bound = Math.max(startOf(bound + spanS * 1.5), bound + 1);
    bounds.push(bound);
  }
  return bounds;
}

/**
 * A power holds until the next sample; a gap counts as nothing.
 * @param times seconds, ascending
 * @param timezone of the hours and days
 */
export function energyOf(times: readonly number[], kw: readonly (number | null)[], timezone = 'UTC'): EnergyBars {
  const [first, last = 0] = [times[0], times.at(-1)];
  const isByDay = last - (first ?? last) > daysFromS;
  const bounds = first === undefined ? [0] : boundsOf(first, last, timezone, isByDay ? dayS : hourS);
  const starts = bounds.slice(0, -1);
  const [delivered, absorbed] = [new Array<number>(starts.length).fill(0), new Array<number>(starts.length).fill(0)];
  const gaps = new Set(gapsOf(times));
  let place = 0;
  for (let row = 1; row < times.length; row += 1) {
    const power = kw[row - 1];
    if (power === null || power === undefined || gaps.has(row)) continue;
    const sums = power > 0 ? delivered : absorbed;
    const to = times[row] ?? 0;
    for (let from = times[row - 1] ?? to; from < to; ) {
      while ((bounds[place + 1] ?? Infinity) <= from) place += 1;
      const end = Math.min(to, bounds[place + 1] ?? to);
      sums[place] = (sums[place] ?? 0) + (power * (end - from)) / 3600;
      from = end;
    }
  }
  return { isByDay, starts, end: bounds.at(-1) ?? 0, delivered, absorbed };
}

const bar = { unit: 'kWh', decimals: 2, isBar: true } as const;

/** @param words for energy in both directions */
export function barsOf({ starts, delivered, absorbed }: EnergyBars, words: readonly [out: string, into: string]) {
  const series: readonly Series[] = [
    { ...bar, label: words[0], colour: '--p' },
    { ...bar, label: words[1], colour: '--off' },
  ];
  const data: ChartData = { columns: [starts, delivered, absorbed] };
  return { series, data };
}
