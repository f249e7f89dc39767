/** Detail of a charging station and its connectors: state, powers, and the limit in force with its source. */
import type {
  EvseConnectorDetail,
  EvseDetail,
  EvseExternalLimit,
  EvseLimitSource,
} from '../../../contract/kinds/evse.ts';
import {
  flagsOf,
  lineVoltageV,
  minChargeW,
  supplyPhases,
  activeShare,
  canFlow,
  wattsPerAmpere,
  heldByStation,
  isUsedUp,
} from './connector.ts';
import type { Connector, Supply } from './connector.ts';
import { generatorDetail } from './generator.ts';
import { connectorState, occupancyOf, phaseTraits } from './phases.ts';
import { autoIdToken, sessionDetail } from './sessions.ts';
import { byItself } from './station.ts';
import type { Station } from './station.ts';
import { cableCurrents, connectorVar } from './supply-limit.ts';
import { packVoltageV, vehicleDetail } from './vehicle.ts';
import { chargeLevelW, isAtReserve } from './reach.ts';
import type { Origin } from '../../../core/origin.ts';
import { chargeCapW, setpointOf } from './profile-limit.ts';

/** Limits nearer than this count as equal, W. */
const toleranceW = 1e-3;

interface LimitNow {
  readonly limitW: number;
  readonly limitSource: EvseLimitSource;
}

function outsideSource({ outside }: Station): EvseLimitSource {
  return outside.siteHolds ? 'site' : 'der';
}

function dischargeSource(c: Connector): EvseLimitSource {
  return setpointOf(c.profile, 1) === null ? 'local' : 'charging_profile';
}

/** The limit of the connector now, W, and its source. */
export function limitNow(station: Station, c: Connector): LimitNow {
  if (c.vehicle === null || !phaseTraits[c.phase].powered || c.errorCode !== null) {
    // without power, a limit in amperes has no value in watts
    const profileW = chargeCapW({ ...c.profile, limitA: Infinity, setpointA: null }, 1);
    const limitW = Math.min(c.p.maxPowerW, c.localLimitW, profileW);
    return {
      limitW,
      limitSource: profileW <= limitW ? 'charging_profile' : c.localLimitW <= limitW ? 'local' : 'none',
    };
  }
  if (c.evHeldByCommand) return { limitW: 0, limitSource: 'ev' };
  if (heldByStation(c)) return { limitW: 0, limitSource: 'local' };
  if (c.heldByDer) return { limitW: Math.abs(c.powerW), limitSource: outsideSource(station) };
  if (c.dischargeW !== null) return dischargeLimitNow(c, c.dischargeW, c.vehicle.maxDischargeW);
  const curveW = chargeLevelW(c.vehicle, c.offerW);
  return curveW < c.offerW - toleranceW
    ? { limitW: curveW, limitSource: 'ev' }
    : { limitW: c.offerW, limitSource: c.capSource };
}

function dischargeLimitNow(c: Connector, dischargeW: number, vehicleW: number): LimitNow {
  const connectorW = Math.min(c.p.maxDischargeW, vehicleW);
  if (dischargeW < Math.min(connectorW, c.dischargeCapW))
    return { limitW: dischargeW, limitSource: dischargeSource(c) };
  return c.dischargeCapW < connectorW
    ? { limitW: c.dischargeCapW, limitSource: 'charging_profile' }
    : { limitW: connectorW, limitSource: vehicleW < c.p.maxDischargeW ? 'ev' : 'hardware' };
}

/** Source of the limit with which the station itself stops the flow of energy. */
export function holdingSource(station: Station, c: Connector): EvseLimitSource {
  if (isUsedUp(c)) return 'local';
  if (c.heldByDer) return outsideSource(station);
  if (c.dischargeW === null) return c.capSource;
  return c.dischargeCapW === 0 ? 'charging_profile' : dischargeSource(c);
}

/** Last writer of a limit at a connector. */
export function limitWriter({ outside, profile }: Station, c: Connector, source: EvseLimitSource): Origin {
  switch (source) {
    case 'charging_profile':
      return (c.offerW < c.capW ? profile.by : c.profile.by) ?? c.profile.by ?? profile.by ?? byItself;
    case 'local':
      if (isUsedUp(c)) return c.energyLimitBy ?? byItself;
      return (c.dischargeW === null ? c.localLimitBy : c.localDischargeBy) ?? byItself;
    case 'der':
    case 'site':
      return outside.limit?.writer ?? byItself;
    case 'none':
    case 'hardware':
    case 'sharing':
    case 'ev':
      return byItself;
  }
}

