/** Operations of a person or a vehicle at a connector. */
import type { EvPatch } from '../../contract/kinds/evse.ts';
import type { EvseConnectorCommand } from '../../contract/kinds/evse-commands.ts';
import type { Origin } from '../../core/origin.ts';
import { camelCased } from '../common/members.ts';
import type { z } from '../description/zod.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  authorization,
  authorizeBodySchema,
  availabilityBodySchema,
  connector,
  connectorParams,
  dischargeBodySchema,
  evBodySchema,
  faultBodySchema,
  suspendBodySchema,
  limitBodySchema,
  meterBodySchema,
  plugBodySchema,
  reserveBodySchema,
  session,
  sessionOrNull,
  startBodySchema,
  stopBodySchema,
  unplugBodySchema,
} from './members.ts';
import type { EvPatchBody } from './members.ts';
import { centralOf, connectorOf, startByCentral, stationById } from './stations.ts';

interface Place {
  readonly id: string;
  readonly cid: number;
}
type WithoutConnector<C> = C extends unknown ? Omit<C, 'connectorId'> : never;
type Command = WithoutConnector<EvseConnectorCommand>;

/** Carries out a command at a connector and returns station and connector after the command. */
function operate(ctx: RouteContext, { id, cid }: Place, by: Origin, command: Command) {
  const before = stationById(ctx, id);
  const { connectorId } = connectorOf(before, cid);
  before.device.command({ ...command, connectorId }, by);
  const station = stationById(ctx, id);
  return { station, after: connectorOf(station, cid) };
}

function connectorAfter(...request: Parameters<typeof operate>) {
  const { station, after } = operate(...request);
  return connector.reply(after, station);
}

function sessionAfter(...request: Parameters<typeof operate>) {
  const { station, after } = operate(...request);
  return after.session && session.reply(after.session, station);
}

/** The members of a route that all operations at a connector share. */
const atConnector = (name: string) =>
  ({
    method: 'post',
    path: `/evse/{id}/connectors/{cid}/${name}`,
    tag: 'EVSE / OCPP',
    params: connectorParams,
    problems: ['unknown-resource', 'conflict'],
  }) as const;

interface Operation<B extends () => z.ZodType> extends Pick<Route, 'operationId' | 'summary' | 'description'> {
  /** last segment of the path */
  readonly name: string;
  readonly body?: B;
  readonly command: (body: z.output<ReturnType<B>>) => Command;
}

/** An operation that is one command and answers with the connector after it. */
function operation<B extends () => z.ZodType>({ name, command, ...facts }: Operation<B>): Route {
  return route({
    ...atConnector(name),
    ...facts,
    reply: connector.schema,
    handle: (ctx, { params, body, by }) => connectorAfter(ctx, params, by, command(body as z.output<ReturnType<B>>)),
  });
}

const watts = (kw: number | null) => (kw === null ? null : kw * 1000);
const wattsIfAny = (kw: number | undefined) => (kw === undefined ? undefined : kw * 1000);

/** The vehicle members of a request, in the units of the contract. */
function evPatch({
  battery_capacity_kwh: capacityKwh,
  max_charge_kw: chargeKw,
  max_discharge_kw: dischargeKw,
  charging_curve: curve,
  ...body
}: EvPatchBody): EvPatch {
  return {
    ...camelCased(body),
    batteryCapacityWh: wattsIfAny(capacityKwh),
    maxChargeW: wattsIfAny(chargeKw),
    maxDischargeW: wattsIfAny(dischargeKw),
    chargingCurve: curve?.map((point) => camelCased(point)),
  };
}

const authorize = route({
  ...atConnector('authorize'),
  operationId: 'authorize',
  summary: 'Presents a token at the connector',
  description:
    'As a person does. With OCPP the central system answers, or cache and local list; without OCPP the station accepts every token.',
  body: authorizeBodySchema,
  reply: authorization.schema,
  problems: ['unknown-resource', 'conflict', 'upstream-error', 'upstream-timeout'],
  handle(ctx, { params, body, by }) {
    const station = stationById(ctx, params.id);
    const { connectorId } = connectorOf(station, params.cid);
    const central = centralOf(station);
    if (central !== null)
      return central.functions.authorize(connectorId, body.id_token, by, body.type).then(authorization.reply);
    operate(ctx, params, by, { kind: 'evse.authorize', idToken: body.id_token });
    return authorization.reply({ status: 'Accepted', info: null });
  },
});

