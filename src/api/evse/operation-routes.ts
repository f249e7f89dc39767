/** Operations of a person or a vehicle at a connector. */
import type { Origin } from '../../core/origin.ts';
import type { EvseConnectorCommand } from '../../contract/kinds/evse-commands.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { connectorParams, connectorSchema, sessionSchema } from './schemas.ts';
import type { ConnectorReply, SessionReply } from './schemas.ts';
import { exampleWriter } from '../common/writer-schemas.ts';
import { exampleConnector, exampleFree, examplePlugged, exampleSession, exampleStopped } from './examples.ts';
import {
  authorizationSchema,
  authorizeBodySchema,
  availabilityBodySchema,
  dischargeBodySchema,
  evBodySchema,
  faultBodySchema,
  holdBodySchema,
  limitBodySchema,
  meterBodySchema,
  plugBodySchema,
  reserveBodySchema,
  startBodySchema,
  stopBodySchema,
  unplugBodySchema,
} from './request-schemas.ts';
import { authorizationReply, centralOf, startByCentral } from './central-start.ts';
import { connectorOf, connectorReply, evPatch, sessionReply, stationById } from './replies.ts';

interface Place {
  readonly id: string;
  readonly cid: number;
}
type WithoutConnector<C> = C extends unknown ? Omit<C, 'connectorId'> : never;

/** Carries out a command at a connector and answers with the connector after it. */
function operate(ctx: RouteContext, { id, cid }: Place, by: Origin, command: WithoutConnector<EvseConnectorCommand>) {
  const before = stationById(ctx, id);
  const { connectorId } = connectorOf(before, cid);
  before.device.command({ ...command, connectorId }, by);
  const station = stationById(ctx, id);
  return { station, connector: connectorOf(station, cid) };
}

function connectorAfter(...request: Parameters<typeof operate>): ConnectorReply {
  const { station, connector } = operate(...request);
  return connectorReply(station, connector);
}

function sessionAfter(...request: Parameters<typeof operate>): SessionReply | null {
  const { station, connector } = operate(...request);
  return connector.session && sessionReply(station, connector.session);
}

/** The members of a route that all operations at a connector share. */
function at<Name extends string>(name: Name, operationId: string, summary: string, description?: string) {
  return {
    method: 'post',
    path: `/evse/{id}/connectors/{cid}/${name}`,
    tag: 'EVSE / OCPP',
    operationId,
    summary,
    ...(description !== undefined && { description }),
    params: connectorParams,
    problems: ['unknown-resource', 'conflict'],
  } as const;
}

const watts = (kw: number | null) => (kw === null ? null : kw * 1000);

const plug = route({
  ...at(
    'plug',
    'plug_in',
    'Plugs a vehicle in',
    'Where the profile has `auto_authorize`, charging begins by itself after the start delay. With one side only the cable hangs loose.',
  ),
  body: plugBodySchema,
  reply: connectorSchema,
  examples: { body: { ev: { id: 'EV-7', soc_pct: 40 } }, reply: examplePlugged },
  handle: (ctx, { params, body, by }) =>
    connectorAfter(ctx, params, by, {
      kind: 'evse.plug',
      ev: body.ev && evPatch(body.ev),
      evSide: body.ev_side,
      evseSide: body.evse_side,
    }),
});

const unplug = route({
  ...at(
    'unplug',
    'unplug',
    'Takes the cable out',
    'A session ends with the reason `EVDisconnected`. With one side only the cable hangs loose.',
  ),
  body: unplugBodySchema,
  reply: connectorSchema,
  examples: { body: {}, reply: exampleFree },
  handle: (ctx, { params, body, by }) =>
    connectorAfter(ctx, params, by, { kind: 'evse.unplug', evSide: body.ev_side, evseSide: body.evse_side }),
});

const authorize = route({
  ...at(
    'authorize',
    'authorize',
    'Presents a token at the connector',
    'As a person does. With OCPP the central system answers, or cache and local list; without it the station accepts every token.',
  ),
  body: authorizeBodySchema,
  reply: authorizationSchema,
  problems: ['unknown-resource', 'conflict', 'upstream-error', 'upstream-timeout'],
  examples: { body: { id_token: 'TAG-1' }, reply: { status: 'Accepted', id_token_info: null } },
  handle(ctx, { params, body, by }) {
    const station = stationById(ctx, params.id);
    const { connectorId } = connectorOf(station, params.cid);
    const central = centralOf(station);
    if (central !== null) return central.authorize(connectorId, body.id_token, by, body.type).then(authorizationReply);
    operate(ctx, params, by, { kind: 'evse.authorize', idToken: body.id_token });
    return { status: 'Accepted' as const, id_token_info: null };
  },
});

