/** The devices of a plant, those that join later among them. */
import type { SimDevice } from '../../der/device/device.ts';
import type { SimPlant } from '../../der/plant/plant.ts';

interface Follower {
  readonly enter: (device: SimDevice) => void;
  readonly leave: (index: number) => void;
}

/** Calls `enter` for each device now and when it joins, and `leave` when it leaves. @returns function that ends it */
export function followDevices(plant: SimPlant, { enter, leave }: Follower): () => void {
  for (const device of plant.devices) enter(device);
  return plant.onDevices(({ added, removed }) => {
    if (removed) leave(removed.index);
    if (added) enter(added);
  });
}
