/** The list of all devices, whole or page by page. */
import { memo } from '../core/lazy.ts';
import { assetTypes } from '../contract/device.ts';
import type { Device } from '../contract/device.ts';
import { selectedDevice } from './common/device-replies.ts';
import { deviceParam, integerParam, maxDeviceIndex } from './common/schemas.ts';
import { z } from './description/zod.ts';
import { alarmSeverities, deviceEntry, deviceEntrySchema } from './devices.ts';
import { missingShard, missingText } from './fleet/members.ts';
import type { RouteContext } from './http/context.ts';
import { HttpProblem } from './http/errors.ts';
import { JsonText, route } from './http/route.ts';

/** Greatest number of entries of a page. */
export const maxPage = 10_000;

const devicesQuery = z.strictObject({
  device: deviceParam.optional().openapi({ description: 'Only the device of this index; default all devices.' }),
  limit: integerParam('limit', 1, maxPage, 'Maximum number of entries: a page of the list. Default all.').optional(),
  after: integerParam('after', 0, maxDeviceIndex, 'Only devices with a higher index.').optional(),
  shard: z
    .string()
    .max(32)
    .optional()
    .openapi({ description: 'Only devices of this shard; at the gateway of a fleet alone.' }),
  name: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .openapi({ description: 'Only devices with this text in their name; upper and lower case are the same.' }),
  kind: z.enum(assetTypes).optional().openapi({ description: 'Only devices of this kind.' }),
  alarm: z
    .enum(alarmSeverities)
    .optional()
    .openapi({ description: 'Only devices with an active alarm of this severity or a worse one.' }),
});
type DevicesQuery = z.output<typeof devicesQuery>;

const pageNote = (text: string) => `Only with \`limit\`: ${text}`;

const devicesSchema = memo(() =>
  z
    .strictObject({
      devices: z.array(deviceEntrySchema()),
      count: z
        .int()
        .min(0)
        .optional()
        .openapi({ description: pageNote('entries of this page.') }),
      next_after: z
        .int()
        .min(0)
        .nullable()
        .optional()
        .openapi({ description: pageNote('`after` of the next page; null: the list ends here.') }),
      total: z
        .int()
        .min(0)
        .optional()
        .openapi({ description: pageNote('devices of all pages.') }),
      missing: z.array(missingShard.schema()).optional().openapi({ description: missingText }),
    })
    .openapi('Devices'),
);
type DevicesReply = z.output<ReturnType<typeof devicesSchema>>;

function fits({ assetType, alarms, name }: Device, { kind, alarm, name: part }: DevicesQuery): boolean {
  if (part !== undefined && !name.toLowerCase().includes(part.toLowerCase())) return false;
  if (kind !== undefined && assetType !== kind) return false;
  if (alarm === undefined) return true;
  const least = alarmSeverities.indexOf(alarm);
  return alarms.some(({ severity }) => alarmSeverities.indexOf(severity) >= least);
}

interface Page {
  readonly shown: readonly Device[];
  /** members beside the devices; null: the request is not for a page */
  readonly rest: Pick<DevicesReply, 'count' | 'next_after' | 'total'> | null;
}

/** @throws SimError UNKNOWN_DEVICE */
function pageOf(ctx: RouteContext, query: DevicesQuery): Page {
  const { device, after = -1, limit } = query;
  const all = device === undefined ? ctx.plant.devices : [selectedDevice(ctx, device)];
  const wanted = all.filter((each) => fits(each, query));
  const following = wanted.filter(({ index }) => index > after);
  if (limit === undefined) return { shown: following, rest: null };
  const shown = following.slice(0, limit);
  const next = shown.length < following.length ? (shown.at(-1)?.index ?? null) : null;
  return { shown, rest: { count: shown.length, next_after: next, total: wanted.length } };
}

export const deviceListRoute = route({
  method: 'get',
  path: '/devices',
  tag: 'Core',
  operationId: 'list_devices',
  summary: 'Telemetry of every device',
  description:
    'One entry per device in the order of their indexes; with `device` only that one. Read long lists in pages: `limit`, ' +
    'and then `after` with the `next_after` of the page before, until it is null. Between two ticks all clients get the ' +
    'same bytes: values that change between ticks (`alarms`, counters and states of `comm_status`) may be 0.1 s old, ' +
    'unless a request has changed something since.',
  hot: 'per_tick',
  query: devicesQuery,
  reply: devicesSchema,
  problems: ['unknown-resource'],
  handle(ctx, { query }) {
    if (query.shard !== undefined)
      throw new HttpProblem('unknown-resource', `There is no shard "${query.shard}": this is no gateway of a fleet.`);
    const { shown, rest } = pageOf(ctx, query);
    const entries = shown.flatMap((device, position) => [
      Buffer.from(position === 0 ? '' : ','),
      deviceEntry(ctx, device).bytes,
    ]);
    const end = rest === null ? ']}' : `],${JSON.stringify(rest).slice(1)}`;
    return new JsonText<DevicesReply>(Buffer.concat([Buffer.from('{"devices":['), ...entries, Buffer.from(end)]));
  },
});
