/** Charging stations, their sessions, and the vehicles that come and go by themselves. */
import { memo } from '../../core/lazy.ts';
import { pointNumber } from '../../sunspec/map/bank.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { RouteContext } from '../http/context.ts';
import { replyInPieces } from '../http/streaming.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  connector,
  connectorParams,
  connectors,
  display,
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
import { allStations, connectorOf, stationById, stationOf } from './stations.ts';
import { SimError } from '../../core/errors.ts';
import type { Device } from '../../contract/device.ts';
import { gridFunctionNames, gridFunctions } from '../grid-support/functions.ts';
import type { GridFunctionName } from '../grid-support/functions.ts';
import { flag, number } from '../grid-support/members.ts';
import { functionReply, writeFunctions } from '../grid-support/registers.ts';
import { isEnabled, isSupported } from '../../sunspec/map/grid-support/state.ts';
import type { FunctionRequest } from '../grid-support/registers.ts';
import { pointWriter } from '../common/points.ts';
import { deviceParam } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import { gridSupportBodySchema, gridSupportSchema } from '../grid-support/schemas.ts';
import { selectedDevice } from '../common/device-replies.ts';

const derControlsSchema = memo(() =>
  z
    .strictObject({
      ...gridSupportSchema().shape,
      limit_max_discharge_pct: z.number().nullable().openapi({
        description: '704.WMaxLimPct: maximum power from the vehicles, percent of 702.WMax; null: no limit.',
      }),
      control_ids: z.record(z.string(), z.string()).openapi({
        description:
          'By function, the id of the OCPP 2.1 control that set it last. Functions that were set otherwise are left out.',
      }),
    })
    .openapi('EvseDerControls'),
);

const derControlsBodySchema = memo(() =>
  z
    .strictObject({
      ...gridSupportBodySchema().shape,
      limit_max_discharge_pct: z
        .number()
        .min(0)
        .max(100)
        .nullable()
        .optional()
        .openapi({ description: 'Sets and enables 704.WMaxLimPct; null disables it.' }),
    })
    .openapi('EvseDerControlsRequest'),
);

const { max_power: maxPower } = gridFunctions;

/**
 * The station that a request selects; without `device` the first.
 * @throws SimError COMMAND_NOT_APPLICABLE, UNKNOWN_DEVICE
 */
function selectedStation(ctx: RouteContext, index: number | undefined): Device {
  const firstStation = ctx.plant.devices.find(({ assetType }) => assetType === 'evse');
  if (index === undefined && !firstStation)
    throw new SimError('COMMAND_NOT_APPLICABLE', 'There is no charging station.');
  return stationOf(ctx, selectedDevice(ctx, index ?? firstStation?.index)).device;
}

/** The last writer of a function. For a slope that a command set, `overrides` has the writer, not the registers of ramps. */
function writerOf({ bank, gradient, overrides }: Device, name: GridFunctionName) {
  const isSlope = name === 'ramp' && gradient.w.source === 'gradient';
  if (isSlope) return overrides.find((each) => each.name === 'gradient');
  return pointWriter(bank, gridFunctions[name].model, gridFunctions[name].enable);
}

/** By function, the id of the OCPP control that wrote it last. */
function controlIds(device: Device): Record<string, string> {
  return Object.fromEntries(
    gridFunctionNames.flatMap((name) => {
      const writer = writerOf(device, name);
      return writer?.source === 'ocpp' && writer.peer !== undefined ? [[name, writer.peer]] : [];
    }),
  );
}

function reply({ plant }: RouteContext, device: Device) {
  const { bank, index } = device;
  const functions = Object.fromEntries(
    gridFunctionNames.map((name) => [name, functionReply(bank, gridFunctions[name], (at) => plant.dateMs(at))]),
  );
  const isLimited = isSupported(bank, maxPower) && isEnabled(bank, maxPower);
  return {
    device_index: index,
    ...(functions as Record<GridFunctionName, ReturnType<typeof functionReply>>),
    limit_max_discharge_pct: isLimited ? pointNumber(bank, maxPower.model, 'WMaxLimPct') : null,
    control_ids: controlIds(device),
  };
}

/** The limit as writes: of its enable and, unless it is null, of its value. */
function dischargeLimit(limitPct: number | null): FunctionRequest[] {
  const request = (members: FunctionRequest['spec']['members'], value: number | boolean): FunctionRequest => ({
    spec: { ...maxPower, members },
    name: 'max_power',
    pointer: '',
    body: { limit_max_discharge_pct: value },
  });
  const enabled = request({ limit_max_discharge_pct: flag(maxPower.enable) }, limitPct !== null);
  return limitPct === null
    ? [enabled]
    : [enabled, request({ limit_max_discharge_pct: number('WMaxLimPct') }, limitPct)];
}

