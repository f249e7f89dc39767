/**
 * Draws a recorded trace (`GET grid-support/trace?format=csv` on standard input) as SVG: voltage, active and reactive
 * power over time.
 *
 *   curl -s 'localhost:8111/api/sim/grid-support/trace?format=csv&limit=5000' |
 *     node --import=tsx scripts/draw-trace.ts > trace.svg
 */
import { text } from 'node:stream/consumers';
import { range, round, stepOf } from './axis.ts';

const width = 760;
const panelHeight = 120;
const left = 64;
const right = 16;
const top = 12;
const gap = 22;
const ticksX = 7;

interface Panel {
  readonly column: string;
  readonly label: string;
  readonly color: string;
}

const panels: readonly Panel[] = [
  { column: 'voltage_pct', label: 'Voltage, %', color: '#0072b2' },
  { column: 'active_power_kw', label: 'Active power, kW', color: '#d55e00' },
  { column: 'reactive_power_kvar', label: 'Reactive power, kvar', color: '#009e73' },
];

/** Bounds at whole steps that hold all values. */
function boundsOf(values: readonly number[]): { min: number; max: number; step: number } {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const step = stepOf(high - low || 1, 4);
  return { min: Math.floor(low / step) * step, max: Math.ceil(high / step) * step || step, step };
}

function columnsOf(csv: string): (name: string) => number[] {
  const [head = '', ...lines] = csv.trim().split(/\r?\n/);
  const names = head.split(',');
  const rows = lines.map((line) => line.split(','));
  return (name) => rows.map((row) => Number(row[names.indexOf(name)]));
}

function panelSvg({ label, color }: Panel, offset: number, values: readonly number[], x: readonly number[]): string {
  const { min, max, step } = boundsOf(values);
  const y = (value: number) => round(offset + panelHeight * (1 - (value - min) / (max - min)));
  const grid = range(min, max, step).map(
    (value) =>
      `<path d="M${left} ${y(value)}H${width - right}" stroke="#ddd"/>` +
      `<text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${round(value)}</text>`,
  );
  // values hold until the end of their sub-step
  const line = values.map((value, n) => (n === 0 ? `M${x[n]} ${y(value)}` : `V${y(value)}H${x[n]}`)).join('');
  const name = `<text x="${left}" y="${offset - 5}" fill="${color}" font-weight="bold">${label}</text>`;
  return `${grid.join('')}${name}<path d="${line}" fill="none" stroke="${color}" stroke-width="1.5"/>`;
}

const column = columnsOf(await text(process.stdin));
const times = column('t_s');
const [begin = 0, end = 0] = [times[0], times.at(-1)];
if (!(end > begin)) throw new Error('the trace has no two rows at different times');
const x = times.map((t) => round(left + ((width - left - right) * (t - begin)) / (end - begin)));
const height = top + panels.length * (panelHeight + gap) + 36;
const stepX = stepOf(end - begin, ticksX);
const labelsX = range(0, Math.floor((end - begin) / stepX) * stepX, stepX).map((t) => {
  const at = round(left + ((width - left - right) * t) / (end - begin));
  return `<text x="${at}" y="${height - 10}" text-anchor="middle">${round(t)} s</text>`;
});
const drawn = panels.map((panel, n) => panelSvg(panel, top + gap + n * (panelHeight + gap), column(panel.column), x));
process.stdout.write(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">` +
    `<rect width="${width}" height="${height}" fill="#fff"/>${drawn.join('')}${labelsX.join('')}</svg>\n`,
);
