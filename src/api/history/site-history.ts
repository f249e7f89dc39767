/** Powers, limits and voltage of the site over the past hours, for charts of the site as a whole. */
import { conditionOf } from '../../contract/condition.ts';
import { assetTypes } from '../../contract/device.ts';
import type { AssetType } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import { inParts, runWhole } from '../../core/turns.ts';
import type { Metric } from './metrics.ts';
import { firstMetric, simColumn } from './ring.ts';
import type { SeriesHistory } from './series.ts';

/** Least simulated time between two samples with further columns, ms: a chart of an hour has fewer pixels. */
const gapMs = 5000;

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

type SummedPlant = Pick<Plant, 'devices' | 'latest' | 'site' | 'sitePowerW'>;

/** The further columns, summed up over the devices in parts: a large fleet delays no request. */
export class FurtherColumns {
  readonly #plant: SummedPlant;
  /** null until all devices of the tick are summed up */
  #sums: Float64Array | null = null;
  #work: Generator<undefined, void> | null = null;
  /** tick of `#work` */
  #tick = -Infinity;
  /** simulated time of the last sample with values in these columns */
  #writtenMs = -Infinity;

  constructor(plant: SummedPlant) {
    this.#plant = plant;
  }

  /** Sums up for the sample of the last tick. */
  *prepare(simMs: number): Generator<undefined, void> {
    if (this.#isDue(simMs)) yield* this.#workOfTick();
  }

  /** Writes the columns of the sample of the last tick. A reader may be before the end of `prepare`, and sums up the rest. */
  put(to: Float64Array, at: number, simMs: number): void {
    if (this.#isDue(simMs)) {
      runWhole(this.#workOfTick());
      this.#writtenMs = simMs;
      if (this.#sums !== null) {
        to.set(this.#sums, at);
        return;
      }
    }
    to.fill(NaN, at, at + furtherColumns.length);
  }

  #isDue(simMs: number): boolean {
    return Math.abs(simMs - this.#writtenMs) >= gapMs;
  }

  #workOfTick(): Generator<undefined, void> {
    const { tick } = this.#plant.latest;
    if (this.#work === null || this.#tick !== tick) {
      this.#tick = tick;
      this.#sums = null;
      this.#work = this.#sumUp();
    }
    return this.#work;
  }

  *#sumUp(): Generator<undefined, void> {
    const { devices, site } = this.#plant;
    const sums = new Float64Array(furtherColumns.length);
    let possibleW = -site.loadW;
    yield* inParts(devices, (device) => {
      possibleW += conditionOf(device).possibleW;
      const place = 2 + assetTypes.indexOf(device.assetType);
      sums[place] = (sums[place] ?? 0) + this.#plant.sitePowerW(device.index);
    });
    sums[0] = possibleW;
    sums[1] = devices[0]?.trace.voltagePct ?? NaN;
    this.#sums = sums;
  }
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
