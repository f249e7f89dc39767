import { memo } from '../../core/memo.ts';
import { commNames, commStates } from '../../core/adapter.ts';
import type { CommName } from '../../core/adapter.ts';
import { assetTypes, dcModes } from '../../contract/device.ts';
import { connectionStates, inverterStates, serviceStates } from '../../contract/snapshot.ts';
import { z } from '../description/zod.ts';
import { deviceIndex, isoTime, quantity } from '../common/schemas.ts';
import { lastWriteSchema } from '../common/writer-schemas.ts';
import { decidedBySchema } from '../grid-support/trace-schemas.ts';

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
      '714.Prt[0].DCV; hybrid: bus voltage; null without a DC port. Of several PV inputs that of the first.',
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
  device_type: z.string().openapi({ description: 'The flag value as given.' }),
  device_profile_name: z.string().nullable(),
  asset_type: z.enum(assetTypes),
  device_index: deviceIndex,
  tick: z.int().min(0).openapi({ description: 'Counts up by 1 per tick.' }),
  wall_time: isoTime.openapi({ description: 'Wall time at which the tick was computed.' }),
};

export const snapshotSchema = z.strictObject(snapshotShape).openapi('Snapshot');

const alarmSchema = z
  .strictObject({
    code: z.string(),
    source: z.enum(['ac', 'dc', 'battery', 'comm', 'evse', 'sim']),
    severity: z.enum(['info', 'warning', 'error']),
    since: isoTime.openapi({ description: 'Wall time.' }),
    device_index: deviceIndex,
    port: z.int().nullable(),
    latched: z.boolean(),
    message: z.string(),
  })
  .openapi('Alarm');

const alarmsSchema = z
  .strictObject({
    active_count: z.int(),
    highest_severity: z.enum(['info', 'warning', 'error']).nullable(),
    active: z.array(alarmSchema),
    latched_count: z.int().openapi({ description: 'Alarms that stay until a reset.' }),
  })
  .openapi('Alarms');

const modbusEndpointSchema = z
  .strictObject({
    host: z.string(),
    port: z.int(),
    unit_id: z.int(),
    tls: z.boolean(),
  })
  .openapi('ModbusEndpoint');

const deviceSummarySchema = z
  .strictObject({
    device_index: deviceIndex,
    name: z.string(),
    device_type: z.string(),
    device_profile_name: z.string().nullable(),
    asset_type: z.enum(assetTypes),
    dc_mode: z.enum(dcModes),
    dc_port_count: z.int(),
    status: statusSchema,
    power_kw: z.number(),
    reactive_power_kvar: z.number(),
    state_of_charge_pct: quantity('Null without storage.'),
    alarm_count: z.int(),
    decided_by: decidedBySchema.openapi({
      description: 'As in `controls`, which also names the limit behind `site`.',
    }),
    last_write: lastWriteSchema.nullable().openapi({
      description: 'Null: not written since the start. After a reset of the device: the reset.',
    }),
    modbus: modbusEndpointSchema.nullable(),
    charge_point_id: z.string().nullable(),
  })
  .openapi('DeviceSummary');

const commStateSchema = memo(() =>
  z
    .strictObject({
      enabled: z.boolean(),
      state: z.enum(commStates),
      detail: z
        .string()
        .nullable()
        .openapi({ description: "The protocol's own state word, or the last error in words." }),
      endpoint: z.string().nullable(),
      peers: z.int(),
      last_activity: isoTime.nullable(),
      rx_count: z.int(),
      tx_count: z.int(),
      error_count: z.int(),
    })
    .openapi('CommState'),
);

const commShape = Object.fromEntries(commNames.map((name) => [name, commStateSchema()])) as Record<
  CommName,
  ReturnType<typeof commStateSchema>
>;

const overviewExtras = {
  devices: z.array(deviceSummarySchema),
  comm_status: z.strictObject(commShape).openapi('CommStatus'),
  alarms: alarmsSchema.openapi({ description: 'Alarms of all devices.' }),
};
export const overviewSchema = memo(() => z.strictObject({ ...snapshotShape, ...overviewExtras }).openapi('Overview'));

