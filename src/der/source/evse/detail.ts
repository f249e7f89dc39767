import type { EvseConnectorDetail, EvseDetail, EvseLimitSource } from '../../../contract/kinds/evse.ts';
import { flagsOf, minChargeW, phasesInUse, wattsPerAmpere } from './connector.ts';
import type { Connector } from './connector.ts';
import type { Station } from './machine.ts';
import { ocpp16Status, ocpp201Status, phaseTraits } from './phases.ts';
import { chargeLevelW } from './reach.ts';
import { sessionDetail } from './sessions.ts';
import { packVoltageV, vehicleDetail } from './vehicle.ts';

/** Limits nearer than this count as equal, W. */
const toleranceW = 1e-3;

/** The limit of the connector now, W, and its source. */
function limitNow(c: Connector): { readonly limitW: number; readonly limitSource: EvseLimitSource } {
  if (c.vehicle === null || !phaseTraits[c.phase].powered || c.errorCode !== null) {
    const limitW = Math.min(c.p.maxPowerW, c.localLimitW, c.profileLimitW);
    const source = c.profileLimitW <= limitW ? 'charging_profile' : c.localLimitW <= limitW ? 'local' : 'none';
    return { limitW, limitSource: source };
  }
  if (c.evHeldByCommand) return { limitW: 0, limitSource: 'ev' };
  if (c.evseHeldByCommand) return { limitW: 0, limitSource: 'local' };
  if (c.heldByDer) return { limitW: Math.abs(c.powerW), limitSource: 'der' };
  if (c.dischargeW !== null) {
    const ownW = Math.min(c.p.maxDischargeW, c.vehicle.maxDischargeW);
    return c.dischargeW < ownW
      ? { limitW: c.dischargeW, limitSource: 'local' }
      : { limitW: ownW, limitSource: c.vehicle.maxDischargeW < c.p.maxDischargeW ? 'ev' : 'hardware' };
  }
  const curveW = chargeLevelW(c.vehicle, c.offerW);
  return curveW < c.offerW - toleranceW
    ? { limitW: curveW, limitSource: 'ev' }
    : { limitW: c.offerW, limitSource: c.capSource };
}

/** Terminal voltage of a connector, V: line to neutral (AC), of the pack behind a closed contactor (DC). */
export function connectorVoltageV(c: Connector, terminalPu: number): number {
  if (c.p.type === 'ac') return c.p.voltageV * terminalPu;
  return c.vehicle !== null && phaseTraits[c.phase].contactorClosed && c.errorCode === null
    ? packVoltageV(c.vehicle)
    : 0;
}

function currents(c: Connector, terminalPu: number): readonly number[] {
  if (c.p.type === 'dc') {
    const voltageV = connectorVoltageV(c, terminalPu);
    return [voltageV > 0 ? c.powerW / voltageV : 0];
  }
  const perA = wattsPerAmpere(c, terminalPu);
  const currentA = perA > 0 ? c.powerW / perA : 0;
  return c.p.phases === 1 ? [currentA] : phasesInUse(c) === 1 ? [currentA, 0, 0] : [currentA, currentA, currentA];
}

export function connectorDetail(c: Connector, terminalPu: number): EvseConnectorDetail {
  const { p, vehicle } = c;
  const traits = phaseTraits[c.phase];
  const flags = flagsOf(c);
  const { limitW, limitSource } = limitNow(c);
  return {
    connectorId: p.connectorId,
    type: p.type,
    standard: p.standard,
    maxPowerW: p.maxPowerW,
    minPowerW: minChargeW(c),
    phases: p.phases,
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
    currentA: currents(c, terminalPu),
    voltageV: connectorVoltageV(c, terminalPu),
    energyWh: c.energyWh,
    energyExportWh: c.energyExportWh,
    limitW,
    limitSource,
    localLimitW: Number.isFinite(c.localLimitW) ? c.localLimitW : null,
    dischargeW: c.dischargeW,
    reservation: c.reservation,
  };
}

export interface StationMeter {
  /** drawn by the station itself, W */
  readonly standbyW: number;
  readonly energyWh: number;
  readonly energyExportWh: number;
  readonly terminalPu: number;
}

export function evseDetail({ p, connectors }: Station, meter: StationMeter): EvseDetail {
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
    battery: capacityWh > 0 ? { capacityWh, socPct: (100 * storedWh) / capacityWh } : null,
    connectors: connectors.map((c) => connectorDetail(c, meter.terminalPu)),
  };
}
