/** Powers, limits and voltage of the site over the past hours, for charts of the site as a whole. */
import { conditionOf } from '../../contract/condition.ts';
import { assetTypes } from '../../contract/device.ts';
import type { AssetType } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import type { Metric } from './metrics.ts';
import { firstMetric, simColumn } from './ring.ts';
import type { SeriesHistory } from './series.ts';

/** Least simulated time between two samples with further columns, ms: a chart of an hour has fewer pixels. */
export const gapMs = 5000;

/** Columns of the whole site behind those of every scope, W and percent; null but in one sample in `gapMs`. */
export const furtherColumns: readonly Metric[] = [
  'possible_w',
  'voltage_pct',
  ...assetTypes.map((kind) => `${kind}_w`),
].map((name) => ({ name }));

export interface SiteColumns {
  readonly simMs: readonly number[];
  readonly netW: readonly number[];
  readonly possibleW: readonly number[];
  readonly exportLimitW: readonly number[];
  readonly importLimitW: readonly number[];
  readonly voltagePct: readonly number[];
  /** net power of the devices of a kind, W */
  readonly ofKindW: (kind: AssetType) => readonly number[];
}

export interface SiteHistory {
  /** Samples of the last `seconds` of simulated time, oldest first; none from before the clock was last set back. */
  last(seconds: number): SiteColumns;
}

/** Writes the further columns of a sample. */
export function putFurther(to: Float64Array, at: number, plant: Pick<Plant, 'devices' | 'site' | 'sitePowerW'>): void {
  const { devices, site } = plant;
  let possibleW = -site.loadW;
  to.fill(0, at, at + furtherColumns.length);
  for (const device of devices) {
    possibleW += conditionOf(device).possibleW;
    const place = at + 2 + assetTypes.indexOf(device.assetType);
    to[place] = (to[place] ?? 0) + plant.sitePowerW(device.index);
  }
  to[at] = possibleW;
  to[at + 1] = devices[0]?.trace.voltagePct ?? NaN;
}

/** The rows that have further columns. @param whole samples of the whole site */
function rowsOf(whole: SeriesHistory, seconds: number): readonly Float64Array[] {
  const { runs, width } = whole.cut();
  const possibleAt = placeIn(whole, 'possible_w');
  const rows: Float64Array[] = [];
  let [nextMs, fromMs] = [Infinity, -Infinity];
  for (const { values, from, to } of runs.toReversed())
    for (let row = to - 1; row >= from; row -= 1) {
      const base = row * width;
      const simMs = values[base + simColumn] ?? NaN;
      if (simMs >= nextMs || simMs < fromMs) return rows.reverse();
      nextMs = simMs;
      if (Number.isNaN(values[base + possibleAt])) continue;
      if (rows.length === 0) fromMs = simMs - seconds * 1000;
      rows.push(values.subarray(base, base + width));
    }
  return rows.reverse();
}

const placeIn = ({ metrics }: SeriesHistory, name: string) =>
  firstMetric + metrics.findIndex((metric) => metric.name === name);

/** @param whole the samples of the whole site, up to the last tick */
export function createSiteHistory(whole: () => SeriesHistory): SiteHistory {
  return {
    last(seconds) {
      const series = whole();
      const rows = rowsOf(series, seconds);
      const column = (name: string, factor = 1) => {
        const place = placeIn(series, name);
        return rows.map((row) => (row[place] ?? NaN) * factor);
      };
      return {
        simMs: rows.map((row) => row[simColumn] ?? NaN),
        netW: column('net_power_kw', 1000),
        possibleW: column('possible_w'),
        exportLimitW: column('export_limit_kw', 1000),
        importLimitW: column('import_limit_kw', 1000),
        voltagePct: column('voltage_pct'),
        ofKindW: (kind) => column(`${kind}_w`),
      };
    },
  };
}
