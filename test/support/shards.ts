/** A fleet in one plant and the same fleet split over several plants, which must show the same. */
import { Buffer } from 'node:buffer';
import type { SpreadAnchor } from '../../src/der/plant/device-factory.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import { configuredDevices } from './configured.ts';
import type { ConfiguredDevice } from './configured.ts';
import { testPlant } from './plant.ts';
import type { TestPlantOptions } from './plant.ts';
import { HandWall } from './wall.ts';

/** One device of each type; devices of one type share a profile with a serial number. */
export function fleetDevices(types: readonly string[]): readonly ConfiguredDevice[] {
  const ofType = new Map(
    [...new Set(types)].map((type) => {
      const [device] = configuredDevices('--device_type', type);
      if (!device) throw new Error(type);
      const models = { ...device.profile.models, 1: { ...device.profile.models['1'], SN: `${type}-7` } };
      return [type, { ...device, profile: { ...device.profile, models } }];
    }),
  );
  return types.map((type, index) => ({ ...(ofType.get(type) as ConfiguredDevice), name: `device ${index}` }));
}

/**
 * The plants of the parts, each of so many devices. Where there are several, they know the first device of each profile
 * in the fleet.
 */
export function shardsOf(
  devices: readonly ConfiguredDevice[],
  sizes: readonly number[],
  options: TestPlantOptions = {},
): readonly SimPlant[] {
  const spreadAnchor: SpreadAnchor = ({ profile }) => {
    const first = devices.findIndex((device) => device.profile === profile);
    return first < 0 ? undefined : first;
  };
  const anchored = sizes.length > 1 ? { spreadAnchor } : {};
  let firstIndex = 0;
  return sizes.map((size) => {
    const part = devices.slice(firstIndex, firstIndex + size);
    const plant = testPlant({ wall: new HandWall(), ...options, ...anchored, devices: part, firstIndex });
    firstIndex += size;
    return plant;
  });
}

/** Snapshot, detail and raw registers of every device, in the order of their indexes. */
export function shownBy(plants: readonly SimPlant[]): unknown[] {
  return plants.flatMap(({ latest, devices }) =>
    devices.map(({ bank, detail }, position) => ({
      snapshot: latest.published[position]?.snapshot,
      detail: structuredClone(detail),
      registers: Buffer.from(bank.read(bank.layout.base, bank.layout.size)).toString('hex'),
    })),
  );
}

/** Serial number of a device, as 1.SN has it. */
export const serialNumberIn = (plant: SimPlant, index: number) => plant.device(index).bank.map.m1.SN;
