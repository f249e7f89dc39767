/** Devices: their lists, snapshots, alarms and protocols, and the addition of a device. */
import { memo } from '../core/lazy.ts';
import { addedDeviceSchema, changedDeviceSchema } from '../config/profile/device-entry.ts';
import type { ChangedDevice } from '../config/profile/device-entry.ts';
import { conditionOf, kindStates } from '../contract/condition.ts';
import type { Condition } from '../contract/condition.ts';
import type { CsipManagedDevice } from '../contract/csip-client.ts';
import type { DeviceChanged } from '../contract/device-changes.ts';
import { assetTypes, dcModes } from '../contract/device.ts';
import type { Alarm, AlarmSeverity, Device } from '../contract/device.ts';
import { dnp3Profiles } from '../contract/dnp3-settings.ts';
import type { EvDetail } from '../contract/kinds/evse.ts';
import { limitKeys } from '../contract/limit-chain.ts';
import { ocppVersions } from '../contract/ocpp-settings.ts';
import { connectionStates, inverterStates, serviceStates } from '../contract/snapshot.ts';
import type { Snapshot } from '../contract/snapshot.ts';
import { commNames, commStates, disabledStatus, newerError } from '../core/adapter.ts';
import type { Adapter, AdapterError, AdapterStatus, CommName, ModbusTcpEndpoint } from '../core/adapter.ts';
import { latestOf, modbusEndpoint, withMembers } from './common/device-replies.ts';
import {
  count,
  flag,
  inKilo,
  integer,
  list,
  measured,
  member,
  members,
  nested,
  number,
  text,
  time,
  word,
} from './common/members.ts';
import type { ReplyOf } from './common/members.ts';
import { pointNumber } from '../sunspec/map/bank.ts';
import { deviceIndex, integerParam, isoTime, maxDeviceIndex, quantity } from './common/schemas.ts';
import { lastWriteReply, lastWriteSchema } from './common/writers.ts';
import { z } from './description/zod.ts';
import { missingMember } from './fleet/members.ts';
import { decidedBySchema } from './grid-support/trace.ts';
import type { RouteContext } from './http/context.ts';
import { HttpProblem, invalid } from './http/errors.ts';
import { Answer, apiPrefix, route } from './http/route.ts';
import type { JsonText, Route } from './http/route.ts';

// each tick builds the snapshots in the shape of the reply and serialises them once

const statusSchema = z
  .strictObject({
    service_state: z.enum(serviceStates),
    inverter_state: z.enum(inverterStates),
    connection_state: z.enum(connectionStates),
    message: z.string().optional().openapi({ description: 'Reason of the current stop, trip or derating.' }),
  })
  .openapi('DeviceStatus');

export const metricsSchema = z
  .strictObject({
    power_kw: z.number().openapi({ description: '701.W / 1000; positive = injected.' }),
    reactive_power_kvar: z.number().openapi({ description: '701.Var / 1000; positive = injected.' }),
    apparent_power_kva: z.number().openapi({ description: '701.VA / 1000' }),
    voltage_ll_v: quantity('701.LLV; null on single phase.'),
    voltage_ln_v: z.number().openapi({ description: '701.LNV' }),
    current_a: z.number().openapi({ description: '701.A: sum of the phase currents.' }),
    frequency_hz: z.number().openapi({ description: '701.Hz' }),
    power_factor: z
      .number()
      .openapi({ description: '701.PF with the sign of the active power; 1 without apparent power.' }),
    dc_power_kw: quantity('714.DCW / 1000; null without a DC port.'),
    dc_voltage_v: quantity(
      '714.Prt[0].DCV; hybrid: bus voltage; null without a DC port. With several PV inputs, the voltage of the first.',
    ),
    dc_current_a: quantity('714.DCA; null without a DC port.'),
    state_of_charge_pct: quantity('713.SoC; null without storage.'),
    soc_reserve_min_pct: quantity('802.SoCRsvMin; null without storage.'),
    soc_reserve_max_pct: quantity('802.SocRsvMax; null without storage.'),
    soc_min_pct: quantity('802.SoCMin; null without storage.'),
    soc_max_pct: quantity('802.SoCMax; null without storage.'),
    timestamp: isoTime.openapi({ description: 'Simulated time of the sample.' }),
  })
  .openapi('Metrics');

