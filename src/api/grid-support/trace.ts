/** The trace of decisions about power: operations, and members of replies. */
import { memo } from '../../core/lazy.ts';
import { rideThroughModes } from '../../contract/grid-trace.ts';
import type {
  ActiveDecider,
  FunctionStep,
  GridTraceRow,
  ReactiveDecider,
  ServiceTransition,
} from '../../contract/grid-trace.ts';
import type { Device } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import { microsPerSecond } from '../../core/time/clock.ts';
import {
  activePowerFunctions,
  functionTable,
  isReactivePowerFunction,
  reactivePowerFunctions,
  tracedFunctions,
  traceInput,
  tripFunctions,
} from '../../sunspec/map/grid-support/functions.ts';
import type { TracedFunction, TraceInput } from '../../sunspec/map/grid-support/functions.ts';
import { z } from '../description/zod.ts';
import { integer, list, member, members, nested, number, text, time } from '../common/members.ts';
import type { ReplyOf } from '../common/members.ts';
import { deviceIndex, deviceQuery, integerParam } from '../common/schemas.ts';
import { listInPieces, joined, replyInPieces } from '../http/streaming.ts';
import { selectedDevice } from '../common/device-replies.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem } from '../http/errors.ts';
import { Answer, route, StreamedReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';

/** Max sub-steps that one device records. */
const maxTraceRows = 100_000;
/** Max sub-steps that all devices record together: at nearly 1 KB each, half a gigabyte. */
export const maxTraceRowsOfAll = 500_000;
const defaultTraceLimit = 1000;
/** Max sub-steps of one answer: longer answers would delay the ticks. */
const maxTraceAnswer = 5_000;

/** Units of a function's input and of its target and output, as suffixes of names. */
interface StepUnits {
  readonly input: 'pct' | 'hz' | 'kw';
  readonly output: 'kw' | 'kvar';
}

/** Unit and description of each quantity that a function can follow, as a trace shows it. */
const inputs: Readonly<Record<TraceInput, { readonly unit: StepUnits['input']; readonly text: string }>> = {
  voltage: { unit: 'pct', text: 'Voltage, percent of 702.VNom.' },
  frequency: { unit: 'hz', text: 'Frequency, Hz.' },
  active_power: { unit: 'kw', text: 'Active power, kW.' },
  available_power: { unit: 'kw', text: 'Available power, kW.' },
};

function stepUnits(name: TracedFunction): StepUnits {
  return { input: inputs[traceInput(name)].unit, output: isReactivePowerFunction(name) ? 'kvar' : 'kw' };
}

const unitTexts = { kw: 'kW', kvar: 'kvar' } as const;

/** Descriptions for functions of which a trace shows only a part. */
const stepTitles: Partial<Readonly<Record<TracedFunction, string>>> = {
  enter_service: 'Ramp after a return to service.',
};

function stepTitle(name: TracedFunction): string {
  const { label } = functionTable[name];
  return stepTitles[name] ?? `${label.charAt(0).toUpperCase()}${label.slice(1)}.`;
}

/** Six decimals; null where a model has failed and there is no finite number. */
function rounded(value: number): number | null {
  return Number.isFinite(value) ? Math.round(value * 1e6) / 1e6 : null;
}

const kilo = (value: number) => rounded(value / 1000);

const decimal = nested({ schema: () => z.number().nullable(), reply: rounded });
const inKilo = nested({ schema: () => z.number().nullable(), reply: kilo });

function step(name: TracedFunction) {
  const units = stepUnits(name);
  const unit = unitTexts[units.output];
  const inUnits = { pct: decimal, hz: decimal, kw: inKilo, kvar: inKilo };
  return members<FunctionStep>()(null, () => ({
    input: inUnits[units.input].orNull(inputs[traceInput(name)].text),
    target: inUnits[units.output].orNull(`Present target of the function, ${unit}.`),
    output: inUnits[units.output].orNull(`Output of the function after its filter or ramp, ${unit}.`),
  }));
}

function ofEach<K extends string, T>(names: readonly K[], make: (name: K) => T): Record<K, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<K, T>;
}

export const rideThroughSchema = z.enum(rideThroughModes).openapi('RideThrough', {
  description: 'Region of IEEE 1547-2018 6.4.2 and 6.5.2 for voltage and frequency at the terminals.',
});

// the order is that of the released description
const activeDeciders: readonly ActiveDecider[] = [
  'source',
  'w_max',
  'charge_limit',
  ...activePowerFunctions,
  'second_limiter',
  'enter_service',
  'ramp',
  'site',
  'idle',
  'apparent_power',
  'cessation',
  'out_of_service',
  'discharge_limit',
];
const reactiveDeciders: readonly ReactiveDecider[] = [
  ...reactivePowerFunctions,
  'none',
  'capability',
  'low_power',
  'apparent_power',
  'cessation',
  'out_of_service',
];
export const activeDeciderSchema = z.enum(activeDeciders).openapi({
  description:
    'Function that decided active power in the sub-step (outside of a trace: in the last one): the lowest limit, or the ' +
    'function that overruled it.',
});
const reactiveDeciderSchema = z.enum(reactiveDeciders).openapi({
  description: 'Function that decided reactive power in the sub-step (outside of a trace: in the last one).',
});
/** Deciding function or limit of both powers; on `controls` and in the overview. */
export const decidedBySchema = z.strictObject({ active: activeDeciderSchema, reactive: reactiveDeciderSchema });

