import { commNames, disabledStatus } from '../../core/adapter.ts';
import type { Adapter, AdapterStatus, CommName } from '../../core/adapter.ts';
import type { Alarm, AlarmSeverity } from '../../contract/device.ts';
import type { Published } from '../../contract/snapshot.ts';
import type { Plant } from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';
import { positionOf } from '../../contract/snapshot.ts';
import { SimError } from '../../core/errors.ts';
import type { RouteContext } from '../http/context.ts';
import { JsonText } from '../http/route.ts';
import { isoOrNull } from './schemas.ts';
import { lastWriteReply } from './writer-replies.ts';
import type {
  AlarmsReply,
  CommReply,
  DeviceEntryReply,
  DeviceSummary,
  ModbusEndpointReply,
} from '../devices/snapshot-schemas.ts';

const comma = Buffer.from(',');

/**
 * Index of the default device: 0, unless this process serves a later part of a fleet. It does not change when that
 * device is removed: a request must not silently reach another device.
 */
export function firstIndex(plant: Plant): number {
  return plant.firstIndex;
}

/**
 * The device that a request selects.
 * @throws SimError UNKNOWN_DEVICE
 */
export function selectedDevice({ plant }: RouteContext, index: number | undefined): Device {
  return plant.device(index ?? firstIndex(plant));
}

/** The snapshot of a device from the last tick, shared by REST and the stream. */
export function latestOf(ctx: RouteContext, device: Device): Published {
  const { published } = ctx.plant.latest;
  const found = published[positionOf(published, device.index)];
  if (!found) throw new SimError('INTERNAL', `no snapshot of device ${device.index}`);
  return found;
}

/**
 * A snapshot's JSON text with further members, without serialising the snapshot again.
 * @param members JSON text of an object with at least one member
 */
export function withMembers<T>(published: Published, members: Buffer): JsonText<T> {
  return new JsonText<T>(Buffer.concat([published.json.subarray(0, -1), comma, members.subarray(1)]));
}

const severityRank: Readonly<Record<AlarmSeverity, number>> = { info: 0, warning: 1, error: 2 };

function alarmReply(alarm: Alarm): AlarmsReply['active'][number] {
  return {
    code: alarm.code,
    source: alarm.source,
    severity: alarm.severity,
    since: new Date(alarm.sinceMs).toISOString(),
    device_index: alarm.deviceIndex,
    port: alarm.port,
    latched: alarm.latched,
    message: alarm.message,
  };
}

/** Alarm summary of some devices. */
export function alarmSummary(devices: readonly Device[]): AlarmsReply {
  const active = devices.flatMap((device) => device.alarms);
  const highest = active.reduce<AlarmSeverity | null>(
    (worst, { severity }) => (worst === null || severityRank[severity] > severityRank[worst] ? severity : worst),
    null,
  );
  return {
    active_count: active.length,
    highest_severity: highest,
    active: active.map(alarmReply),
    latched_count: devices.reduce((sum, device) => sum + device.latchedAlarmCount, 0),
  };
}

/** The Modbus TCP address of a device; null without. */
export function modbusEndpoint(adapters: readonly Adapter[], index: number): ModbusEndpointReply | null {
  for (const adapter of adapters) {
    const endpoint = adapter.endpointOf?.(index);
    if (endpoint?.protocol !== 'modbus_tcp') continue;
    return { host: endpoint.host, port: endpoint.port, unit_id: endpoint.unitId, tls: endpoint.tls };
  }
  return null;
}

/** One entry of the list of devices. */
export function deviceEntry(ctx: RouteContext, device: Device): JsonText<DeviceEntryReply> {
  return withMembers(
    latestOf(ctx, device),
    Buffer.from(
      JSON.stringify({
        name: device.name,
        alarms: alarmSummary([device]),
        modbus: modbusEndpoint(ctx.adapters, device.index),
        charge_point_id: ctx.chargePointId(device),
      }),
    ),
  );
}

/** One entry of the overview's device list. */
export function deviceSummary(ctx: RouteContext, device: Device): DeviceSummary {
  const { snapshot } = latestOf(ctx, device);
  return {
    device_index: device.index,
    name: device.name,
    device_type: device.deviceType,
    device_profile_name: device.profileName,
    asset_type: device.assetType,
    dc_mode: device.dcMode,
    dc_port_count: snapshot.dc_port_count,
    status: snapshot.status,
    power_kw: snapshot.metrics.power_kw,
    reactive_power_kvar: snapshot.metrics.reactive_power_kvar,
    state_of_charge_pct: snapshot.metrics.state_of_charge_pct,
    alarm_count: device.alarms.length,
    decided_by: device.trace.decidedBy,
    last_write: lastWriteReply(ctx.plant, device),
    modbus: modbusEndpoint(ctx.adapters, device.index),
    charge_point_id: ctx.chargePointId(device),
  };
}

/** Several adapters of one protocol (a server per device) show as one. */
function merged(statuses: readonly AdapterStatus[]): AdapterStatus {
  const first = statuses.find(({ state }) => state === 'error') ?? statuses[0] ?? disabledStatus;
  const sum = (pick: (status: AdapterStatus) => number) => statuses.reduce((total, status) => total + pick(status), 0);
  const activity = statuses.flatMap(({ lastActivityMs }) => lastActivityMs ?? []);
  return {
    ...first,
    enabled: statuses.some(({ enabled }) => enabled),
    peers: sum(({ peers }) => peers),
    lastActivityMs: activity.length > 0 ? Math.max(...activity) : null,
    rxCount: sum(({ rxCount }) => rxCount),
    txCount: sum(({ txCount }) => txCount),
    errorCount: sum(({ errorCount }) => errorCount),
  };
}

function commReply(status: AdapterStatus): CommReply {
  return {
    enabled: status.enabled,
    state: status.state,
    detail: status.detail,
    endpoint: status.endpoint,
    peers: status.peers,
    last_activity: isoOrNull(status.lastActivityMs),
    rx_count: status.rxCount,
    tx_count: status.txCount,
    error_count: status.errorCount,
  };
}

/** State of every protocol; `disabled` for those that this process does not run. */
export function commStatus(adapters: readonly Adapter[]): Record<CommName, CommReply> {
  const entries = commNames.map((name) => {
    const statuses = adapters.filter(({ comm }) => comm === name).map((adapter) => adapter.status());
    return [name, commReply(statuses.length > 0 ? merged(statuses) : disabledStatus)];
  });
  return Object.fromEntries(entries) as Record<CommName, CommReply>;
}