const snapshotShape = {
  metrics: metricsSchema,
  pq: z.strictObject({
    active_kw: z.number(),
    reactive_kvar: z.number(),
    apparent_kva: z.number(),
    angle_deg: z.number().gt(-180).max(180).openapi({ description: 'atan2(Q, P); 0 without apparent power.' }),
  }),
  status: statusSchema,
  clock_time: z
    .string()
    .regex(/^\d\d:\d\d:\d\d$/)
    .openapi({ description: 'Simulated clock in its time zone.' }),
  dc_mode: z.enum(dcModes),
  dc_port_count: z.int().min(0).openapi({ description: '714.NPrt' }),
  device_type: z.string().openapi({ description: 'Value of `device_type` as configured.' }),
  device_profile_name: z.string().nullable(),
  asset_type: z.enum(assetTypes),
  device_index: deviceIndex,
  tick: z.int().min(0).openapi({ description: 'Counts up by 1 per tick.' }),
  wall_time: isoTime.openapi({ description: 'Wall time at which the tick was computed.' }),
};

export const snapshotSchema = z.strictObject(snapshotShape).openapi('Snapshot');

/** from the least to the worst */
export const alarmSeverities = ['info', 'warning', 'error'] as const satisfies readonly AlarmSeverity[];

const alarm = members<Alarm>()('Alarm', () => ({
  code: text(),
  source: word(['ac', 'dc', 'battery', 'comm', 'evse', 'sim'])(),
  severity: word(alarmSeverities)(),
  since: time('Wall time at which the alarm was raised.'),
  device_index: member(() => deviceIndex)(),
  port: integer.orNull(),
  latched: flag(),
  message: text(),
}));

interface AlarmState {
  readonly active: readonly Alarm[];
  readonly latchedCount: number;
}

/** Read once for all members: a thousand devices cost more than the alarms that they have. */
const alarmsOf = (devices: readonly Device[]): AlarmState => ({
  active: devices.flatMap((device) => device.alarms),
  latchedCount: devices.reduce((sum, { latchedAlarmCount }) => sum + latchedAlarmCount, 0),
});

const alarms = members<AlarmState>()('Alarms', () => ({
  active_count: integer(({ active }) => active.length),
  highest_severity: word(alarmSeverities).orNull(({ active }) => {
    const present = new Set(active.map(({ severity }) => severity));
    return alarmSeverities.findLast((severity) => present.has(severity));
  }),
  active: list(alarm)(),
  latched_count: integer('Alarms that stay until a reset.'),
}));

const modbusAddress = members<ModbusTcpEndpoint>()('ModbusEndpoint', () => ({
  host: text(),
  port: integer(),
  unit_id: integer(),
  tls: flag(),
}));

interface Summarized {
  readonly device: Device;
  readonly snapshot: Snapshot;
  readonly condition: Condition;
}

const pluggedVehicle = members<EvDetail>()('PluggedVehicle', () => ({
  name: text.orNull('Its identity; null: it has none.', ({ id }) => id),
  soc_pct: measured('State of charge.'),
}));

/** The vehicle of the first connector that has one. */
function vehicleAt({ detail }: Device): EvDetail | null {
  return detail.kind === 'evse' ? (detail.connectors.find(({ ev }) => ev !== null)?.ev ?? null) : null;
}

const deviceSummary = members<Summarized, RouteContext>()('DeviceSummary', () => ({
  device_index: member(() => deviceIndex)(({ device }) => device.index),
  name: text(({ device }) => device.name),
  device_type: text(({ device }) => device.deviceType),
  device_profile_name: text.orNull(({ device }) => device.profileName),
  asset_type: word(assetTypes)(({ device }) => device.assetType),
  dc_mode: word(dcModes)(({ device }) => device.dcMode),
  dc_port_count: integer(({ snapshot }) => snapshot.dc_port_count),
  status: member(() => statusSchema)(({ snapshot }) => snapshot.status),
  power_kw: number(({ snapshot }) => snapshot.metrics.power_kw),
  reactive_power_kvar: number(({ snapshot }) => snapshot.metrics.reactive_power_kvar),
  state_of_charge_pct: number.orNull('Null without storage.', ({ snapshot }) => snapshot.metrics.state_of_charge_pct),
  alarm_count: integer(({ device }) => device.alarms.length),
  decided_by: member(() => decidedBySchema)(
    'As in `controls`, which also names the limit behind `site`.',
    ({ device }) => device.trace.decidedBy,
  ),
  kind_state: word(kindStates)(
    'State in the words of its kind; `limited` only where sun or wind would give more.',
    ({ condition }) => condition.state,
  ),
  limited_by: word(limitKeys).orNull(
    'The limit that wins in `controls/why`; of a station that is not held as a whole, that of its first connector with ' +
      'one. Null: nothing limits.',
    ({ condition }) => condition.limitedBy,
  ),
  possible_kw: inKilo(
    'Power without that limit, the `basis` of `controls/why`; positive = injected.',
    ({ condition }) => condition.possibleW,
  ),
  rated_kw: inKilo('The larger one of the ratings of both directions (702.WMaxRtg, 702.WChaRteMaxRtg).', ({ device }) =>
    Math.max(...['WMaxRtg', 'WChaRteMaxRtg'].map((name) => pointNumber(device.bank, 702, name) ?? 0)),
  ),
  vehicle: nested(pluggedVehicle).orNull('The vehicle at the first connector that has one; null: none.', ({ device }) =>
    vehicleAt(device),
  ),
  last_write: member(() => lastWriteSchema).orNull(
    'The newest write; null: none since the start. After a reset of the device, the reset.',
    ({ device }, { plant }) => lastWriteReply(plant, device),
  ),
  modbus: nested(modbusAddress).orNull(({ device }, { adapters }) => modbusEndpoint(adapters, device.index)),
  charge_point_id: text.orNull(({ device }, { chargePointId }) => chargePointId(device)),
}));

