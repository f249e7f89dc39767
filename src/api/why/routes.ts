/** Why a device or a connector has its power: operation, and members of its reply. */
import { flowDirections, limitKeys, reactiveLimits } from '../../contract/limit-chain.ts';
import { selectedDevice } from '../common/device-replies.ts';
import {
  count,
  inKilo,
  integer,
  list,
  measured,
  member,
  members,
  nested,
  text,
  time,
  word,
} from '../common/members.ts';
import { deviceIndex, deviceParam, integerParam } from '../common/schemas.ts';
import { writer } from '../common/writers.ts';
import { z } from '../description/zod.ts';
import { connectorOf, stationOf } from '../evse/stations.ts';
import type { RouteContext } from '../http/context.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { connectorWhy } from './connector-chain.ts';
import { deviceWhy } from './device-chain.ts';
import { basisKeys, limitStates } from './model.ts';
import type { Basis, Limit, ReactiveEntry, ReactiveWhy, Why } from './model.ts';

const basis = members<Basis>()('WhyBasis', () => ({
  key: word(basisKeys)(
    '`available`: all that the source has; `asked`: what vehicles ask for; `forced`: by a command of the battery; ' +
      '`rest`: what the source runs at by itself; `dispatch`: by the policy of a hybrid.',
  ),
  kw: inKilo('Power without the limits of `chain`, from 0.', ({ powerW }) => powerW),
  text: text('What the power is, as the end of a sentence.'),
}));

const limit = members<Limit, Pick<RouteContext, 'plant'>>()('WhyLimit', () => ({
  key: word(limitKeys)(
    'Name of the limit, as in `decided_by` of `controls`, and for a connector as in its `limit_source`; `ramp`: the ' +
      'power moves to a new value.',
  ),
  kw: inKilo.orNull('Limit as power in the direction of flow, from 0; null: off.', ({ limitW }) => limitW),
  pct: measured.orNull(
    'The limit in percent of 702.WMax, of 702.WChaRteMax for power that is absorbed, of the maximum power of a connector.',
  ),
  state: word(limitStates)(
    '`wins`: it sets the power now; `not_reached`: the power is lower, or another limit sets it.',
  ),
  by: writer.orNull('Last writer; null: the device itself, or as started.'),
  owner: text.orNull('Owner of a limit of the connection point that sets the power; null: another limit.'),
  until: time.orNull('Simulated time at which it ends by itself; null: it stays.', ({ untilMs }) => untilMs),
  link: text.orNull('Path, behind `/api/sim/`, of the resource that shows the limit; null: none.'),
  text: text('The limit in a sentence.'),
}));

const reactiveBasis = members<ReactiveWhy['asked']>()('WhyReactiveBasis', () => ({
  key: word(['function', 'loads', 'none'])(
    '`function`: what the acting function asks for; `loads`: what is behind the terminals takes it, and no function acts.',
    ({ by }) => by,
  ),
  kvar: inKilo('Reactive power before the limits; positive: injected.', ({ powerVar }) => powerVar),
  text: text('What asks for it, as the end of a sentence.'),
}));

const reactiveLimit = members<ReactiveEntry, Pick<RouteContext, 'plant'>>()('WhyReactiveLimit', () => ({
  key: word(reactiveLimits)(
    'Name of the function or limit, as in `reactive` of `decided_by`. `capability`: 702.VarMaxInj or VarMaxAbs; `low_power`: ' +
      'less of it below 20 % of the active power; `apparent_power`: the circle, with the priority of the function.',
  ),
  kvar: inKilo.orNull(
    'What the function asks for, or the limit in that direction; positive: injected; null: off.',
    ({ limitVar }) => limitVar,
  ),
  state: word(limitStates)(
    '`wins`: it sets the reactive power now; `not_reached`: another function acts, or another limit sets it.',
  ),
  by: writer.orNull('Last writer; null: the device itself, or as started.'),
  until: time.orNull('Simulated time at which it ends by itself; null: it stays.', ({ untilMs }) => untilMs),
  link: text.orNull('Path, behind `/api/sim/`, of the resource that shows it; null: none.'),
  text: text('In a sentence.'),
}));

const reactive = members<ReactiveWhy, Pick<RouteContext, 'plant'>>()('WhyReactive', () => ({
  basis: nested(reactiveBasis)('The reactive power before the limits.', ({ asked }) => asked),
  chain: list(reactiveLimit)(
    'The functions, of which one acts, then the limits on it in the order in which they act, also those that are off. At most ' +
      'one wins.',
    ({ chain }) => chain,
  ),
  delivered_kvar: inKilo('Reactive power at the terminals; positive: injected.', ({ deliveredVar }) => deliveredVar),
  sentence: text('Why the reactive power is what it is.'),
}));

interface Answer {
  readonly why: Why;
  readonly tick: number;
  readonly simMs: number;
}

const why = members<Answer, Pick<RouteContext, 'plant'>>()('Why', () => ({
  tick: count(),
  sim_time: time('Simulated time of the answer.', ({ simMs }) => simMs),
  device_index: member(() => deviceIndex)(({ why: { deviceIndex: index } }) => index),
  connector_id: integer.orNull('Null: the terminals of the device.', ({ why: { connectorId } }) => connectorId),
  quantity: word(['active_power'])('Quantity of `basis` and `chain`.', () => 'active_power' as const),
  direction: word(flowDirections)(
    'Direction of the power, or of the power that a limit holds at 0: into the grid or out of it; of a connector out of ' +
      'the vehicle or into it.',
    ({ why: { direction } }) => direction,
  ),
  basis: nested(basis)('The power without the limits.', ({ why: of }) => of.basis),
  chain: list(limit)(
    'Every limit that the device can have, in the order in which they act, also those that are off. At most one wins.',
    ({ why: { chain } }) => chain,
  ),
  delivered_kw: inKilo(
    'Power that is left at the end of the chain, from 0: that of the basis, or of the limit that wins.',
    ({ why: { deliveredW } }) => deliveredW,
  ),
  sentence: text('Why the power is what it is.', ({ why: { sentence } }) => sentence),
  reactive: nested(reactive).orNull(
    'The same of reactive power; null: a connector, whose station has it.',
    ({ why: of }) => of.reactive,
  ),
}));

const maxConnector = 999;
const query = z.strictObject({
  device: deviceParam.optional(),
  connector: integerParam(
    'connector',
    1,
    maxConnector,
    'Connector of a charging station; absent: the terminals of the device.',
  ).optional(),
});

export const whyRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/controls/why',
    tag: 'Controls',
    operationId: 'get_why',
    summary: 'Why a device has its power: the chain of limits',
    description:
      'From what the source has or the vehicle asks for, through every limit with its value, writer and state, to the power ' +
      'at the end of the last sub-step. One limit sets the power, or none.',
    query,
    problems: ['not-applicable', 'unknown-resource'],
    reply: why.schema,
    handle(ctx, { query: { device: index, connector: connectorId } }) {
      const { plant } = ctx;
      const device = selectedDevice(ctx, index);
      const answer = connectorId === undefined ? deviceWhy(device, plant) : atConnector(ctx, device.index, connectorId);
      return why.reply({ why: answer, tick: plant.latest.tick, simMs: plant.dateMs(plant.now) }, ctx);
    },
  }),
];

function atConnector(ctx: RouteContext, index: number, connectorId: number): Why {
  const station = stationOf(ctx, ctx.plant.device(index));
  return connectorWhy({ ...station, connector: connectorOf(station, connectorId) });
}
