/**
 * Point maps: the points of the DER profile AN2018-001 by type and index, and the rows of a file. Facts from the open
 * publications of EPRI and Battelle (see NOTICE), names shortened. Energy counters are those of IEEE 1815.2, since
 * AN2018-001 has none.
 */
import type { PointName, PointRow, PointType } from '../types.ts';
import { analogOutputs } from './analog-outputs.ts';
import { binaryInputs, binaryOutputs } from './binary-points.ts';
import { boundsOf } from './form.ts';
import type { AnalogInputRow, WireRange } from './form.ts';
import { meterInputs, modeInputs, nameplateInputs } from './analog-inputs.ts';
import { maxPointsFileBytes, readDnp3Points } from '../../../contract/dnp3-points.ts';
import type { Dnp3FileRow } from '../../../contract/dnp3-points.ts';
import { SimError } from '../../../core/errors.ts';
import { readTextFile } from '../../../core/text-file.ts';
import type { ModelDef } from '../../../sunspec/map/types.ts';
import { servedModels } from '../../../sunspec/models/served.ts';

/** Maximum number of points in a curve. */
export const pointsPerCurve = 100;
/** Maximum number of points in a schedule. */
export const pointsPerSchedule = 100;

/** Indexes of the first output and input for points in each window; a point has two of each. */
export const windowStarts = {
  curve: { output: 249, input: 333 },
  schedule: { output: 470, input: 581 },
} as const;

function analogInput([index, eventClass, name, range, multiplier, unit, iec61850]: AnalogInputRow): PointRow {
  const [min, max] = boundsOf(range);
  return {
    type: 'AI',
    index,
    name,
    class: eventClass,
    min,
    max,
    multiplier,
    ...(unit !== undefined && unit !== '' && { unit }),
    ...(iec61850 !== undefined && { iec61850 }),
  };
}

interface Window {
  readonly words: string;
  readonly parts: readonly [string, string];
  readonly ranges: readonly [WireRange, WireRange];
  readonly starts: { readonly output: number; readonly input: number };
  readonly count: number;
  readonly unit?: string;
  readonly iec61850?: string;
}

const windows: readonly Window[] = [
  {
    words: 'Curve',
    parts: ['X', 'Y'],
    ranges: ['any', 'any'],
    starts: windowStarts.curve,
    count: pointsPerCurve,
    unit: 'varies',
    iec61850: 'FMAR.PairArr.CrvPts',
  },
  {
    words: 'Schedule',
    parts: ['time offset', 'value'],
    ranges: ['pos', [-(2 ** 31) + 1, 2 ** 31 - 1]],
    starts: windowStarts.schedule,
    count: pointsPerSchedule,
  },
];

/** Outputs and mirrors of the points of a window, X and Y or time and value in turn. */
function windowRows({ words, parts, ranges, starts, count, unit, iec61850 }: Window): readonly PointRow[] {
  const more = { ...(unit !== undefined && { unit }), ...(iec61850 !== undefined && { iec61850 }) };
  return Array.from({ length: 2 * count }, (_, i): readonly PointRow[] => {
    const side = i % 2 === 0 ? 0 : 1;
    const name = `${words} point ${Math.floor(i / 2) + 1} ${parts[side]}`;
    const [min, max] = boundsOf(ranges[side]);
    const input = starts.input + i;
    // the mirror of a value has the full range of 32 bits
    const [mirrorMin] = boundsOf(ranges[side] === 'pos' ? 'pos' : 'any');
    return [
      { type: 'AI', index: input, name, class: 2, min: mirrorMin, max, ...more },
      { type: 'AO', index: starts.output + i, name, class: 0, min, max, readBack: `AI${input}`, ...more },
    ];
  }).flat();
}

const inputs = [...nameplateInputs, ...modeInputs, ...meterInputs].map(analogInput);
const inputNames = new Map(inputs.map(({ index, name }) => [index, name]));

