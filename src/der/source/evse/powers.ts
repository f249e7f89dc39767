/** The powers of a connector from the wish of its vehicle to what it may take; W at the meter, + into the vehicle. */
import type { EvseConnectorDetail, EvseExternalLimit } from '../../../contract/kinds/evse.ts';
import { activeShare, canFlow, lineVoltageV, wattsPerAmpere } from './connector.ts';
import type { Connector } from './connector.ts';
import { chargeLevelW, isAtReserve } from './reach.ts';
import type { Station } from './station.ts';
import { packVoltageV } from './vehicle.ts';

export type ConnectorPowers = Pick<EvseConnectorDetail, 'wantedW' | 'possibleW' | 'allocatedW' | 'allocatedA'>;

/** Power left under a limit from outside beyond the present power of all vehicles, W; Infinity: no limit. */
export function outsideRoomW({ connectors, p }: Station, limit: EvseExternalLimit | null): number {
  if (limit === null) return Infinity;
  let roomW = limit.limitW - p.standbyW;
  for (const c of connectors) roomW -= c.powerW;
  return roomW;
}

/** Volts that one ampere per phase passes through: the sum of the phases that connector and vehicle have (AC). */
function hardwareVolts(c: Connector, station: Station): number {
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
  return Math.min(p.maxPowerW, stationW, p.maxCurrentA * hardwareVolts(c, station) * powerFactor);
}

/** @param roomW see `outsideRoomW` */
export function connectorPowers(c: Connector, station: Station, roomW: number): ConnectorPowers {
  const { vehicle, p, powerW } = c;
  const works = c.errorCode === null && !station.outside.down;
  const flows = vehicle !== null && works && canFlow(c);
  if (vehicle !== null && (powerW < 0 || (flows && c.dischargeW !== null))) {
    const givesW = isAtReserve(vehicle) ? 0 : vehicle.maxDischargeW;
    const possibleW = works && p.bidirectional ? p.maxDischargeW : 0;
    // a function of the device may ask for more than a command, and for discharge without one
    const askedW = c.heldByDer ? Math.max(0, -powerW) : Math.min(c.dischargeW ?? 0, givesW, c.dischargeCapW);
    return signed(c, station, { wantedW: -givesW, possibleW: -possibleW, allocatedW: -Math.min(askedW, possibleW) });
  }
  const wantedW = vehicle === null || c.evHeldByCommand ? 0 : chargeLevelW(vehicle, Infinity);
  const possibleW = works ? hardwareW(c, station) : 0;
  const grantedW = flows ? (c.heldByDer ? powerW : Math.min(c.allocatedW, powerW + roomW)) : 0;
  return signed(c, station, { wantedW, possibleW, allocatedW: Math.min(Math.max(0, grantedW), possibleW) });
}

/** Adds the current, without -0. */
function signed(
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