const secondsText =
  'The instant in simulated seconds with six decimals, exact to the microsecond. It does not jump when ' +
  '`controls/time` sets the clock, so differences are true durations; until then it is the Unix time of `sim_time`.';
const serviceText =
  '`in_service`, `momentary_cessation`, `ramping` (after entering service), `waiting` (for the grid or the delay), ' +
  '`ceased`, `shutting_down`, `off` or `tripped`.';

interface Context {
  readonly plant: Pick<Plant, 'dateMs'>;
}

const steps = memo(() => ofEach(tracedFunctions, step));
const functions = nested({
  schema: () =>
    z.strictObject(
      ofEach(tracedFunctions, (name) =>
        steps()
          [name].schema()
          .openapi({ description: stepTitle(name) }),
      ),
    ),
  reply: (of: GridTraceRow['functions']) => ofEach(tracedFunctions, (name) => steps()[name].reply(of[name])),
});
const timeToTrip = memo(() => z.number().nullable().openapi({ description: 'Unit: s; null: its timer does not run.' }));

export const traceRow = members<GridTraceRow, Context>()(
  'GridTraceRow',
  () => ({
    sim_time: time('End of the sub-step, cut to milliseconds; `t_s` is exact.', ({ at }, { plant }: Context) =>
      plant.dateMs(at),
    ),
    t_s: number(secondsText, ({ at }) => at / microsPerSecond),
    service: text(serviceText),
    ride_through: member(() => rideThroughSchema)(),
    active_power_kw: inKilo('Not rounded to the resolution of 701.W.', ({ activePowerW }) => activePowerW),
    reactive_power_kvar: inKilo('Not rounded to the resolution of 701.Var.', (row) => row.reactivePowerVar),
    available_kw: inKilo('AC power that the source could deliver.', ({ availableW }) => availableW),
    voltage_pct: decimal('Voltage of the curves, percent of 702.VNom.'),
    lowest_voltage_pct: decimal(
      'Lowest voltage of the phases, percent of 702.VNom: the input of under-voltage trip.',
      ({ lowestVoltagePct }) => lowestVoltagePct,
    ),
    highest_voltage_pct: decimal(
      'Highest voltage of the phases, percent of 702.VNom: the input of over-voltage trip.',
      ({ highestVoltagePct }) => highestVoltagePct,
    ),
    frequency_hz: decimal('Frequency at the terminals, Hz.'),
    active_decided_by: member(() => activeDeciderSchema)(),
    reactive_decided_by: member(() => reactiveDeciderSchema)(),
    functions: functions(
      'By function; null while it is off or the device out of service. Of the reactive functions only the one that acts ' +
        'has an `output`; within its dead band droop has only its `input`.',
    ),
    time_to_trip_s: member(() => z.strictObject(ofEach(tripFunctions, () => timeToTrip())))(
      'Seconds to the trip if nothing changes; null: the timer does not run; 0: tripped, and the limit is still exceeded.',
    ),
    time_to_enter_service_s: number.orNull('Seconds of the enter-service delay that are left; null: it does not run.'),
  }),
  { description: 'One sub-step of the control functions. Quantities have six decimals.' },
);

const transition = members<ServiceTransition, Context>()('ServiceTransition', () => ({
  at: time(({ at }, { plant }: Context) => plant.dateMs(at)),
  t_s: number(secondsText, ({ at }) => at / microsPerSecond),
  from: text(serviceText),
  to: text(serviceText),
  cause: text.orNull('The trip: a key of `time_to_trip_s`, `rocof` or `vector_shift`; null: not a trip.'),
}));

interface Recorded {
  readonly device: Pick<Device, 'index' | 'trace'>;
  /** recorded sub-steps to answer with */
  readonly chosen: readonly GridTraceRow[];
}

const recording = members<Device['trace']>()(null, () => ({
  capacity: integer('Maximum number of sub-steps kept, the latest; 0: recording is off.'),
  rows: integer('Sub-steps kept now.', ({ rows }) => rows.length),
}));

const stateMembers = () => ({
  device_index: member(() => deviceIndex)(({ device }: Recorded) => device.index),
  recording: nested(recording)(({ device }: Recorded) => device.trace),
  now: nested(traceRow)('The last sub-step.', ({ device }: Recorded) => device.trace.now),
  transitions: list(transition)(
    'The latest 64 changes of `service`, oldest first, recorded or not. The instants are exact.',
    ({ device }: Recorded) => device.trace.transitions,
  ),
});

const traceState = members<Recorded, Context>()('GridTraceState', stateMembers);
const trace = members<Recorded, Context>()('GridTrace', () => ({
  ...stateMembers(),
  rows: listInPieces(traceRow)(
    'Recorded sub-steps that `limit` and `after` select, oldest first.',
    ({ chosen }: Recorded) => chosen,
  ),
}));

