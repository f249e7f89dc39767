/**
 * Writes docs/reference/dnp3-points.md: the points of the DER profile of DNP3 from the tables of the source, with what simulated
 * devices of all kinds bind them to.
 *
 *   npm run generate:dnp3 [-- --check]
 */
import { fileURLToPath } from 'node:url';
import { createRandom } from '../src/core/random.ts';
import { createDevicePort } from '../src/dnp3/bridge.ts';
import { OutstationPoints } from '../src/dnp3/profile/outstation-points.ts';
import { profileParts } from '../src/dnp3/profile/parts.ts';
import { an2018Row, an2018Rows, isOutput, pointName, unitBlocks } from '../src/dnp3/profile/table/rows.ts';
import type { PointName, PointRow } from '../src/dnp3/profile/types.ts';
import { configuredDevices } from '../test/support/configured.ts';
import { testPlant } from '../test/support/plant.ts';
import { simulatedRemoteClock } from '../test/support/remote-clock.ts';
import { absenceOf, pointGroups } from './dnp3-point-groups.ts';
import type { PointGroup } from './dnp3-point-groups.ts';
import { deliver } from './generated.ts';

const path = 'docs/reference/dnp3-points.md';
export const pointsPage = new URL(`../${path}`, import.meta.url);

/** Devices of all kinds, with the flags that make them. Some kinds have variants with other points. */
const devices: readonly (readonly [kind: string, phases: 1 | 2 | 3, ...flags: string[]])[] = [
  ['PV', 3, '-d', 'PV-3Phase'],
  ['PV', 2, '-d', 'PV-2Phase'],
  ['PV', 1, '-d', 'PV-1Phase'],
  ['battery', 3, '-d', 'Batt-3Phase'],
  ['battery', 2, '-d', 'Batt-2Phase'],
  ['battery', 1, '-d', 'Batt-1Phase'],
  ['wind', 3, '-d', 'Wind-T3-3Phase'],
  ['wind', 3, '-d', 'Wind-T4-3Phase'],
  ['fuel cell', 3, '-d', 'Fuelcell-3Phase'],
  ['reversible fuel cell', 3, '-d', 'Fuelcell-3Phase', '-f', 'Fuelcell-PEM-5kW-reversible-3Phase'],
  ['hybrid', 3, '-d', 'HybridDC-3Phase'],
  ['charging station', 3, '-d', 'EVSE'],
  ['bidirectional charging station', 3, '--evse_profile', 'EVSE-V2G-DC-50kW-bidir'],
];

const absorbing = 'battery, reversible fuel cell, hybrid, charging station, bidirectional charging station';

/** What a point is bound to on each of the devices; null: it is absent there. */
type Bindings = ReadonlyMap<PointName, readonly (string | null)[]>;

function bindingsOfAll(): Bindings {
  const all = new Map<PointName, (string | null)[]>();
  for (const [, , ...flags] of devices) {
    const plant = testPlant({ devices: configuredDevices(...flags) });
    const points = new OutstationPoints({
      port: createDevicePort(plant.device(0), plant),
      profile: 'an2018',
      rows: an2018Rows,
      parts: profileParts,
      clock: simulatedRemoteClock(plant),
      random: (purpose) => createRandom(1, purpose),
      log: { info: () => undefined, warning: () => undefined },
    });
    for (const { row, bound } of points.bindings) {
      const name = pointName(row);
      const known = all.get(name) ?? [];
      all.set(name, known);
      known.push(bound);
    }
    points.close();
  }
  return all;
}

/** Which devices have a point, in words; empty: all. */
function devicesIn(bound: readonly (string | null)[]): string {
  const isThere = (at: number) => bound[at] !== null;
  if (bound.every((_, at) => isThere(at))) return '';
  const having = (phases: readonly number[]) => devices.every(([, of], at) => isThere(at) === phases.includes(of));
  if (having([3])) return 'three phases';
  if (having([2, 3])) return 'two or three phases';
  const kinds = [...new Set(devices.filter((_, at) => isThere(at)).map(([kind]) => kind))].join(', ');
  return kinds === absorbing ? 'devices that absorb' : kinds;
}

/** Points of SunSpec in a text as code. */
const code = (text: string) => text.replace(/-?\b\d{3}\.[A-Z][A-Za-z0-9.]*/g, (point) => `\`${point}\``);

