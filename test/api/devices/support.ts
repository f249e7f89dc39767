import type { DeviceChangesOptions } from '../../../src/app/devices/changes.ts';
import { deviceChanges } from '../../support/devices.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

/** Options of `openDevices`: device types of the start, command-line flags, options of the changes. */
export interface OpenOptions {
  readonly types?: readonly string[];
  readonly flags?: readonly string[];
  readonly changes?: Partial<DeviceChangesOptions>;
}

/** The interface over a plant whose devices can be added and removed. */
export async function openDevices(options: OpenOptions = {}): Promise<Rest> {
  const plant = testPlant({ types: options.types ?? ['PV', 'Batt'] });
  const changes = deviceChanges(plant, options.flags, options.changes);
  return Rest.open(plant, {
    addDevice: (entry, by) => changes.add(entry, by),
    removeDevice: (index, by) => changes.remove(index, by),
  });
}