const deviceEntryExtras = {
  name: z.string(),
  alarms: alarmsSchema,
  modbus: modbusEndpointSchema.nullable(),
  charge_point_id: z.string().nullable(),
};
export const deviceEntrySchema = memo(() =>
  z.strictObject({ ...snapshotShape, ...deviceEntryExtras }).openapi('DeviceEntry'),
);
export const devicesSchema = memo(() => z.strictObject({ devices: z.array(deviceEntrySchema()) }).openapi('Devices'));

export type DeviceSummary = z.output<typeof deviceSummarySchema>;
export type AlarmsReply = z.output<typeof alarmsSchema>;
export type CommReply = z.output<ReturnType<typeof commStateSchema>>;
export type ModbusEndpointReply = z.output<typeof modbusEndpointSchema>;
export type OverviewReply = z.output<ReturnType<typeof overviewSchema>>;
export type DevicesReply = z.output<ReturnType<typeof devicesSchema>>;
export type DeviceEntryReply = z.output<ReturnType<typeof deviceEntrySchema>>;

export const exampleSnapshot = {
  metrics: {
    power_kw: 7.42,
    reactive_power_kvar: 0,
    apparent_power_kva: 7.42,
    voltage_ll_v: 480,
    voltage_ln_v: 277.1,
    current_a: 26.78,
    frequency_hz: 60,
    power_factor: 1,
    dc_power_kw: 7.729,
    dc_voltage_v: 612.4,
    dc_current_a: 12.62,
    state_of_charge_pct: null,
    soc_reserve_min_pct: null,
    soc_reserve_max_pct: null,
    soc_min_pct: null,
    soc_max_pct: null,
    timestamp: '2026-06-21T12:00:01.500Z',
  },
  pq: { active_kw: 7.42, reactive_kvar: 0, apparent_kva: 7.42, angle_deg: 0 },
  status: { service_state: 'on', inverter_state: 'running', connection_state: 'connected' },
  clock_time: '12:00:01',
  dc_mode: 'pv',
  dc_port_count: 1,
  device_type: 'PV-3Phase',
  device_profile_name: '10kW-3Phase',
  asset_type: 'pv',
  device_index: 0,
  tick: 1,
  wall_time: '2026-03-01T09:30:00.000Z',
};

const exampleComm = {
  enabled: false,
  state: 'disabled',
  detail: null,
  endpoint: null,
  peers: 0,
  last_activity: null,
  rx_count: 0,
  tx_count: 0,
  error_count: 0,
};
const exampleModbus = { host: '127.0.0.1', port: 8502, unit_id: 1, tls: false };
const exampleAlarms = { active_count: 0, highest_severity: null, active: [], latched_count: 0 };

export const exampleOverview = {
  ...exampleSnapshot,
  devices: [
    {
      device_index: 0,
      name: 'PV-3Phase 0',
      device_type: 'PV-3Phase',
      device_profile_name: '10kW-3Phase',
      asset_type: 'pv',
      dc_mode: 'pv',
      dc_port_count: 1,
      status: exampleSnapshot.status,
      power_kw: 7.42,
      reactive_power_kvar: 0,
      state_of_charge_pct: null,
      alarm_count: 0,
      decided_by: { active: 'source', reactive: 'none' },
      last_write: null,
      modbus: exampleModbus,
      charge_point_id: null,
    },
  ],
  comm_status: {
    ...Object.fromEntries(commNames.map((name) => [name, exampleComm])),
    modbus_tcp: {
      ...exampleComm,
      enabled: true,
      state: 'listening',
      endpoint: 'tcp://127.0.0.1:8502',
      peers: 1,
      last_activity: '2026-03-01T09:29:59.120Z',
      rx_count: 41,
      tx_count: 41,
    },
  },
  alarms: exampleAlarms,
};

export const exampleDevices = {
  devices: [
    { ...exampleSnapshot, name: 'PV-3Phase 0', alarms: exampleAlarms, modbus: exampleModbus, charge_point_id: null },
  ],
};