function boundCell(bound: readonly (string | null)[]): string {
  const texts = [...new Set(bound.filter((each) => each !== null))].map(code);
  const where = devicesIn(bound);
  return `${texts.join(' or ')}${where === '' ? '' : ` (${where})`}`;
}

function rangeCell({ type, min, max }: PointRow): string {
  if (type === 'BI' || type === 'BO') return '0, 1';
  if (min === undefined || max === undefined) return '';
  const [isOpenBelow, isOpenAbove] = [min === -(2 ** 31), max === 2 ** 31 - 1];
  if (isOpenBelow && isOpenAbove) return 'any';
  if (isOpenAbove) return `${min}..`;
  return isOpenBelow ? `..${max}` : `${min}..${max}`;
}

function unitCell({ type, multiplier = 1, unit = '' }: PointRow): string {
  if (type === 'BI' || type === 'BO') return '';
  if (unit === 'enum') return 'code';
  if (unit === '0.01 currency') return unit;
  return [...(multiplier === 1 && unit !== '' ? [] : [`${multiplier}`]), ...(unit === '' ? [] : [unit])].join(' ');
}

/** A line of a table: an input, an output with its mirror, or a run of such. */
interface Line {
  readonly row: PointRow;
  readonly mirror?: PointRow;
}

function rowsOf({ ranges }: PointGroup): readonly PointRow[] {
  return ranges.flatMap(([type, from, to = from]) =>
    Array.from({ length: to - from + 1 }, (_, i) => an2018Row(`${type}${from + i}`)).filter((row) => row !== undefined),
  );
}

function linesOf(group: PointGroup): readonly Line[] {
  const rows = rowsOf(group);
  const mirrored = new Set(rows.map(({ readBack }) => readBack));
  return rows
    .filter((row) => isOutput(row) || !mirrored.has(pointName(row)))
    .map((row) => {
      const mirror = row.readBack === undefined ? undefined : an2018Row(row.readBack);
      return { row, ...(mirror && { mirror }) };
    });
}

const namesOf = ({ row, mirror }: Line) => [pointName(row), ...(mirror ? [pointName(mirror)] : [])].join(' → ');
const isWindow = ({ row }: Line) => /^(Curve|Schedule) point \d/.test(row.name);

