/** Captures of disturbances: operations. */
import { captureTriggerKinds, verdictWords } from '../../contract/captures.ts';
import type { Capture, CaptureReport, DeviceRows } from '../../contract/captures.ts';
import { SimError } from '../../core/errors.ts';
import type { ReplyOf } from '../common/members.ts';
import { deviceParam, integerParam } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import type { RouteContext } from '../http/context.ts';
import { Answer, apiPrefix, route, StreamedReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { joined, replyInPieces } from '../http/streaming.ts';
import { capture as captureReply, captureHead, captureList, reportOf } from './members.ts';
import type { ReportContext } from './members.ts';
import { captureCsvLines, captureRows } from './rows.ts';

const tag = 'Grid Support';
const path = '/captures';

const params = z.object({ id: integerParam('id', 1, Number.MAX_SAFE_INTEGER, 'Id of the capture, as in `captures`.') });

/** @throws SimError UNKNOWN_RESOURCE for a device without rows */
function chosenRows({ id, rows }: Capture, index: number | undefined): readonly DeviceRows[] {
  if (index === undefined) return rows;
  const chosen = rows.filter(({ deviceIndex }) => deviceIndex === index);
  if (chosen.length === 0) throw new SimError('UNKNOWN_RESOURCE', `capture ${id} has no rows of device ${index}`);
  return chosen;
}

function csvAnswer(id: number, chosen: readonly DeviceRows[]) {
  const lines = joined(captureCsvLines(chosen));
  return new Answer<ReplyOf<typeof captureRows>>(new StreamedReply('text/csv; charset=utf-8; header=present', lines), {
    headers: { 'Content-Disposition': `attachment; filename="capture-${id}.csv"` },
  });
}

const filterQuery = z.strictObject({
  device: deviceParam.optional().openapi({ description: 'Only captures with rows of this device, 0-based.' }),
  kind: z
    .enum(captureTriggerKinds)
    .optional()
    .openapi({ param: { name: 'kind' }, description: 'Only captures with a disturbance of this kind.' }),
  verdict: z
    .enum(verdictWords)
    .optional()
    .openapi({
      param: { name: 'verdict' },
      description: 'Only captures with this verdict on a device; with `device`: on that device.',
    }),
});

/** True if a capture has rows of the device and a disturbance of the kind, which needs no report. */
const concerns = ({ rows, triggers }: Capture, { device, kind }: z.output<typeof filterQuery>) =>
  (device === undefined || rows.some(({ deviceIndex }) => deviceIndex === device)) &&
  (kind === undefined || triggers.some((trigger) => trigger.kind === kind));

const hasVerdict = (capture: Capture, context: ReportContext, { device, verdict }: z.output<typeof filterQuery>) =>
  verdict === undefined ||
  reportOf(capture, context).verdicts.some(
    (each) => (device === undefined || each.deviceIndex === device) && each.verdict === verdict,
  );

/** Makes the reports of captures, device by device: those of hundreds take longer than a tick or a master may wait. */
async function withReports(
  { plant, share }: Pick<RouteContext, 'plant' | 'share'>,
  captures: readonly Capture[],
): Promise<ReportContext> {
  const reports = new Map<Capture, CaptureReport>();
  for (const capture of captures) reports.set(capture, await share.runInParts(capture.reporting()));
  return { plant, reports };
}

export const captureRoutes: readonly Route[] = [
  route({
    method: 'get',
    path,
    tag,
    operationId: 'list_captures',
    summary: 'Captures of disturbances that are kept',
    description:
      'A capture begins by itself at a grid event, a change of the grid above 2 % of voltage or 0.2 Hz, an outage and its end, a ' +
      'grid profile that passes a trip threshold, a trip, and an alarm of severity `error`; a scenario that changes the grid ' +
      'begins one whatever the change. It has the second before from ticks, then sub-steps until every device has settled ' +
      'for 2 s, at most 30 s, then ticks until all are back in service, at most 10 min.',
    query: filterQuery,
    reply: captureList.schema,
    handle: async (ctx, { query }) => {
      const { capacity, bytes, list } = ctx.captures;
      const concerned = list.filter((each) => concerns(each, query));
      const context = await withReports(ctx, concerned);
      const shown = concerned.filter((each) => hasVerdict(each, context, query));
      return captureList.reply({ capacity, bytes, list: shown }, context);
    },
  }),
  route({
    method: 'post',
    path,
    tag,
    operationId: 'start_capture',
    summary: 'Captures the present',
    description:
      'Disturbances that follow within 2 s are in the same capture. While one records sub-steps, the answer is ' +
      'that one.',
    query: z.strictObject({
      device: deviceParam.optional().openapi({ description: 'Device to record, 0-based; default all, at most 200.' }),
    }),
    reply: captureReply.schema,
    status: 201,
    problems: ['conflict'],
    replyHeaders: {
      Location: { description: 'Address of the capture.', example: `${apiPrefix}/captures/1` },
    },
    async handle(ctx, { query, by }) {
      const started = ctx.captures.start(by, query.device);
      return new Answer(captureReply.reply(started, await withReports(ctx, [started])), {
        headers: { Location: `${apiPrefix}/captures/${started.id}` },
      });
    },
  }),
  route({
    method: 'get',
    path: `${path}/{id}`,
    tag,
    operationId: 'get_capture',
    summary: 'A capture: marks, thresholds, and what each device did',
    params,
    reply: captureReply.schema,
    problems: ['unknown-resource'],
    async handle(ctx, { params: { id } }) {
      const kept = ctx.captures.get(id);
      return captureReply.reply(kept, await withReports(ctx, [kept]));
    },
  }),
  route({
    method: 'get',
    path: `${path}/{id}/rows`,
    tag,
    operationId: 'get_capture_rows',
    summary: 'Rows of a capture, as columns or CSV',
    description:
      'A row is the end of a sub-step, and sub-steps have different lengths: its values hold from the row before to its own ' +
      'instant; with `ramp` the powers move linearly between the two. CSV has one ' +
      'table with the device in the first column, and states as words.',
    params,
    query: z.strictObject({
      device: deviceParam.optional().openapi({ description: 'Only this device, 0-based; default all.' }),
      format: z.enum(['json', 'csv']).optional().openapi({ description: 'Default json.' }),
    }),
    reply: captureRows.schema,
    replyHeaders: {
      'Content-Disposition': {
        description: 'With CSV: name of a file.',
        example: 'attachment; filename="capture-4.csv"',
      },
    },
    otherMedia: ['text/csv'],
    problems: ['unknown-resource'],
    handle(ctx, { params: { id }, query }) {
      const kept = ctx.captures.get(id);
      const chosen = chosenRows(kept, query.device);
      if (query.format === 'csv') return csvAnswer(id, chosen);
      return replyInPieces(captureRows.reply({ capture: kept, chosen }, ctx));
    },
  }),
  route({
    method: 'post',
    path: `${path}/{id}`,
    tag,
    operationId: 'pin_capture',
    summary: 'Keeps a capture when newer ones need its place, or no longer',
    description:
      'At most 10 are pinned, and fewer than are kept. With a state folder pinned captures that have ended outlive the process.',
    params,
    body: z
      .strictObject({ pinned: z.boolean().openapi({ description: 'True: it is not dropped for newer ones.' }) })
      .openapi('CaptureRequest'),
    reply: captureReply.schema,
    problems: ['unknown-resource', 'conflict'],
    async handle(ctx, { params: { id }, body }) {
      const kept = ctx.captures.pin(id, body.pinned);
      await ctx.captures.pinsAreKept();
      return captureReply.reply(kept, await withReports(ctx, [kept]));
    },
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    tag,
    operationId: 'remove_capture',
    summary: 'Drops a capture; one under way ends',
    params,
    reply: captureHead.schema,
    problems: ['unknown-resource'],
    async handle(ctx, { params: { id } }) {
      const removed = ctx.captures.remove(id);
      await ctx.captures.pinsAreKept();
      return captureHead.reply(removed, await withReports(ctx, [removed]));
    },
  }),
];
