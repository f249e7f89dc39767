import { microsPerSecond } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { FunctionStep, GridTraceRow } from '../../contract/grid-trace.ts';
import { tracedFunctions, tripFunctions } from '../../sunspec/map/grid-support/functions.ts';
import type { TracedFunction } from '../../sunspec/map/grid-support/functions.ts';
import type { Plant } from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';
import { stepUnits } from './trace-schemas.ts';
import type { TraceRowReply, TraceStateReply } from './trace-schemas.ts';

/** Six decimals; null where a model has failed and there is no finite number. */
function rounded(value: number): number | null {
  return Number.isFinite(value) ? Math.round(value * 1e6) / 1e6 : null;
}

const kilo = (value: number) => rounded(value / 1000);

function inUnit(unit: 'pct' | 'hz' | 'kw' | 'kvar', value: number | null): number | null {
  if (value === null) return null;
  return unit === 'kw' || unit === 'kvar' ? kilo(value) : rounded(value);
}

function stepReply(name: TracedFunction, { input, target, output }: FunctionStep): FunctionStep {
  const units = stepUnits(name);
  return {
    input: inUnit(units.input, input),
    target: inUnit(units.output, target),
    output: inUnit(units.output, output),
  };
}

function isoTime(plant: Plant, at: SimTime): string {
  return new Date(Math.floor(plant.dateMs(at))).toISOString();
}

/** One sub-step in the names and units of the interface: kW, kvar, percent of 702.VNom, Hz, s. */
export function traceRowReply(plant: Plant, row: GridTraceRow): TraceRowReply {
  return {
    sim_time: isoTime(plant, row.at),
    t_s: row.at / microsPerSecond,
    service: row.service,
    ride_through: row.rideThrough,
    active_power_kw: kilo(row.activePowerW),
    reactive_power_kvar: kilo(row.reactivePowerVar),
    available_kw: kilo(row.availableW),
    voltage_pct: rounded(row.voltagePct),
    lowest_voltage_pct: rounded(row.lowestPct),
    highest_voltage_pct: rounded(row.highestPct),
    frequency_hz: rounded(row.frequencyHz),
    active_decided_by: row.activeDecidedBy,
    reactive_decided_by: row.reactiveDecidedBy,
    functions: Object.fromEntries(
      tracedFunctions.map((name) => [name, stepReply(name, row.functions[name])]),
    ) as TraceRowReply['functions'],
    time_to_trip_s: row.timeToTripS,
    time_to_enter_service_s: row.timeToEnterServiceS,
  };
}

/** State of a device's inspection view, without the rows. @param recorded how many there are */
export function traceStateReply(plant: Plant, { index, trace }: Device, recorded: number): TraceStateReply {
  return {
    device_index: index,
    recording: { capacity: trace.capacity, rows: recorded },
    now: traceRowReply(plant, trace.now),
    transitions: trace.transitions.map(({ at, from, to, cause }) => ({
      at: isoTime(plant, at),
      t_s: at / microsPerSecond,
      from,
      to,
      cause,
    })),
  };
}

interface Column {
  readonly name: string;
  value(row: TraceRowReply): string | number | null;
}

const plainColumns = [
  'sim_time',
  't_s',
  'service',
  'ride_through',
  'active_power_kw',
  'reactive_power_kvar',
  'available_kw',
  'voltage_pct',
  'lowest_voltage_pct',
  'highest_voltage_pct',
  'frequency_hz',
  'active_decided_by',
  'reactive_decided_by',
] as const;

function stepColumns(name: TracedFunction): Column[] {
  const { input, output } = stepUnits(name);
  return [
    { name: `${name}_input_${input}`, value: ({ functions }) => functions[name].input },
    { name: `${name}_target_${output}`, value: ({ functions }) => functions[name].target },
    { name: `${name}_output_${output}`, value: ({ functions }) => functions[name].output },
  ];
}

const columns: readonly Column[] = [
  ...plainColumns.map((name): Column => ({ name, value: (row) => row[name] })),
  ...tracedFunctions.flatMap(stepColumns),
  ...tripFunctions.map(
    (name): Column => ({ name: `${name}_time_to_trip_s`, value: (row) => row.time_to_trip_s[name] }),
  ),
  { name: 'time_to_enter_service_s', value: (row) => row.time_to_enter_service_s },
];

/** A field of RFC 4180; null is empty. */
export function csvField(value: string | number | null): string {
  if (value === null) return '';
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csvLine = (fields: readonly (string | number | null)[]) => `${fields.map(csvField).join(',')}\r\n`;

const csvHeader = csvLine(columns.map(({ name }) => name));

/** Rows as CSV of RFC 4180 under one header line. */
export function* traceCsvLines(rows: Iterable<TraceRowReply>): Generator<string> {
  yield csvHeader;
  for (const row of rows) yield csvLine(columns.map((column) => column.value(row)));
}
