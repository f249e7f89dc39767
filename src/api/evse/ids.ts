/** Charge point identities: which device a `{id}` of `evse/` and `ocpp/` means. */
import type { Plant } from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';
import { SimError } from '../../core/errors.ts';

export const defaultChargePointId = 'SIM-CP-1';

/** Segments of `evse/` that are paths of their own: no identity may be one of them. */
export const reservedChargePointIds: readonly string[] = ['profiles', 'sessions', 'der-controls'];

/** Identity of a charging station; null for every other device. */
export type ChargePointIdOf = (device: Pick<Device, 'index' | 'assetType'>) => string | null;

/**
 * The first station ever has `base` itself, every other one `base-<device index>`. A process that serves a later part of a
 * fleet gives every station its index: the first of the fleet is elsewhere.
 */
export function createChargePointIds(plant: Pick<Plant, 'devices'>, base: string): ChargePointIdOf {
  const firstStation = () => plant.devices.find((each) => each.assetType === 'evse')?.index ?? null;
  const ofLaterPart = plant.devices[0]?.index !== 0;
  // an identity stays for life, and no other station gets it when the device is removed: it is looked for at the start
  let bareIndex = ofLaterPart ? -1 : firstStation();
  return ({ index, assetType }) => {
    if (assetType !== 'evse') return null;
    bareIndex ??= firstStation();
    return index === bareIndex ? base : `${base}-${index}`;
  };
}

const mostShown = 10;

/**
 * The station of an identity, compared exactly.
 * @throws SimError UNKNOWN_RESOURCE
 */
export function chargePoint(plant: Pick<Plant, 'devices'>, idOf: ChargePointIdOf, id: string): Device {
  const stations = plant.devices.filter(({ assetType }) => assetType === 'evse');
  const found = stations.find((device) => idOf(device) === id);
  if (found) return found;
  const shown = stations.slice(0, mostShown).map(idOf).join(', ');
  const known =
    stations.length === 0 ? 'there are none' : `there are ${shown}${stations.length > mostShown ? ', ...' : ''}`;
  throw new SimError('UNKNOWN_RESOURCE', `There is no charge point ${JSON.stringify(id)}; ${known}.`);
}
