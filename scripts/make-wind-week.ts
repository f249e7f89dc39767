import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRandom } from '../src/core/random.ts';
import { shearFactor } from '../src/der/source/wind/hub-wind.ts';

const seed = 1;
const rowSeconds = 600;
const rowsPerDay = 86_400 / rowSeconds;
const rows = 7 * rowsPerDay;
/** Correlation of neighbouring rows. */
const memory = 0.97;
const diurnal = 0.35;
/** Weibull distribution at hub height: shape 2, mean 7.8 m/s. */
const shape = 2;
const scaleMS = 8.8;
const mostMS = 32;
const hubM = 90;
const anemometerM = 5;
const shearExponent = 0.14;
const storm = { fromRow: 4 * rowsPerDay + 15 * 6, peakMS: 30, halfRows: 9 };
const calm = { fromRow: 2 * rowsPerDay + 22 * 6, toRow: 3 * rowsPerDay + 6 * 6, mostMS: 1.8 };

/** Normal distribution function (Abramowitz and Stegun 26.2.17, error below 1e-7). */
function normalCdf(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const tail =
    (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return x > 0 ? 1 - tail : tail;
}

/** A normal course with memory and a maximum in the afternoon, of mean 0 and deviation 1. */
function gaussianCourse(): number[] {
  const random = createRandom(seed, 'wind-week', 'speed');
  let g = random.normal();
  const course = Array.from({ length: rows }, (_, row) => {
    g = memory * g + Math.sqrt(1 - memory * memory) * random.normal();
    return g + diurnal * Math.sin((2 * Math.PI * ((row * rowSeconds) / 3600 - 9)) / 24);
  });
  const mean = course.reduce((sum, value) => sum + value, 0) / rows;
  const deviation = Math.sqrt(course.reduce((sum, value) => sum + (value - mean) ** 2, 0) / rows);
  return course.map((value) => (value - mean) / deviation);
}

function hubSpeed(g: number, row: number): number {
  const weibull = scaleMS * Math.pow(-Math.log(Math.max(1e-12, 1 - normalCdf(g))), 1 / shape);
  const fromPeak = Math.abs(row - storm.fromRow - 3) / storm.halfRows;
  const share = fromPeak >= 1 ? 0 : fromPeak <= 1 / 3 ? 1 : (1 - fromPeak) * 1.5;
  const stormy = Math.max(weibull, weibull + (storm.peakMS - weibull) * share);
  const speed =
    row >= calm.fromRow && row < calm.toRow ? Math.min(stormy, calm.mostMS * (0.4 + 0.6 * normalCdf(g))) : stormy;
  return Math.min(speed, mostMS);
}

/** The text of the bundled wind series; the same on every machine. */
export function windWeekText(): string {
  const toAnemometer = shearFactor(anemometerM, hubM, shearExponent);
  const direction = createRandom(seed, 'wind-week', 'direction');
  let degrees = 240;
  const lines = [
    '# Made by scripts/make-wind-week.ts; make it again instead of changing it.',
    `# Synthetic 10-minute means, no measurements; seed ${seed}. Recipe: AR(1) course with a daily rhythm, mapped to a Weibull`,
    `# distribution of mean 7.8 m/s at ${hubM} m, with one storm hour of ${storm.peakMS} m/s (day 5) and one calm night (day 3 to 4).`,
    `# wind_speed_m_s is at anemometer height, ${anemometerM} m: the hub speed times ` +
      `(${anemometerM}/${hubM})^${shearExponent} = ${toAnemometer.toFixed(4)}.`,
    'time_s,wind_speed_m_s,wind_direction_deg',
  ];
  gaussianCourse().forEach((g, row) => {
    degrees = (((degrees + 4 * direction.normal()) % 360) + 360) % 360;
    lines.push([row * rowSeconds, (hubSpeed(g, row) * toAnemometer).toFixed(2), Math.round(degrees) % 360].join(','));
  });
  return `${lines.join('\n')}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(import.meta.dirname, '..', 'config', 'series');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'wind-week.csv'), windWeekText());
}