const start = route({
  ...at(
    'start',
    'start_session',
    'Starts a session with the vehicle that is plugged in',
    'With OCPP the token is presented to the central system first: `conflict` when it is refused. `authorize` false asks nobody.',
  ),
  body: startBodySchema,
  reply: sessionSchema,
  examples: {
    body: { id_token: 'TAG-1' },
    reply: { ...exampleSession, id_token: 'TAG-1', state: 'starting', energy_wh: 0, charging_state: 'ev_connected' },
  },
  handle(ctx, { params, body, by }) {
    const { id_token: idToken, authorize: authorized = true } = body;
    if (authorized && centralOf(stationById(ctx, params.id)) !== null) return startByCentral(ctx, params, idToken, by);
    const session = sessionAfter(ctx, params, by, { kind: 'evse.start', idToken, authorize: authorized });
    if (session === null) throw new HttpProblem('internal', 'The station has started no session.');
    return session;
  },
});

const stop = route({
  ...at(
    'stop',
    'stop_session',
    'Ends the session',
    'The cable stays in. Null: an authorisation without a vehicle was taken back.',
  ),
  body: stopBodySchema,
  reply: sessionSchema.nullable(),
  examples: { body: { reason: 'Local' }, reply: exampleStopped },
  handle: (ctx, { params, body, by }) =>
    sessionAfter(ctx, params, by, {
      kind: 'evse.stop',
      reason: body.reason,
      idToken: body.id_token,
    }),
});

const suspend = route({
  ...at('suspend', 'suspend_session', 'Stops the energy, not the session'),
  body: holdBodySchema,
  reply: connectorSchema,
  examples: {
    body: { by: 'ev' },
    reply: {
      ...exampleConnector,
      status: 'suspended_ev',
      power_kw: 0,
      current_a: [0, 0, 0],
      limit_kw: 0,
      session: { ...exampleSession, state: 'suspended', charging_state: 'suspended_ev' },
    },
  },
  handle: (ctx, { params, body, by }) => connectorAfter(ctx, params, by, { kind: 'evse.suspend', by: body.by }),
});

const resume = route({
  ...at('resume', 'resume_session', 'Ends a suspension'),
  body: holdBodySchema,
  reply: connectorSchema,
  examples: { body: { by: 'ev' }, reply: { ...exampleConnector, power_kw: 0, current_a: [0, 0, 0] } },
  handle: (ctx, { params, body, by }) => connectorAfter(ctx, params, by, { kind: 'evse.resume', by: body.by }),
});

const limit = route({
  ...at(
    'limit',
    'set_local_limit',
    'Limits the charging power locally',
    'Limits charging only, not discharge. `limit_kw` and `limit_source` follow with the next tick.',
  ),
  body: limitBodySchema,
  reply: connectorSchema,
  examples: { body: { power_kw: 7 }, reply: { ...exampleConnector, local_limit_kw: 7, local_limit_by: exampleWriter } },
  handle: (ctx, { params, body, by }) =>
    connectorAfter(ctx, params, by, { kind: 'evse.limit', powerW: watts(body.power_kw) }),
});

const discharge = route({
  ...at(
    'discharge',
    'set_discharge',
    'Discharges the vehicle',
    'Down to its `reserve_soc_pct`; a connector that is not bidirectional answers `conflict`.',
  ),
  body: dischargeBodySchema,
  reply: connectorSchema,
  examples: {
    body: { power_kw: 10 },
    reply: {
      ...exampleConnector,
      supply_phases: [],
      type: 'dc',
      standard: 'CCS2',
      max_power_kw: 50,
      min_power_kw: 1,
      phases: 1,
      bidirectional: true,
      voltage_v: 408.3,
      current_a: [26.94],
      limit_kw: 10,
      limit_source: 'local',
      discharge_kw: 10,
      discharge_by: exampleWriter,
    },
  },
  handle: (ctx, { params, body, by }) =>
    connectorAfter(ctx, params, by, { kind: 'evse.discharge', powerW: watts(body.power_kw) }),
});

const availability = route({
  ...at(
    'availability',
    'set_availability',
    'Takes a connector out of operation, or back',
    'A session under way goes on to its end.',
  ),
  body: availabilityBodySchema,
  reply: connectorSchema,
  examples: {
    body: { operative: false },
    reply: { ...exampleFree, status: 'unavailable', status_ocpp_2: 'unavailable', operative: false },
  },
  handle: (ctx, { params, body, by }) =>
    connectorAfter(ctx, params, by, { kind: 'evse.availability', operative: body.operative }),
});

const fault = route({
  ...at('fault', 'set_connector_fault', 'Makes a connector faulty'),
  body: faultBodySchema,
  reply: connectorSchema,
  examples: {
    body: { error_code: 'GroundFailure', info: 'residual current' },
    reply: {
      ...exampleFree,
      status: 'faulted',
      status_ocpp_2: 'faulted',
      error_code: 'GroundFailure',
      error_info: 'residual current',
      possible_kw: 0,
    },
  },
  handle: (ctx, { params, body, by }) =>
    connectorAfter(ctx, params, by, {
      kind: 'evse.fault',
      errorCode: body.error_code,
      info: body.info,
      vendorErrorCode: body.vendor_error_code,
    }),
});