/** Names of outputs that no input mirrors, by index. */
const unmirrored: Readonly<Record<number, string>> = {
  47: 'Dynamic reactive current support end hold time',
  109: 'Coordinated charge/discharge energy request',
  110: 'Coordinated charge/discharge minimum charging duration',
  111: 'Coordinated charge/discharge date of reference',
  112: 'Coordinated charge/discharge time of reference',
  113: 'Coordinated charge/discharge duration at maximum charge rate',
  114: 'Coordinated charge/discharge duration at maximum discharge rate',
};

const outputs = analogOutputs.map(([index, mirror, range, multiplier, unit, iec61850]): PointRow => {
  const [min, max] = boundsOf(range);
  const name = (mirror === null ? unmirrored[index] : inputNames.get(mirror)) ?? `Output ${index}`;
  return {
    type: 'AO',
    index,
    name,
    class: 0,
    min,
    max,
    multiplier,
    ...(unit !== undefined && unit !== '' && { unit }),
    ...(iec61850 !== undefined && { iec61850 }),
    ...(mirror !== null && { readBack: `AI${mirror}` as const }),
  };
});

const binaries = binaryInputs.map(
  ([index, eventClass, name, iec61850]): PointRow => ({
    type: 'BI',
    index,
    name,
    class: eventClass,
    ...(iec61850 !== undefined && { iec61850 }),
  }),
);
const binaryNames = new Map(binaries.map(({ index, name }) => [index, name]));

/** Names of binary outputs whose mirrors are named after the outcome, by index. */
const commandNames: Readonly<Record<number, string>> = {
  0: 'Lock out',
  1: 'Return to service',
  2: 'Cease to energize',
  3: 'Permit start',
  4: 'Permit stop',
  5: 'Close connect/disconnect switch',
};

const commands = binaryOutputs.map(
  ([index, mirror, iec61850]): PointRow => ({
    type: 'BO',
    index,
    name: commandNames[index] ?? binaryNames.get(mirror) ?? `Output ${index}`,
    class: 0,
    readBack: `BI${mirror}`,
    ...(iec61850 !== undefined && { iec61850 }),
  }),
);

const counters = ['Wh delivered', 'Wh received', 'varh delivered', 'varh received'].map(
  (name, index): PointRow => ({
    type: 'CTR',
    index,
    name,
    class: 0,
    multiplier: 1,
    unit: name.startsWith('Wh') ? 'Wh' : 'varh',
    iec61850: ['MMTR.SupWh', 'MMTR.DmdWh', 'MMTR.SupVArh', 'MMTR.DmdVArh'][index] ?? '',
  }),
);

/** Blocks of AN2018-001 for further schedules and for single units, which no simulated device has. */
export const unitBlocks: readonly {
  readonly type: PointType;
  readonly from: number;
  readonly to: number;
  readonly name: string;
}[] = [
  { type: 'BI', from: 117, to: 129, name: 'Meter 1: thresholds exceeded, communication error' },
  { type: 'BI', from: 130, to: 142, name: 'Each further meter, in the same order' },
  { type: 'BI', from: 143, to: 146, name: 'DER unit 1: maintenance state, alarms of three priorities' },
  { type: 'BI', from: 147, to: 150, name: 'Each further DER unit, in the same order' },
  { type: 'BI', from: 151, to: 185, name: 'Inverter 1: thresholds exceeded, states, alarms, warnings' },
  { type: 'BI', from: 186, to: 220, name: 'Each further inverter, in the same order' },
  { type: 'BI', from: 221, to: 274, name: 'Battery bank 1: states, thresholds exceeded, alarms, warnings' },
  { type: 'BI', from: 275, to: 328, name: 'Each further battery bank, in the same order' },
  { type: 'AI', from: 784, to: 786, name: 'Each further schedule: status, priority, active time value' },
  { type: 'AI', from: 787, to: 823, name: 'Meter 1: measurements and thresholds' },
  { type: 'AI', from: 824, to: 860, name: 'Each further meter, in the same order' },
  { type: 'AI', from: 861, to: 874, name: 'DER unit 1: type, ratings, times, available power' },
  { type: 'AI', from: 875, to: 888, name: 'Each further DER unit, in the same order' },
  { type: 'AI', from: 889, to: 921, name: 'Inverter 1: targets, measurements, temperatures, thresholds' },
  { type: 'AI', from: 922, to: 954, name: 'Each further inverter, in the same order' },
  {
    type: 'AI',
    from: 955,
    to: 981,
    name: 'Battery bank 1: ratings, state of charge, measurements, limits, thresholds',
  },
  { type: 'AI', from: 982, to: 1008, name: 'Each further battery bank, in nearly the same order' },
];

