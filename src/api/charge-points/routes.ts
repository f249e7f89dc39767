/** Charge points: state, connection, calls, messages, configuration and transactions. */
import { chargePoint } from '../../contract/charge-point-ids.ts';
import { disabledOcppStation } from '../../contract/ocpp-disabled.ts';
import type { OcppConfigurationChange, OcppStation } from '../../contract/ocpp.ts';
import { camelCased } from '../common/members.ts';
import type { z } from '../description/zod.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem, invalid } from '../http/errors.ts';
import { replyInPieces } from '../http/streaming.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  bootBodySchema,
  callBodySchema,
  callResult,
  certificates,
  chargePoints,
  compositeQuery,
  configuration,
  configurationBodySchema,
  configurationQuery,
  connectBodySchema,
  defaultMessages,
  defaultScheduleS,
  derControls,
  disconnectBodySchema,
  findings,
  localList,
  maxCallText,
  messages,
  messagesQuery,
  profiles,
  profilesQuery,
  reservations,
  schedule,
  stationParams,
  status,
  transactions,
} from './members.ts';
const tag = 'EVSE / OCPP';

type Context = Pick<RouteContext, 'ocpp' | 'plant' | 'chargePointId'>;

/** A station for views; while OCPP is off, a station whose views are empty. @throws SimError UNKNOWN_RESOURCE */
function viewedStation({ ocpp, plant, chargePointId }: Context, id: string): OcppStation {
  // refuses an unknown identity with the error of `evse`, also while OCPP is off
  const { index } = chargePoint(plant, chargePointId, id);
  return ocpp.enabled ? ocpp.station(id) : disabledOcppStation(id, index);
}

/** A station for operations. @throws SimError UNKNOWN_RESOURCE, HttpProblem `disabled` */
function enabledStation(ctx: Context, id: string): OcppStation {
  const station = viewedStation(ctx, id);
  if (!ctx.ocpp.enabled)
    throw new HttpProblem('disabled', 'OCPP is switched off: POST ocpp/enable with ocpp_csms_url switches it on.');
  return station;
}

const normalClose = 1000;
const defaultCallTimeoutS = 30;

/** Problems of a call to the central system. */
const callProblems = ['unknown-resource', 'disabled', 'not-connected', 'upstream-error', 'upstream-timeout'] as const;

function changeOf(
  body: z.output<ReturnType<typeof configurationBodySchema>>,
  station: OcppStation,
): OcppConfigurationChange {
  const { key, variable, ...place } = body;
  const isKeys = station.status.version === 'ocpp1.6j';
  const [name, other] = isKeys ? [key, body.component] : [variable, key];
  if (name === undefined || other !== undefined)
    throw invalid('body', '', `${station.status.version} needs ${isKeys ? 'key' : 'component and variable'}`);
  return { name, ...camelCased(place) };
}

/** A view of a station. */
function view<S, R>(
  name: string,
  operationId: string,
  summary: string,
  { schema, reply }: { readonly schema: () => z.ZodType<R>; readonly reply: (source: S) => R },
  read: (station: OcppStation) => S,
): Route {
  return route({
    method: 'get',
    path: `/ocpp/{id}/${name}`,
    tag,
    operationId,
    summary,
    params: stationParams,
    reply: schema,
    problems: ['unknown-resource'],
    handle: (ctx, { params: { id } }) => reply(read(viewedStation(ctx, id))),
  });
}