const stationQuery = z.strictObject({
  device: deviceParam.optional().openapi({ description: 'Index of a charging station; default the first station.' }),
});

const evseDerControlRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/evse/der-controls',
    tag: 'EVSE / OCPP',
    operationId: 'get_evse_der_controls',
    summary: 'Grid-support functions of a charging station',
    description: 'Like `grid-support`; without `device` for the first station.',
    query: stationQuery,
    reply: derControlsSchema,
    problems: ['not-applicable'],
    handle: (ctx, { query }) => reply(ctx, selectedStation(ctx, query.device)),
  }),
  route({
    method: 'post',
    path: '/evse/der-controls',
    tag: 'EVSE / OCPP',
    operationId: 'set_evse_der_controls',
    summary: 'Sets grid-support functions of a charging station',
    description:
      'As `grid-support`; without `device` those of the first station. `limit_max_discharge_pct` is short for `max_power` ' +
      'with `limit_pct` and `enabled`: it limits the power from vehicles, not the power into vehicles.',
    query: stationQuery,
    body: derControlsBodySchema,
    reply: derControlsSchema,
    problems: ['not-applicable', 'disabled'],
    handle(ctx, { query, body, by }) {
      const device = selectedStation(ctx, query.device);
      const requests = gridFunctionNames.flatMap((name): FunctionRequest[] => {
        const settings = body[name];
        return settings === undefined ? [] : [{ spec: gridFunctions[name], name, pointer: `/${name}`, body: settings }];
      });
      const { limit_max_discharge_pct: limitPct } = body;
      writeFunctions(device.bank, by, [...requests, ...(limitPct === undefined ? [] : dischargeLimit(limitPct))]);
      return reply(ctx, device);
    },
  }),
];

const defaultSessions = 100;

/** @throws SimError UNKNOWN_RESOURCE */
function selectedStations(ctx: RouteContext, id: string | undefined): readonly Station[] {
  return id === undefined ? allStations(ctx) : [stationById(ctx, id)];
}

/** Paths with fixed segments precede those with `{id}`: the first matching path is served. */
export const evseRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/evse',
    tag: 'EVSE / OCPP',
    operationId: 'list_evses',
    summary: 'Charging stations with their connectors, vehicles and sessions',
    description: 'Power at a connector is positive into the vehicle, opposite to the power of the device.',
    reply: stations.schema,
    handle: (ctx) => replyInPieces(stations.reply(allStations(ctx))),
  }),
  route({
    method: 'get',
    path: '/evse/profiles',
    tag: 'EVSE / OCPP',
    operationId: 'list_evse_profiles',
    summary: 'Profiles of charging stations',
    description: 'The example shows one of them.',
    reply: profiles.schema,
    handle: ({ evseProfiles }) => profiles.reply(evseProfiles?.() ?? []),
  }),
  route({
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
  }),
  ...evseDerControlRoutes,
  route({
    method: 'get',
    path: '/evse/session-generator',
    tag: 'EVSE / OCPP',
    operationId: 'get_session_generator',
    summary: 'Generators of charging sessions, one entry for each station',
    reply: generators.schema,
    handle: (ctx) => generators.reply(allStations(ctx)),
  }),
  route({
    method: 'post',
    path: '/evse/session-generator',
    tag: 'EVSE / OCPP',
    operationId: 'set_session_generator',
    summary: 'Lets vehicles come and go by themselves, or ends it',
    description:
      'Arrivals at each connector are random in simulated time; state of charge, capacity and stay of each ' +
      'vehicle are drawn too, the same for the same seed. A vehicle plugs in, presents a token and leaves ' +
      'after its stay. If there is a central system, the token is sent to it.',
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
  }),
  route({
    method: 'get',
    path: '/evse/{id}',
    tag: 'EVSE / OCPP',
    operationId: 'get_evse',
    summary: 'One charging station',
    params: stationParams,
    reply: station.schema,
    problems: ['unknown-resource'],
    handle: (ctx, { params }) => station.reply(stationById(ctx, params.id)),
  }),
  route({
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
  }),
  route({
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
  }),
  route({
    method: 'get',
    path: '/evse/{id}/connectors/{cid}/display',
    tag: 'EVSE / OCPP',
    operationId: 'get_connector_display',
    summary: 'Texts that the driver sees at a connector now',
    description:
      'Messages of the central system (SetDisplayMessage) in the language of the driver, and texts of the station about ' +
      'price and cost: tariffs, CostUpdated, and the answers to TransactionEvent.',
    params: connectorParams,
    reply: display.schema,
    problems: ['unknown-resource'],
    handle(ctx, { params }) {
      const station = stationById(ctx, params.id);
      const { connectorId } = connectorOf(station, params.cid);
      return display.reply({ station, connectorId });
    },
  }),
  ...evseOperationRoutes,
];
