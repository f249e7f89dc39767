import { readFileSync } from 'node:fs';
import { loadConfig } from '../../src/config/load.ts';
import { simTimeFromMs } from '../../src/core/clock.ts';
import type { WallClock } from '../../src/core/clock.ts';
import { createLogBook } from '../../src/core/log.ts';
import { SimClock, localDateMs } from '../../src/core/sim-clock.ts';
import { createPlant } from '../../src/der/create-plant.ts';
import type { SimDevice } from '../../src/der/device.ts';
import type { SimPlant } from '../../src/der/plant.ts';
import { parseSeries } from '../../src/der/series.ts';
import { weatherColumns } from '../../src/der/weather.ts';

/** A wall clock that stands still until the test moves it. */
export class HandClock implements WallClock {
  ms = Date.parse('2026-03-01T08:00:00Z');
  nowMs(): number { return this.ms; }
  monotonicMs(): number { return this.ms; }
}

export interface TestPlantOptions {
  /** command line flags */
  readonly flags?: readonly string[];
  /** constant irradiance, W/m2; absent: the bundled day */
  readonly irradiance?: number;
  readonly rate?: number;
}

const bundledDay = readFileSync(new URL('../../config/series/pv-clear-day.csv', import.meta.url), 'utf8');

/** A paused plant whose ticks the test runs by hand. */
export function testPlant({ flags = [], irradiance, rate = 1 }: TestPlantOptions = {}): { plant: SimPlant; device: SimDevice; wall: HandClock } {
  const loaded = loadConfig(flags, {});
  if (loaded.kind !== 'run') throw new Error('the flags ask for help');
  const { config } = loaded;
  const wall = new HandClock();
  const startMs = localDateMs(config.clock.startDate, config.clock.startTime, config.clock.timezone);
  const clock = new SimClock(wall, { mode: 'paused', rate, timezone: config.clock.timezone }, simTimeFromMs(startMs));
  const series = irradiance === undefined ? bundledDay : `time_s,irradiance_w_m2,ambient_temperature_c\n0,${irradiance},20\n`;
  const plant = createPlant({
    devices: config.devices, firstIndex: config.firstDevice, clock, tickIntervalS: config.tickS, nominalHz: config.grid.nominalFrequencyHz,
    seed: config.seed, weather: parseSeries(series, { name: 'test', end: irradiance === undefined ? 'loop' : 'hold', columns: weatherColumns }),
    weatherSource: config.irradianceSource, clouds: config.clouds, gridProfile: null, version: '0.0.0',
    monotonicMs: () => wall.monotonicMs(), log: createLogBook({ write: () => undefined }).logger('AC'),
  });
  const [device] = plant.devices;
  if (!device) throw new Error('no device');
  return { plant, device, wall };
}
