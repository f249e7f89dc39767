/** Charge points as members of replies. */
import type { z } from 'zod';
import type {
  OcppCallResult,
  OcppConfiguration,
  OcppDerControlEntry,
  OcppFinding,
  OcppLocalList,
  OcppMessage,
  OcppProfileEntry,
  OcppSchedule,
  OcppStatus,
  OcppTransactionEntry,
} from '../../contract/ocpp.ts';
import { isoOrNull } from '../common/schemas.ts';
import type { configurationSchema } from './resource-schemas.ts';
import type { callResultSchema, StatusReply } from './schemas.ts';

const iso = (ms: number) => new Date(ms).toISOString();

/** Seconds and milliseconds to three digits: more is noise. */
const rounded = (value: number) => Math.round(value * 1000) / 1000;
const roundedOrNull = (value: number | null) => (value === null ? null : rounded(value));

export function derControlReply(control: OcppDerControlEntry) {
  return {
    control_id: control.controlId,
    control_type: control.controlType,
    is_default: control.isDefault,
    is_superseded: control.isSuperseded,
    start_time: isoOrNull(control.startMs),
    duration_s: roundedOrNull(control.durationS),
    priority: control.priority,
    active: control.active,
    state: control.state,
    overwritten: control.overwritten,
    values: membersOf(control.values),
  };
}

/** Payloads of OCPP are objects; anything else that a peer has sent stands under `value`. */
function membersOf(payload: unknown): Record<string, unknown> {
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
  return isObject ? { ...payload } : { value: payload ?? null };
}

export function statusReply(status: OcppStatus): StatusReply {
  return {
    id: status.id,
    device_index: status.deviceIndex,
    enabled: status.enabled,
    version: status.version,
    subprotocol: status.subprotocol,
    url: status.url,
    connection_state: status.connectionState,
    boot_status: status.bootStatus,
    security_profile: status.securityProfile,
    heartbeat_interval_s: status.heartbeatIntervalS,
    last_heartbeat_at: isoOrNull(status.lastHeartbeatMs),
    connected_since: isoOrNull(status.connectedSinceMs),
    reconnect_in_s: roundedOrNull(status.reconnectInS),
    queue: { calls: status.queue.calls, transaction_messages: status.queue.transactionMessages },
    last_error: status.lastError,
    clock_offset_s: roundedOrNull(status.clockOffsetS),
    tls: status.tls && { version: status.tls.version, cipher: status.tls.suite },
  };
}

export function callReply({
  messageId,
  action,
  durationMs,
  answer,
}: OcppCallResult): z.output<ReturnType<typeof callResultSchema>> {
  const facts = { message_id: messageId, action, duration_ms: rounded(durationMs) };
  if (answer.kind === 'result') return { ...facts, result: membersOf(answer.payload) };
  const { code, description, details } = answer;
  return { ...facts, error: { code, description, details: membersOf(details ?? {}) } };
}

export function messageReply(message: OcppMessage) {
  return {
    id: message.id,
    timestamp: iso(message.atMs),
    direction: message.direction,
    type: message.type,
    message_id: message.messageId,
    action: message.action,
    payload: typeof message.payload === 'string' ? message.payload : membersOf(message.payload),
    duration_ms: roundedOrNull(message.durationMs),
    truncated: message.truncated,
  };
}

export function configurationReply(configuration: OcppConfiguration): z.output<ReturnType<typeof configurationSchema>> {
  if (configuration.kind === 'keys')
    return {
      keys: configuration.keys.map(({ key, value, readonly, rebootRequired }) => ({
        key,
        value,
        readonly,
        reboot_required: rebootRequired,
      })),
    };
  return {
    variables: configuration.variables.map(({ evseId, ...variable }) => ({
      component: variable.component,
      variable: variable.variable,
      attribute: variable.attribute,
      value: variable.value,
      mutability: variable.mutability,
      evse_id: evseId,
      connector_id: variable.connectorId,
      instance: variable.instance,
      reboot_required: variable.rebootRequired,
    })),
  };
}

export function profileReply(entry: OcppProfileEntry) {
  return {
    connector_id: entry.connectorId,
    profile_id: entry.profileId,
    stack_level: entry.stackLevel,
    purpose: entry.purpose,
    kind: entry.kind,
    transaction_id: entry.transactionId,
    effective: entry.effective,
    profile: membersOf(entry.profile),
  };
}

export function scheduleReply({ connectorId, startMs, durationS, unit, periods }: OcppSchedule) {
  return {
    connector_id: connectorId,
    start: iso(startMs),
    duration_s: durationS,
    unit,
    periods: periods.map(({ startS, limit, numberPhases, setpoint, dischargeLimit, mode }) => ({
      start_s: startS,
      limit,
      number_phases: numberPhases,
      ...(setpoint !== undefined && { setpoint }),
      ...(dischargeLimit !== undefined && { discharge_limit: dischargeLimit }),
      ...(mode !== undefined && { operation_mode: mode }),
    })),
  };
}

export function localListReply({ version, entries, cache }: OcppLocalList) {
  const token = ({ idToken, status, expiresMs, parentIdToken }: OcppLocalList['entries'][number]) => ({
    id_token: idToken,
    status,
    expires_at: isoOrNull(expiresMs),
    parent_id_token: parentIdToken,
  });
  return { version, entries: entries.map(token), cache: cache.map(token) };
}

export function transactionReply(entry: OcppTransactionEntry) {
  return {
    transaction_id: entry.transactionId,
    session_id: entry.sessionId,
    connector_id: entry.connectorId,
    id_token: entry.idToken,
    started_at: iso(entry.startedMs),
    ended_at: isoOrNull(entry.endedMs),
    meter_start_wh: entry.meterStartWh,
    meter_stop_wh: entry.meterStopWh,
    stop_reason: entry.stopReason,
    queued: entry.queued,
  };
}

export function findingReply(finding: OcppFinding) {
  return {
    id: finding.id,
    timestamp: iso(finding.atMs),
    kind: finding.kind,
    action: finding.action,
    message_id: finding.messageId,
    clause: finding.clause,
    text: finding.text,
  };
}
