/** Charge point identities: which device an identity means in REST (`evse/`) and in OCPP. */
import { SimError } from '../core/errors.ts';
import { keptRecord } from '../core/kept.ts';
import type { Kept } from '../core/kept.ts';
import type { Device } from './device.ts';
import type { Plant } from './plant.ts';

export const defaultChargePointId = 'SIM-CP-1';

/** A device as far as identities need it. */
export type IdentifiedDevice = Pick<Device, 'index' | 'assetType' | 'ocpp'>;

/** Identity of a charging station; null for every other device. */
export type ChargePointIdOf = (device: IdentifiedDevice) => string | null;

/**
 * The first station of the process has `base` itself, every other one `base-<device index>`. In a process that serves a
 * later part of a fleet every identity has its index, because the first station of the fleet is in another process.
 *
 * A restart with a state folder leaves the first station the first one, whatever the configuration puts before it.
 *
 * An `ocpp.id` in the entry of a station takes precedence over both. The first station is determined once, so all
 * interfaces of a process share one result.
 */
export function createChargePointIds(
  plant: { readonly devices: readonly Pick<Device, 'index' | 'assetType'>[] },
  base: string,
  keep: (part: string, kept: Kept) => void = () => undefined,
): ChargePointIdOf {
  const firstStation = () => plant.devices.find((each) => each.assetType === 'evse')?.index ?? null;
  const ofLaterPart = plant.devices[0]?.index !== 0;
  // determined once: after the first station is removed, no other station may get its identity
  let bareIndex = ofLaterPart ? -1 : firstStation();
  keep(
    'charge_point_ids',
    keptRecord(
      () => ({ bare: bareIndex }),
      ({ bare }) => {
        if (bare === null) return;
        if (!Number.isInteger(bare)) throw new SimError('INTERNAL', 'the first charge point is no index');
        bareIndex = bare;
      },
    ),
  );
  return ({ index, assetType, ocpp }) => {
    if (assetType !== 'evse') return null;
    // a device that is about to join is not in the plant yet
    bareIndex ??= firstStation() ?? index;
    return ocpp?.id ?? (index === bareIndex ? base : `${base}-${index}`);
  };
}

const maxShown = 10;

const stationsOf = (plant: Pick<Plant, 'devices'>) => plant.devices.filter(({ assetType }) => assetType === 'evse');

/** The station of an identity, compared exactly, else the station with this device index; undefined: there is none. */
export function findChargePoint(plant: Pick<Plant, 'devices'>, idOf: ChargePointIdOf, id: string): Device | undefined {
  const stations = stationsOf(plant);
  return stations.find((device) => idOf(device) === id) ?? stations.find(({ index }) => String(index) === id);
}

/** @throws SimError UNKNOWN_RESOURCE */
export function chargePoint(plant: Pick<Plant, 'devices'>, idOf: ChargePointIdOf, id: string): Device {
  const station = findChargePoint(plant, idOf, id);
  if (station) return station;
  const stations = stationsOf(plant);
  const ids = stations.slice(0, maxShown).map(idOf).join(', ');
  const existing =
    stations.length === 0 ? 'there are none' : `there are ${ids}${stations.length > maxShown ? ', ...' : ''}`;
  throw new SimError('UNKNOWN_RESOURCE', `There is no charge point ${JSON.stringify(id)}; ${existing}.`);
}
