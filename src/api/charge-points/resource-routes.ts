/** What a charge point has: configuration, profiles, reservations, tokens, certificates, transactions. */
import type { OcppConfigurationChange, OcppStation } from '../../contract/ocpp.ts';
import type { z } from '../description/zod.ts';
import { invalid } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  exampleCertificates,
  exampleKey,
  exampleLocalList,
  exampleOcppDerControls,
  exampleProfiles,
  exampleReservations,
  exampleSchedule,
  exampleTransactions,
} from './examples.ts';
import {
  configurationReply,
  derControlReply,
  localListReply,
  profileReply,
  scheduleReply,
  transactionReply,
} from './replies.ts';
import {
  certificatesSchema,
  compositeQuery,
  compositeSchema,
  configurationBodySchema,
  configurationQuery,
  configurationSchema,
  defaultScheduleS,
  derControlsSchema,
  localListSchema,
  profilesQuery,
  profilesSchema,
  reservationsSchema,
  transactionsSchema,
} from './resource-schemas.ts';
import { stationParams } from './schemas.ts';
import { enabledStation, tag, viewedStation } from './station.ts';

const iso = (ms: number) => new Date(ms).toISOString();

const getConfiguration = route({
  method: 'get',
  path: '/ocpp/{id}/configuration',
  tag,
  operationId: 'get_ocpp_configuration',
  summary: 'Configuration of a charge point: keys of 1.6, variables of 2.x',
  params: stationParams,
  query: configurationQuery,
  reply: configurationSchema,
  problems: ['unknown-resource'],
  examples: { reply: { keys: [exampleKey] } },
  handle: (ctx, { params: { id }, query: { key } }) => configurationReply(viewedStation(ctx, id).configuration(key)),
});

function changeOf(
  body: z.output<ReturnType<typeof configurationBodySchema>>,
  station: OcppStation,
): OcppConfigurationChange {
  const { key, component, variable, value, attribute, evse_id: evseId, connector_id: connectorId, instance } = body;
  const isKeys = station.status.version === 'ocpp1.6j';
  const [name, other] = isKeys ? [key, component] : [variable, key];
  if (name === undefined || other !== undefined)
    throw invalid('body', '', `${station.status.version} needs ${isKeys ? 'key' : 'component and variable'}`);
  return {
    name,
    value,
    ...(component !== undefined && { component }),
    ...(attribute !== undefined && { attribute }),
    ...(evseId !== undefined && { evseId }),
    ...(connectorId !== undefined && { connectorId }),
    ...(instance !== undefined && { instance }),
  };
}

const setConfiguration = route({
  method: 'post',
  path: '/ocpp/{id}/configuration',
  tag,
  operationId: 'set_ocpp_configuration',
  summary: 'Changes the configuration of a charge point locally',
  description:
    'Read-only entries too: the rights of the central system do not count here. Write-only values are never shown.',
  params: stationParams,
  body: configurationBodySchema,
  maxTextLength: 2500,
  secretMembers: ['value'],
  reply: configurationSchema,
  problems: ['unknown-resource', 'disabled', 'conflict'],
  examples: { body: { key: 'HeartbeatInterval', value: '300' }, reply: { keys: [exampleKey] } },
  handle(ctx, { params: { id }, body, by }) {
    const station = enabledStation(ctx, id);
    return configurationReply(station.setConfiguration(changeOf(body, station), by));
  },
});

const getProfiles = route({
  method: 'get',
  path: '/ocpp/{id}/charging-profiles',
  tag,
  operationId: 'get_charging_profiles',
  summary: 'Charging profiles that are installed',
  params: stationParams,
  query: profilesQuery,
  reply: profilesSchema,
  problems: ['unknown-resource', 'not-applicable'],
  examples: { reply: exampleProfiles },
  handle: (ctx, { params: { id }, query: { connector } }) => ({
    charging_profiles: viewedStation(ctx, id).chargingProfiles(connector).map(profileReply),
  }),
});

const getSchedule = route({
  method: 'get',
  path: '/ocpp/{id}/composite-schedule',
  tag,
  operationId: 'get_composite_schedule',
  summary: 'Limits that the charging profiles give together, from now on',
  description: 'Currents are per phase; powers and currents are converted at nominal voltage.',
  params: stationParams,
  query: compositeQuery,
  reply: compositeSchema,
  problems: ['unknown-resource', 'not-applicable', 'disabled'],
  examples: { reply: exampleSchedule },
  handle(ctx, { params: { id }, query: { connector = 0, duration_s: durationS = defaultScheduleS, unit = 'W' } }) {
    const station = enabledStation(ctx, id);
    return scheduleReply(station.compositeSchedule(connector, durationS, unit));
  },
});

const getReservations = route({
  method: 'get',
  path: '/ocpp/{id}/reservations',
  tag,
  operationId: 'get_ocpp_reservations',
  summary: 'Reservations of the central system',
  params: stationParams,
  reply: reservationsSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleReservations },
  handle: (ctx, { params: { id } }) => ({
    reservations: viewedStation(ctx, id)
      .reservations()
      .map(({ reservationId, connectorId, idToken, expiresMs }) => ({
        reservation_id: reservationId,
        connector_id: connectorId,
        id_token: idToken,
        expires_at: iso(expiresMs),
      })),
  }),
});

const getDerControls = route({
  method: 'get',
  path: '/ocpp/{id}/der-controls',
  tag,
  operationId: 'get_ocpp_der_controls',
  summary: 'DER controls of OCPP 2.1',
  description: 'What the central system has set by SetDERControl, superseded controls included.',
  params: stationParams,
  reply: derControlsSchema,
  problems: ['unknown-resource', 'not-applicable'],
  examples: { reply: exampleOcppDerControls },
  handle: (ctx, { params: { id } }) => ({ controls: viewedStation(ctx, id).derControls().map(derControlReply) }),
});

const getLocalList = route({
  method: 'get',
  path: '/ocpp/{id}/local-list',
  tag,
  operationId: 'get_local_list',
  summary: 'Local authorisation list and authorisation cache',
  params: stationParams,
  reply: localListSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleLocalList },
  handle: (ctx, { params: { id } }) => localListReply(viewedStation(ctx, id).localList()),
});

const getCertificates = route({
  method: 'get',
  path: '/ocpp/{id}/certificates',
  tag,
  operationId: 'get_ocpp_certificates',
  summary: 'Certificates of a charge point',
  params: stationParams,
  reply: certificatesSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleCertificates },
  handle: (ctx, { params: { id } }) => ({
    certificates: viewedStation(ctx, id)
      .certificates()
      .map((each) => ({
        use: each.use,
        subject: each.subject,
        issuer: each.issuer,
        serial_number: each.serialNumber,
        valid_from: iso(each.validFromMs),
        valid_to: iso(each.validToMs),
        fingerprint: each.fingerprint,
      })),
  }),
});

const getTransactions = route({
  method: 'get',
  path: '/ocpp/{id}/transactions',
  tag,
  operationId: 'get_ocpp_transactions',
  summary: 'Transactions of a charge point',
  params: stationParams,
  reply: transactionsSchema,
  problems: ['unknown-resource'],
  examples: { reply: exampleTransactions },
  handle: (ctx, { params: { id } }) => ({
    transactions: viewedStation(ctx, id).transactions().map(transactionReply),
  }),
});

export const ocppResourceRoutes: readonly Route[] = [
  getConfiguration,
  setConfiguration,
  getProfiles,
  getSchedule,
  getReservations,
  getDerControls,
  getLocalList,
  getCertificates,
  getTransactions,
];
