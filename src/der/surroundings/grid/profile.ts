/** The grid profile: a series of voltage (of all phases or of each), frequency and phase angle. */
import { microsPerSecond } from '../../../core/time/clock.ts';
import type { SimTime } from '../../../core/time/clock.ts';
import { SimError } from '../../../core/errors.ts';
import { parseSeries } from '../series.ts';
import type { Series } from '../series.ts';
import type { Recording } from './trajectory.ts';
import type { MeasuredQuantity } from './layers.ts';

const perPhase = ['voltage_a_pu', 'voltage_b_pu', 'voltage_c_pu'] as const;

/** A lower value, other than 0 for a dead grid, is no frequency: probably a deviation in mHz. */
const minRealHz = 10;

/** A hint for a value that is a deviation; null: a frequency. */
function deviationHint(hz: number): string | null {
  if (hz === 0 || hz >= minRealHz) return null;
  const exampleHz = 50 + hz / 1000;
  return `a frequency in Hz is required; for a deviation in mHz give nominal + deviation / 1000, ${exampleHz} at 50 Hz`;
}

/** Columns of a grid profile: the frequency, and `voltage_pu` or all three phases; the phases have priority. */
export const gridProfileColumns = [
  ...['voltage_pu', ...perPhase].map((name) => ({ name, required: false, min: 0, max: 2 })),
  { name: 'frequency_hz', required: true, min: 0, max: 100, explain: deviationHint },
  { name: 'phase_angle_deg', required: false, min: -180, max: 180 },
] as const;

/**
 * Reads a grid profile from CSV text.
 * @param name for messages, for example the path
 * @throws SimError CONFIG_INVALID with the line of each issue
 */
export function parseGridProfile(text: string, name: string): Series {
  const series = parseSeries(text, { name, columns: gridProfileColumns, end: 'hold' });
  if (!series.has('voltage_pu') && !perPhase.every((column) => series.has(column))) {
    const detail = `there is neither a column voltage_pu nor all of ${perPhase.join(', ')}`;
    throw new SimError('CONFIG_INVALID', `The time series ${name} cannot be used: ${detail}`, [{ name, detail }]);
  }
  return series;
}

const columnsOf: Readonly<Record<MeasuredQuantity, readonly string[]>> = {
  aPu: ['voltage_a_pu', 'voltage_pu'],
  bPu: ['voltage_b_pu', 'voltage_pu'],
  cPu: ['voltage_c_pu', 'voltage_pu'],
  hz: ['frequency_hz'],
  angleDeg: ['phase_angle_deg'],
};

/**
 * The recording of one quantity; null where the profile does not have it.
 * @param seriesTime seconds in the time base of the series
 */
export function profileRecording(
  series: Series,
  quantity: MeasuredQuantity,
  seriesTime: (t: SimTime) => number,
): Recording | null {
  const column = columnsOf[quantity].find((name) => series.has(name));
  if (column === undefined) return null;
  return {
    at: (t) => series.at(column, seriesTime(t)),
    nextBreak(t) {
      const nowS = seriesTime(t);
      // rounded up, at least by one microsecond: a sub-step that ends before the row would leave an empty sub-step
      return Math.max(t + 1, t + Math.ceil((series.nextRowS(nowS) - nowS) * microsPerSecond));
    },
  };
}
