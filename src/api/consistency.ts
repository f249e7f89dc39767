/** Quantities side by side: operations, and members of replies. */
import type { Device } from '../contract/device.ts';
import type { Compared } from '../evidence/consistency/compare.ts';
import type { ComparedQuantity, Comparison, Participation } from '../evidence/consistency/gather.ts';
import { causes, presenters, units } from '../evidence/consistency/model.ts';
import type { Cause, Interval, Shown, RestRead } from '../evidence/consistency/model.ts';
import { quantityNames } from '../evidence/consistency/names.ts';
import { listParam, chosenWords, deviceIndex, deviceParam } from './common/schemas.ts';
import { count, flag, integer, list, member, members, nested, number, text, time, word } from './common/members.ts';
import { z } from './description/zod.ts';
import { listInPieces, replyInPieces } from './http/streaming.ts';
import { SimError } from '../core/errors.ts';
import { lazily } from '../core/lazy.ts';
import type { Sources } from '../evidence/sources.ts';
import { latestOf, selectedDevice } from './common/device-replies.ts';
import type { RouteContext } from './http/context.ts';
import { HttpProblem } from './http/errors.ts';
import { JsonText, route } from './http/route.ts';
import type { Route } from './http/route.ts';
import { controlsRoutes } from './controls.ts';
import { evseRoutes } from './evse/routes.ts';
import { gridSupportRoutes } from './grid-support/routes.ts';
import { lifecycleRoutes } from './lifecycle.ts';
import { modbusReporters } from './modbus.ts';
import { nameplateRoutes } from './nameplate.ts';

const consistencyQuery = z.strictObject({
  device: deviceParam.optional(),
  quantity: listParam('quantity', quantityNames, 'Only these quantities; default all that the device has.').optional(),
});

const value = member(() => z.union([z.number(), z.string(), z.boolean(), z.null()]));

const shownValue = members<Shown>()('ShownValue', () => ({
  name: text('Point, member or measurand.'),
  raw: value('As the protocol encodes it; null: "not implemented".'),
  multiplier: number.orNull('raw x multiplier is in `unit`; null: none.'),
  unit: text.orNull('Unit of the encoding; null: none.'),
  decimals: integer.orNull('Digits after the decimal point of decimal text.'),
  flags: integer.orNull('Octet of flags of DNP3.'),
  listed: flag.orNull('True if the configuration of the charge point asks for the measurand.'),
}));

const interval = members<Interval>()(null, () => ({
  start: time('Begin of the interval.'),
  end: time('End of the interval.'),
}));

const presenter = '`registers`: the map of the device without faults; `modbus`: as a master reads it.';

const presentation = members<Compared>()('Presentation', () => ({
  protocol: word(presenters)(presenter, (of) => of.presenter),
  place: text('`701.W`, `metrics.power_kw`, `AI537`, `Power.Active.Import`.'),
  value: value(
    'A number in the unit of the quantity, a state in words, or true for on and false for off; null: it shows none.',
  ),
  resolution: number.orNull('Step of the encoding in the unit of the quantity; null: it has none.'),
  difference: number.orNull('Value minus that of the first presentation.'),
  agrees: flag.orNull('Equal but for rounding; null: nothing to compare.'),
  cause: word(causes)('Explanation of the difference.'),
  explanation: text.orNull('Why it differs; null: it does not.'),
  at: time.orNull('Simulated date of the state that it shows; null: only its time by the clock of a server is known.'),
  sent_at: time.orNull(
    'Wall time at which it was last sent to the peer; null: the peer gets it when it asks, or at its next interval.',
    ({ sentAtMs }) => sentAtMs,
  ),
  interval: nested(interval).orNull(
    'The value is the mean over this interval, by the clock of the server; null: it is no mean.',
    (of) => of.interval,
  ),
  shown: list(shownValue)('Values of the protocol, as it encodes them.'),
}));

const unitless = ['word', 'flag', ''];

