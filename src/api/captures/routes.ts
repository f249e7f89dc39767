/** Captures of disturbances: operations. */
import { captureTriggerKinds, verdictWords } from '../../contract/captures.ts';
import type { Capture, DeviceRows } from '../../contract/captures.ts';
import { SimError } from '../../core/errors.ts';
import type { ReplyOf } from '../common/members.ts';
import { deviceParam, integerParam } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import { Answer, apiPrefix, route, StreamedReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { joined, replyInPieces } from '../http/streaming.ts';
import { capture as captureReply, captureHead, captureList } from './members.ts';
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

function meets(capture: Capture, { device, kind, verdict }: z.output<typeof filterQuery>): boolean {
  const isOf = ({ deviceIndex }: { readonly deviceIndex: number }) => device === undefined || deviceIndex === device;
  return (
    (device === undefined || capture.rows.some(isOf)) &&
    (kind === undefined || capture.triggers.some((trigger) => trigger.kind === kind)) &&
    (verdict === undefined || capture.report().verdicts.some((each) => isOf(each) && each.verdict === verdict))
  );
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
    handle(ctx, { query }) {
      const { capacity, bytes, list } = ctx.captures;
      return captureList.reply({ capacity, bytes, list: list.filter((each) => meets(each, query)) }, ctx);
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
    handle(ctx, { query, by }) {
      const started = ctx.captures.start(by, query.device);
      return new Answer(captureReply.reply(started, ctx), {
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
    handle: (ctx, { params: { id } }) => captureReply.reply(ctx.captures.get(id), ctx),
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
    description: 'At most 10 are pinned, and fewer than are kept.',
    params,
    body: z
      .strictObject({ pinned: z.boolean().openapi({ description: 'True: it is not dropped for newer ones.' }) })
      .openapi('CaptureRequest'),
    reply: captureReply.schema,
    problems: ['unknown-resource', 'conflict'],
    handle: (ctx, { params: { id }, body }) => captureReply.reply(ctx.captures.pin(id, body.pinned), ctx),
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
    handle: (ctx, { params: { id } }) => captureHead.reply(ctx.captures.remove(id), ctx),
  }),
];
