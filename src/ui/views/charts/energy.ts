/** Energies per hour or day from samples of power, as bars. */
import type { ChartData, Series } from '../../kit/chart';
import { gapsOf } from './panels';

const [hourS, dayS] = [3600, 86_400];
/** Span from which bars are of days, s. */
const daysFromS = 2 * dayS;

export interface EnergyBars {
  /** length of a bar, s */
  readonly bucketS: number;
  /** begin of each bar, seconds since the epoch, in UTC */
  readonly starts: readonly number[];
  /** kWh, at least 0 */
  readonly delivered: readonly number[];
  /** kWh, at most 0 */
  readonly absorbed: readonly number[];
}

/** A power holds until the next sample; a gap counts as nothing. @param times seconds, ascending */
export function energyOf(times: readonly number[], kw: readonly (number | null)[]): EnergyBars {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const bucketS = last - first > daysFromS ? dayS : hourS;
  const startOf = (at: number) => Math.floor(at / bucketS) * bucketS;
  const count = times.length === 0 ? 0 : Math.floor((startOf(last) - startOf(first)) / bucketS) + 1;
  const [delivered, absorbed] = [new Array<number>(count).fill(0), new Array<number>(count).fill(0)];
  const gaps = new Set(gapsOf(times));
  for (let row = 1; row < times.length; row += 1) {
    const power = kw[row - 1];
    if (power === null || power === undefined || gaps.has(row)) continue;
    const sums = power > 0 ? delivered : absorbed;
    const to = times[row] ?? 0;
    for (let from = times[row - 1] ?? to; from < to; ) {
      const end = Math.min(to, startOf(from) + bucketS);
      const place = Math.floor((from - startOf(first)) / bucketS);
      sums[place] = (sums[place] ?? 0) + (power * (end - from)) / 3600;
      from = end;
    }
  }
  return { bucketS, starts: delivered.map((_none, place) => startOf(first) + place * bucketS), delivered, absorbed };
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
