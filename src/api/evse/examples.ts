/** Examples of a station with one AC connector of 22 kW: a vehicle of 11 kW has been charging for six minutes. */
import { exampleGridSupport } from '../grid-support/examples.ts';
import { exampleTime } from '../common/schemas.ts';
import type { ReplyOf } from '../common/members.ts';
import type { connector, session, station } from './members.ts';

export const exampleStationId = 'SIM-CP-1';

export const exampleEv: NonNullable<ReplyOf<typeof connector>['ev']> = {
  id: null,
  battery_capacity_kwh: 60,
  soc_pct: 31.63,
  target_soc_pct: 100,
  reserve_soc_pct: 30,
  max_charge_kw: 11,
  max_discharge_kw: 50,
  phases: 3,
  departure_time: null,
  charging_curve: [
    { soc_pct: 0, fraction: 1 },
    { soc_pct: 80, fraction: 1 },
    { soc_pct: 100, fraction: 0 },
  ],
};

export const exampleSession: ReplyOf<typeof session> = {
  transaction_id: '1',
  session_id: '1',
  charge_point_id: exampleStationId,
  connector_id: 1,
  state: 'active',
  id_token: 'AUTO',
  remote_start_id: null,
  reservation_id: null,
  started_at: exampleTime,
  ended_at: null,
  meter_start_wh: 0,
  energy_wh: 1066,
  energy_discharged_wh: 0,
  stop_reason: null,
  offline: false,
  charging_state: 'charging',
};

export const exampleStopped: ReplyOf<typeof session> = {
  ...exampleSession,
  state: 'ended',
  ended_at: '2026-06-21T12:06:00.000Z',
  stop_reason: 'Local',
  charging_state: 'idle',
};

export const exampleConnector: ReplyOf<typeof connector> = {
  connector_id: 1,
  evse_id: 1,
  type: 'ac',
  standard: 'Type2',
  max_power_kw: 22,
  min_power_kw: 4.0986,
  phases: 3,
  supply_phases: [1, 2, 3],
  bidirectional: false,
  status: 'charging',
  status_ocpp_2: 'occupied',
  error_code: 'NoError',
  error_info: null,
  vendor_error_code: null,
  operative: true,
  authorized: true,
  contactor_closed: true,
  cable: { ev_plugged: true, evse_plugged: true, locked: true },
  ev: exampleEv,
  session: exampleSession,
  power_kw: 11,
  current_a: [16.1, 16.1, 16.1],
  voltage_v: 230.940108,
  energy_wh: 1066,
  energy_export_wh: 0,
  wanted_kw: 11,
  possible_kw: 21.948548,
  allocated_kw: 21.948548,
  limit_kw: 11,
  limit_source: 'ev',
  local_limit_kw: null,
  local_limit_by: null,
  discharge_kw: null,
  discharge_by: null,
  reservation: null,
};

const idle = { ...exampleSession, state: 'starting', energy_wh: 0, charging_state: 'ev_connected' } as const;

/** Directly after plugging in at a station that authorises by plugging in. */
export const examplePlugged: ReplyOf<typeof connector> = {
  ...exampleConnector,
  status: 'preparing',
  contactor_closed: false,
  session: idle,
  ev: { ...exampleEv, id: 'EV-7', soc_pct: 40 },
  power_kw: 0,
  current_a: [0, 0, 0],
  energy_wh: 0,
  allocated_kw: 0,
  limit_kw: 22,
  limit_source: 'none',
};

export const exampleFree: ReplyOf<typeof connector> = {
  ...examplePlugged,
  min_power_kw: 1.3662,
  status: 'available',
  status_ocpp_2: 'available',
  authorized: false,
  cable: { ev_plugged: false, evse_plugged: false, locked: false },
  ev: null,
  session: null,
  wanted_kw: 0,
};

export const exampleEvse: ReplyOf<typeof station> = {
  id: exampleStationId,
  device_index: 0,
  profile: 'EVSE-AC-22kW-1port',
  vendor: 'derbench',
  model: 'AC-22',
  serial_number: 'DB-000000',
  firmware_version: '1.0.0',
  ocpp: null,
  max_power_kw: 22,
  power_kw: 11,
  standby_kw: 0.003,
  energy_wh: 1066.3,
  energy_export_wh: 0,
  sharing: 'proportional',
  authority: 'local',
  external_limit: null,
  battery: { capacity_kwh: 60, soc_pct: 31.63 },
  connectors: [exampleConnector],
};

export const exampleProfiles = {
  profiles: [
    {
      name: 'EVSE-V2G-DC-50kW-bidir',
      description: 'DC station of 50 kW with one CCS 2 cable for charging and vehicle to grid.',
      max_power_kw: 50,
      battery_kwh: 75,
      connectors: [{ connector_id: 1, type: 'dc', standard: 'CCS2', max_power_kw: 50, bidirectional: true }],
      v2g: true,
      bundled: true,
    },
  ],
};

const { watt_var: wattVar, freq_droop: droop, pf, active_power: activePower } = exampleGridSupport;

/** Members in which a device that takes power differs from one that only delivers. */
const load = {
  watt_var: {
    ...wattVar,
    points: [-100, -50, -20, 20, 50, 100].map((w_pct) => ({
      w_pct,
      var_pct: w_pct === 100 ? -44 : w_pct === -100 ? 44 : 0,
    })),
  },
  freq_droop: { ...droop, p_min_pct: -100 },
  pf: { ...pf, absorb: pf.inject },
  active_power: {
    ...activePower,
    setpoint_pct: -100,
    setpoint_kw: -22,
    reversion_setpoint_pct: -100,
    reversion_setpoint_kw: -22,
  },
};

export const exampleDerControls = { ...exampleGridSupport, ...load, limit_max_discharge_pct: null, control_ids: {} };
export const exampleDischargeLimit = {
  ...exampleDerControls,
  max_power: { ...exampleGridSupport.max_power, enabled: true, limit_pct: 40, source: 'rest', changed_at: exampleTime },
  limit_max_discharge_pct: 40,
};
