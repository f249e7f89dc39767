/** Configurations of command-line flags; a process reads those of devices once, however many plants it builds. */
import { loadConfig } from '../../src/config/layers/load.ts';
import type { AppConfig } from '../../src/config/settings/app-config.ts';
import type { DeviceSeries, DeviceSpec } from '../../src/der/plant/create-plant.ts';
import { deviceSeriesReader } from '../../src/app/devices/plant.ts';

/** @throws Error for flags that only print something, SimError CONFIG_INVALID for flags with mistakes */
export function configOf(...flags: readonly string[]): AppConfig {
  const loaded = loadConfig(flags, {});
  if (loaded.kind !== 'run') throw new Error('no configuration');
  return loaded.config;
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}

/** A device as a plant takes it, with its series. */
export type ConfiguredDevice = DeviceSpec & { readonly series: DeviceSeries };

const known = new Map<string, readonly ConfiguredDevice[]>();

/** The devices of these flags with their profiles and series; all callers share them, so they are frozen. */
export function configuredDevices(...flags: readonly string[]): readonly ConfiguredDevice[] {
  const key = JSON.stringify(flags);
  let devices = known.get(key);
  if (devices === undefined) {
    const config = configOf(...flags);
    const seriesOf = deviceSeriesReader(config);
    devices = config.devices.map((device) => ({ ...device, series: seriesOf(device) }));
    for (const { profile } of devices) freeze(profile);
    known.set(key, devices);
  }
  return devices;
}