/** `ocpp/{id}/fault` is among the routes of faults. */
export const ocppRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/ocpp',
    tag,
    operationId: 'list_charge_points',
    summary: 'Charge points of OCPP',
    reply: chargePoints.schema,
    handle: ({ ocpp }) => replyInPieces(chargePoints.reply(ocpp)),
  }),
  route({
    method: 'get',
    path: '/ocpp/{id}',
    tag,
    operationId: 'get_charge_point',
    summary: 'State of a charge point of OCPP',
    params: stationParams,
    reply: status.schema,
    problems: ['unknown-resource'],
    handle: (ctx, { params: { id } }) => status.reply(viewedStation(ctx, id).status),
  }),
  route({
    method: 'post',
    path: '/ocpp/{id}/connect',
    tag,
    operationId: 'connect_charge_point',
    isSetup: true,
    summary: 'Connects a charge point, also to another central system',
    description: 'An open connection is closed first. Members not given keep their values.',
    params: stationParams,
    body: connectBodySchema,
    secretMembers: ['password', 'url'],
    status: 202,
    reply: status.schema,
    problems: ['unknown-resource', 'disabled', 'conflict'],
    handle(ctx, { params: { id }, body, by }) {
      const station = enabledStation(ctx, id);
      station.connect(camelCased(body), by);
      return status.reply(station.status);
    },
  }),
  route({
    method: 'post',
    path: '/ocpp/{id}/disconnect',
    tag,
    operationId: 'disconnect_charge_point',
    summary: 'Ends the connection of a charge point',
    description: 'The charge point stays disconnected until `connect`; messages of transactions wait.',
    params: stationParams,
    body: disconnectBodySchema,
    status: 202,
    reply: status.schema,
    problems: ['unknown-resource', 'disabled'],
    handle(ctx, { params: { id }, body: { code = normalClose }, by }) {
      const station = enabledStation(ctx, id);
      station.disconnect(code, by);
      return status.reply(station.status);
    },
  }),
  route({
    method: 'post',
    path: '/ocpp/{id}/boot',
    tag,
    operationId: 'send_boot_notification',
    summary: 'Sends a BootNotification now',
    params: stationParams,
    body: bootBodySchema,
    reply: callResult.schema,
    problems: callProblems,
    handle: async (ctx, { params: { id }, body: { reason = null } }) =>
      callResult.reply(await enabledStation(ctx, id).functions.boot(reason)),
  }),
  route({
    method: 'post',
    path: '/ocpp/{id}/heartbeat',
    tag,
    operationId: 'send_heartbeat',
    summary: 'Sends a Heartbeat now',
    params: stationParams,
    reply: callResult.schema,
    problems: callProblems,
    handle: async (ctx, { params: { id } }) => callResult.reply(await enabledStation(ctx, id).functions.heartbeat()),
  }),
  route({
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
    reply: callResult.schema,
    problems: callProblems,
    async handle(ctx, { params: { id }, body }) {
      const { action, payload, validate = true, timeout_s: timeoutS = defaultCallTimeoutS } = body;
      return callResult.reply(await enabledStation(ctx, id).call({ action, payload, validate, timeoutS }));
    },
  }),
  route({
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
    reply: messages.schema,
    problems: ['unknown-resource'],
    handle: (ctx, { params: { id }, query: { limit = defaultMessages, ...filter } }) =>
      replyInPieces(messages.reply(viewedStation(ctx, id).messages({ limit, ...camelCased(filter) }))),
  }),
  route({
    method: 'get',
    path: '/ocpp/{id}/configuration',
    tag,
    operationId: 'get_ocpp_configuration',
    summary: 'Configuration of a charge point: keys of 1.6, variables of 2.x',
    params: stationParams,
    query: configurationQuery,
    reply: configuration.schema,
    problems: ['unknown-resource'],
    handle: (ctx, { params: { id }, query: { key } }) =>
      configuration.reply(viewedStation(ctx, id).functions.configuration(key)),
  }),
  route({
    method: 'post',
    path: '/ocpp/{id}/configuration',
    tag,
    operationId: 'set_ocpp_configuration',
    summary: 'Changes the configuration of a charge point locally',
    description:
      'Read-only entries too: the access rights of the central system do not apply. Write-only values are never shown.',
    params: stationParams,
    body: configurationBodySchema,
    maxTextLength: 2500,
    secretMembers: ['value'],
    reply: configuration.schema,
    problems: ['unknown-resource', 'disabled', 'conflict'],
    handle(ctx, { params: { id }, body, by }) {
      const station = enabledStation(ctx, id);
      return configuration.reply(station.functions.setConfiguration(changeOf(body, station), by));
    },
  }),
  route({
    method: 'get',
    path: '/ocpp/{id}/charging-profiles',
    tag,
    operationId: 'get_charging_profiles',
    summary: 'Charging profiles that are installed',
    params: stationParams,
    query: profilesQuery,
    reply: profiles.schema,
    problems: ['unknown-resource', 'not-applicable'],
    handle: (ctx, { params: { id }, query: { connector } }) =>
      profiles.reply(viewedStation(ctx, id).functions.chargingProfiles(connector)),
  }),
  route({
    method: 'get',
    path: '/ocpp/{id}/composite-schedule',
    tag,
    operationId: 'get_composite_schedule',
    summary: 'Limits that the charging profiles give together, from now on',
    description: 'Currents are per phase; powers and currents are converted at nominal voltage.',
    params: stationParams,
    query: compositeQuery,
    reply: schedule.schema,
    problems: ['unknown-resource', 'not-applicable', 'disabled'],
    handle(ctx, { params: { id }, query: { connector = 0, duration_s: durationS = defaultScheduleS, unit = 'W' } }) {
      const station = enabledStation(ctx, id);
      return schedule.reply(station.functions.compositeSchedule(connector, durationS, unit));
    },
  }),
  view(
    'reservations',
    'get_ocpp_reservations',
    'Reservations of the central system, and those made over REST',
    reservations,
    (station) => station,
  ),
  route({
    method: 'get',
    path: '/ocpp/{id}/der-controls',
    tag,
    operationId: 'get_ocpp_der_controls',
    summary: 'DER controls of OCPP 2.1',
    description: 'Controls that the central system has set by SetDERControl, superseded ones included.',
    params: stationParams,
    reply: derControls.schema,
    problems: ['unknown-resource', 'not-applicable'],
    handle: (ctx, { params: { id } }) => derControls.reply(viewedStation(ctx, id)),
  }),
  view('local-list', 'get_local_list', 'Local authorisation list and authorisation cache', localList, (station) =>
    station.functions.localList(),
  ),
  view('certificates', 'get_ocpp_certificates', 'Certificates of a charge point', certificates, (station) => station),
  view('transactions', 'get_ocpp_transactions', 'Transactions of a charge point', transactions, (station) => station),
  view(
    'findings',
    'get_ocpp_findings',
    'Violations of the specification by the central system',
    findings,
    (station) => station,
  ),
  route({
    method: 'delete',
    path: '/ocpp/{id}/findings',
    tag,
    operationId: 'clear_ocpp_findings',
    summary: 'Forgets the findings',
    params: stationParams,
    reply: findings.schema,
    problems: ['unknown-resource', 'disabled'],
    handle(ctx, { params: { id } }) {
      const station = enabledStation(ctx, id);
      station.clearFindings();
      return findings.reply(station);
    },
  }),
];
