/** One device over an ideal source in still surroundings, on a paused plant. */
import { simTimeFromMs, systemClock } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/log.ts';
import { SimClock } from '../../src/core/sim-clock.ts';
import { SimDevice } from '../../src/der/device.ts';
import { Environment } from '../../src/der/environment.ts';
import { SimPlant } from '../../src/der/plant.ts';
import { parseSeries } from '../../src/der/series.ts';
import { createTemplate } from '../../src/der/template.ts';
import type { ProfileSpec } from '../../src/der/template.ts';
import { SeriesWeather, weatherColumns } from '../../src/der/weather.ts';
import type { IdealSource } from './ideal-source.ts';

/** Ticks of any length from 1 ms to 6 minutes come from the rate alone. */
export const baseTickS = 0.1;
export const longestTickS = 360;
const start = simTimeFromMs(Date.UTC(2026, 5, 21, 12));

function stillSurroundings(nominalHz: number): Environment {
  const text = 'time_s,irradiance_w_m2,ambient_temperature_c,wind_speed_m_s\n0,0,20,1\n86400,0,20,1\n';
  const still = new SeriesWeather(parseSeries(text, { name: 'weather', end: 'loop', columns: weatherColumns }));
  return new Environment({
    nominalHz, gridProfile: null, weather: { csv: () => still, clear_sky: () => still }, weatherSource: 'csv', seriesTime: () => 0,
  }, start);
}

export interface IdealPlantOptions {
  readonly profile: ProfileSpec;
  readonly source: IdealSource;
  readonly name: string;
  readonly deviceType?: string;
  readonly nominalHz?: number;
}

/** A three-phase device without losses. */
export function idealPlant(options: IdealPlantOptions): { readonly plant: SimPlant; readonly device: SimDevice } {
  const { profile, source, name, deviceType = 'PV-3Phase', nominalHz = 60 } = options;
  const clock = new SimClock(systemClock, { mode: 'paused', rate: 1, timezone: 'UTC' }, start);
  const environment = stillSurroundings(nominalHz);
  const template = { ...createTemplate(profile, 'three', nominalHz, start, 0), createSource: () => source, efficiencyNominal: 1, generator: source.absorbableDcW === 0 };
  const identity = { index: 0, name, deviceType, profileName: null, serialNumber: 'T', version: '0' };
  const device = new SimDevice(identity, template, {
    clock: { sim: () => clock.acting(), wallMs: () => clock.wallMs() }, environment, seed: 1, rate: () => 1, log: silentLogger, feeder: null,
  }, start);
  const plant = new SimPlant({
    devices: [device], environment, clock, tickIntervalS: baseTickS, log: silentLogger,
    monotonicMs: () => systemClock.monotonicMs(), forgetBefore: () => undefined,
  });
  return { plant, device };
}
