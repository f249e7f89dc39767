/** Charging stations, their sessions, and the vehicles that come and go by themselves. */
import { addSeconds } from '../../core/time/clock.ts';
import type { RouteContext } from '../http/context.ts';
import { replyInPieces } from '../http/pieces.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { evseDerControlRoutes } from './der-control-routes.ts';
import {
  connector,
  connectorParams,
  connectors,
  generatorBodySchema,
  generatorDefaults,
  generators,
  profiles,
  sessions,
  sessionsQuerySchema,
  station,
  stationParams,
  stations,
} from './members.ts';
import type { Station } from './members.ts';
import { evseOperationRoutes } from './operation-routes.ts';
import { allStations, connectorOf, stationById } from './stations.ts';

const defaultSessions = 100;

const listEvses = route({
  method: 'get',
  path: '/evse',
  tag: 'EVSE / OCPP',
  operationId: 'list_evses',
  summary: 'Charging stations with their connectors, vehicles and sessions',
  description: 'Power at a connector is positive into the vehicle, opposite to the power of the device.',
  reply: stations.schema,
  handle: (ctx) => replyInPieces(stations.reply(allStations(ctx))),
});

const listProfiles = route({
  method: 'get',
  path: '/evse/profiles',
  tag: 'EVSE / OCPP',
  operationId: 'list_evse_profiles',
  summary: 'Profiles of charging stations',
  description: 'The example shows one of them.',
  reply: profiles.schema,
  handle: ({ evseProfiles }) => profiles.reply(evseProfiles?.() ?? []),
});

const listSessions = route({
  method: 'get',
  path: '/evse/sessions',
  tag: 'EVSE / OCPP',
  operationId: 'list_charging_sessions',
  summary: 'Charging sessions of all stations, newest first',
  query: sessionsQuerySchema,
  reply: sessions.schema,
  handle(ctx, { query: { state, limit = defaultSessions } }) {
    const all = allStations(ctx).flatMap((of) =>
      of.device
        .chargingSessions()
        .filter((session) => state === undefined || session.state === state)
        .slice(0, limit)
        .map((session) => ({ station: of, session, at: addSeconds(of.device.startedAt, session.startedAtS) })),
    );
    // the sort is stable: sessions of one station that began together stay newest first
    const newest = all.sort((a, b) => b.at - a.at).slice(0, limit);
    return replyInPieces(sessions.reply(newest));
  },
});

/** @throws SimError UNKNOWN_RESOURCE */
function selectedStations(ctx: RouteContext, id: string | undefined): readonly Station[] {
  return id === undefined ? allStations(ctx) : [stationById(ctx, id)];
}

const getGenerators = route({
  method: 'get',
  path: '/evse/session-generator',
  tag: 'EVSE / OCPP',
  operationId: 'get_session_generator',
  summary: 'Generators of charging sessions, one entry for each station',
  reply: generators.schema,
  handle: (ctx) => generators.reply(allStations(ctx)),
});

const setGenerators = route({
  method: 'post',
  path: '/evse/session-generator',
  tag: 'EVSE / OCPP',
  operationId: 'set_session_generator',
  summary: 'Lets vehicles come and go by themselves, or ends it',
  description:
    'Arrivals at each connector are random in simulated time; state of charge, capacity and stay of each ' +
    'vehicle are drawn too, the same for the same seed. A vehicle plugs in, presents a token and leaves ' +
    'after its stay. With a central system the token goes there.',
  body: generatorBodySchema,
  reply: generators.schema,
  problems: ['unknown-resource'],
  handle(ctx, { body, by }) {
    const { charge_point_id: id, seed, rate_per_hour: rate, id_token: token, stop, vehicles } = body;
    for (const { device } of selectedStations(ctx, id)) {
      const generator = {
        seed: seed ?? generatorDefaults.seed,
        stream: device.index,
        ratePerHour: rate ?? generatorDefaults.ratePerHour,
        idToken: token ?? generatorDefaults.idToken,
      };
      device.command({ kind: 'evse.generator', generator: stop === true ? null : generator, vehicles }, by);
    }
    return generators.reply(selectedStations(ctx, id));
  },
});

const getEvse = route({
  method: 'get',
  path: '/evse/{id}',
  tag: 'EVSE / OCPP',
  operationId: 'get_evse',
  summary: 'One charging station',
  params: stationParams,
  reply: station.schema,
  problems: ['unknown-resource'],
  handle: (ctx, { params }) => station.reply(stationById(ctx, params.id)),
});

const listConnectors = route({
  method: 'get',
  path: '/evse/{id}/connectors',
  tag: 'EVSE / OCPP',
  operationId: 'list_connectors',
  summary: 'Connectors of a charging station',
  params: stationParams,
  reply: connectors.schema,
  problems: ['unknown-resource'],
  handle(ctx, { params }) {
    const of = stationById(ctx, params.id);
    return connectors.reply(of.detail, of);
  },
});

const getConnector = route({
  method: 'get',
  path: '/evse/{id}/connectors/{cid}',
  tag: 'EVSE / OCPP',
  operationId: 'get_connector',
  summary: 'One connector',
  params: connectorParams,
  reply: connector.schema,
  problems: ['unknown-resource'],
  handle(ctx, { params }) {
    const of = stationById(ctx, params.id);
    return connector.reply(connectorOf(of, params.cid), of);
  },
});

/** Fixed words before `{id}`: the first matching path is served. */
export const evseRoutes: readonly Route[] = [
  listEvses,
  listProfiles,
  listSessions,
  ...evseDerControlRoutes,
  getGenerators,
  setGenerators,
  getEvse,
  listConnectors,
  getConnector,
  ...evseOperationRoutes,
];
