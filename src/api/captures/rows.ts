/** Rows of a capture, as columns in JSON and as lines of CSV. */
import type { Capture, CaptureColumns, DeviceRows } from '../../contract/captures.ts';
import { serviceWords } from '../../contract/grid-trace.ts';
import { count, integer, list, member, members, number, text } from '../common/members.ts';
import { deviceIndex } from '../common/schemas.ts';
import { listInPieces } from '../http/streaming.ts';
import { presentMembers } from './members.ts';
import type { Context } from './members.ts';

type Values = Float64Array | Float32Array | Uint8Array;

interface Column {
  readonly name: string;
  readonly of: (columns: CaptureColumns) => Values;
  readonly decimals: number;
  readonly description: string;
}

const columns: readonly Column[] = [
  { name: 't_s', of: (c) => c.tS, decimals: 6, description: 'Seconds from the begin of the capture.' },
  {
    name: 'grid_v_pct',
    of: (c) => c.gridVPct,
    decimals: 3,
    description: 'Grid before the feeder: mean of the phases, percent of 702.VNom.',
  },
  { name: 'v_low_pct', of: (c) => c.vLowPct, decimals: 3, description: 'Lowest phase at the terminals, percent.' },
  { name: 'v_high_pct', of: (c) => c.vHighPct, decimals: 3, description: 'Highest phase at the terminals, percent.' },
  { name: 'f_hz', of: (c) => c.fHz, decimals: 4, description: 'Frequency at the terminals.' },
  { name: 'p_kw', of: (c) => c.pKw, decimals: 3, description: 'Active power.' },
  { name: 'q_kvar', of: (c) => c.qKvar, decimals: 3, description: 'Reactive power.' },
  {
    name: 'possible_kw',
    of: (c) => c.possibleKw,
    decimals: 3,
    description: 'Active power that the source could deliver.',
  },
  { name: 'state', of: (c) => c.state, decimals: 0, description: 'Service state, as a position in `states`.' },
  { name: 'ramp', of: (c) => c.ramp, decimals: 0, description: '1: the powers come to this row along a slope.' },
  { name: 'from_tick', of: (c) => c.tick, decimals: 0, description: '1: the end of a tick, not of a sub-step.' },
];

function rounded(value: number, decimals: number): number {
  const factor = 10 ** decimals;
  return Math.round(value * factor) / factor + 0;
}

const numbers = ({ of, decimals, description }: Column) =>
  list(number())(description, ({ columns: rows }: DeviceRows) =>
    Array.from(of(rows).subarray(0, rows.length), (value) => rounded(value, decimals)),
  );

const ofDevice = members<DeviceRows>()('CaptureDeviceRows', () => ({
  device_index: member(() => deviceIndex)(),
  rows: count('Length of each column.', ({ columns: { length } }) => length),
  ...(Object.fromEntries(columns.map((column) => [column.name, numbers(column)])) as Record<
    string,
    ReturnType<typeof numbers>
  >),
}));

interface Chosen {
  readonly capture: Capture;
  readonly chosen: readonly DeviceRows[];
}

export const captureRows = members<Chosen, Context>()('CaptureRows', () => ({
  ...presentMembers(),
  id: integer('Id of the capture.', ({ capture }) => capture.id),
  states: list(text())('Service states, for the column `state`.', () => serviceWords),
  devices: listInPieces(ofDevice)('Columns of each device.', ({ chosen }) => chosen),
}));

const csvHeader = `device,${columns.map(({ name }) => name).join(',')}\r\n`;

/** One table with the device in the first column; states as words. */
export function* captureCsvLines(chosen: readonly DeviceRows[]): Generator<string> {
  yield csvHeader;
  for (const { deviceIndex: index, columns: rows } of chosen) {
    for (let row = 0; row < rows.length; row += 1) {
      const fields = columns.map(({ name, of, decimals }) => {
        const value = of(rows)[row] ?? 0;
        return name === 'state' ? serviceWords[value] : rounded(value, decimals);
      });
      yield `${index},${fields.join(',')}\r\n`;
    }
  }
}
