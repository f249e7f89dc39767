import type { EvseConnectorDetail, EvseDetail, EvseExternalLimit } from '../../../contract/kinds/evse.ts';
import { flagsOf, lineVoltageV, minChargeW, supplyPhases } from './connector.ts';
import type { Connector, Supply } from './connector.ts';
import { generatorDetail } from './generator.ts';
import { limitNow } from './limit-now.ts';
import { connectorState, occupancyOf, phaseTraits } from './phases.ts';
import { connectorPowers, outsideRoomW } from './powers.ts';
import { autoIdToken, sessionDetail } from './sessions.ts';
import type { Station } from './station.ts';
import { cableCurrents, connectorVar } from './supply.ts';
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

/** @param limit from outside the station, created at each reading */
export function connectorDetail(
  station: Station,
  c: Connector,
  limit: EvseExternalLimit | null = station.outside.limit,
): EvseConnectorDetail {
  const { p, vehicle } = c;
  const { outside } = station;
  const traits = phaseTraits[c.phase];
  const flags = flagsOf(c);
  const { limitW, limitSource } = limitNow(station, c);
  const powers = connectorPowers(c, station, outsideRoomW(station, limit));
  return {
    connectorId: p.connectorId,
    type: p.type,
    standard: p.standard,
    maxPowerW: p.maxPowerW,
    minPowerW: minChargeW(c),
    maxCurrentA: p.maxCurrentA,
    nominalVoltageV: p.voltageV,
    phases: p.phases,
    attachedCable: p.attachedCable,
    supplyPhases: supplyPhases(c, outside.supplyPhases),
    bidirectional: p.bidirectional,
    status: connectorState(c.phase, flags),
    occupancy: occupancyOf(c.phase, flags),
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
    wantedW: powers.wantedW,
    possibleW: powers.possibleW,
    allocatedW: powers.allocatedW,
    allocatedA: powers.allocatedA,
    powerW: c.powerW,
    reactivePowerVar: connectorVar(c, station),
    currentA: currents(c, station),
    voltageV: connectorVoltageV(c, station),
    supplyVoltageV: station.phaseLnV.slice(0, outside.supplyPhases),
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
  const { limit } = station.outside;
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
    plugToken: station.behaviour.autoAuthorize ? autoIdToken : null,
    externalLimit: limit,
    battery: capacityWh > 0 ? { capacityWh, socPct: (100 * storedWh) / capacityWh } : null,
    generator: generatorDetail(station),
    connectors: connectors.map((c) => connectorDetail(station, c, limit)),
  };
}