const clearFault = route({
  ...at(
    'clear-fault',
    'clear_connector_fault',
    'Ends the fault of a connector',
    'The connector goes on where it stood.',
  ),
  reply: connectorSchema,
  examples: { reply: exampleFree },
  handle: (ctx, { params, by }) => connectorAfter(ctx, params, by, { kind: 'evse.clear_fault' }),
});

const ev = route({
  ...at('ev', 'set_vehicle', 'Changes the vehicle that is plugged in'),
  body: evBodySchema,
  reply: connectorSchema,
  examples: {
    body: { target_soc_pct: 90 },
    reply: { ...exampleConnector, ev: exampleConnector.ev && { ...exampleConnector.ev, target_soc_pct: 90 } },
  },
  handle: (ctx, { params, body, by }) => connectorAfter(ctx, params, by, { kind: 'evse.ev', ev: evPatch(body) }),
});

const meter = route({
  ...at('meter', 'set_meter', 'Sets the reading of the meter, or sends its values'),
  body: meterBodySchema,
  reply: connectorSchema,
  problems: ['unknown-resource', 'conflict', 'disabled', 'not-connected'],
  examples: { body: { energy_wh: 250_000 }, reply: { ...exampleConnector, energy_wh: 250_000 } },
  handle(ctx, { params, body, by }) {
    const station = stationById(ctx, params.id);
    const connector = connectorOf(station, params.cid);
    const send = body.send === true;
    if (send && station.ocpp === null)
      throw new HttpProblem('disabled', 'OCPP is switched off: there is no central system to send values to.');
    // a request is carried out whole or not at all: without a line the reading stays
    if (send && station.ocpp?.status.connectionState !== 'connected')
      throw new HttpProblem('not-connected', 'The charge point is not connected to its central system.');
    const after =
      body.energy_wh === undefined
        ? connectorReply(station, connector)
        : connectorAfter(ctx, params, by, { kind: 'evse.meter', energyWh: body.energy_wh });
    if (send) station.ocpp?.sendMeterValues(connector.connectorId);
    return after;
  },
});

const loose = { ...exampleConnector.cable, locked: false };

const lock = route({
  ...at('lock', 'lock_cable', 'Locks the cable', 'While a session runs it is locked in any case.'),
  reply: connectorSchema,
  examples: { reply: { ...examplePlugged, authorized: false, session: null } },
  handle: (ctx, { params, by }) => connectorAfter(ctx, params, by, { kind: 'evse.lock' }),
});

const unlock = route({
  ...at('unlock', 'unlock_cable', 'Unlocks the cable', 'A session ends with the reason `UnlockCommand`.'),
  reply: connectorSchema,
  examples: {
    reply: {
      ...examplePlugged,
      status: 'finishing',
      authorized: false,
      cable: loose,
      session: { ...exampleStopped, stop_reason: 'UnlockCommand' },
    },
  },
  handle: (ctx, { params, by }) => connectorAfter(ctx, params, by, { kind: 'evse.unlock' }),
});

const reserve = route({
  ...at(
    'reserve',
    'reserve_connector',
    'Reserves an available connector for a token',
    'The same `reservation_id` again takes its place.',
  ),
  body: reserveBodySchema,
  reply: connectorSchema,
  examples: {
    body: { reservation_id: 1, id_token: 'TAG-1', expires_in_s: 900 },
    reply: {
      ...exampleFree,
      status: 'reserved',
      status_ocpp_2: 'reserved',
      reservation: { reservation_id: 1, id_token: 'TAG-1', expires_at: '2026-06-21T12:15:00.000Z' },
    },
  },
  handle: (ctx, { params, body, by }) =>
    connectorAfter(ctx, params, by, {
      kind: 'evse.reserve',
      reservation: {
        reservationId: body.reservation_id,
        idToken: body.id_token,
        expiresInS: body.expires_in_s ?? null,
      },
    }),
});

const cancelReservation = route({
  ...at('cancel-reservation', 'cancel_reservation', 'Cancels the reservation of a connector'),
  reply: connectorSchema,
  examples: { reply: exampleFree },
  handle: (ctx, { params, by }) => connectorAfter(ctx, params, by, { kind: 'evse.reserve', reservation: null }),
});

export const evseOperationRoutes: readonly Route[] = [
  plug,
  unplug,
  authorize,
  start,
  stop,
  suspend,
  resume,
  limit,
  discharge,
  availability,
  fault,
  clearFault,
  ev,
  meter,
  lock,
  unlock,
  reserve,
  cancelReservation,
];