const commState = members<AdapterStatus>()('CommState', () => ({
  enabled: flag(),
  state: word(commStates)(),
  detail: text.orNull("The protocol's own state word, or the last error in words."),
  endpoint: text.orNull(),
  peers: integer(),
  last_activity: time.orNull(),
  rx_count: integer(),
  tx_count: integer(),
  error_count: integer(),
  last_error: text.orNull('The last error of those counted, in words; null: none yet.', (of) => of.lastError?.text),
  last_error_at: time.orNull('Wall time of the last error.', (of) => of.lastError?.atMs),
}));
export type CommReply = ReplyOf<typeof commState>;

/** Several adapters of one protocol (a server per device) show as one; `disabled`: this process does not run it. */
function statusOf(adapters: readonly Adapter[], name: CommName): AdapterStatus {
  const statuses = adapters.filter(({ comm }) => comm === name).map((adapter) => adapter.status());
  const representative = statuses.find(({ state }) => state === 'error') ?? statuses[0] ?? disabledStatus;
  const sum = (pick: (status: AdapterStatus) => number) => statuses.reduce((total, status) => total + pick(status), 0);
  const activity = statuses.flatMap(({ lastActivityMs }) => lastActivityMs ?? []);
  return {
    ...representative,
    enabled: statuses.some(({ enabled }) => enabled),
    peers: sum(({ peers }) => peers),
    lastActivityMs: activity.length > 0 ? Math.max(...activity) : null,
    rxCount: sum(({ rxCount }) => rxCount),
    txCount: sum(({ txCount }) => txCount),
    errorCount: sum(({ errorCount }) => errorCount),
    lastError: statuses.reduce<AdapterError | null>((last, status) => newerError(last, status.lastError), null),
  };
}

const stateOf = (name: CommName) => nested(commState)((adapters: readonly Adapter[]) => statusOf(adapters, name));

/** State of every protocol. */
export const commStatus = members<readonly Adapter[]>()(
  'CommStatus',
  () =>
    Object.fromEntries(commNames.map((name) => [name, stateOf(name)])) as Record<CommName, ReturnType<typeof stateOf>>,
);

/** The schema of a reply with the members of a snapshot, followed by those of a table. */
function besideSnapshot<T>(name: string, table: { members: () => object; reply?: (...args: never) => T }) {
  const kinds = Object.entries(table.members()) as [string, { readonly schema: () => z.ZodType }][];
  const shape = Object.fromEntries(
    kinds.map(([member, kind]) => [member, 'isOptional' in kind ? kind.schema().optional() : kind.schema()]),
  );
  return z.strictObject({ ...snapshotShape, ...shape }).openapi(name) as unknown as z.ZodType<Snapshot & T>;
}

/** The devices that an overview lists. */
interface Listed {
  readonly devices: readonly Device[];
  /** number of all devices; undefined: the request has no limit */
  readonly total: number | undefined;
  /** true: devices with higher indexes than those listed are left out */
  readonly isCut: boolean;
}

