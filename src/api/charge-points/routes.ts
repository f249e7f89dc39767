/** Charge points: state, connection, calls and messages. */
import type { OcppConnectOptions, OcppStation } from '../../contract/ocpp.ts';
import type { z } from '../description/zod.ts';
import { eachLater, replyInPieces } from '../http/pieces.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  exampleBoot,
  exampleCall,
  exampleConnecting,
  exampleDisconnected,
  exampleFindings,
  exampleHeartbeat,
  exampleMessages,
  exampleStatus,
} from './examples.ts';
import { callReply, findingReply, messageReply, statusReply } from './replies.ts';
import { ocppResourceRoutes } from './resource-routes.ts';
import {
  bootBodySchema,
  callBodySchema,
  callResultSchema,
  chargePointsSchema,
  connectBodySchema,
  defaultMessages,
  disconnectBodySchema,
  findingsSchema,
  maxCallText,
  messagesQuery,
  messagesSchema,
  stationParams,
  statusSchema,
} from './schemas.ts';
import type { ConnectBody, FindingsReply, MessagesReply } from './schemas.ts';
import { enabledStation, tag, viewedStation } from './station.ts';

const normalClose = 1000;
const defaultCallTimeoutS = 30;

/** Problems of a call to the central system. */
const ofCalls = ['unknown-resource', 'disabled', 'not-connected', 'upstream-error', 'upstream-timeout'] as const;

const list = route({
  method: 'get',
  path: '/ocpp',
  tag,
  operationId: 'list_charge_points',
  summary: 'Charge points of OCPP',
  reply: chargePointsSchema,
  examples: { reply: { enabled: true, charge_points: [exampleStatus] } },
  handle: ({ ocpp }) =>
    replyInPieces<z.output<ReturnType<typeof chargePointsSchema>>>({
      enabled: ocpp.enabled,
      charge_points: eachLater(ocpp.list, (station: OcppStation) => statusReply(station.status)),
    }),
});

const get = route({
  method: 'get',
  path: '/ocpp/{id}',
  tag,
  operationId: 'get_charge_point',
  summary: 'State of a charge point of OCPP',
  params: stationParams,
  reply: statusSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleStatus },
  handle: (ctx, { params: { id } }) => statusReply(viewedStation(ctx, id).status),
});

function optionsOf({ url, version, security_profile: securityProfile, password }: ConnectBody): OcppConnectOptions {
  return {
    ...(url !== undefined && { url }),
    ...(version !== undefined && { version }),
    ...(securityProfile !== undefined && { securityProfile }),
    ...(password !== undefined && { password }),
  };
}

const connect = route({
  method: 'post',
  path: '/ocpp/{id}/connect',
  tag,
  operationId: 'connect_charge_point',
  summary: 'Connects a charge point, also to another central system',
  description: 'A connection that is open ends first. What is not given stays as it is.',
  params: stationParams,
  body: connectBodySchema,
  secretMembers: ['password', 'url'],
  status: 202,
  reply: statusSchema,
  problems: ['unknown-resource', 'disabled', 'conflict'],
  examples: { body: { url: 'ws://127.0.0.1:8180/steve/websocket/CentralSystemService' }, reply: exampleConnecting },
  handle(ctx, { params: { id }, body, by }) {
    const station = enabledStation(ctx, id);
    station.connect(optionsOf(body), by);
    return statusReply(station.status);
  },
});

const disconnect = route({
  method: 'post',
  path: '/ocpp/{id}/disconnect',
  tag,
  operationId: 'disconnect_charge_point',
  summary: 'Ends the connection of a charge point',
  description: 'It stays so until `connect`; messages of transactions wait.',
  params: stationParams,
  body: disconnectBodySchema,
  status: 202,
  reply: statusSchema,
  problems: ['unknown-resource', 'disabled'],
  examples: { body: { code: 1000 }, reply: exampleDisconnected },
  handle(ctx, { params: { id }, body: { code = normalClose }, by }) {
    const station = enabledStation(ctx, id);
    station.disconnect(code, by);
    return statusReply(station.status);
  },
});

