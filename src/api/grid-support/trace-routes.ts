import { microsPerSecond } from '../../core/time/clock.ts';
import type { GridTraceRow } from '../../contract/grid-trace.ts';
import type { Plant } from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';
import { tracedFunctions, tripFunctions } from '../../sunspec/map/grid-support/functions.ts';
import type { TracedFunction } from '../../sunspec/map/grid-support/functions.ts';
import { selectedDevice } from '../common/device-replies.ts';
import type { ReplyOf } from '../common/members.ts';
import { deviceQuery } from '../common/schemas.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem } from '../http/errors.ts';
import { joined, replyInPieces } from '../http/pieces.ts';
import { Answer, route, StreamedReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  defaultTraceLimit,
  maxTraceRowsOfAll,
  stepUnits,
  trace,
  traceBodySchema,
  traceQuery,
  traceRow,
  traceState,
} from './trace-schemas.ts';
import type { TraceRowReply } from './trace-schemas.ts';

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
  const first = rows.findIndex(({ at }) => at > Math.round(afterS * microsPerSecond));
  return first < 0 ? [] : rows.slice(first, first + limit);
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

const getTrace = route({
  method: 'get',
  path: '/grid-support/trace',
  tag: 'Grid Support',
  operationId: 'get_grid_trace',
  summary: 'Why the power is what it is',
  description:
    'The last sub-step, changes of the service state, and recorded sub-steps: what each function saw, asked for and ' +
    'got, what decided the power, and the time to a trip or to entering service. A sub-step ends where the grid, a timer or a ' +
    'request changes something, and after `sim_step_s` at the latest. CSV has one line per recorded sub-step under a line of ' +
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
});

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

const record = route({
  method: 'post',
  path: '/grid-support/trace',
  tag: 'Grid Support',
  operationId: 'record_grid_trace',
  summary: 'Records sub-steps of a device, or ends the recording',
  description:
    'Starts a new recording of the latest `rows` sub-steps. Recording costs nearly 1 KB of memory for each and ' +
    `about a quarter more time per device that records; all devices together keep at most ${maxTraceRowsOfAll}.`,
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
});

export const gridTraceRoutes: readonly Route[] = [getTrace, record];