/** Members of the overview beside the snapshot. */
export const overviewRest = members<Listed, RouteContext>()(null, () => ({
  devices: list(deviceSummary)(({ devices }, ctx) =>
    devices.map((device) => ({
      device,
      snapshot: latestOf(ctx, device).snapshot,
      condition: conditionOf(device),
    })),
  ),
  comm_status: nested(commStatus)((_listed, { adapters }) => adapters),
  devices_total: count.optional('Only with `limit`, and at the gateway of a fleet: all devices.', ({ total }) => total),
  devices_truncated: flag.optional(
    'Only with `limit`, and at the gateway of a fleet: true if there are devices behind those of `devices`.',
    ({ isCut, total }) => (total === undefined ? undefined : isCut),
  ),
  missing: missingMember(),
}));
/** Members of the overview whose devices a request chooses. */
export const overviewAlarms = members<readonly Device[]>()(null, () => ({
  alarms: nested(alarms)('Alarms of all devices, or only of the device that `device` selects.', alarmsOf),
}));
const overviewParts = { members: () => ({ ...overviewRest.members(), ...overviewAlarms.members() }) };
type OverviewParts = ReplyOf<typeof overviewRest> & ReplyOf<typeof overviewAlarms>;
export const overviewSchema = memo(() => besideSnapshot<OverviewParts>('Overview', overviewParts));
export type OverviewReply = z.output<ReturnType<typeof overviewSchema>>;

const entryRest = members<Device, RouteContext>()(null, () => ({
  name: text(),
  alarms: nested(alarms)((device) => alarmsOf([device])),
  modbus: nested(modbusAddress).orNull(({ index }, { adapters }) => modbusEndpoint(adapters, index)),
  charge_point_id: text.orNull((device, { chargePointId }) => chargePointId(device)),
}));
export const deviceEntrySchema = memo(() => besideSnapshot('DeviceEntry', entryRest));
type DeviceEntryReply = z.output<ReturnType<typeof deviceEntrySchema>>;

/** One entry of the list of devices. */
export function deviceEntry(ctx: RouteContext, device: Device): JsonText<DeviceEntryReply> {
  return withMembers(latestOf(ctx, device), jsonOf(entryRest.reply(device, ctx)));
}

interface ServedDevice {
  readonly device: Device;
  readonly ctx: RouteContext;
}

const csipIdentity = members<ServedDevice>()('DeviceCsip', () => ({
  nmi: text.orNull('Identifier of its connection point (NMI); null: none.', ({ device, ctx }) =>
    ctx.csipClient.enabled ? endDeviceOf(ctx, device)?.nmi : device.csip?.nmi,
  ),
  lfdi: text.orNull('LFDI of its EndDevice; null: the client has none yet.', ({ device, ctx }) =>
    ctx.csipClient.enabled ? endDeviceOf(ctx, device)?.lfdi : device.csip?.lfdi,
  ),
  pin_set: flag('True: the device has a PIN of its own.', ({ device }) => device.csip?.pin !== undefined),
}));

const dnp3Outstation = members<ServedDevice>()('DeviceDnp3', () => ({
  address: integer.orNull('Link address; null: that of the settings, while DNP3 is off.', ({ device, ctx }) =>
    ctx.dnp3.enabled ? ctx.dnp3.outstation(device.index)?.address : device.dnp3?.address,
  ),
  port: integer.orNull('TCP port; null: that of the settings, while DNP3 is off.', ({ device, ctx }) =>
    ctx.dnp3.enabled ? dnp3Port(ctx, device) : device.dnp3?.port,
  ),
  profile: word(dnp3Profiles).orNull('Point map; null: that of the settings, while DNP3 is off.', ({ device, ctx }) =>
    ctx.dnp3.enabled ? ctx.dnp3.outstation(device.index)?.profile : device.dnp3?.profile,
  ),
}));

const ocppStation = members<ServedDevice>()('DeviceOcpp', () => ({
  id: text.orNull('Identity of the charge point.', ({ device, ctx }) => ctx.chargePointId(device)),
  version: list({ schema: () => z.enum(ocppVersions) }).orNull(
    'Versions that it offers, in the order of its preference; null: those of the settings, while OCPP is off.',
    ({ device, ctx }) => ctx.ocpp.ofDevice(device.index)?.status.versions ?? device.ocpp?.versions,
  ),
  url: text.orNull(
    'Endpoint of its central system; null: that of the settings, while OCPP is off.',
    ({ device, ctx }) => ctx.ocpp.ofDevice(device.index)?.status.url ?? device.ocpp?.url,
  ),
  auto_authorize: flag.orNull(
    'True: plugging in presents the token AUTO; null: as the setting ocpp_auto_authorize says.',
    ({ device }) => device.ocpp?.autoAuthorize,
  ),
}));

