/** Charge point identities: which device an identity means in REST (`evse/`) and in OCPP. */
import { SimError } from '../core/errors.ts';
import type { Device } from './device.ts';
import type { Plant } from './plant.ts';

export const defaultChargePointId = 'SIM-CP-1';

/** Segments of `evse/` that are paths of their own: no identity may be one of them. */
export const reservedChargePointIds: readonly string[] = ['profiles', 'sessions', 'der-controls', 'session-generator'];

/** Identity of a charging station; null for every other device. */
export type ChargePointIdOf = (device: Pick<Device, 'index' | 'assetType'>) => string | null;

/**
 * The first station of the process has `base` itself, every other one `base-<device index>`. In a process that serves a
 * later part of a fleet every identity has its index, because the first station of the fleet is in another process.
 *
 * Which station is the first is decided once. All interfaces of a process therefore share one result.
 * @param ownIdOf identity that a device has of its own
 */
export function createChargePointIds(
  plant: { readonly devices: readonly Pick<Device, 'index' | 'assetType'>[] },
  base: string,
  ownIdOf: (deviceIndex: number) => string | undefined = () => undefined,
): ChargePointIdOf {
  const firstStation = () => plant.devices.find((each) => each.assetType === 'evse')?.index ?? null;
  const ofLaterPart = plant.devices[0]?.index !== 0;
  // found at the start: when the first station is removed, no other one may get its identity
  let bareIndex = ofLaterPart ? -1 : firstStation();
  return ({ index, assetType }) => {
    if (assetType !== 'evse') return null;
    bareIndex ??= firstStation();
    return ownIdOf(index) ?? (index === bareIndex ? base : `${base}-${index}`);
  };
}

const maxShown = 10;

/**
 * The station of an identity, compared exactly.
 * @throws SimError UNKNOWN_RESOURCE
 */
export function chargePoint(plant: Pick<Plant, 'devices'>, idOf: ChargePointIdOf, id: string): Device {
  const stations = plant.devices.filter(({ assetType }) => assetType === 'evse');
  const found = stations.find((device) => idOf(device) === id);
  if (found) return found;
  const shown = stations.slice(0, maxShown).map(idOf).join(', ');
  const known =
    stations.length === 0 ? 'there are none' : `there are ${shown}${stations.length > maxShown ? ', ...' : ''}`;
  throw new SimError('UNKNOWN_RESOURCE', `There is no charge point ${JSON.stringify(id)}; ${known}.`);
}
