/**
 * Draws the voltages along the street of `cosim.opendss_loop` (its `--json` file on standard input) as SVG: without and
 * with volt-var, and those of OpenDSS's InvControl as rings.
 *
 *   (cd clients/python && python -m cosim.opendss_loop --json street.json)
 *   node --import=tsx scripts/draw-feeder.ts < clients/python/street.json > docs/images/volt-var-street.svg
 */
import { json } from 'node:stream/consumers';
import { range, round, stepOf } from './axis.ts';

const [width, height] = [760, 300];
const [left, right, top, bottom] = [64, 150, 16, 44];

interface Street {
  readonly off: readonly number[];
  readonly on: readonly number[];
  readonly inv_control: readonly number[];
}

const { figures } = (await json(process.stdin)) as { readonly figures: { readonly street: Street } };
const { off, on, inv_control: judge } = figures.street;
const values = [...off, ...on];
const step = stepOf(Math.max(...values) - Math.min(...values), 5);
const min = Math.floor(Math.min(...values) / step) * step;
const max = Math.ceil(Math.max(...values) / step) * step;

const x = (node: number) => round(left + ((width - left - right) * node) / (off.length - 1));
const y = (voltage: number) => round(top + ((height - top - bottom) * (max - voltage)) / (max - min));

const grid = range(min, max, step).map(
  (voltage) =>
    `<path d="M${left} ${y(voltage)}H${width - right}" stroke="#ddd"/>` +
    `<text x="${left - 6}" y="${y(voltage) + 4}" text-anchor="end">${voltage.toFixed(2)}</text>`,
);
const nodes = off.map((_, node) => `<text x="${x(node)}" y="${height - 24}" text-anchor="middle">n${node + 1}</text>`);

function curve(voltages: readonly number[], color: string, label: string): string {
  const points = voltages.map((voltage, node) => `${x(node)},${y(voltage)}`).join(' ');
  const end = y(voltages.at(-1) ?? NaN) + 4;
  return (
    `<polyline points="${points}" fill="none" stroke="${color}" stroke-width="2"/>` +
    `<text x="${width - right + 10}" y="${end}" fill="${color}" font-weight="bold">${label}</text>`
  );
}

const rings = judge.map((voltage, node) => `<circle cx="${x(node)}" cy="${y(voltage)}" r="4.5"/>`);
process.stdout.write(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">` +
    `<rect width="${width}" height="${height}" fill="#fff"/>${grid.join('')}${nodes.join('')}` +
    `<text x="${left}" y="${height - 6}">Voltage along a street of ten nodes with 9 kW of PV at each, per unit. ` +
    'Rings: InvControl of OpenDSS.</text>' +
    curve(off, '#d55e00', 'without volt-var') +
    curve(on, '#0072b2', 'with volt-var') +
    `<g fill="none" stroke="#333">${rings.join('')}</g></svg>\n`,
);
