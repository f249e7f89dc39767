/** Powers, limits and voltage of the site over the past hours, for charts of the site as a whole. */
import { conditionOf } from '../../contract/condition.ts';
import { assetTypes } from '../../contract/device.ts';
import type { AssetType } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';

/** Least simulated time between two samples, ms: a chart of an hour has fewer pixels. */
const gapMs = 5000;
/** Samples that are kept: more than five hours. */
export const siteSamples = 4096;

const columnNames = ['simMs', 'netW', 'possibleW', 'exportLimitW', 'importLimitW', 'voltagePct'] as const;
/** a row has these columns, then the power of each kind of device */
const width = columnNames.length + assetTypes.length;
export interface SiteColumns extends Readonly<Record<(typeof columnNames)[number], readonly number[]>> {
  /** net power of the devices of a kind, W */
  readonly ofKindW: (kind: AssetType) => readonly number[];
}

export interface SiteHistory {
  /** Samples of the last `seconds` of simulated time, oldest first; none from before the clock was last set back. */
  last(seconds: number): SiteColumns;
}

export function createSiteHistory(
  plant: Pick<Plant, 'site' | 'sitePowerW' | 'devices' | 'dateMs' | 'onTick'>,
): SiteHistory {
  const rows = new Float64Array(siteSamples * width);
  let count = 0;
  const rowAt = (number: number) => (number % siteSamples) * width;
  const timeOf = (number: number) => rows[rowAt(number)] ?? 0;

  plant.onTick(({ sim }) => {
    const simMs = plant.dateMs(sim);
    if (count > 0 && Math.abs(simMs - timeOf(count - 1)) < gapMs) return;
    const { netW, loadW, limits } = plant.site;
    const possibleW = plant.devices.reduce((sum, device) => sum + conditionOf(device).possibleW, -loadW);
    const ofKindsW = assetTypes.map(() => 0);
    for (const { index, assetType } of plant.devices) {
      const kind = assetTypes.indexOf(assetType);
      ofKindsW[kind] = (ofKindsW[kind] ?? 0) + plant.sitePowerW(index);
    }
    const limitsW = [limits.export.limitW ?? NaN, limits.import.limitW ?? NaN];
    rows.set(
      [simMs, netW, possibleW, ...limitsW, plant.devices[0]?.trace.voltagePct ?? NaN, ...ofKindsW],
      rowAt(count),
    );
    count += 1;
  });

  return {
    last(seconds) {
      const fromMs = timeOf(count - 1) - seconds * 1000;
      let first = count;
      const oldest = Math.max(0, count - siteSamples);
      while (first > oldest && timeOf(first - 1) >= fromMs && (first === count || timeOf(first - 1) < timeOf(first)))
        first -= 1;
      const column = (place: number) =>
        Array.from({ length: count - first }, (_none, index) => rows[rowAt(first + index) + place] ?? NaN);
      return {
        simMs: column(0),
        netW: column(1),
        possibleW: column(2),
        exportLimitW: column(3),
        importLimitW: column(4),
        voltagePct: column(5),
        ofKindW: (kind) => column(columnNames.length + assetTypes.indexOf(kind)),
      };
    },
  };
}
