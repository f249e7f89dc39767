import { addSeconds } from '../../core/time/clock.ts';
import { eachLater, replyInPieces } from '../http/pieces.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  connectorParams,
  connectorSchema,
  connectorsSchema,
  evseSchema,
  evsesSchema,
  profilesSchema,
  sessionsQuerySchema,
  sessionsSchema,
  stationParams,
} from './schemas.ts';
import type { EvsesReply, SessionsReply } from './schemas.ts';
import { exampleConnector, exampleEvse, exampleProfiles, exampleSession } from './examples.ts';
import {
  allStations,
  connectorOf,
  connectorReply,
  evseReply,
  profileReply,
  sessionReply,
  stationById,
} from './replies.ts';
import { evseDerControlRoutes } from './der-control-routes.ts';
import { evseGeneratorRoutes } from './generator-routes.ts';
import { evseOperationRoutes } from './operation-routes.ts';

const defaultSessions = 100;

const listEvses = route({
  method: 'get',
  path: '/evse',
  tag: 'EVSE / OCPP',
  operationId: 'list_evses',
  summary: 'Charging stations with their connectors, vehicles and sessions',
  description: 'Power at a connector is positive into the vehicle, opposite to the power of the device.',
  reply: evsesSchema,
  examples: { reply: { evses: [exampleEvse] } },
  handle: (ctx) => replyInPieces<EvsesReply>({ evses: eachLater(allStations(ctx), evseReply) }),
});

const listProfiles = route({
  method: 'get',
  path: '/evse/profiles',
  tag: 'EVSE / OCPP',
  operationId: 'list_evse_profiles',
  summary: 'Profiles of charging stations',
  description: 'The example shows one of them.',
  reply: profilesSchema,
  examples: { reply: exampleProfiles },
  handle: ({ evseProfiles }) => ({ profiles: (evseProfiles?.() ?? []).map(profileReply) }),
});

const listSessions = route({
  method: 'get',
  path: '/evse/sessions',
  tag: 'EVSE / OCPP',
  operationId: 'list_charging_sessions',
  summary: 'Charging sessions of all stations, newest first',
  query: sessionsQuerySchema,
  reply: sessionsSchema,
  examples: { reply: { sessions: [exampleSession] } },
  handle(ctx, { query: { state, limit = defaultSessions } }) {
    const sessions = allStations(ctx).flatMap((station) =>
      station.device
        .chargingSessions()
        .filter((session) => state === undefined || session.state === state)
        .slice(0, limit)
        .map((session) => ({ station, session, at: addSeconds(station.device.startedAt, session.startedAtS) })),
    );
    // the sort is stable: sessions of one station that began together stay newest first
    const newest = sessions.sort((a, b) => b.at - a.at).slice(0, limit);
    return replyInPieces<SessionsReply>({
      sessions: eachLater(newest, ({ station, session }) => sessionReply(station, session)),
    });
  },
});

const getEvse = route({
  method: 'get',
  path: '/evse/{id}',
  tag: 'EVSE / OCPP',
  operationId: 'get_evse',
  summary: 'One charging station',
  params: stationParams,
  reply: evseSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleEvse },
  handle: (ctx, { params }) => evseReply(stationById(ctx, params.id)),
});

const listConnectors = route({
  method: 'get',
  path: '/evse/{id}/connectors',
  tag: 'EVSE / OCPP',
  operationId: 'list_connectors',
  summary: 'Connectors of a charging station',
  params: stationParams,
  reply: connectorsSchema,
  problems: ['unknown-resource'],
  examples: { reply: { connectors: [exampleConnector] } },
  handle(ctx, { params }) {
    const station = stationById(ctx, params.id);
    return { connectors: station.detail.connectors.map((connector) => connectorReply(station, connector)) };
  },
});

const getConnector = route({
  method: 'get',
  path: '/evse/{id}/connectors/{cid}',
  tag: 'EVSE / OCPP',
  operationId: 'get_connector',
  summary: 'One connector',
  params: connectorParams,
  reply: connectorSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleConnector },
  handle(ctx, { params }) {
    const station = stationById(ctx, params.id);
    return connectorReply(station, connectorOf(station, params.cid));
  },
});

/** Fixed words before `{id}`: the first matching path is served. */
export const evseRoutes: readonly Route[] = [
  listEvses,
  listProfiles,
  listSessions,
  ...evseDerControlRoutes,
  ...evseGeneratorRoutes,
  getEvse,
  listConnectors,
  getConnector,
  ...evseOperationRoutes,
];
