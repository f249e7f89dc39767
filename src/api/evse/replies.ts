import { addSeconds } from '../../core/time/clock.ts';
import type { EvDetail, EvPatch, EvseConnectorDetail, EvseDetail, EvseSession } from '../../contract/kinds/evse.ts';
import { chargePoint } from '../../contract/charge-point-ids.ts';
import type { OcppStation, OcppTransactionEntry } from '../../contract/ocpp.ts';
import { memo } from '../../core/memo.ts';
import { status } from '../charge-points/members.ts';
import { SimError } from '../../core/errors.ts';
import type { Provenance } from '../../core/origin.ts';
import type { Device } from '../../contract/device.ts';
import type { EvseProfile, RouteContext } from '../http/context.ts';
import { pointText } from '../common/points.ts';
import type { ConnectorReply, EvReply, EvseReply, ProfileReply, SessionReply } from './schemas.ts';
import type { EvPatchBody } from './request-schemas.ts';
import { detailOf, kilo, rounded } from '../common/kind-replies.ts';
import { overrideWriter, writerReply } from '../common/writer-replies.ts';
import type { OverrideName } from '../../contract/overrides.ts';
import type { WriterReply } from '../common/writer-schemas.ts';

const unkilo = (value: number | undefined) => (value === undefined ? undefined : value * 1000);

/** A charging station with its state at the moment of the request. */
export interface Station {
  readonly device: Device;
  readonly id: string;
  readonly detail: EvseDetail;
  /** null: OCPP is switched off */
  readonly ocpp: OcppStation | null;
  /** transactions of OCPP by session of the device; read at the first need */
  readonly transactionOf: (sessionId: string) => OcppTransactionEntry | undefined;
  /** simulated seconds since the device began, as ISO text */
  readonly iso: (seconds: number) => string;
  /** a writer as replies show it */
  readonly changedBy: (writer: Provenance | null) => WriterReply | null;
  /** last writer of something at a connector */
  readonly writerOf: (name: OverrideName, connectorId: number) => WriterReply | null;
}

/**
 * The station that a device is.
 * @throws SimError COMMAND_NOT_APPLICABLE for every other kind
 */
export function stationOf({ plant, chargePointId, ocpp }: RouteContext, device: Device): Station {
  const detail = detailOf(device, 'evse');
  const id = chargePointId(device);
  if (id === null) throw new SimError('INTERNAL', `device ${device.index} has no charge point identity`);
  const station = ocpp.ofDevice(device.index);
  // newest first, and a process counts its sessions from 1: the newest of an id is that of this process
  const transactions = memo(
    () =>
      new Map(
        station
          ?.transactions()
          .toReversed()
          .map((each) => [each.sessionId, each]),
      ),
  );
  return {
    device,
    id,
    detail,
    ocpp: station,
    transactionOf: (sessionId) => transactions().get(sessionId),
    iso: (seconds) => new Date(plant.dateMs(addSeconds(device.startedAt, seconds))).toISOString(),
    changedBy: (writer) => writerReply(plant, writer),
    writerOf: (name, connectorId) => overrideWriter(plant, device, name, connectorId),
  };
}

/** All stations in the order of their devices. */
export function allStations(ctx: RouteContext): Station[] {
  return ctx.plant.devices.filter(({ assetType }) => assetType === 'evse').map((device) => stationOf(ctx, device));
}

/** @throws SimError UNKNOWN_RESOURCE */
export function stationById(ctx: RouteContext, id: string): Station {
  return stationOf(ctx, chargePoint(ctx.plant, ctx.chargePointId, id));
}

/** @throws SimError UNKNOWN_RESOURCE */
export function connectorOf({ id, detail }: Station, connectorId: number): EvseConnectorDetail {
  const found = detail.connectors.find((each) => each.connectorId === connectorId);
  if (found) return found;
  const known = detail.connectors.map((each) => each.connectorId).join(', ');
  throw new SimError('UNKNOWN_RESOURCE', `${id} has no connector ${connectorId}; it has ${known}.`);
}

function evReply(ev: EvDetail): EvReply {
  return {
    id: ev.id,
    battery_capacity_kwh: kilo(ev.batteryCapacityWh),
    soc_pct: rounded(ev.socPct),
    target_soc_pct: rounded(ev.targetSocPct),
    reserve_soc_pct: rounded(ev.reserveSocPct),
    max_charge_kw: kilo(ev.maxChargeW),
    max_discharge_kw: kilo(ev.maxDischargeW),
    phases: ev.phases,
    charging_curve: ev.chargingCurve.map(({ socPct, fraction }) => ({ soc_pct: socPct, fraction })),
    departure_time: ev.departureTime,
  };
}

/** The vehicle members of a request, in the units of the contract. */
export function evPatch(body: EvPatchBody): EvPatch {
  return {
    id: body.id,
    batteryCapacityWh: unkilo(body.battery_capacity_kwh),
    socPct: body.soc_pct,
    targetSocPct: body.target_soc_pct,
    reserveSocPct: body.reserve_soc_pct,
    maxChargeW: unkilo(body.max_charge_kw),
    maxDischargeW: unkilo(body.max_discharge_kw),
    phases: body.phases,
    chargingCurve: body.charging_curve?.map(({ soc_pct: socPct, fraction }) => ({ socPct, fraction })),
    departureTime: body.departure_time,
  };
}

