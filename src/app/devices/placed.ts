/** The devices at the start: those of the configuration, without and with those that clients removed and added. */
import type { AppConfig, DeviceConfig } from '../../config/settings/app-config.ts';
import type { DeviceEntry } from '../../config/profile/device-entry.ts';
import { createChargePointIds } from '../../contract/charge-point-ids.ts';
import { misfitText, SimError } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { DeviceSeries } from '../../der/device/template.ts';

/** Devices that differ from those of the configuration. */
export interface ChangedDevices {
  readonly joined: readonly { readonly index: number; readonly entry: DeviceEntry }[];
  /** indexes of removed devices of the configuration */
  readonly left: readonly number[];
}

export interface PlacedDevice {
  /** false: one of the configuration */
  readonly hasJoined: boolean;
  readonly index: number;
  readonly config: DeviceConfig;
  readonly series: DeviceSeries;
}

/** Reads the series of a device. */
export type SeriesOf = (device: DeviceConfig) => DeviceSeries;

const isIndex = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;

const isEntry = (value: unknown): value is ChangedDevices['joined'][number]['entry'] =>
  typeof value === 'object' && value !== null;

/** The changes in a kept value; what is no change is left out. */
export function changesOf(saved: unknown): ChangedDevices {
  const { joined, left } = (saved ?? {}) as { readonly joined?: unknown; readonly left?: unknown };
  const entries = (Array.isArray(joined) ? joined : []) as readonly (Readonly<
    Partial<Record<'index' | 'entry', unknown>>
  > | null)[];
  return {
    joined: entries.flatMap((each) =>
      isIndex(each?.index) && isEntry(each.entry) ? [{ index: each.index, entry: each.entry }] : [],
    ),
    left: (Array.isArray(left) ? left : []).filter(isIndex),
  };
}

type PlacedConfig = Pick<AppConfig, 'devices' | 'deviceOf' | 'firstDevice' | 'chargePointId'>;

/**
 * A device that has joined an earlier process and does not fit any more is left out with a line in the log.
 * @throws SimError CONFIG_INVALID for the series of the configuration
 */
export function placedDevices(
  { devices, deviceOf, firstDevice, chargePointId: base }: PlacedConfig,
  { joined, left }: ChangedDevices,
  seriesOf: SeriesOf,
  log: Pick<Logger, 'warning'>,
): readonly PlacedDevice[] {
  const placed = devices
    .map((config, at) => ({ index: firstDevice + at, config, hasJoined: false }))
    .filter(({ index }) => !left.includes(index))
    .map((device): PlacedDevice => ({ ...device, series: seriesOf(device.config) }));
  for (const { index, entry } of joined) {
    try {
      const config = deviceOf(entry, index);
      const device = { index, config, series: seriesOf(config), hasJoined: true };
      checkPlace(device, placed, base);
      placed.push(device);
    } catch (error) {
      log.warning(`device ${index}, added earlier, cannot join again: ${misfitText(error)}`, index);
    }
  }
  return placed.sort((a, b) => a.index - b.index);
}

/** @throws SimError COMMAND_CONFLICT for an index or a charge point identity that another device has */
function checkPlace(device: PlacedDevice, others: readonly PlacedDevice[], base: string): void {
  const { index } = device;
  if (others.some((other) => other.index === index))
    throw new SimError('COMMAND_CONFLICT', 'the configuration has a device of this index');
  const all = [...others, device].map((each) => ({
    index: each.index,
    assetType: each.config.assetType,
    ...(each.config.ocpp && { ocpp: each.config.ocpp }),
  }));
  const idOf = createChargePointIds({ devices: all }, base);
  const ids = all.map(idOf);
  const id = ids.at(-1);
  if (id !== null && id !== undefined && ids.indexOf(id) !== ids.length - 1)
    throw new SimError('COMMAND_CONFLICT', `another device has the charge point identity ${JSON.stringify(id)}`);
}
