/** One device around a source of the test, in still surroundings, on a paused plant. */
import { simTimeFromMs, systemClock } from '../../src/core/time/clock.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { SimClock } from '../../src/core/time/sim-clock.ts';
import { SimDevice } from '../../src/der/device/device.ts';
import { Environment } from '../../src/der/surroundings/environment.ts';
import { SimPlant } from '../../src/der/plant/plant.ts';
import { parseSeries } from '../../src/der/surroundings/series.ts';
import type { DcSource } from '../../src/der/source/source.ts';
import { createTemplate } from '../../src/der/device/template.ts';
import type { ProfileSpec } from '../../src/der/device/template.ts';
import { SeriesWeather, weatherColumns } from '../../src/der/surroundings/weather.ts';

/** Ticks of any length from 1 ms to 6 minutes come from the rate alone. */
export const baseTickS = 0.1;
export const longestTickS = 360;
const start = simTimeFromMs(Date.UTC(2026, 5, 21, 12));

function stillSurroundings(nominalHz: number): Environment {
  const text = 'time_s,irradiance_w_m2,ambient_temperature_c,wind_speed_m_s\n0,0,20,1\n86400,0,20,1\n';
  const still = new SeriesWeather(parseSeries(text, { name: 'weather', end: 'loop', columns: weatherColumns }));
  return new Environment(
    {
      nominalHz,
      gridProfile: null,
      weather: { csv: () => still, clear_sky: () => ({ irradianceAt: () => 0, airTemperatureAt: () => 20 }) },
      weatherSource: 'csv',
      seriesTime: () => 0,
    },
    start,
  );
}

export interface IdealPlantOptions {
  readonly profile: ProfileSpec;
  readonly source: DcSource;
  readonly name: string;
  /** of the inverter; null: none of its own; default 1, with the losses of its curve below full power */
  readonly efficiencyNominal?: number | null;
  /** runs at maximum without a set-point; default: only a source that cannot absorb does */
  readonly generator?: boolean;
  readonly deviceType?: string;
  readonly nominalHz?: number;
}

/** A three-phase device around this source, without losses unless given. */
export function idealPlant(options: IdealPlantOptions): { readonly plant: SimPlant; readonly device: SimDevice } {
  const { profile, source, name, efficiencyNominal = 1, deviceType = 'PV-3Phase', nominalHz = 60 } = options;
  const clock = new SimClock(systemClock, { mode: 'paused', rate: 1, timezone: 'UTC' }, start);
  const environment = stillSurroundings(nominalHz);
  const { generator = source.absorbableDcW === 0 } = options;
  const template = {
    ...createTemplate(profile, 'three', nominalHz, start, 0),
    createSource: () => source,
    efficiencyNominal,
    generator,
  };
  const identity = { index: 0, name, deviceType, profileName: null, serialNumber: 'T', version: '0' };
  const device = new SimDevice(
    identity,
    template,
    {
      clock: { sim: () => clock.acting(), wallMs: () => clock.wallMs() },
      environment,
      seed: 1,
      rate: () => 1,
      log: silentLogger,
      feeder: null,
    },
    start,
  );
  const plant = new SimPlant({
    devices: [device],
    factory: {
      make: () => {
        throw new Error('one device only');
      },
      makeInPlace: () => {
        throw new Error('no device is replaced');
      },
      release: () => undefined,
    },
    environment,
    clock,
    tickIntervalS: baseTickS,
    log: silentLogger,
    monotonicMs: () => systemClock.monotonicMs(),
    forgetBefore: () => undefined,
  });
  return { plant, device };
}