function tableLine(line: Line, bindings: Bindings): string {
  const { row, mirror } = line;
  const cells = [
    namesOf(line),
    mirror && mirror.name !== row.name ? `${row.name}; ${mirror.name}` : row.name,
    // outputs make no events; counters are frozen with one
    row.type === 'CTR' ? 'frozen 3' : `${(mirror ?? row).class}`,
    rangeCell(row),
    unitCell(row),
    row.iec61850 ?? '',
    boundCell(bindings.get(pointName(row)) ?? []),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** The points of a window in one line. */
function windowLine(lines: readonly Line[], bindings: Bindings): string[] {
  const [first, second] = lines;
  const last = lines.at(-1);
  if (first === undefined || second === undefined || last === undefined) return [];
  const [words = '', sides = ''] = [first, second].map(({ row }) => row.name.replace(/^\w+ point \d+ /, ''));
  const kind = first.row.name.replace(/ .*$/, '');
  const names = `${pointName(first.row)} to ${pointName(last.row)} → ${first.row.readBack} to ${last.row.readBack}`;
  const cells = [
    names,
    `${kind} points 1 to ${lines.length / 2}: ${words} and ${sides} in turn`,
    `${first.mirror?.class ?? 0}`,
    rangeCell(second.row),
    'varies',
    first.row.iec61850 ?? '',
    boundCell(bindings.get(pointName(first.row)) ?? []),
  ];
  return [`| ${cells.join(' | ')} |`];
}

/** `AI1, AI2, AI3, AI7` as `AI1 to AI3, AI7`. */
function spans(names: readonly PointName[]): string {
  const parts: { type: string; from: number; to: number }[] = [];
  for (const name of names) {
    const [, type = '', digits = ''] = /^(\D+)(\d+)$/.exec(name) ?? [];
    const last = parts.at(-1);
    if (last && last.type === type && last.to === Number(digits) - 1) last.to += 1;
    else parts.push({ type, from: Number(digits), to: Number(digits) });
  }
  return parts
    .flatMap(({ type, from, to }) => {
      if (to - from < 2) return [...new Set([from, to])].map((index) => `${type}${index}`);
      return [`${type}${from} to ${type}${to}`];
    })
    .join(', ');
}

function absentLines(group: PointGroup, isServed: (row: PointRow) => boolean): string[] {
  const byReason = new Map<string, PointRow[]>();
  for (const row of rowsOf(group).filter((each) => !isServed(each))) {
    const reason = absenceOf(row.type, row.index, group);
    byReason.set(reason, [...(byReason.get(reason) ?? []), row]);
  }
  return [...byReason].map(([reason, rows]) => {
    const names = rows.map(pointName).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    return `- Absent: ${spans(names)}. Reason: ${reason}.`;
  });
}

function section(group: PointGroup, bindings: Bindings): string {
  const isServed = (row: PointRow) => (bindings.get(pointName(row)) ?? []).some((bound) => bound !== null);
  const lines = linesOf(group).filter(({ row }) => isServed(row));
  const table = [
    ...lines.filter((line) => !isWindow(line)).map((line) => tableLine(line, bindings)),
    ...windowLine(lines.filter(isWindow), bindings),
  ];
  const head = [
    '| Point | Meaning | Class | Range | Step, unit | IEC 61850 | Bound to |',
    '|---|---|---|---|---|---|---|',
  ];
  const absent = absentLines(group, isServed);
  return [
    `## ${group.title}`,
    ...(group.text === undefined ? [] : ['', group.text]),
    ...(table.length === 0 ? [] : ['', ...head, ...table]),
    ...(absent.length === 0 ? [] : ['', ...absent]),
    '',
  ].join('\n');
}

/** Modes without physics share one table: of each only the switch and what tells of it is there. */
function unsupportedSection(groups: readonly PointGroup[]): string {
  const lines = groups.map(({ title, ranges }) => {
    const [[, enable] = ['BO', 0], [, supports] = ['BI', 0], [, enabled] = ['BI', 0], ...rest] = ranges;
    const absent = rest.flatMap(([type, from, to = from]) =>
      Array.from({ length: to - from + 1 }, (_, i): PointName => `${type}${from + i}`),
    );
    return `| ${title.replace(/ \(BO\d+\)$/, '')} | BO${enable} → BI${enabled} | BI${supports} | ${spans(absent)} |`;
  });
  return [
    '## Modes without a function in the simulator',
    '',
    'Their switch and what tells of their support are always 0; a control of the switch is answered with ' +
      'status 4. Their settings are absent.',
    '',
    '| Mode | Switch | Supports | Absent |',
    '|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

/* eslint-disable max-len -- lines of a Markdown page */
const intro = `# Points of the DNP3 outstations

<!-- Generated by "npm run generate:dnp3" from src/dnp3/profile. Do not edit. -->

The outstation of a device serves the DER profile AN2018-001 (MESA-DER) of DNP3. This page has all its points by function, with
what each is bound to. [DNP3 outstations](../protocols/dnp3.md) has everything else. \`GET dnp3/points\` shows the points of one device with their
present values, those that are absent too (\`coverage=absent\`).

- **Point.** \`AO88 → AI149\` is an output and the input that mirrors it. Every output also has its status: AO as g40, BO as g10.
- **Class** of the events of the input; 0 has none. Outputs make no events, and class 0 polls leave their status out, since
  its mirror is there: g10 and g40 are read by name.
- **Range** in wire values; \`0..\` is 0 and above, \`any\` all values of 32 bits. A control outside of it is answered with status 12, also
  when the device takes less than the profile allows. An input beyond it is sent as its end, marked OVER_RANGE.
- **Step, unit.** Engineering value = wire value x step. Halves are rounded away from zero. Floating-point controls are wire values as well.
- **Bound to.** A SunSpec point, with a minus where the profile counts charging and absorption below zero, or a state of
  the simulator. Devices in brackets have the point; without brackets all do.
- A point that a device can never have is absent: it is not sent, and a read of its index alone is answered with IIN2.2. A point that is there
  and has no value now is sent as 0 with all flags clear.
- Measurements are compared with their deadbands at each tick: 1 % of the rating for power and current, 0.5 % of the nominal
  voltage, 0.01 Hz, 0.02 of power factor, 0.5 % of charge. Everything else makes an event with each change, at the commit that makes it.
- \`--dnp3_profile ieee1815.2\` leaves out BI108, BO42, AI569, AO461 and everything above, for which that standard has other meanings,
  and sends inputs of a mode that is disabled without ONLINE. No table of IEEE 1815.2 is included.
- Names are ours. The facts come from the publications of EPRI and Battelle that [NOTICE](https://github.com/derbench/derbench/blob/main/NOTICE) names; the counters, which
  AN2018-001 does not have, are at the indexes of IEEE 1815.2.

`;

const files = `## Point maps of your own

\`--dnp3_points FILE\` takes a JSON file in place of the built-in map, up to 10,000 points and 4 MiB, for instance with the points of
your copy of IEEE 1815.2:

\`\`\`json
{
  "points": [
    { "type": "AI", "index": 537, "name": "Active power", "class": 3, "unit": "W" },
    { "type": "AI", "index": 3000, "name": "Frequency", "class": 2, "multiplier": 0.001, "unit": "Hz", "bind": "701.Hz", "deadband": 10 },
    { "type": "AI", "index": 3001, "name": "Limit of generation", "class": 2, "multiplier": 0.1, "unit": "%" },
    { "type": "AO", "index": 3000, "name": "Limit of generation", "min": 0, "max": 1000, "multiplier": 0.1, "unit": "%", "bind": "AO88", "read_back": "AI3001" },
    { "type": "BO", "index": 3000, "name": "Limit on", "bind": "704.WMaxLimPctEna" }
  ]
}
\`\`\`

| Member | |
|---|---|
| \`type\`, \`index\`, \`name\` | \`BI\`, \`BO\`, \`AI\`, \`AO\` or \`CTR\`; 0 to 65535, each once; up to 200 characters |
| \`class\` | 0 to 3, default 0 |
| \`min\`, \`max\` | wire values, default all of 32 bits |
| \`multiplier\`, \`unit\` | step of the wire value, default 1; text |
| \`deadband\` | wire value; an analog input makes an event when it changes by more, default 0 |
| \`iec61850\` | text, shown in REST |
| \`bind\` | a point of this page (\`AI149\`), or a point of SunSpec (\`704.WMaxLimPct\`); of repeated groups the first one. Without it a row means what its name means on this page |
| \`read_back\` | the input that mirrors this output; its row needs no \`bind\` |

- Inputs show anything; enumerations have their SunSpec number, and a binary input is 1 unless the value is 0. Outputs bind an output of
  their own type, or write the register as any other writer would: what the map refuses is answered with the
  [status](../protocols/dnp3.md) of the refusal.
- A row whose binding a device does not have is absent at that device. A binding that no device can have ends the start, with its row
  (\`points.3.bind\`).
`;

/* eslint-enable max-len */

function unitsSection(): string {
  const lines = unitBlocks.map(({ type, from, to, name }) => `| ${type}${from} to ${type}${to} | ${name} |`);
  return [
    '## Blocks of units',
    '',
    'Absent: a simulated device is one unit behind one meter, and the points above have all its values.',
    '',
    '| Points | Contents |',
    '|---|---|',
    ...lines,
    '',
  ].join('\n');
}

/** Points that are in no group, or in several. */
export function misplaced(): readonly PointName[] {
  const counts = new Map<PointName, number>(an2018Rows.map((row) => [pointName(row), 0]));
  for (const group of pointGroups)
    for (const row of rowsOf(group)) counts.set(pointName(row), (counts.get(pointName(row)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count !== 1).map(([name]) => name);
}

/** The whole page. */
export function pointsPageText(): string {
  const bindings = bindingsOfAll();
  const isUnsupported = ({ ranges: [first] }: PointGroup) =>
    first?.[0] === 'BO' && bindings.get(`BO${first[1]}`)?.every((bound) => bound === 'no function') === true;
  const supported = pointGroups.filter((group) => !isUnsupported(group));
  return [
    intro,
    ...supported.map((group) => `${section(group, bindings)}\n`),
    `${unsupportedSection(pointGroups.filter(isUnsupported))}\n`,
    `${unitsSection()}\n`,
    files,
  ].join('');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = deliver(new Map([[path, pointsPageText()]]), process.argv);
}
