/** The running simulator as a configuration. */
import type { ChargePointIdOf } from '../contract/charge-point-ids.ts';
import type { LabConfig } from '../contract/lab-config.ts';
import type { SettingsControl } from '../contract/settings.ts';
import { labFile } from '../config/layers/lab-file.ts';
import type { DeviceEntry } from '../config/profile/device-entry.ts';
import type { AppConfig } from '../config/settings/app-config.ts';
import type { SimPlant } from '../der/plant/plant.ts';
import type { DeviceChanges } from './devices/changes.ts';

interface Running {
  readonly config: AppConfig;
  readonly plant: Pick<SimPlant, 'devices'>;
  readonly changes: Pick<DeviceChanges, 'joinedEntry'>;
  readonly settings: SettingsControl;
  readonly chargePointId: ChargePointIdOf;
}

/** The entry of each device of the configuration; empty: the settings alone make them. */
function configuredEntries({ settings: { file } }: AppConfig): readonly (DeviceEntry | null)[] {
  return (file?.devices ?? []).flatMap((entry) => Array.from({ length: entry?.count ?? 1 }, () => entry));
}

/** @throws SimError COMMAND_CONFLICT for a lab without devices */
export function labConfigOf({ config, plant, changes, settings, chargePointId }: Running): LabConfig {
  const configured = configuredEntries(config);
  const devices = plant.devices.map(({ index, name, deviceType, assetType, ocpp }) => {
    const joined = changes.joinedEntry(index);
    return {
      index,
      name,
      deviceType,
      assetType,
      ...(ocpp && { ocpp }),
      entry: joined ?? configured[index - config.firstDevice] ?? null,
      hasJoined: joined !== undefined,
    };
  });
  return labFile({ config, reports: settings.reports, devices, chargePointId });
}