function endDeviceOf({ csipClient }: RouteContext, { index }: Device): CsipManagedDevice | undefined {
  return csipClient.certificates(index).endDevices.find(({ deviceIndices }) => deviceIndices.includes(index));
}

function dnp3Port({ adapters }: RouteContext, { index }: Device): number | null {
  const endpoints = adapters.flatMap((adapter) => adapter.endpointOf?.(index) ?? []);
  return endpoints.flatMap((endpoint) => (endpoint.protocol === 'dnp3' ? endpoint.port : []))[0] ?? null;
}

const detailRest = members<Device, RouteContext>()(null, () => ({
  ...entryRest.members(),
  ocpp: nested(ocppStation).orNull('The charge point; null: the device is none.', (device, ctx) =>
    ctx.chargePointId(device) === null ? null : { device, ctx },
  ),
  csip: nested(csipIdentity)('Identities in IEEE 2030.5.', (device, ctx) => ({ device, ctx })),
  dnp3: nested(dnp3Outstation)('The outstation.', (device, ctx) => ({ device, ctx })),
}));
const deviceDetailSchema = memo(() => besideSnapshot('DeviceDetail', detailRest));
type DeviceDetailReply = z.output<ReturnType<typeof deviceDetailSchema>>;

const changedRest = members<DeviceChanged>()(null, () => ({
  device_restarted: flag(
    'True: another device has taken the place, whose settings and counters begin anew.',
    ({ hasRestarted }) => hasRestarted,
  ),
  restarted: list({ schema: () => z.enum(commNames) })(
    'Protocols whose services of the device have begun anew.',
    ({ protocols }) => protocols,
  ),
}));
type ChangedDeviceReply = Snapshot & ReplyOf<typeof detailRest> & ReplyOf<typeof changedRest>;
const changedDeviceReply = memo(() =>
  besideSnapshot<ReplyOf<typeof detailRest> & ReplyOf<typeof changedRest>>('ChangedDevice', {
    members: () => ({ ...detailRest.members(), ...changedRest.members() }),
  }),
);

function jsonOf(reply: unknown): Buffer {
  return Buffer.from(JSON.stringify(reply));
}

/** The declaration is shared with the configuration: the entry of a device must mean the same in both. */
const addDeviceBodySchema = memo(() =>
  z.strictObject(addedDeviceSchema.shape).openapi('AddedDevice', {
    description:
      'The device to add: an entry of `devices` of a configuration, without the members that name files. ' +
      'An empty object adds the device that the settings describe.',
  }),
);

const changeBodySchema = memo(() =>
  z.strictObject(changedDeviceSchema.shape).openapi('DeviceChange', {
    description: 'Members to change, as in an entry of `devices`; null: the default. At least one is required.',
  }),
);

/** Members that neither logs nor refusals repeat. */
const secretMembers = ['pin'];

/** @throws HttpProblem for settings of a station that would never connect */
function checkStation(ctx: RouteContext, ocpp: ChangedDevice['ocpp']): void {
  if (ctx.ocpp.enabled || ((ocpp?.version ?? null) === null && (ocpp?.url ?? null) === null)) return;
  throw new HttpProblem('disabled', 'OCPP is switched off: the station would never connect to its central system.');
}

const deviceParamsSchema = memo(() =>
  z.strictObject({
    index: integerParam('index', 0, maxDeviceIndex, 'Device index, 0-based.'),
  }),
);

const removedDevice = members<number, RouteContext>()('RemovedDevice', () => ({
  device_index: member(() => deviceIndex)((index) => index),
  device_count: count('Remaining devices.', (_index, { plant }) => plant.devices.length),
}));

/** One operation with two methods, POST and DELETE, for clients of either style. */
function removal(method: 'post' | 'delete', path: string, operationId: string): Route {
  return route({
    method,
    path,
    tag: 'Core',
    operationId,
    summary: 'Removes a device while the simulator runs',
    description:
      'Its commands are canceled, masters on its Modbus port are disconnected (on a shared port its unit id is no ' +
      'longer served), and streams of only this device are closed. Indexes, ports and unit ids of other devices stay; the index ' +
      'is never used again and answers `unknown-device`. The last device can be removed too.',
    params: deviceParamsSchema(),
    isSetup: true,
    reply: removedDevice.schema,
    problems: ['unknown-device'],
    async handle(ctx, { params, by }) {
      await ctx.removeDevice(params.index, by);
      return removedDevice.reply(params.index, ctx);
    },
  });
}

