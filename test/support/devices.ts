/** Adds and removes devices of a test plant in the same way as the composition root. */
import { createChargePointIds } from '../../src/contract/charge-point-ids.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import { DeviceChanges } from '../../src/app/devices/changes.ts';
import type { DeviceChangesOptions } from '../../src/app/devices/changes.ts';
import { deviceSeriesReader } from '../../src/app/devices/plant.ts';
import { configOf } from './configured.ts';

/** @param flags the settings of the process, which are defaults of new devices */
export function deviceChanges(
  plant: SimPlant,
  flags: readonly string[] = [],
  options: Partial<DeviceChangesOptions> = {},
): DeviceChanges {
  const config = configOf(...flags);
  return new DeviceChanges({
    plant,
    servers: () => [],
    deviceOf: config.deviceOf,
    seriesOf: deviceSeriesReader(config),
    chargePointId: createChargePointIds(plant, config.chargePointId),
    log: silentLogger,
    ...options,
  });
}
