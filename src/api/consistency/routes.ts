import type { Device } from '../../contract/device.ts';
import { SimError } from '../../core/errors.ts';
import { lazily } from '../../core/lazy.ts';
import type { RestRead } from '../../evidence/consistency/model.ts';
import { quantityNames } from '../../evidence/consistency/names.ts';
import type { Sources } from '../../evidence/sources.ts';
import { latestOf, selectedDevice } from '../common/device-replies.ts';
import { chosenWords } from '../common/list-param.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem } from '../http/errors.ts';
import { replyInPieces } from '../http/pieces.ts';
import { JsonText, route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { controlsRoutes } from '../controls/routes.ts';
import { evseRoutes } from '../evse/routes.ts';
import { gridSupportRoutes } from '../grid-support/routes.ts';
import { lifecycleRoutes } from '../lifecycle/routes.ts';
import { modbusReporters } from '../modbus/members.ts';
import { nameplateRoutes } from '../nameplate/routes.ts';
import { consistency, consistencyQuery } from './members.ts';

/** Loaded at its first request: most processes never need it. */
const verifier = lazily(() => import('../../evidence/consistency/gather.ts'));

/** Routes that have a quantity. */
const readable = [...lifecycleRoutes, ...controlsRoutes, ...gridSupportRoutes, ...nameplateRoutes, ...evseRoutes];

/** The reply of an operation about one device, as it is sent. */
function replyOf(ctx: RouteContext, read: RestRead, device: Device): unknown {
  const route = readable.find(({ operationId }) => operationId === read);
  // a station is named by its identity in the path
  const isStation = route?.params !== undefined;
  const params = isStation ? { id: ctx.chargePointId(device) } : {};
  const query = isStation ? {} : { device: String(device.index) };
  const answer = route?.answer(ctx, { params, query, body: undefined, by: { source: 'rest' } });
  if (answer === undefined || answer instanceof Promise)
    throw new SimError('INTERNAL', `${read} has no reply that is made at once`);
  const text = answer.body instanceof JsonText ? answer.body.bytes.toString() : JSON.stringify(answer.body);
  const reply = JSON.parse(text) as { readonly devices?: unknown };
  // a list with only the requested device
  return Array.isArray(reply.devices) ? (reply.devices[0] as unknown) : reply;
}

/** Interfaces of the devices, read as their peers read them. */
const sourcesOf = (ctx: RouteContext): Sources => ({
  plant: ctx.plant,
  faults: ctx.faults,
  csipClient: ctx.csipClient,
  dnp3: ctx.dnp3,
  ocpp: ctx.ocpp,
  modbusMessages: ctx.modbusMessages,
  window(deviceIndex) {
    for (const adapter of modbusReporters(ctx)) {
      const window = adapter.registersOf?.(deviceIndex) ?? null;
      if (window !== null) return window;
    }
    return null;
  },
  reply: (read, device) => replyOf(ctx, read, device),
  message(device) {
    if (!ctx.adapters.some(({ comm }) => comm === 'websocket')) return null;
    return JSON.parse(latestOf(ctx, device).json.toString()) as unknown;
  },
});

const getConsistency = route({
  method: 'get',
  path: '/consistency',
  tag: 'Core',
  operationId: 'get_consistency',
  summary: 'Each quantity of a device as every protocol presents it, and why they differ',
  description:
    'Each presentation is taken from the road of its protocol: registers as a master reads them through the chain of models ' +
    'with the faults in force, replies of REST, the last message of the stream, points of DNP3 as the next answer has them, ' +
    'the meter values that a charge point would send now, and what a server of IEEE 2030.5 was told last. They are compared ' +
    'with the register of the device; where there is none, with REST. Nothing of it counts as a request, a sample or an ' +
    'occasion of a fault.',
  query: consistencyQuery,
  reply: consistency.schema,
  problems: ['shortage'],
  async handle(ctx, { query }) {
    const { chosen, issues } = chosenWords('quantity', query.quantity ?? [], quantityNames);
    if (issues.length > 0) throw new HttpProblem('validation', 'Not all of the quantities are known.', { issues });
    const { compareDevice } = await verifier();
    const device = selectedDevice(ctx, query.device);
    const compared = compareDevice(sourcesOf(ctx), device, query.quantity === undefined ? null : chosen);
    return replyInPieces(consistency.reply({ ...compared, device }));
  },
});

export const consistencyRoutes: readonly Route[] = [getConsistency];
