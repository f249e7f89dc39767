/** Reads the CSV series that feed the devices; one file is read once, however many devices use it. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { AppConfig, DeviceConfig } from '../../config/settings/app-config.ts';
import { kindTable } from '../../contract/kinds/table.ts';
import { packageFile } from '../../core/package-files.ts';
import type { DeviceSeries } from '../../der/device/template.ts';
import { parseSeries } from '../../der/surroundings/series.ts';
import type { Series, SeriesColumn } from '../../der/surroundings/series.ts';
import { parseVisits } from '../../der/surroundings/visits.ts';
import type { VisitPlan } from '../../der/surroundings/visits.ts';
import { weatherColumns, windColumns } from '../../der/surroundings/weather.ts';

const bundled = {
  irradiance: { path: packageFile('config/series/pv-clear-day.csv'), name: 'pv-clear-day' },
  wind: { path: packageFile('config/series/wind-week.csv'), name: 'wind-week' },
} as const;

const loadColumns: readonly SeriesColumn[] = [{ name: 'load_kw', required: true, min: 0, max: 1e6 }];

/** Reads the series of a device. */
export type SeriesOf = (device: DeviceConfig) => DeviceSeries;

/** @returns the series of a device. @throws SimError CONFIG_INVALID naming the lines that are wrong */
export function deviceSeriesReader(config: Pick<AppConfig, 'seriesEnd' | 'windTimeScale'>): SeriesOf {
  const { seriesEnd: end } = config;
  const tables = new Map<string, Series>();
  const plans = new Map<string, VisitPlan>();

  function table(path: string, name: string, columns: readonly SeriesColumn[]): Series {
    const key = `${columns[0]?.name ?? ''} ${path}`;
    const series = tables.get(key) ?? parseSeries(readFileSync(path, 'utf8'), { name, columns, end });
    tables.set(key, series);
    return series;
  }

  function dc({ assetType, series }: DeviceConfig): DeviceSeries['dc'] {
    const { dcSeries } = kindTable[assetType];
    if (dcSeries === null) return null;
    const standard = bundled[dcSeries];
    const columns = dcSeries === 'wind' ? windColumns : weatherColumns;
    return {
      series: table(series.dc ?? standard.path, series.dc ?? standard.name, columns),
      name: series.dc === null ? standard.name : basename(series.dc),
      timeScale: dcSeries === 'wind' ? config.windTimeScale : 1,
    };
  }

  function visits(path: string | null): VisitPlan | null {
    if (path === null) return null;
    const plan = plans.get(path) ?? parseVisits(readFileSync(path, 'utf8'), path, end);
    plans.set(path, plan);
    return plan;
  }

  return (device) => ({
    dc: dc(device),
    load: device.series.load === null ? null : table(device.series.load, device.series.load, loadColumns),
    visits: visits(device.series.vehicles),
  });
}
