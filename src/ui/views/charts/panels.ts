/** Columns of a chart from the samples of several devices. */
import type { ChartData, Series } from '../../kit/chart';
import { termOf } from '../../look/format';
import type { Samples } from './samples';

/** A quantity of a chart. */
export interface Line {
  readonly metric: string;
  readonly label: string;
  readonly unit: string;
  readonly decimals: number;
  readonly colour: string;
  /** absent: that of the device */
  readonly dash?: readonly number[];
}

const powerLine: Line = { metric: 'power_kw', label: 'P', unit: 'kW', decimals: 2, colour: '--p' };
const reactiveLine: Line = { metric: 'reactive_power_kvar', label: 'Q', unit: 'kvar', decimals: 2, colour: '--q' };
const limitLine: Line = { metric: 'limit_kw', label: 'limit', unit: 'kW', decimals: 2, colour: '--warn', dash: [6, 4] };
const possibleLine: Line = {
  metric: 'possible_kw',
  label: 'possible',
  unit: 'kW',
  decimals: 2,
  colour: '--off',
  dash: [2, 3],
};
/** Power of one device beside what holds it, and what it could be. */
export const powerLinesOfOne: readonly Line[] = [powerLine, limitLine, possibleLine];
const voltageLine: Line = { metric: 'voltage_ln_v', label: 'V', unit: 'V', decimals: 1, colour: '--v' };
const frequencyLine: Line = { metric: 'frequency_hz', label: 'f', unit: 'Hz', decimals: 3, colour: '--f' };
const socLines: readonly Line[] = [
  { metric: 'state_of_charge_pct', label: 'SoC', unit: '%', decimals: 1, colour: '--soc' },
  { metric: 'soc_reserve_max_pct', label: 'reserve max', unit: '%', decimals: 0, colour: '--muted' },
  { metric: 'soc_reserve_min_pct', label: 'reserve min', unit: '%', decimals: 0, colour: '--muted' },
];

/** Ratings of the devices of a chart: they bound how far it zooms into small changes. */
export interface Ratings {
  /** largest rating, kW or kVA; null: not read */
  readonly powerKw: number | null;
  /** largest nominal voltage to neutral, V */
  readonly voltageV: number | null;
}

/** A chart of one quantity. */
export interface Quantity {
  /** name in the address */
  readonly name: string;
  readonly title: string;
  readonly lines: readonly Line[];
  /** in their place where the chart has one device; with more they would be too many */
  readonly linesOfOne?: readonly Line[];
  /** true: zero is always in view */
  readonly hasZero?: boolean;
  /** filled areas between two lines */
  readonly bands?: readonly (readonly [upper: number, lower: number])[];
  readonly minSpan: (ratings: Ratings) => number | undefined;
}

const shareOf = (value: number | null, share: number) => (value === null ? undefined : value * share);
const ofPower = ({ powerKw }: Ratings) => shareOf(powerKw, 0.02);
const ofVoltage = ({ voltageV }: Ratings) => shareOf(voltageV, 0.04);

/** The standard charts. */
export const quantities: readonly Quantity[] = [
  {
    name: 'p',
    title: 'Active power',
    lines: [powerLine],
    linesOfOne: powerLinesOfOne,
    hasZero: true,
    minSpan: ofPower,
  },
  { name: 'q', title: 'Reactive power', lines: [reactiveLine], minSpan: ofPower },
  { name: 'v', title: 'Voltage', lines: [voltageLine], minSpan: ofVoltage },
  { name: 'f', title: 'Frequency', lines: [frequencyLine], minSpan: () => 0.1 },
  { name: 'soc', title: 'State of charge', lines: socLines, bands: [[1, 2]], minSpan: () => 5 },
];

/** Metrics of the standard charts. */
export const standardMetrics: readonly string[] = quantities.flatMap(({ lines }) => lines).map(({ metric }) => metric);

/** Metrics of the lines for one device alone. */
export const metricsOfOne: readonly string[] = [limitLine.metric, possibleLine.metric];

/** The line of an additional metric of the history. */
export function lineOf(metric: string): Line {
  const { term: label, unit } = termOf(metric);
  return { metric, label, unit, decimals: unit === '' ? 3 : 2, colour: '--accent' };
}

