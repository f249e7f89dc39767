/** An environment with constant weather, for tests of what is set on it. */
import { addSeconds, simTimeFromMs } from '../../src/core/time/clock.ts';
import type { SimTime } from '../../src/core/time/clock.ts';
import { Environment } from '../../src/der/surroundings/environment.ts';
import { parseSeries } from '../../src/der/surroundings/series.ts';
import type { Weather, WeatherValues } from '../../src/der/surroundings/weather.ts';

const start = simTimeFromMs(Date.UTC(2026, 5, 21, 12));
export const at = (seconds: number): SimTime => addSeconds(start, seconds);

function steady(irradianceWm2: number): Weather {
  return {
    dataset: () => null,
    at: (_seriesS: number, _t: SimTime, out: WeatherValues) => {
      Object.assign(out, { irradianceWm2, ambientTemperatureC: 15, windSpeedMS: 2 });
    },
  };
}

const gridColumns = [
  { name: 'voltage_pu', required: true, min: 0, max: 2 },
  { name: 'frequency_hz', required: true, min: 0, max: 100 },
];

export function steadyEnvironment(gridProfile: string | null = null): Environment {
  return new Environment(
    {
      nominalHz: 60,
      weatherSource: 'csv',
      weather: { csv: () => steady(500), clear_sky: () => ({ irradianceAt: () => 900, airTemperatureAt: () => 25 }) },
      gridProfile: gridProfile === null ? null : parseSeries(gridProfile, { name: 'grid', columns: gridColumns }),
      seriesTime: (t) => (t - start) / 1e6,
    },
    start,
  );
}

/** Ten seconds down to 0.9 pu and 59 Hz. */
export const fallingProfile = 'time_s,voltage_pu,frequency_hz\n0,1,60\n10,0.9,59\n';