/** What cannot be mistaken for an id of a central system, which has told none yet. */
const localId = (sessionId: string) => `local-${sessionId}`;

export function sessionReply({ id, iso, ocpp, transactionOf }: Station, session: EvseSession): SessionReply {
  const transaction = transactionOf(session.transactionId);
  const ownId = ocpp === null ? session.transactionId : localId(session.transactionId);
  return {
    transaction_id: transaction?.transactionId ?? ownId,
    session_id: session.transactionId,
    charge_point_id: id,
    connector_id: session.connectorId,
    state: session.state,
    id_token: session.idToken,
    remote_start_id: session.remoteStartId,
    reservation_id: session.reservationId,
    started_at: iso(session.startedAtS),
    ended_at: session.endedAtS === null ? null : iso(session.endedAtS),
    meter_start_wh: rounded(session.meterStartWh),
    energy_wh: rounded(session.energyWh),
    energy_discharged_wh: rounded(session.energyDischargedWh),
    stop_reason: session.stopReason,
    offline: transaction !== undefined && transaction.queued > 0,
    charging_state: session.chargingState,
  };
}

function reservationReply({ iso }: Station, { reservation }: EvseConnectorDetail): ConnectorReply['reservation'] {
  if (reservation === null) return null;
  const { reservationId, idToken, expiresAtS } = reservation;
  return { reservation_id: reservationId, id_token: idToken, expires_at: expiresAtS === null ? null : iso(expiresAtS) };
}

export function connectorReply(station: Station, connector: EvseConnectorDetail): ConnectorReply {
  const { cable, ev, session } = connector;
  return {
    connector_id: connector.connectorId,
    evse_id: connector.connectorId,
    type: connector.type,
    standard: connector.standard,
    max_power_kw: kilo(connector.maxPowerW),
    min_power_kw: kilo(connector.minPowerW),
    phases: connector.phases,
    supply_phases: [...connector.supplyPhases],
    bidirectional: connector.bidirectional,
    status: connector.status,
    status_ocpp_2: connector.ocpp201Status,
    error_code: connector.errorCode,
    error_info: connector.errorInfo,
    vendor_error_code: connector.vendorErrorCode,
    operative: connector.operative,
    authorized: connector.authorised,
    contactor_closed: connector.contactorClosed,
    cable: { ev_plugged: cable.evPlugged, evse_plugged: cable.evsePlugged, locked: cable.locked },
    ev: ev && evReply(ev),
    session: session && sessionReply(station, session),
    power_kw: kilo(connector.powerW),
    current_a: connector.currentA.map(rounded),
    voltage_v: rounded(connector.voltageV),
    energy_wh: rounded(connector.energyWh),
    energy_export_wh: rounded(connector.energyExportWh),
    wanted_kw: kilo(connector.wantedW),
    possible_kw: kilo(connector.possibleW),
    allocated_kw: kilo(connector.allocatedW),
    limit_kw: kilo(connector.limitW),
    limit_source: connector.limitSource,
    local_limit_kw: connector.localLimitW === null ? null : kilo(connector.localLimitW),
    local_limit_by: connector.localLimitW === null ? null : station.writerOf('evse_limit', connector.connectorId),
    discharge_kw: connector.dischargeW === null ? null : kilo(connector.dischargeW),
    discharge_by: connector.dischargeW === null ? null : station.writerOf('evse_discharge', connector.connectorId),
    reservation: reservationReply(station, connector),
  };
}

function externalLimitReply({ detail: { externalLimit }, changedBy }: Station): EvseReply['external_limit'] {
  if (externalLimit === null) return null;
  const { limitW, decidedBy, writer } = externalLimit;
  return { limit_kw: kilo(limitW), decided_by: decidedBy, changed_by: changedBy(writer) };
}

export function evseReply(station: Station): EvseReply {
  const { device, id, detail } = station;
  return {
    id,
    device_index: device.index,
    profile: device.profileName,
    vendor: detail.vendor,
    model: detail.model,
    serial_number: pointText(device.bank, 1, 'SN'),
    firmware_version: detail.firmwareVersion,
    ocpp: station.ocpp && status.reply(station.ocpp.status),
    max_power_kw: kilo(detail.maxPowerW),
    power_kw: kilo(detail.powerW),
    standby_kw: kilo(detail.standbyW),
    energy_wh: rounded(detail.energyWh),
    energy_export_wh: rounded(detail.energyExportWh),
    sharing: detail.sharing,
    authority: detail.authority,
    external_limit: externalLimitReply(station),
    battery: detail.battery && {
      capacity_kwh: kilo(detail.battery.capacityWh),
      soc_pct: rounded(detail.battery.socPct),
    },
    connectors: detail.connectors.map((connector) => connectorReply(station, connector)),
  };
}

export function profileReply({ name, description, bundled, evse }: EvseProfile): ProfileReply {
  return {
    name,
    description,
    connectors: evse.connectors.map((connector) => ({
      connector_id: connector.connectorId,
      type: connector.type,
      standard: connector.standard,
      max_power_kw: kilo(connector.maxPowerW),
      bidirectional: connector.bidirectional,
    })),
    max_power_kw: kilo(evse.maxPowerW),
    battery_kwh: kilo(evse.ev.batteryCapacityWh),
    v2g: evse.connectors.some(({ bidirectional }) => bidirectional),
    bundled,
  };
}