/** Dashes distinguish devices; colours belong to quantities. */
export const dashes: readonly (readonly number[])[] = [
  [],
  [8, 4],
  [2, 3],
  [10, 4, 2, 4],
  [14, 4],
  [4, 8],
  [2, 8],
  [14, 4, 2, 4, 2, 4],
];

interface Drawn {
  readonly series: readonly Series[];
  readonly data: ChartData;
}

/**
 * Indexes before which samples are missing: steps in time well above their neighbours, as after the clock is set
 * forward.
 */
export function gapsOf(times: readonly number[]): readonly number[] {
  const gaps: number[] = [];
  for (let index = 2; index < times.length; index += 1) {
    const [here = 0, before = 0, next] = [times[index], times[index - 1], times[index + 1]];
    const step = here - before;
    // a change of the rate also changes all later steps
    if (step > 3 * (before - (times[index - 2] ?? 0)) && (next === undefined || step > 3 * (next - here)))
      gaps.push(index);
  }
  return gaps;
}

/** Inserts an empty row into each gap, so that no line crosses it. */
export function withGaps(table: (number | null)[][]): (number | null)[][] {
  const times = table[0] as number[];
  const gaps = gapsOf(times);
  if (gaps.length === 0) return table;
  return table.map((column, place) => {
    const out: (number | null)[] = [];
    let from = 0;
    for (const gap of gaps) {
      out.push(...column.slice(from, gap), place === 0 ? ((times[gap - 1] ?? 0) + (times[gap] ?? 0)) / 2 : null);
      from = gap;
    }
    return [...out, ...column.slice(from)];
  });
}

function haveSameTimes(tables: readonly (number | null)[][][]): boolean {
  const first = tables[0]?.[0] ?? [];
  return tables.every(([times = []]) => times.length === first.length && times.every((at, row) => at === first[row]));
}

/** Rows of several tables by time; undefined where a table has no such time, which is no gap. */
function joinedByTime(tables: readonly (number | null)[][][]): (number | null | undefined)[][] {
  const all = tables.flatMap(([times = []]) => times as number[]);
  const times = [...new Set(all)].sort((a, b) => a - b);
  const columns = tables.flatMap(([present = [], ...rest]) => {
    const rowAt = new Map(present.map((at, row) => [at, row]));
    return rest.map((column) => times.map((at) => column[rowAt.get(at) ?? -1]));
  });
  return [times, ...columns];
}

/** Joins columns side by side, since devices tick together; by time if the times of a device differ. */
function joined(tables: readonly (number | null)[][][]): (number | null | undefined)[][] {
  const [first] = tables;
  if (first === undefined) return [[]];
  if (haveSameTimes(tables)) return [first[0] ?? [], ...tables.flatMap(([, ...columns]) => columns)];
  return joinedByTime(tables);
}

/** A device of a chart. */
export interface Named {
  readonly device: number;
  readonly name: string;
  /** index among all visible devices, which selects its dashes */
  readonly place: number;
}

function seriesOf({ label, dash, unit, decimals, colour }: Line, { name, place }: Named, isAlone: boolean): Series {
  const pattern = dash ?? dashes[place % dashes.length] ?? [];
  const text = isAlone ? label : `${label} ${name}`;
  return { label: text, unit, decimals, colour, ...(pattern.length > 0 && { dash: pattern }) };
}

/** The series of a chart whose samples are not read yet. */
export function expectedSeries(named: readonly Named[], lines: readonly Line[]): readonly Series[] {
  return named.flatMap((one) => lines.map((line) => seriesOf(line, one, named.length === 1)));
}

/** @param named devices in the order of the chart */
export function drawn(named: readonly Named[], samples: ReadonlyMap<number, Samples>, lines: readonly Line[]): Drawn {
  const series: Series[] = [];
  const tables: (number | null)[][][] = [];
  for (const one of named) {
    const deviceSamples = samples.get(one.device);
    if (deviceSamples === undefined) continue;
    const table: (number | null)[][] = [[...deviceSamples.times]];
    for (const line of lines) {
      const column = deviceSamples.column(line.metric);
      if (column === undefined) continue;
      table.push(column as (number | null)[]);
      series.push(seriesOf(line, one, named.length === 1));
    }
    if (table.length > 1) tables.push(withGaps(table));
  }
  return { series, data: { columns: joined(tables) } };
}