/** All points before the blocks of units, sorted by type and index. */
export const an2018Rows: readonly PointRow[] = [
  ...binaries,
  ...commands,
  ...inputs,
  ...outputs,
  ...windows.flatMap(windowRows),
  ...counters,
].sort((a, b) => (a.type === b.type ? a.index - b.index : a.type < b.type ? -1 : 1));

/** Names by type and index: the outstations of a process share their texts. */
const names: Readonly<Record<PointType, PointName[]>> = { BI: [], BO: [], AI: [], AO: [], CTR: [] };

export const pointName = ({ type, index }: Pick<PointRow, 'type' | 'index'>): PointName =>
  (names[type][index] ??= `${type}${index}`);

export const isOutput = ({ type }: Pick<PointRow, 'type'>): boolean => type === 'BO' || type === 'AO';

const byName = new Map(an2018Rows.map((row) => [pointName(row), row]));

/** A row of the built-in map; undefined: the map has no point of this name. */
export function an2018Row(name: PointName): PointRow | undefined {
  return byName.get(name);
}

function rowOf({
  read_back: readBack,
  min,
  max,
  multiplier,
  unit,
  iec61850,
  deadband,
  bind,
  ...row
}: Dnp3FileRow): PointRow {
  return {
    ...row,
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(multiplier !== undefined && { multiplier }),
    ...(unit !== undefined && { unit }),
    ...(iec61850 !== undefined && { iec61850 }),
    ...(deadband !== undefined && { deadband }),
    ...(readBack !== undefined && { readBack: readBack as PointName }),
    ...(bind !== undefined && { bind }),
  };
}

const sunSpecPoints = new Set(servedModels.flatMap(({ id, ...model }) => [...pathsIn(`${id}`, model)]));

function* pathsIn(name: string, { points, groups = [] }: Pick<ModelDef, 'points' | 'groups'>): Generator<string> {
  for (const point of points) yield `${name}.${point.name}`;
  for (const group of groups) yield* pathsIn(`${name}.${group.name}`, group);
}

/** The error in the binding of a row; null: none. */
function bindingIssue({ type, bind }: PointRow): string | null {
  if (bind === undefined) return null;
  if (!/^[A-Z]/.test(bind)) return sunSpecPoints.has(bind) ? null : `no model of SunSpec has a point ${bind}`;
  const bound = an2018Row(bind as PointName);
  if (bound === undefined) return `the built-in map has no point ${bind}`;
  // an output accepts controls of its type alone
  return isOutput({ type }) && bound.type !== type ? `${bind} is not of the type ${type}` : null;
}

/**
 * The rows of a point map in a file.
 * @param path of the file
 * @throws SimError CONFIG_INVALID for bindings to points that do not exist, or a file made invalid after its check
 */
export function readPointRows(path: string): readonly PointRow[] {
  const read = readDnp3Points(readTextFile(path, maxPointsFileBytes));
  if (typeof read === 'string') throw new SimError('CONFIG_INVALID', `${path}: ${read}`);
  const rows = read.map(rowOf);
  const issues = rows.flatMap((row, i) => {
    const detail = bindingIssue(row);
    return detail === null ? [] : [{ name: `points.${i}.bind`, detail }];
  });
  if (issues.length > 0) throw new SimError('CONFIG_INVALID', `${path}: bindings to points that do not exist`, issues);
  return rows;
}