const boot = route({
  method: 'post',
  path: '/ocpp/{id}/boot',
  tag,
  operationId: 'send_boot_notification',
  summary: 'Sends a BootNotification now',
  params: stationParams,
  body: bootBodySchema,
  reply: callResultSchema,
  problems: ofCalls,
  examples: { body: {}, reply: exampleBoot },
  handle: async (ctx, { params: { id }, body: { reason = null } }) =>
    callReply(await enabledStation(ctx, id).boot(reason)),
});

const heartbeat = route({
  method: 'post',
  path: '/ocpp/{id}/heartbeat',
  tag,
  operationId: 'send_heartbeat',
  summary: 'Sends a Heartbeat now',
  params: stationParams,
  reply: callResultSchema,
  problems: ofCalls,
  examples: { reply: exampleHeartbeat },
  handle: async (ctx, { params: { id } }) => callReply(await enabledStation(ctx, id).heartbeat()),
});

const call = route({
  method: 'post',
  path: '/ocpp/{id}/call',
  tag,
  operationId: 'send_ocpp_call',
  summary: 'Sends any call to the central system and waits for its answer',
  description: 'A CALLERROR is an answer like any other, with `error` in place of `result`.',
  params: stationParams,
  body: callBodySchema,
  maxTextLength: maxCallText,
  secretMembers: ['payload'],
  reply: callResultSchema,
  problems: ofCalls,
  examples: { body: { action: 'DataTransfer', payload: { vendorId: 'org.example' } }, reply: exampleCall },
  async handle(ctx, { params: { id }, body }) {
    const { action, payload, validate = true, timeout_s: timeoutS = defaultCallTimeoutS } = body;
    return callReply(await enabledStation(ctx, id).call({ action, payload, validate, timeoutS }));
  },
});

const messages = route({
  method: 'get',
  path: '/ocpp/{id}/messages',
  tag,
  operationId: 'get_ocpp_messages',
  summary: 'Messages of a charge point as they went over the wire',
  description:
    'The last 1,000 at most; many charge points share the memory for them, so that there may be fewer. Secrets are hidden. All ' +
    'filters must match. To follow, pass the id of the last message seen as `after_id`.',
  params: stationParams,
  query: messagesQuery,
  reply: messagesSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleMessages },
  handle(ctx, { params: { id }, query: { limit = defaultMessages, after_id: afterId, action, direction } }) {
    const found = viewedStation(ctx, id).messages({
      limit,
      ...(afterId !== undefined && { afterId }),
      ...(action !== undefined && { action }),
      ...(direction !== undefined && { direction }),
    });
    return replyInPieces<MessagesReply>({ messages: eachLater(found, messageReply) });
  },
});

const findings = (station: OcppStation): FindingsReply => ({ findings: station.findings().map(findingReply) });

const getFindings = route({
  method: 'get',
  path: '/ocpp/{id}/findings',
  tag,
  operationId: 'get_ocpp_findings',
  summary: 'What the central system did against the specification',
  params: stationParams,
  reply: findingsSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleFindings },
  handle: (ctx, { params: { id } }) => findings(viewedStation(ctx, id)),
});

const clearFindings = route({
  method: 'delete',
  path: '/ocpp/{id}/findings',
  tag,
  operationId: 'clear_ocpp_findings',
  summary: 'Forgets the findings',
  params: stationParams,
  reply: findingsSchema,
  problems: ['unknown-resource', 'disabled'],
  examples: { reply: { findings: [] } },
  handle(ctx, { params: { id } }) {
    const station = enabledStation(ctx, id);
    station.clearFindings();
    return findings(station);
  },
});

/** `ocpp/{id}/fault` is among the routes of faults. */
export const ocppRoutes: readonly Route[] = [
  list,
  get,
  connect,
  disconnect,
  boot,
  heartbeat,
  call,
  messages,
  ...ocppResourceRoutes,
  getFindings,
  clearFindings,
];
