/** The devices at the start: those of the configuration, without and with those that clients removed and added. */
import type { AppConfig, DeviceConfig } from '../../config/settings/app-config.ts';
import type { DeviceEntry } from '../../config/profile/device-entry.ts';
import { placeClashes } from '../../config/issues/place-issues.ts';
import type { PlaceSettings } from '../../config/issues/place-issues.ts';
import { createChargePointIds } from '../../contract/charge-point-ids.ts';
import { protocolsOf } from '../../contract/device-protocols.ts';
import { misfitText, SimError } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { DeviceSeries } from '../../der/device/template.ts';

interface IndexedEntry {
  readonly index: number;
  readonly entry: DeviceEntry;
}

/** Devices that differ from those of the configuration. */
export interface ChangedDevices {
  readonly joined: readonly IndexedEntry[];
  /** devices of the configuration with another entry */
  readonly changed: readonly IndexedEntry[];
  /** indexes of removed devices of the configuration */
  readonly left: readonly number[];
}

export interface PlacedDevice {
  /** false: one of the configuration */
  readonly hasJoined: boolean;
  /** true: one of the configuration with another entry */
  readonly isChanged: boolean;
  readonly index: number;
  readonly config: DeviceConfig;
  readonly series: DeviceSeries;
}

/** Reads the series of a device. */
export type SeriesOf = (device: DeviceConfig) => DeviceSeries;

const isIndex = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;

const isEntry = (value: unknown): value is DeviceEntry => typeof value === 'object' && value !== null;

function entriesIn(list: unknown): readonly IndexedEntry[] {
  const entries = (Array.isArray(list) ? list : []) as readonly (Readonly<
    Partial<Record<'index' | 'entry', unknown>>
  > | null)[];
  return entries.flatMap((each) =>
    isIndex(each?.index) && isEntry(each.entry) ? [{ index: each.index, entry: each.entry }] : [],
  );
}

/** The changes in a kept value; what is no change is left out. */
export function changesOf(saved: unknown): ChangedDevices {
  const { joined, changed, left } = (saved ?? {}) as Partial<Record<keyof ChangedDevices, unknown>>;
  return {
    joined: entriesIn(joined),
    changed: entriesIn(changed),
    left: (Array.isArray(left) ? left : []).filter(isIndex),
  };
}

type PlacedConfig = Pick<AppConfig, 'devices' | 'deviceOf' | 'firstDevice' | 'chargePointId'> & PlaceSettings;

/**
 * A device that has joined an earlier process and does not fit any more is left out with a line in the log; one of the
 * configuration whose changes do not fit any more is as the configuration says.
 * @throws SimError CONFIG_INVALID for the series of the configuration
 */
export function placedDevices(
  config: PlacedConfig,
  { joined, changed, left }: ChangedDevices,
  seriesOf: SeriesOf,
  log: Pick<Logger, 'warning'>,
): readonly PlacedDevice[] {
  const { devices, deviceOf, firstDevice } = config;
  const placed = devices
    .map((device, at) => ({ index: firstDevice + at, config: device, hasJoined: false, isChanged: false }))
    .filter(({ index }) => !left.includes(index))
    .map((device): PlacedDevice => ({ ...device, series: seriesOf(device.config) }));
  const placeOf = ({ index, entry }: IndexedEntry) => {
    const device = deviceOf(entry, index);
    return { index, config: device, series: seriesOf(device) };
  };
  // together: devices may have exchanged their places
  const others = new Map<number, PlacedDevice>();
  for (const each of changed)
    attempt(`the changes of device ${each.index} are not restored`, each.index, log, () => {
      others.set(each.index, { ...placeOf(each), hasJoined: false, isChanged: true });
    });
  const exchanged = placed.map((device) => others.get(device.index) ?? device);
  const all = attempt('the changes of devices are not restored', null, log, () => {
    checkPlaces(exchanged, config);
    return exchanged;
  });
  const present = [...(all ?? placed)];
  for (const each of joined)
    attempt(`device ${each.index}, added earlier, cannot join again`, each.index, log, () => {
      const device = { ...placeOf(each), hasJoined: true, isChanged: false };
      if (present.some(({ index }) => index === device.index))
        throw new SimError('COMMAND_CONFLICT', 'the configuration has a device of this index');
      checkPlaces([...present, device], config);
      present.push(device);
    });
  return present.sort((a, b) => a.index - b.index);
}

/** @returns null for work that fails, with a line in the log */
function attempt<T>(failure: string, index: number | null, log: Pick<Logger, 'warning'>, work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    log.warning(`${failure}: ${misfitText(error)}`, index ?? undefined);
    return null;
  }
}

/** @throws SimError COMMAND_CONFLICT for an identity or a place that two devices have */
function checkPlaces(devices: readonly PlacedDevice[], config: PlacedConfig): void {
  const all = devices.map(({ index, config }) => ({
    index,
    assetType: config.assetType,
    ...protocolsOf(config),
  }));
  const idOf = createChargePointIds({ devices: all }, config.chargePointId);
  const ids = all.map(idOf);
  const id = ids.find((each, at) => each !== null && ids.indexOf(each) !== at) ?? null;
  if (id !== null)
    throw new SimError('COMMAND_CONFLICT', `another device has the charge point identity ${JSON.stringify(id)}`);
  const [clash] = placeClashes(config, all);
  if (clash !== undefined)
    throw new SimError('COMMAND_CONFLICT', `device ${clash.other} has the ${clash.words} ${clash.value}`);
}