const traceQuery = deviceQuery.extend({
  format: z.enum(['json', 'csv']).optional().openapi({ description: 'Default json.' }),
  limit: integerParam(
    'limit',
    0,
    maxTraceAnswer,
    `Recorded sub-steps to answer with, the latest; default ${defaultTraceLimit}.`,
  ).optional(),
  after: z
    .string()
    .regex(/^\d{1,12}(\.\d{1,6})?$/, { error: 'must be seconds' })
    .transform(Number)
    .optional()
    .openapi({
      param: { name: 'after' },
      type: 'number',
      minimum: 0,
      maximum: 999_999_999_999,
      description: 'Returns the earliest sub-steps with a greater `t_s` instead, to page through a long recording.',
    }),
});

const traceBodySchema = memo(() =>
  z
    .strictObject({
      rows: z.int().min(0).max(maxTraceRows).openapi({
        description:
          'Number of latest sub-steps to keep from now on; the previous recording is dropped. 0 ends the recording.',
      }),
    })
    .openapi('GridTraceRequest'),
);

type TraceRowReply = ReplyOf<typeof traceRow>;

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
function* traceCsvLines(rows: Iterable<TraceRowReply>): Generator<string> {
  yield csvHeader;
  for (const row of rows) yield csvLine(columns.map((column) => column.value(row)));
}

/** The latest rows, or the first ones after an instant in simulated seconds. */
function chosenRows(rows: readonly GridTraceRow[], limit: number, afterS: number | undefined): readonly GridTraceRow[] {
  if (afterS === undefined) return rows.slice(Math.max(0, rows.length - limit));
  const firstRow = rows.findIndex(({ at }) => at > Math.round(afterS * microsPerSecond));
  return firstRow < 0 ? [] : rows.slice(firstRow, firstRow + limit);
}

function* replies(ctx: RouteContext, rows: readonly GridTraceRow[]) {
  for (const row of rows) yield traceRow.reply(row, ctx);
}

function csvAnswer(ctx: RouteContext, { index }: Device, rows: readonly GridTraceRow[]) {
  const lines = joined(traceCsvLines(replies(ctx, rows)));
  return new Answer<ReplyOf<typeof trace>>(new StreamedReply('text/csv; charset=utf-8; header=present', lines), {
    headers: { 'Content-Disposition': `attachment; filename="grid-trace-device-${index}.csv"` },
  });
}

/** @throws HttpProblem conflict */
function checkRoom({ devices }: Plant, { index }: Device, rows: number): void {
  const others = devices.reduce((sum, each) => sum + (each.index === index ? 0 : each.trace.capacity), 0);
  const room = maxTraceRowsOfAll - others;
  if (rows <= room) return;
  throw new HttpProblem(
    'conflict',
    `All devices together record at most ${maxTraceRowsOfAll} sub-steps, and the others have ` +
      `${others} of them: at most ${room} are left. A request with rows 0 ends the recording of a device.`,
  );
}

export const gridTraceRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/grid-support/trace',
    tag: 'Grid Support',
    operationId: 'get_grid_trace',
    summary: 'Why the power is what it is',
    description:
      'The last sub-step, changes of the service state, and recorded sub-steps: input, target and output of ' +
      'each function, what decided the power, and the time to a trip or to entering service. A sub-step ends where the grid, a timer or ' +
      'a request changes something, and after `sim_step_s` at the latest. CSV has one line per recorded sub-step under a line of ' +
      'names with units, and the last sub-step where nothing is recorded; an empty field is null.',
    query: traceQuery,
    reply: trace.schema,
    replyHeaders: {
      'Content-Disposition': {
        description: 'With CSV: name of a file.',
        example: 'attachment; filename="grid-trace-device-0.csv"',
      },
    },
    otherMedia: ['text/csv'],
    handle(ctx, { query }) {
      const device = selectedDevice(ctx, query.device);
      const { rows, now } = device.trace;
      const chosen = chosenRows(rows, query.limit ?? defaultTraceLimit, query.after);
      if (query.format === 'csv') return csvAnswer(ctx, device, rows.length === 0 ? [now] : chosen);
      return replyInPieces(trace.reply({ device, chosen }, ctx));
    },
  }),
  route({
    method: 'post',
    path: '/grid-support/trace',
    tag: 'Grid Support',
    operationId: 'record_grid_trace',
    summary: 'Records sub-steps of a device, or ends the recording',
    description:
      'Starts a new recording of the latest `rows` sub-steps. Each takes nearly 1 KB of memory, and recording takes ' +
      `about a quarter more time per recording device; all devices together keep at most ${maxTraceRowsOfAll}.`,
    query: deviceQuery,
    body: traceBodySchema,
    reply: traceState.schema,
    problems: ['conflict'],
    handle(ctx, { query, body }) {
      const device = selectedDevice(ctx, query.device);
      checkRoom(ctx.plant, device, body.rows);
      device.trace.record(body.rows);
      return traceState.reply({ device, chosen: [] }, ctx);
    },
  }),
];
