/** The running simulator as a configuration. */
import type { ChargePointIdOf } from '../contract/charge-point-ids.ts';
import type { LabConfig } from '../contract/lab-config.ts';
import type { SettingsControl } from '../contract/settings.ts';
import type { FindingsBlock } from '../config/layers/findings-block.ts';
import { labFile } from '../config/layers/lab-file.ts';
import { configuredEntries } from '../config/profile/devices.ts';
import { protocolsOf } from '../contract/device-protocols.ts';
import type { AppConfig } from '../config/settings/app-config.ts';
import type { SimPlant } from '../der/plant/plant.ts';
import type { DeviceChanges } from './devices/changes.ts';

interface Running {
  readonly config: AppConfig;
  readonly plant: Pick<SimPlant, 'devices'>;
  readonly changes: Pick<DeviceChanges, 'hasJoined' | 'requestedEntry'>;
  readonly settings: SettingsControl;
  readonly chargePointId: ChargePointIdOf;
  readonly findings: FindingsBlock;
}

/** @throws SimError COMMAND_CONFLICT for a lab without devices */
export function labConfigOf({ config, plant, changes, settings, chargePointId, findings }: Running): LabConfig {
  const configured = configuredEntries(config.settings.file);
  const devices = plant.devices.map((device) => {
    const { index, name, deviceType, assetType } = device;
    const requested = changes.requestedEntry(index);
    return {
      index,
      name,
      deviceType,
      assetType,
      ...protocolsOf(device),
      entry: requested ?? configured[index - config.firstDevice] ?? null,
      hasJoined: changes.hasJoined(index),
      isChanged: requested !== undefined,
    };
  });
  return labFile({ config, reports: settings.reports, devices, chargePointId, findings });
}