export const deviceRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/devices',
    tag: 'Core',
    operationId: 'add_device',
    isSetup: true,
    summary: 'Adds a device while the simulator runs',
    description:
      'The body is one entry of `devices` of a configuration file: `device_type`, `name` and `profile` (a bundled name ' +
      'or the profile itself) or `evse_profile`; the settings of the process are its defaults. Only a configuration can name ' +
      'files, and one device is added at a time. The device gets the index above the highest ever used, and with it its ' +
      'Modbus port or unit id. From the end of the current tick it is in service and settled in the current grid and weather. ' +
      'All errors of a profile are reported together, as JSON pointers into the body. `conflict`: there are 10000 devices ' +
      'already, the port is taken, the port or unit id would exceed the maximum, another device has the charge point ' +
      'identity, the series of the configuration cannot be used, or the faults of the profile exceed a limit; nothing has ' +
      'changed then. `disabled`: ' +
      '`ocpp.version` or `ocpp.url` is given while OCPP is switched off; `ocpp.id` names the station even then. `shortage`: ' +
      'the process has no file descriptor left for the port of the device or for its profile; the detail says so.',
    body: addDeviceBodySchema,
    secretMembers,
    reply: deviceEntrySchema,
    status: 201,
    problems: ['conflict', 'disabled', 'shortage'],
    replyHeaders: {
      Location: { description: 'Address of the entry of the device.', example: `${apiPrefix}/devices?device=3` },
    },
    async handle(ctx, { body, by }) {
      checkStation(ctx, body.ocpp);
      const device = await ctx.addDevice(body, by);
      return new Answer<DeviceEntryReply>(deviceEntry(ctx, device), {
        headers: { Location: `${apiPrefix}/devices?device=${device.index}` },
      });
    },
  }),
  route({
    method: 'get',
    path: '/devices/{index}',
    tag: 'Core',
    operationId: 'get_device',
    summary: 'One device with its identities and places in the protocols',
    description:
      'As in `devices`, and the blocks `ocpp`, `csip` and `dnp3` as they are in force; `modbus` is its Modbus TCP address. ' +
      'While a protocol is switched off, its block shows what the device has of its own. Secrets are never shown.',
    params: deviceParamsSchema(),
    reply: deviceDetailSchema,
    problems: ['unknown-device'],
    handle(ctx, { params }) {
      const device = ctx.plant.device(params.index);
      return withMembers<DeviceDetailReply>(latestOf(ctx, device), jsonOf(detailRest.reply(device, ctx)));
    },
  }),
  route({
    method: 'patch',
    path: '/devices/{index}',
    tag: 'Core',
    operationId: 'change_device',
    isSetup: true,
    summary: 'Changes a device while the simulator runs, all of the request or nothing',
    description:
      'Members of an entry of `devices`; absent ones stay, null takes one back to its default. Other identities and places ' +
      'restart the service of the device at the adapters of these protocols: its connections close, those of other devices ' +
      'stay. Another `device_type`, `profile` or `evse_profile` lets another device take the place: its index, streams, own grid ' +
      'and own weather stay; settings, energies, history, commands, holds and faults begin anew. With a state folder the ' +
      'change survives a restart, also over a configuration that has changed meanwhile. `conflict`: another device has the ' +
      'identity, port, unit id or address, or an adapter does not serve the device with them; everything runs as before ' +
      'then. `disabled`: `ocpp.version` or `ocpp.url` is given while OCPP is switched off.',
    params: deviceParamsSchema(),
    body: changeBodySchema,
    secretMembers,
    reply: changedDeviceReply,
    problems: ['unknown-device', 'conflict', 'disabled', 'shortage'],
    async handle(ctx, { params, body, by }) {
      if (Object.keys(body).length === 0) throw invalid('body', '', 'at least one member is required');
      checkStation(ctx, body.ocpp);
      const change = await ctx.changeDevice(params.index, body, by);
      const device = ctx.plant.device(params.index);
      const parts = [detailRest.reply(device, ctx), changedRest.reply(change)];
      return withMembers<ChangedDeviceReply>(latestOf(ctx, device), ...parts.map(jsonOf));
    },
  }),
  removal('post', '/devices/{index}/remove', 'remove_device'),
  removal('delete', '/devices/{index}', 'delete_device'),
];
