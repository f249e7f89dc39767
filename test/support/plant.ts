import { readFileSync } from 'node:fs';
import { loadConfig } from '../../src/config/load.ts';
import { simTimeFromMs, systemClock } from '../../src/core/clock.ts';
import type { ClockMode, WallClock } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/log.ts';
import { localDateMs, SimClock } from '../../src/core/sim-clock.ts';
import { createPlant } from '../../src/der/create-plant.ts';
import type { SimPlant } from '../../src/der/plant.ts';
import { parseSeries } from '../../src/der/series.ts';
import { weatherColumns } from '../../src/der/weather.ts';

export interface TestPlantOptions {
  /** device types as `--device_type` takes them; one device each */
  readonly types?: readonly string[];
  /** default `paused`: ticks come from `step` alone */
  readonly mode?: ClockMode;
  readonly firstIndex?: number;
  readonly tickIntervalS?: number;
  readonly wall?: WallClock;
}

const weatherFile = new URL('../../config/series/pv-clear-day.csv', import.meta.url);

/** The real plant with bundled profiles at noon of a clear day; nothing drives it but the test. */
export function testPlant({
  types = ['PV-3Phase'], mode = 'paused', firstIndex = 0, tickIntervalS = 1.5, wall = systemClock,
}: TestPlantOptions = {}): SimPlant {
  const devices = types.flatMap((type, position) => {
    const loaded = loadConfig(['--device_type', type], {});
    if (loaded.kind !== 'run') throw new Error('no configuration');
    return loaded.config.devices.map((device) => ({ ...device, name: `${device.name} ${position}` }));
  });
  const clock = new SimClock(wall, { mode, rate: 1, timezone: 'UTC' }, simTimeFromMs(localDateMs('2026-06-21', '12:00:00', 'UTC')));
  return createPlant({
    devices, firstIndex, clock, tickIntervalS, nominalHz: 60, seed: 1, version: '0.1.0', log: silentLogger,
    weather: parseSeries(readFileSync(weatherFile, 'utf8'), { name: 'weather', end: 'loop', columns: weatherColumns }),
    weatherSource: 'csv', clouds: 'clear', gridProfile: null, monotonicMs: () => wall.monotonicMs(),
  });
}
