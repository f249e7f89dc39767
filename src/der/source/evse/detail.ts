import type { EvseConnectorDetail, EvseDetail } from '../../../contract/kinds/evse.ts';
import { flagsOf, lineVoltageV, minChargeW, supplyPhases } from './connector.ts';
import type { Connector, Supply } from './connector.ts';
import { limitNow } from './limit-now.ts';
import { ocpp16Status, ocpp201Status, phaseTraits } from './phases.ts';
import { sessionDetail } from './sessions.ts';
import type { Station } from './station.ts';
import { cableCurrents } from './supply.ts';
import { packVoltageV, vehicleDetail } from './vehicle.ts';

/** Terminal voltage of a connector, V: line to neutral (AC), of the pack behind a closed contactor (DC). */
export function connectorVoltageV(c: Connector, supply: Supply): number {
  if (c.p.type === 'ac') return lineVoltageV(c, supply);
  return c.vehicle !== null && phaseTraits[c.phase].contactorClosed && c.errorCode === null
    ? packVoltageV(c.vehicle)
    : 0;
}

function currents(c: Connector, station: Station): readonly number[] {
  if (c.p.type === 'ac') return cableCurrents(c, station);
  const voltageV = connectorVoltageV(c, station);
  return [voltageV > 0 ? c.powerW / voltageV : 0];
}

export function connectorDetail(station: Station, c: Connector): EvseConnectorDetail {
  const { p, vehicle } = c;
  const { outside } = station;
  const traits = phaseTraits[c.phase];
  const flags = flagsOf(c);
  const { limitW, limitSource } = limitNow(station, c);
  return {
    connectorId: p.connectorId,
    type: p.type,
    standard: p.standard,
    maxPowerW: p.maxPowerW,
    minPowerW: minChargeW(c),
    phases: p.phases,
    supplyPhases: supplyPhases(c, outside.supplyPhases),
    bidirectional: p.bidirectional,
    status: ocpp16Status(c.phase, flags),
    ocpp201Status: ocpp201Status(c.phase, flags),
    phase: c.phase,
    errorCode: c.errorCode ?? 'NoError',
    errorInfo: c.errorInfo,
    vendorErrorCode: c.vendorErrorCode,
    operative: c.operative,
    authorised: traits.authorised,
    contactorClosed: traits.contactorClosed && c.errorCode === null,
    cable: { evPlugged: c.evPlugged, evsePlugged: c.evsePlugged, locked: c.lockedByCommand || traits.session },
    ev: vehicle && vehicleDetail(vehicle),
    session: c.session && sessionDetail(c.session, c),
    powerW: c.powerW,
    currentA: currents(c, station),
    voltageV: connectorVoltageV(c, station),
    energyWh: c.energyWh,
    energyExportWh: c.energyExportWh,
    limitW,
    limitSource,
    localLimitW: Number.isFinite(c.localLimitW) ? c.localLimitW : null,
    dischargeW: c.localDischargeW,
    reservation: c.reservation,
  };
}

export interface StationMeter {
  /** drawn by the station itself, W */
  readonly standbyW: number;
  readonly energyWh: number;
  readonly energyExportWh: number;
}

export function evseDetail(station: Station, meter: StationMeter): EvseDetail {
  const { p, connectors } = station;
  let [capacityWh, storedWh, powerW] = [0, 0, 0];
  for (const { vehicle, powerW: flowW } of connectors) {
    powerW += flowW;
    capacityWh += vehicle?.capacityWh ?? 0;
    storedWh += (vehicle?.capacityWh ?? 0) * (vehicle?.soc ?? 0);
  }
  return {
    kind: 'evse',
    vendor: p.vendor,
    model: p.model,
    firmwareVersion: p.firmwareVersion,
    maxPowerW: p.maxPowerW,
    powerW,
    standbyW: meter.standbyW,
    energyWh: meter.energyWh,
    energyExportWh: meter.energyExportWh,
    sharing: p.sharing,
    authority: station.central ? 'central' : 'local',
    externalLimit: station.outside.limit,
    battery: capacityWh > 0 ? { capacityWh, socPct: (100 * storedWh) / capacityWh } : null,
    connectors: connectors.map((c) => connectorDetail(station, c)),
  };
}
