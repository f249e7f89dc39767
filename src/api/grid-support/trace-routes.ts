import { microsPerSecond } from '../../core/time/clock.ts';
import type { GridTraceRow } from '../../contract/grid-trace.ts';
import type { Plant } from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';
import { HttpProblem } from '../http/errors.ts';
import { eachLater, joined, replyInPieces } from '../http/pieces.ts';
import { Answer, route, StreamedReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceQuery } from '../common/schemas.ts';
import {
  defaultTraceLimit,
  exampleTrace,
  exampleTraceRow,
  exampleTraceState,
  maxTraceRowsOfAll,
  traceBodySchema,
  traceQuery,
  traceSchema,
  traceStateSchema,
} from './trace-schemas.ts';
import type { TraceReply } from './trace-schemas.ts';
import { traceCsvLines, traceRowReply, traceStateReply } from './trace-replies.ts';
import { selectedDevice } from '../common/device-replies.ts';

/** The latest rows, or the first ones after an instant in simulated seconds. */
function chosenRows(rows: readonly GridTraceRow[], limit: number, afterS: number | undefined): readonly GridTraceRow[] {
  if (afterS === undefined) return rows.slice(Math.max(0, rows.length - limit));
  const first = rows.findIndex(({ at }) => at > Math.round(afterS * microsPerSecond));
  return first < 0 ? [] : rows.slice(first, first + limit);
}

function* replies(plant: Plant, rows: readonly GridTraceRow[]) {
  for (const row of rows) yield traceRowReply(plant, row);
}

function csvAnswer(plant: Plant, { index }: Device, rows: readonly GridTraceRow[]): Answer<TraceReply> {
  const lines = joined(traceCsvLines(replies(plant, rows)));
  return new Answer<TraceReply>(new StreamedReply('text/csv; charset=utf-8; header=present', lines), {
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
  reply: traceSchema,
  replyHeaders: {
    'Content-Disposition': {
      description: 'With CSV: name of a file.',
      example: 'attachment; filename="grid-trace-device-0.csv"',
    },
  },
  otherMedia: [{ type: 'text/csv', example: [...traceCsvLines([exampleTraceRow])].join('') }],
  examples: { reply: exampleTrace },
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    const { rows, now } = device.trace;
    const chosen = chosenRows(rows, query.limit ?? defaultTraceLimit, query.after);
    if (query.format === 'csv') return csvAnswer(ctx.plant, device, rows.length === 0 ? [now] : chosen);
    return replyInPieces<TraceReply>({
      ...traceStateReply(ctx.plant, device, rows.length),
      rows: eachLater(chosen, (row) => traceRowReply(ctx.plant, row)),
    });
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
  reply: traceStateSchema,
  problems: ['conflict'],
  examples: { body: { rows: 5000 }, reply: exampleTraceState },
  handle(ctx, { query, body }) {
    const device = selectedDevice(ctx, query.device);
    checkRoom(ctx.plant, device, body.rows);
    device.trace.record(body.rows);
    return traceStateReply(ctx.plant, device, 0);
  },
});

export const gridTraceRoutes: readonly Route[] = [getTrace, record];