const quantity = members<ComparedQuantity>()('ComparedQuantity', () => ({
  quantity: word(quantityNames)('As the query takes it.', ({ name }) => name),
  description: text('Meaning of the quantity.', ({ row }) => row.about),
  unit: word(units).orNull('Null: a state, on or off, or a number without one.', ({ row: { unit } }) =>
    unitless.includes(unit) ? null : unit,
  ),
  agrees: flag('No presentation differs by more than rounding.', ({ presentations }) =>
    presentations.every(({ agrees }) => agrees !== false),
  ),
  presentations: list(presentation)(
    'The others are compared with the first one: the register of the device, else REST.',
  ),
}));

const fault = members<Participation['faults'][number]>()(null, () => ({
  id: integer('Number of the fault.', (of) => of.fault.facts.id),
  kind: text('Kind of the fault.', (of) => of.fault.facts.kind.kind),
  changes_values: flag('True if such a fault can change what is presented.'),
}));

const participation = members<Participation>()('ProtocolPresence', () => ({
  protocol: word(presenters)(presenter, (of) => of.presenter),
  presents: flag('True if it presents anything of the device.', ({ absent }) => absent === null),
  reason: text.orNull('Why it presents nothing; null: it does.', ({ absent }) => absent),
  faults: list(fault)('Faults of the protocol in force for the device.'),
}));

const byCause = members<Comparison['counts']>()(
  null,
  () =>
    ({
      equal: count('The same value.'),
      rounding: count('Steps of the encodings explain the difference.'),
      earlier: count('The value is a mean, or was sent earlier.'),
      fault: count('A fault of the protocol explains the difference.'),
      unexplained: count('Nothing explains the difference.'),
      no_value: count('No value to compare.', (of: Comparison['counts']) => of.no_value),
    }) satisfies Record<Cause, unknown>,
);

interface OfDevice extends Comparison {
  readonly device: Device;
}

const consistency = members<OfDevice>()('Consistency', () => ({
  device_index: member(() => deviceIndex)(({ device }) => device.index),
  consistent: flag(
    'No difference is caused by a fault or unexplained.',
    ({ counts }) => counts.fault + counts.unexplained === 0,
  ),
  quantity_count: count('Quantities of the device.', ({ quantities }) => quantities.length),
  presentation_count: count('Presentations of all quantities, the references included.', ({ quantities }) =>
    quantities.reduce((sum, { presentations }) => sum + presentations.length, 0),
  ),
  difference_count: count(
    'Presentations that differ by more than rounding.',
    ({ counts }) => counts.fault + counts.unexplained + counts.earlier,
  ),
  causes: nested(byCause)('Presentations by cause.', ({ counts }) => counts),
  protocols: list(participation)('How each protocol takes part.'),
  quantities: listInPieces(quantity)('In the order of the table of quantities.'),
}));

/** Loaded at its first request: most processes never need it. */
const verifier = lazily(() => import('../evidence/consistency/gather.ts'));

/** Routes whose replies show quantities. */
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
    throw new SimError('INTERNAL', `${read} has no synchronous reply`);
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

/** All quantities of a device, in the members of REST. */
export async function quantitiesOf(ctx: RouteContext, device: Device) {
  const { compareDevice } = await verifier();
  return compareDevice(sourcesOf(ctx), device, null).quantities.map(({ presentations, ...rest }) => ({
    ...quantity.reply({ presentations, ...rest }),
    presentations: presentations.map((one) => presentation.reply(one)),
  }));
}

export const consistencyRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/consistency',
    tag: 'Core',
    operationId: 'get_consistency',
    summary: 'Each quantity of a device as every protocol presents it, and why they differ',
    description:
      'Each presentation is taken as its protocol gives it: registers as a master reads them through the chain of models ' +
      'with the faults in force, replies of REST, the last message of the stream, points of DNP3 as the next answer has them, ' +
      'the meter values that a charge point would send now, and what a server of IEEE 2030.5 was told last. They are compared ' +
      'with the register of the device; where there is none, with REST. The comparison does not count as a request, a sample ' +
      'or an occasion of a fault.',
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
  }),
];
