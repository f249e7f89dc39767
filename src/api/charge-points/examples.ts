/** Examples of a charge point of 1.6 that has charged one vehicle. */
import { exampleTime } from '../common/schemas.ts';
import type { ReplyOf } from '../common/members.ts';
import type { status } from './members.ts';

export const exampleStatus: ReplyOf<typeof status> = {
  id: 'SIM-CP-1',
  device_index: 0,
  enabled: true,
  version: 'ocpp1.6j',
  subprotocol: 'ocpp1.6',
  url: 'ws://127.0.0.1:8180/steve/websocket/CentralSystemService',
  connection_state: 'connected',
  boot_status: 'accepted',
  security_profile: 0,
  heartbeat_interval_s: 300,
  last_heartbeat_at: exampleTime,
  connected_since: exampleTime,
  reconnect_in_s: null,
  queue: { calls: 0, transaction_messages: 0 },
  last_error: null,
  clock_offset_s: 0.012,
  tls: null,
};

export const exampleConnecting: ReplyOf<typeof status> = {
  ...exampleStatus,
  subprotocol: null,
  connection_state: 'connecting',
  boot_status: 'none',
  connected_since: null,
};

export const exampleDisconnected: ReplyOf<typeof status> = {
  ...exampleConnecting,
  connection_state: 'disconnected',
  queue: { calls: 0, transaction_messages: 2 },
};

export const exampleBoot = {
  message_id: '4d1f5f3e-6a4b-4f0e-9d5a-0c6d0f6f7a11',
  action: 'BootNotification',
  duration_ms: 3.2,
  result: { status: 'Accepted', currentTime: exampleTime, interval: 300 },
};

export const exampleHeartbeat = { ...exampleBoot, action: 'Heartbeat', result: { currentTime: exampleTime } };

export const exampleCall = { ...exampleBoot, action: 'DataTransfer', result: { status: 'UnknownVendorId' } };

export const exampleMessages = {
  messages: [
    {
      id: 12,
      timestamp: exampleTime,
      direction: 'out' as const,
      type: 'call' as const,
      message_id: exampleBoot.message_id,
      action: 'Heartbeat',
      payload: {},
      duration_ms: null,
      truncated: false,
    },
    {
      id: 13,
      timestamp: exampleTime,
      direction: 'in' as const,
      type: 'result' as const,
      message_id: exampleBoot.message_id,
      action: 'Heartbeat',
      payload: { currentTime: exampleTime },
      duration_ms: 3.2,
      truncated: false,
    },
  ],
};

export const exampleKey = { key: 'HeartbeatInterval', value: '300', readonly: false, reboot_required: false };

export const exampleProfiles = {
  charging_profiles: [
    {
      connector_id: 1,
      profile_id: 7,
      stack_level: 0,
      purpose: 'TxDefaultProfile',
      kind: 'Absolute',
      transaction_id: null,
      effective: true,
      profile: {
        chargingProfileId: 7,
        stackLevel: 0,
        chargingProfilePurpose: 'TxDefaultProfile',
        chargingProfileKind: 'Absolute',
        chargingSchedule: { chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit: 7400 }] },
      },
    },
  ],
};

export const exampleSchedule = {
  connector_id: 1,
  start: exampleTime,
  duration_s: 86_400,
  unit: 'W' as const,
  periods: [{ start_s: 0, limit: 7400, number_phases: 3 }],
};

export const exampleReservations = {
  reservations: [{ reservation_id: 1, connector_id: 1, id_token: 'TAG-1', expires_at: exampleTime }],
};

export const exampleOcppDerControls = {
  controls: [
    {
      control_id: 'DER-1',
      control_type: 'LimitMaxDischarge',
      is_default: false,
      is_superseded: false,
      start_time: exampleTime,
      duration_s: 900,
      priority: 1,
      active: true,
      state: 'applied' as const,
      overwritten: false,
      values: { priority: 1, pctMaxDischargePower: 40, startTime: exampleTime, duration: 900 },
    },
  ],
};

const exampleToken = { id_token: 'TAG-1', status: 'Accepted', expires_at: null, parent_id_token: null };
export const exampleLocalList = { version: 3, entries: [exampleToken], cache: [{ ...exampleToken, id_token: 'AUTO' }] };

export const exampleCertificates = {
  certificates: [
    {
      use: 'CentralSystemRootCertificate',
      subject: 'CN=Example Root',
      issuer: 'CN=Example Root',
      serial_number: '01',
      valid_from: '2026-01-01T00:00:00.000Z',
      valid_to: '2036-01-01T00:00:00.000Z',
      fingerprint: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
  ],
};

export const exampleTransactions = {
  transactions: [
    {
      transaction_id: '4711',
      session_id: '1',
      connector_id: 1,
      id_token: 'AUTO',
      started_at: exampleTime,
      ended_at: null,
      meter_start_wh: 0,
      meter_stop_wh: null,
      stop_reason: null,
      queued: 0,
    },
  ],
};

export const exampleFindings = {
  findings: [
    {
      id: 1,
      timestamp: exampleTime,
      kind: 'schema' as const,
      action: 'RemoteStartTransaction',
      message_id: exampleBoot.message_id,
      clause: 'OCPP-J 1.6 4.1.4',
      text: 'idTag is missing',
    },
  ],
};
