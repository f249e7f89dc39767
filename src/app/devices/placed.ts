/** The devices at the start: those of the configuration, without and with those that clients removed and added. */
import type { AppConfig, DeviceConfig } from '../../config/settings/app-config.ts';
import type { DeviceEntry } from '../../config/profile/device-entry.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { DeviceSeries } from '../../der/device/template.ts';

/** Devices that differ from those of the configuration. */
export interface ChangedDevices {
  readonly joined: readonly { readonly index: number; readonly entry: DeviceEntry }[];
  /** indexes of removed devices of the configuration */
  readonly left: readonly number[];
}

export interface PlacedDevice {
  readonly index: number;
  readonly config: DeviceConfig;
  readonly series: DeviceSeries;
}

/** Reads the series of a device. */
export type SeriesOf = (device: DeviceConfig) => DeviceSeries;

/**
 * A device that has joined an earlier process and does not fit any more is left out with a line in the log.
 * @throws SimError CONFIG_INVALID for the series of the configuration
 */
export function placedDevices(
  { devices, deviceOf, firstDevice }: Pick<AppConfig, 'devices' | 'deviceOf' | 'firstDevice'>,
  { joined, left }: ChangedDevices,
  seriesOf: SeriesOf,
  log: Pick<Logger, 'error'>,
): readonly PlacedDevice[] {
  const configured = devices
    .map((config, at) => ({ index: firstDevice + at, config }))
    .filter(({ index }) => !left.includes(index))
    .map((device) => ({ ...device, series: seriesOf(device.config) }));
  const again = joined.flatMap(({ index, entry }): PlacedDevice[] => {
    try {
      const config = deviceOf(entry, index);
      return [{ index, config, series: seriesOf(config) }];
    } catch (error) {
      log.error(`device ${index}, added earlier, cannot join again: ${errorText(error)}`, index);
      return [];
    }
  });
  // a longer configuration than before may use an index of a device that has joined
  const taken = new Set(configured.map(({ index }) => index));
  return [...configured, ...again.filter(({ index }) => !taken.has(index))].sort((a, b) => a.index - b.index);
}
