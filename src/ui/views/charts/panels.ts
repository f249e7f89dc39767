/** Columns of a chart from the samples of several devices. */
import uPlot from 'uplot';
import type { ChartData, Series } from '../../kit/chart';
import type { Samples } from './samples';

/** A quantity of a chart. */
export interface Line {
  readonly metric: string;
  readonly label: string;
  readonly unit: string;
  readonly decimals: number;
  readonly colour: string;
  readonly side?: 'left' | 'right';
}

export const powerLines: readonly Line[] = [
  { metric: 'power_kw', label: 'P', unit: 'kW', decimals: 2, colour: '--p' },
  { metric: 'reactive_power_kvar', label: 'Q', unit: 'kvar', decimals: 2, colour: '--q', side: 'right' },
];
export const gridLines: readonly Line[] = [
  { metric: 'voltage_ln_v', label: 'V', unit: 'V', decimals: 1, colour: '--v' },
  { metric: 'frequency_hz', label: 'f', unit: 'Hz', decimals: 3, colour: '--f', side: 'right' },
];
export const socLines: readonly Line[] = [
  { metric: 'state_of_charge_pct', label: 'SoC', unit: '%', decimals: 1, colour: '--soc' },
  { metric: 'soc_reserve_max_pct', label: 'reserve max', unit: '%', decimals: 0, colour: '--muted' },
  { metric: 'soc_reserve_min_pct', label: 'reserve min', unit: '%', decimals: 0, colour: '--muted' },
];

/** The same quantity always has the same colour: devices differ by their dashes. */
const dashes: readonly (readonly number[])[] = [
  [],
  [8, 4],
  [2, 3],
  [10, 4, 2, 4],
  [14, 4],
  [4, 8],
  [2, 8],
  [14, 4, 2, 4, 2, 4],
];

export interface Drawn {
  readonly series: readonly Series[];
  readonly data: ChartData;
}

/** @param named devices with their names, in the order of the chart */
export function drawn(
  named: readonly (readonly [device: number, name: string])[],
  samples: ReadonlyMap<number, Samples>,
  lines: readonly Line[],
): Drawn {
  const series: Series[] = [];
  const tables: (number | null)[][][] = [];
  named.forEach(([device, name], index) => {
    const known = samples.get(device);
    if (known === undefined) return;
    const table: (number | null)[][] = [known.times as number[]];
    for (const { metric, label, ...look } of lines) {
      const column = known.columns.get(metric);
      if (column === undefined) continue;
      table.push(column as (number | null)[]);
      const dash = dashes[index % dashes.length] ?? [];
      series.push({ ...look, label: named.length > 1 ? `${label} ${name}` : label, ...(dash.length > 0 && { dash }) });
    }
    tables.push(table);
  });
  if (tables.length === 0) return { series, data: { columns: [[]] } };
  const joined = tables.length === 1 ? (tables[0] ?? [[]]) : uPlot.join(tables as uPlot.AlignedData[]);
  // devices that joined later have no value, not a gap of their own
  return { series, data: { columns: joined as (number | null)[][] } };
}