export const evseOperationRoutes: readonly Route[] = [
  operation({
    name: 'plug',
    operationId: 'plug_in',
    summary: 'Plugs a vehicle in',
    description:
      'Where the profile has `auto_authorize`, charging begins by itself after the start delay. With one side only the cable hangs loose.',
    body: plugBodySchema,
    command: (body) => ({ kind: 'evse.plug', ...camelCased({ ...body, ev: body.ev && evPatch(body.ev) }) }),
  }),
  operation({
    name: 'unplug',
    operationId: 'unplug',
    summary: 'Takes the cable out',
    description: 'A session ends with the reason `EVDisconnected`. With one side only the cable hangs loose.',
    body: unplugBodySchema,
    command: (body) => ({ kind: 'evse.unplug', ...camelCased(body) }),
  }),
  authorize,
  route({
    ...atConnector('start'),
    operationId: 'start_session',
    summary: 'Starts a session with the vehicle that is plugged in',
    description:
      'With OCPP the token is presented to the central system first: `conflict` when it is refused. `authorize` false skips this.',
    body: startBodySchema,
    reply: session.schema,
    handle(ctx, { params, body, by }) {
      const { id_token: idToken, authorize: authorized = true } = body;
      if (authorized && centralOf(stationById(ctx, params.id)) !== null)
        return startByCentral(ctx, params, idToken, by);
      const started = sessionAfter(ctx, params, by, { kind: 'evse.start', idToken, authorize: authorized });
      if (started === null) throw new HttpProblem('internal', 'The station has started no session.');
      return started;
    },
  }),
  route({
    ...atConnector('stop'),
    operationId: 'stop_session',
    summary: 'Ends the session',
    description: 'The cable stays in. Null: an authorisation without a vehicle was taken back.',
    body: stopBodySchema,
    reply: sessionOrNull,
    handle: (ctx, { params, body, by }) => sessionAfter(ctx, params, by, { kind: 'evse.stop', ...camelCased(body) }),
  }),
  operation({
    name: 'suspend',
    operationId: 'suspend_session',
    summary: 'Stops the energy, not the session',
    body: suspendBodySchema,
    command: (body) => ({ kind: 'evse.suspend', ...body }),
  }),
  operation({
    name: 'resume',
    operationId: 'resume_session',
    summary: 'Ends a suspension',
    body: suspendBodySchema,
    command: (body) => ({ kind: 'evse.resume', ...body }),
  }),
  operation({
    name: 'limit',
    operationId: 'set_local_limit',
    summary: 'Limits the charging power locally',
    description: 'Limits charging only, not discharge. `limit_kw` and `limit_source` follow with the next tick.',
    body: limitBodySchema,
    command: (body) => ({ kind: 'evse.limit', powerW: watts(body.power_kw) }),
  }),
  operation({
    name: 'discharge',
    operationId: 'set_discharge',
    summary: 'Discharges the vehicle',
    description: 'Down to its `reserve_soc_pct`; a connector that is not bidirectional answers `conflict`.',
    body: dischargeBodySchema,
    command: (body) => ({ kind: 'evse.discharge', powerW: watts(body.power_kw) }),
  }),
  operation({
    name: 'availability',
    operationId: 'set_availability',
    summary: 'Takes a connector out of operation, or back',
    description: 'A session under way continues to its end.',
    body: availabilityBodySchema,
    command: (body) => ({ kind: 'evse.availability', ...body }),
  }),
  operation({
    name: 'fault',
    operationId: 'set_connector_fault',
    summary: 'Makes a connector faulty',
    body: faultBodySchema,
    command: (body) => ({ kind: 'evse.fault', ...camelCased(body) }),
  }),
  operation({
    name: 'clear-fault',
    operationId: 'clear_connector_fault',
    summary: 'Ends the fault of a connector',
    description: 'The connector continues in the state before the fault.',
    command: () => ({ kind: 'evse.clear_fault' }),
  }),
  operation({
    name: 'ev',
    operationId: 'set_vehicle',
    summary: 'Changes the vehicle that is plugged in',
    body: evBodySchema,
    command: (body) => ({ kind: 'evse.ev', ev: evPatch(body) }),
  }),
  route({
    ...atConnector('meter'),
    operationId: 'set_meter',
    summary: 'Sets the reading of the meter, or sends its values',
    body: meterBodySchema,
    reply: connector.schema,
    problems: ['unknown-resource', 'conflict', 'disabled', 'not-connected'],
    handle(ctx, { params, body, by }) {
      const station = stationById(ctx, params.id);
      const { connectorId } = connectorOf(station, params.cid);
      const send = body.send === true;
      if (send && station.ocpp === null)
        throw new HttpProblem('disabled', 'OCPP is switched off: there is no central system to send values to.');
      // a request is carried out whole or not at all: without a connection the reading stays
      if (send && station.ocpp?.status.connectionState !== 'connected')
        throw new HttpProblem('not-connected', 'The charge point is not connected to its central system.');
      const after =
        body.energy_wh === undefined
          ? connector.reply(connectorOf(station, params.cid), station)
          : connectorAfter(ctx, params, by, { kind: 'evse.meter', energyWh: body.energy_wh });
      if (send) station.ocpp?.functions.sendMeterValues(connectorId);
      return after;
    },
  }),
  operation({
    name: 'lock',
    operationId: 'lock_cable',
    summary: 'Locks the cable',
    description: 'While a session runs, the cable is always locked.',
    command: () => ({ kind: 'evse.lock' }),
  }),
  operation({
    name: 'unlock',
    operationId: 'unlock_cable',
    summary: 'Unlocks the cable',
    description: 'A session ends with the reason `UnlockCommand`.',
    command: () => ({ kind: 'evse.unlock' }),
  }),
  operation({
    name: 'reserve',
    operationId: 'reserve_connector',
    summary: 'Reserves an available connector for a token',
    description: 'A reservation with the same `reservation_id` replaces the former.',
    body: reserveBodySchema,
    command: (body) => ({
      kind: 'evse.reserve',
      reservation: { expiresInS: null, ...camelCased(body) },
    }),
  }),
  operation({
    name: 'cancel-reservation',
    operationId: 'cancel_reservation',
    summary: 'Cancels the reservation of a connector',
    command: () => ({ kind: 'evse.reserve', reservation: null }),
  }),
];
