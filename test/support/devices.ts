/** Devices that join and leave a plant of a test, as the composition root lets them. */
import { silentLogger } from '../../src/core/log/log.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import { DeviceChanges } from '../../src/device-changes.ts';
import type { DeviceChangesOptions } from '../../src/device-changes.ts';
import { deviceSeriesReader } from '../../src/device-series.ts';
import { configOf } from './configured.ts';

/** @param flags the settings of the process, which are defaults of what joins */
export function deviceChanges(
  plant: SimPlant,
  flags: readonly string[] = [],
  options: Partial<DeviceChangesOptions> = {},
): DeviceChanges {
  const config = configOf(...flags);
  return new DeviceChanges({
    plant,
    servers: [],
    deviceOf: config.deviceOf,
    seriesOf: deviceSeriesReader(config),
    log: silentLogger,
    ...options,
  });
}
