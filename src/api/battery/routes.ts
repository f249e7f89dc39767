import type { BatteryCommand } from '../../contract/kinds/battery.ts';
import type { ProblemIssue } from '../../core/http/problem.ts';
import type { Device } from '../../contract/device.ts';
import type { RouteContext } from '../http/context.ts';
import { invalidAll } from '../http/errors.ts';
import { replyInPieces } from '../http/pieces.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { camelCased } from '../common/members.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { storageOf } from '../common/kind-replies.ts';
import { deviceQuery } from '../common/schemas.ts';
import { battery, batteryControl, batteryControlBodySchema, batteryQuerySchema } from './members.ts';
import type { BatteryControlBody } from './members.ts';

/** @throws HttpProblem `validation` for strings that the bank does not have or that are named twice */
function checkStrings(strings: NonNullable<BatteryControlBody['strings']>, count: number): void {
  const seen = new Set<number>();
  const issues = strings.flatMap(({ index }, i): ProblemIssue[] => {
    const repeated = seen.has(index);
    seen.add(index);
    if (index < count && !repeated) return [];
    const detail = repeated
      ? `string ${index} is given more than once`
      : `given ${index}; the strings are 0 to ${count - 1}`;
    return [{ in: 'body', name: `/strings/${i}/index`, detail }];
  });
  if (issues.length > 0) throw invalidAll(issues);
}

function controlCommand({ power_kw: powerKw, ...body }: BatteryControlBody): BatteryCommand {
  return { kind: 'battery.control', ...camelCased(body), ...(powerKw !== undefined && { powerW: powerKw * 1000 }) };
}

function controlReply({ plant }: RouteContext, device: Device) {
  return batteryControl.reply(storageOf(device), { device, plant });
}

const getBattery = route({
  method: 'get',
  path: '/battery',
  tag: 'Battery',
  operationId: 'get_battery',
  summary: 'Bank, strings, modules and cells of a battery',
  description:
    'Of a device of kind battery or hybrid-dc. The example shows one string, one module and two of its cells.',
  query: batteryQuerySchema,
  reply: battery.schema,
  problems: ['not-applicable'],
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    const { plant, replyCache } = ctx;
    const context = { device, plant, replyCache, level: query.detail ?? 'cells' };
    return replyInPieces(battery.reply(storageOf(device), context));
  },
});

const getControl = route({
  method: 'get',
  path: '/controls/battery',
  tag: 'Battery',
  operationId: 'get_battery_control',
  summary: 'Forced mode and state of a battery',
  query: deviceQuery,
  reply: batteryControl.schema,
  problems: ['not-applicable'],
  handle: (ctx, { query }) => controlReply(ctx, selectedDevice(ctx, query.device)),
});

const setControl = route({
  method: 'post',
  path: '/controls/battery',
  tag: 'Battery',
  operationId: 'set_battery_control',
  summary: 'Forces charging, discharging or rest; sets the state of charge; opens and closes strings',
  description:
    'A forced mode wins over set-points until it ends; limits, functions and the bounds of the state of charge ' +
    'still hold. A new mode begins at the rating and without end, unless the request says otherwise; power or duration without ' +
    '`mode` change the mode that is forced already, or are refused with `conflict` when there is none.',
  query: deviceQuery,
  body: batteryControlBodySchema,
  reply: batteryControl.schema,
  problems: ['not-applicable', 'conflict'],
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    checkStrings(body.strings ?? [], storageOf(device).stringCount);
    device.command(controlCommand(body), by);
    return controlReply(ctx, device);
  },
});

export const batteryRoutes: readonly Route[] = [getBattery, getControl, setControl];