/** Powers of a connector, from the demand of its vehicle to the power allocated; W at the meter, + into the vehicle. */
type ConnectorPowers = Pick<EvseConnectorDetail, 'wantedW' | 'possibleW' | 'allocatedW' | 'allocatedA'>;

/** Limit from outside minus standby and the present power of all vehicles, W; Infinity: no limit. */
function outsideRoomW({ connectors, p }: Station, limit: EvseExternalLimit | null): number {
  if (limit === null) return Infinity;
  let roomW = limit.limitW - p.standbyW;
  for (const c of connectors) roomW -= c.powerW;
  return roomW;
}

/**
 * Watts per ampere of phase current at power factor 1: AC the sum of the phase voltages in use, DC the voltage.
 */
function hardwareWattsPerAmpere(c: Connector, station: Station): number {
  const { p, vehicle } = c;
  if (p.type === 'dc') return vehicle === null ? p.voltageV : Math.min(p.voltageV, packVoltageV(vehicle));
  const phases = p.phases === 3 && (vehicle === null || vehicle.phases === 3) ? 3 : 1;
  const [a, b, third] = station.phaseLnV;
  return phases === 3 && station.outside.supplyPhases === 3 ? a + b + third : phases * lineVoltageV(c, station);
}

/** Charging power that the hardware can carry now. */
function hardwareW(c: Connector, station: Station): number {
  const { p, reactiveA } = c;
  const powerFactor = p.type === 'dc' ? 1 : reactiveA === null ? p.powerFactor : activeShare(p.maxCurrentA, reactiveA);
  const stationW = Math.max(0, station.p.maxPowerW - station.p.standbyW);
  return Math.min(p.maxPowerW, stationW, p.maxCurrentA * hardwareWattsPerAmpere(c, station) * powerFactor);
}

/** @param roomW see `outsideRoomW` */
function connectorPowers(c: Connector, station: Station, roomW: number): ConnectorPowers {
  const { vehicle, p, powerW } = c;
  const isWorking = c.errorCode === null && !station.outside.down;
  const isFlowing = vehicle !== null && isWorking && canFlow(c);
  if (vehicle !== null && (powerW < 0 || (isFlowing && c.dischargeW !== null))) {
    const dischargeableW = isAtReserve(vehicle) ? 0 : vehicle.maxDischargeW;
    const possibleW = isWorking && p.bidirectional ? p.maxDischargeW : 0;
    // under a function of the device (heldByDer) the power may exceed the command, and there may be no command
    const requestedW = c.heldByDer
      ? Math.max(0, -powerW)
      : Math.min(c.dischargeW ?? 0, dischargeableW, c.dischargeCapW);
    return withCurrent(c, station, {
      wantedW: -dischargeableW,
      possibleW: -possibleW,
      allocatedW: -Math.min(requestedW, possibleW),
    });
  }
  const wantedW = vehicle === null || c.evHeldByCommand ? 0 : chargeLevelW(vehicle, Infinity);
  const possibleW = isWorking ? hardwareW(c, station) : 0;
  const cappedW = isFlowing ? (c.heldByDer ? powerW : Math.min(c.allocatedW, powerW + roomW)) : 0;
  return withCurrent(c, station, { wantedW, possibleW, allocatedW: Math.min(Math.max(0, cappedW), possibleW) });
}

/** Adds the current; turns -0 into 0. */
function withCurrent(
  c: Connector,
  station: Station,
  { wantedW, possibleW, allocatedW }: Omit<ConnectorPowers, 'allocatedA'>,
): ConnectorPowers {
  const perA = allocatedW === 0 ? 0 : wattsPerAmpere(c, station);
  return {
    wantedW: wantedW === 0 ? 0 : wantedW,
    possibleW: possibleW === 0 ? 0 : possibleW,
    allocatedW: allocatedW === 0 ? 0 : allocatedW,
    allocatedA: perA > 0 ? allocatedW / perA : 0,
  };
}

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

/** @param limit external limit of the station; pass it, since each read of `outside.limit` computes it */
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
    profileLimitW: profileLimitW(station, c),
    dischargeW: c.localDischargeW,
    reservation: c.reservation,
  };
}

/** The tighter of the profiles of connector and station, W; that of the station beside the draw of the station itself. */
function profileLimitW(station: Station, c: Connector): number | null {
  const perA = wattsPerAmpere(c, station);
  const ownW = perA > 0 ? chargeCapW(c.profile, perA) : c.profile.limitW;
  const limitW = Math.min(ownW, Math.max(0, station.profile.limitW - station.p.standbyW));
  return Number.isFinite(limitW) ? limitW : null;
}

interface StationMeter {
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
