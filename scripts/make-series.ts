import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRandom } from '../src/core/random.ts';
import { CloudProcess } from '../src/der/surroundings/sky/clouds.ts';
import type { CloudPreset, CloudSky } from '../src/der/surroundings/sky/clouds.ts';
import { clearSkyIrradiance } from '../src/der/surroundings/sky/solar.ts';

// Longitude 0 makes simulated UTC noon the solar noon of the series.
const site = { latitudeDeg: 37.8, longitudeDeg: 0, tiltDeg: 20, azimuthDeg: 180 };
const midnightMs = Date.UTC(2025, 5, 21);
// The clear-sky formula describes very clean air.
const haze = 0.94;
const rowSeconds = 60;
const rowsPerDay = 86_400 / rowSeconds;
const seed = 1;

/** Without clouds, but with the haze that measurements of a clear day show. */
const hazySky: CloudSky = {
  clearStayS: 900,
  cloudyStayS: 0,
  clearIndex: 1,
  cloudyIndex: 1,
  clearSigma: 0.02,
  cloudySigma: 0,
};

interface Day {
  readonly file: string;
  readonly preset: CloudPreset;
  /** in place of that of the preset */
  readonly sky?: CloudSky;
  readonly meaning: string;
  readonly meanTemperatureC: number;
  readonly temperatureSwingC: number;
  readonly meanWindMS: number;
}

const days: readonly Day[] = [
  {
    file: 'pv-clear-day.csv',
    preset: 'clear',
    sky: hazySky,
    meaning: 'a clear summer day',
    meanTemperatureC: 22,
    temperatureSwingC: 6,
    meanWindMS: 2.5,
  },
  {
    file: 'pv-broken-clouds-day.csv',
    preset: 'broken',
    meaning: 'a summer day with broken clouds',
    meanTemperatureC: 19,
    temperatureSwingC: 4,
    meanWindMS: 4,
  },
];

/** A daily course that ends where it begins: the series may be looped. */
function windSpeed(day: Day, hour: number, phases: readonly number[]): number {
  const breeze = -0.4 * Math.cos((2 * Math.PI * (hour - 3)) / 24);
  const gusts = phases.reduce(
    (sum, phase, n) => sum + 0.12 * Math.sin((2 * Math.PI * (7 + 12 * n) * hour) / 24 + phase),
    0,
  );
  return day.meanWindMS * Math.max(0.1, 1 + breeze + gusts);
}

/** The text of one series file; the same on every machine. */
function seriesText(day: Day): string {
  const clouds = new CloudProcess(seed, day.preset, undefined, day.sky);
  const random = createRandom(seed, 'wind', day.file);
  const phases = [0, 1, 2, 3].map(() => 2 * Math.PI * random.next());
  const lines = [
    '# Made by scripts/make-series.ts; make it again instead of changing it.',
    `# ${day.meaning} (21 June), latitude ${site.latitudeDeg}, array tilted ${site.tiltDeg} degrees to the south.`,
    '# Haurwitz clear sky times a seeded cloud process, no measurements. time_s counts from local midnight.',
    'time_s,irradiance_w_m2,ambient_temperature_c,wind_speed_m_s',
  ];
  for (let row = 0; row <= rowsPerDay; row++) {
    const seconds = row * rowSeconds;
    const hour = seconds / 3600;
    let index = 0;
    for (let second = 0; second < rowSeconds; second++) index += clouds.step() / rowSeconds;
    const irradiance = haze * index * clearSkyIrradiance(midnightMs + seconds * 1000, site);
    const temperature = day.meanTemperatureC + day.temperatureSwingC * Math.cos((2 * Math.PI * (hour - 15)) / 24);
    lines.push(
      [seconds, irradiance.toFixed(1), temperature.toFixed(1), windSpeed(day, hour, phases).toFixed(1)].join(','),
    );
  }
  return `${lines.join('\n')}\n`;
}

/** File name and text of every series in config/series. */
export function makeSeries(): readonly { readonly file: string; readonly text: string }[] {
  return days.map((day) => ({ file: day.file, text: seriesText(day) }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(import.meta.dirname, '..', 'config', 'series');
  mkdirSync(folder, { recursive: true });
  for (const { file, text } of makeSeries()) writeFileSync(join(folder, file), text);
}
