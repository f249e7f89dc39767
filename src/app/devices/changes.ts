/**
 * Devices that join, change and leave while the simulator runs: configuration, adapters and plant, one change after the
 * other.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AppConfig, DeviceConfig } from '../../config/settings/app-config.ts';
import { changedEntry, maxDevices } from '../../config/profile/device-entry.ts';
import type { DeviceTypeName } from '../../config/profile/device-types.ts';
import type { ChangedDevice, DeviceEntry } from '../../config/profile/device-entry.ts';
import { blockIssues, placeClashes } from '../../config/issues/place-issues.ts';
import type { DevicePlace, PlaceSettings } from '../../config/issues/place-issues.ts';
import { entryIssues, pointerOf, profileIssues } from '../../config/issues/entry-issues.ts';
import type { ChargePointIdOf, IdentifiedDevice } from '../../contract/charge-point-ids.ts';
import { deviceProtocols, protocolsOf } from '../../contract/device-protocols.ts';
import type { DeviceChanged } from '../../contract/device-changes.ts';
import type { Adapter, CommName } from '../../core/adapter.ts';
import { originText } from '../../core/origin.ts';
import type { Origin } from '../../core/origin.ts';
import { errorText, SimError, shortageOf } from '../../core/errors.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Issue } from '../../core/errors.ts';
import type { JsonValue } from '../../core/store.ts';
import { Turns } from '../../core/turns.ts';
import type { Logger } from '../../core/log/log.ts';
import type { DeviceSpec } from '../../der/device/template.ts';
import type { SimDevice } from '../../der/device/device.ts';
import type { SimPlant } from '../../der/plant/plant.ts';
import { changesOf } from './placed.ts';
import type { ChangedDevices, SeriesOf } from './placed.ts';
import type { JoiningFaults } from '../faults.ts';
import type { DeviceServer } from '../../contract/plant.ts';
import { DeviceHandOver, protocolOfComm } from './hand-over.ts';
import type { ServingAdapter } from './hand-over.ts';

/** True for an adapter with a listener, session or outstation for each device. */
export function isDeviceServer(adapter: Adapter): adapter is Adapter & DeviceServer {
  return 'addDevice' in adapter && 'removeDevice' in adapter;
}

export interface DeviceChangesOptions {
  readonly plant: SimPlant;
  /** adapters with a listener, session or outstation for each device; called before a device joins and after it left */
  readonly servers: () => readonly ServingAdapter[];
  readonly deviceOf: AppConfig['deviceOf'];
  /** the entry of a device of the configuration, and what it has made; absent: none has one */
  readonly configured?: (deviceIndex: number) => ConfiguredDevice | null;
  /** settings in force that the places of devices follow from; absent: places are not compared */
  readonly places?: () => PlaceSettings;
  readonly seriesOf: SeriesOf;
  readonly chargePointId: ChargePointIdOf;
  /** a device of the start that a client of an earlier process has added or changed; default: there is none */
  readonly fromEarlier?: (deviceIndex: number) => 'changed' | 'joined' | null;
  /** faults of profiles; absent: faults are ignored */
  readonly faults?: JoiningFaults;
  /** called with what `kept` saves, within the change of the plant by which a device leaves */
  readonly changed?: (kept: JsonValue) => void;
  /** called when the adapters have let go of a removed device */
  readonly left?: (deviceIndex: number) => void;
  /** the slots of the identities of a device; absent: none are kept */
  readonly slots?: IdentitySlots;
  readonly log: Logger;
  /** default: the maximum of a configuration */
  readonly maxDevices?: number;
}

/** A device of the configuration. */
export interface ConfiguredDevice {
  readonly entry: DeviceEntry;
  readonly config: DeviceConfig;
}

/** An entry without a member. */
const without = (entry: DeviceEntry, name: keyof DeviceEntry): DeviceEntry =>
  Object.fromEntries(Object.entries(entry).filter(([member]) => member !== name));

/** @param entries of all devices of the file; empty: the settings alone make them @returns null for a device of requests */
export function configuredDevice(
  { devices, firstDevice }: Pick<AppConfig, 'devices' | 'firstDevice'>,
  entries: readonly (DeviceEntry | null)[],
  index: number,
): ConfiguredDevice | null {
  const config = devices[index - firstDevice];
  if (config === undefined) return null;
  const { deviceType, name } = config;
  const entry = entries[index - firstDevice] ?? { device_type: deviceType as DeviceTypeName };
  return { entry: { ...without(entry, 'count'), ...(entry.name !== undefined && { name }) }, config };
}

/** A body of `add` or `change`. */
type RequestedMembers = DeviceEntry | ChangedDevice;

const unfit = (issues: readonly Issue[]) =>
  new SimError('COMMAND_BAD_VALUE', 'the device cannot be built from its entry', issues);

/** Parts of a configuration whose change lets another device take the place of one. */
const hardwareOf = ({ deviceType, phases, profile, profileName }: DeviceConfig): readonly unknown[] => [
  deviceType,
  phases,
  profile,
  profileName,
];

/** True for the slots of the outstation of a device. */
const isOfOutstation = (slot: string, index: number) =>
  [`dnp3/${index}/`, `dnp3/${index}%20`].some((start) => slot.startsWith(start));

/** Slots in the store that are named by identities. */
interface IdentitySlots {
  /** beginnings of the names of the slots of a device */
  readonly placesOf: (deviceIndex: number) => readonly string[];
  readonly forget: (isGone: (slot: string) => boolean) => void;
}

export class DeviceChanges {
  readonly #options: DeviceChangesOptions;
  readonly #joined = new Map<number, DeviceEntry>();
  readonly #left = new Set<number>();
  /** entries of devices of the configuration that requests have changed */
  readonly #changed = new Map<number, DeviceEntry>();
  /** a device that is about to take the place of one */
  #coming: { readonly index: number; readonly entry: DeviceEntry } | null = null;
  /** one change at a time: each takes an index, a port and a place together */
  readonly #turns = new Turns();

  constructor(options: DeviceChangesOptions) {
    this.#options = options;
    options.plant.onDevices(({ added, removed }) => {
      if (removed === null) return;
      const { index } = removed;
      if (added !== null && this.#coming !== null) this.#setEntry(index, this.#coming.entry);
      else if (!this.#joined.delete(index)) this.#left.add(index);
      if (added === null) this.#changed.delete(index);
      options.changed?.(this.kept().save());
    });
  }

  /**
   * Adds one device under the next free index, on every adapter and in the plant, or changes nothing.
   * @param entry names bundled profiles only
   * @throws SimError COMMAND_BAD_VALUE with every issue as a JSON pointer into the entry, COMMAND_CONFLICT when there
   *   is no room for the device (number of devices, port, unit id, limits of faults), when its charge point identity is
   *   taken, or when its series cannot be used, SHORTAGE, STOPPING
   */
  add(entry: DeviceEntry, by: Origin): Promise<SimDevice> {
    return this.#turns.take(async () => {
      const { plant, log } = this.#options;
      const max = this.#options.maxDevices ?? maxDevices;
      if (plant.devices.length >= max)
        throw new SimError('COMMAND_CONFLICT', `there are ${plant.devices.length} devices; allowed: up to ${max}`);
      const index = plant.nextIndex;
      this.#joined.set(index, entry);
      const device = await this.#join(entry, index).catch((error: unknown) => {
        this.#joined.delete(index);
        throw error;
      });
      log.info(
        `device ${device.index} added (${device.name}, ${device.deviceType}), asked by ${originText(by)}`,
        device.index,
      );
      return device;
    });
  }

  /**
   * Removes a device from the plant and from the adapters; resolves when its listener is closed.
   * @throws SimError UNKNOWN_DEVICE, STOPPING
   */
  remove(index: number, by: Origin): Promise<void> {
    return this.#turns.take(async () => {
      const { log } = this.#options;
      const { name } = await this.#leave(index);
      log.info(`device ${index} removed (${name}), asked by ${originText(by)}`, index);
    });
  }

  /** State that a restart keeps; `placedDevices` carries it out. */
  kept(): Kept {
    return keptRecord<ChangedDevices>(
      () => ({
        joined: Array.from(this.#joined, ([index, entry]) => ({ index, entry })),
        changed: Array.from(this.#changed, ([index, entry]) => ({ index, entry })),
        left: [...this.#left],
      }),
      (saved) => {
        const { joined, changed, left } = changesOf(saved);
        const { fromEarlier = () => null } = this.#options;
        this.#joined.clear();
        for (const { index, entry } of joined) if (fromEarlier(index) === 'joined') this.#joined.set(index, entry);
        this.#changed.clear();
        for (const { index, entry } of changed) if (fromEarlier(index) === 'changed') this.#changed.set(index, entry);
        this.#left.clear();
        for (const index of left) this.#left.add(index);
      },
    );
  }

  /**
   * Changes a device, or nothing. Other identities restart its service at the adapters of their protocols; another
   * profile lets another device take its place.
   * @throws SimError UNKNOWN_DEVICE, and as `add`
   */
  change(index: number, change: ChangedDevice, by: Origin): Promise<DeviceChanged> {
    return this.#turns.take(async () => {
      const device = this.#options.plant.device(index);
      const former = this.#presentOf(device);
      const entry = changedEntry(former.entry, change);
      const config = this.#configOf(entry, index, change);
      this.#checkPlace({ ...config, index });
      const isOther = hardwareOf(former.config).some((part, at) => !isDeepStrictEqual(part, hardwareOf(config)[at]));
      const protocols = isOther
        ? await this.#replace(device, { entry: without(entry, 'faults'), config }, change)
        : await this.#rename(device, entry, config);
      const restarted = [...(isOther ? ['device'] : []), ...protocols].join(', ');
      this.#options.log.info(
        `device ${index} changed (${restarted === '' ? 'nothing restarted' : `restarted: ${restarted}`}), ` +
          `asked by ${originText(by)}`,
        index,
      );
      return { hasRestarted: isOther, protocols };
    });
  }

  /** The entry of a device, and what it has made. */
  #presentOf({ index, deviceType }: SimDevice): ConfiguredDevice {
    const requested = this.requestedEntry(index);
    if (requested !== undefined) return { entry: requested, config: this.#configOf(requested, index) };
    const entry: DeviceEntry = { device_type: deviceType as DeviceTypeName };
    return this.#options.configured?.(index) ?? { entry, config: this.#configOf(entry, index) };
  }

  #setEntry(index: number, entry: DeviceEntry): void {
    if (this.#joined.has(index)) this.#joined.set(index, entry);
    else this.#changed.set(index, entry);
  }

  /** @returns protocols whose services of the device have begun anew */
  async #rename(device: SimDevice, entry: DeviceEntry, config: DeviceConfig): Promise<readonly CommName[]> {
    const { index } = device;
    const former = { name: device.name, ...protocolsOf(device) };
    const next = { name: config.name, ...protocolsOf(config) };
    const servers = this.#options.servers().filter(({ comm }) => {
      const protocol = protocolOfComm(comm);
      // outstations show the name of their device
      if (protocol === 'dnp3' && next.name !== former.name) return true;
      return protocol !== null && !isDeepStrictEqual(former[protocol], next[protocol]);
    });
    const places = this.#options.slots?.placesOf(index) ?? [];
    const isSameOutstation = former.name === next.name && former.dnp3?.profile === next.dnp3?.profile;
    const handOver = this.#handOver(index, {
      enter: () => {
        device.rename(next);
        return device;
      },
      back: () => {
        device.rename(former);
        return device;
      },
      isGone: (slot) => !isSameOutstation && isOfOutstation(slot, index),
    });
    await handOver.run(servers);
    this.#setEntry(index, entry);
    this.#options.changed?.(this.kept().save());
    this.#forgetFormer(index, places);
    return [...new Set(servers.flatMap(({ comm }) => comm ?? []))];
  }

  /** Empties the slots of identities that a device has given up. */
  #forgetFormer(index: number, places: readonly string[]): void {
    const { slots } = this.#options;
    const present = slots?.placesOf(index) ?? [];
    const isFormer = (slot: string) => places.some((place) => !present.includes(place) && slot.startsWith(`${place}/`));
    slots?.forget(isFormer);
  }

  /** @returns protocols whose services of the device have begun anew */
  async #replace(
    former: SimDevice,
    { entry, config }: ConfiguredDevice,
    change: ChangedDevice,
  ): Promise<readonly CommName[]> {
    const { plant, faults, servers: serversNow, slots } = this.#options;
    const { index } = former;
    const spec = this.#specOf(config);
    const servers = serversNow();
    const places = slots?.placesOf(index) ?? [];
    this.#coming = { index, entry };
    try {
      const device = await plant.replace(spec, index, async (next) => {
        faults?.check(next, config);
        const handOver = this.#handOver(index, {
          enter: () => next,
          back: () => former,
          isGone: (slot) => isOfOutstation(slot, index) || places.some((place) => slot.startsWith(`${place}/`)),
        });
        await handOver.run(servers);
      });
      this.#forgetFormer(index, places);
      this.#beginFaultsLate(device, config);
      return [...new Set(servers.flatMap(({ comm }) => comm ?? []))];
    } catch (error) {
      throw this.#explained(error, change, profileIssues);
    } finally {
      this.#coming = null;
    }
  }

  /** The faults of the profile of a device whose predecessor has left for good. */
  #beginFaultsLate(device: SimDevice, config: DeviceConfig): void {
    try {
      this.#options.faults?.begin(device, config);
    } catch (error) {
      this.#options.log.warning(`the faults of its profile do not act: ${errorText(error)}`, device.index);
    }
  }

  #handOver(index: number, parts: Omit<ConstructorParameters<typeof DeviceHandOver>[0], 'forget' | 'index' | 'log'>) {
    const { log, slots } = this.#options;
    return new DeviceHandOver({ ...parts, index, log, forget: (isGone) => slots?.forget(isGone) });
  }

  async #leave(index: number): Promise<SimDevice> {
    const device = await this.#options.plant.remove(index);
    await this.#letGo(this.#options.servers(), index);
    return device;
  }

  /** Configuration of a device that requests have added or changed; undefined: it is as the configuration says. */
  requestedConfig(index: number): DeviceConfig | undefined {
    const entry = this.#coming?.index === index ? this.#coming.entry : this.requestedEntry(index);
    return entry && this.#configOf(entry, index);
  }

  /** Entry of a device that requests have added or changed; undefined: it is as the configuration says. */
  requestedEntry(index: number): DeviceEntry | undefined {
    return this.#joined.get(index) ?? this.#changed.get(index);
  }

  hasJoined(index: number): boolean {
    return this.#joined.has(index);
  }

  /** Does work while no device joins or leaves. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(work);
  }

  /** Resolves when no change is under way. */
  async settled(): Promise<void> {
    await this.#turns.settled();
  }

  /** @param body the members that a client has given, which issues may name */
  #configOf(entry: DeviceEntry, index: number, body: RequestedMembers = entry): DeviceConfig {
    try {
      return this.#options.deviceOf(entry, index);
    } catch (error) {
      throw this.#explained(error, body, entryIssues);
    }
  }

  #specOf(device: DeviceConfig): DeviceSpec {
    try {
      return { ...device, series: this.#options.seriesOf(device) };
    } catch (error) {
      const shortage = shortageOf(error);
      if (shortage !== null) throw shortage;
      // names of files in the configuration must not be shown to REST clients
      this.#options.log.warning(`a device cannot be added: ${errorText(error)}`);
      throw new SimError(
        'COMMAND_CONFLICT',
        'the series that the configuration gives such a device cannot be used; the log has the reason',
      );
    }
  }

  async #join(entry: DeviceEntry, at: number): Promise<SimDevice> {
    const { plant, servers, faults } = this.#options;
    const config = this.#configOf(entry, at);
    this.#checkPlace({ ...config, index: at });
    const spec = this.#specOf(config);
    const serving: DeviceServer[] = [];
    let index = at;
    const admit = async (device: SimDevice): Promise<void> => {
      ({ index } = device);
      faults?.check(device, config);
      for (const server of servers()) {
        await server.addDevice(device);
        serving.push(server);
      }
    };
    try {
      const joined = await plant.add(spec, admit);
      await this.#beginFaults(joined, config);
      return joined;
    } catch (error) {
      await this.#letGo(serving, index);
      throw this.#explained(error, entry, profileIssues);
    }
  }

  /** Injects the faults of the profile; if the registry refuses them, the device is removed again. */
  async #beginFaults(device: SimDevice, config: DeviceConfig): Promise<void> {
    try {
      this.#options.faults?.begin(device, config);
    } catch (error) {
      await this.#options.plant.remove(device.index);
      throw error;
    }
  }

  /** @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT */
  #checkPlace(device: DevicePlace & IdentifiedDevice): void {
    const { plant, places } = this.#options;
    this.#checkIdentity(device);
    if (places === undefined) return;
    const issues = blockIssues(places(), device).map((issue) => ({ ...issue, name: pointerOf(issue.name) }));
    if (issues.length > 0) throw unfit(issues);
    const others = plant.devices.filter(({ index }) => index !== device.index);
    const clashes = placeClashes(places(), [...others, device]).filter((clash) => clash.device === device.index);
    if (clashes.length === 0) return;
    throw new SimError(
      'COMMAND_CONFLICT',
      clashes
        .map(
          ({ other, words, value, member }) =>
            `device ${other} has the ${words} ${value}; give another one in ${member}`,
        )
        .join('; '),
    );
  }

  /** @throws SimError COMMAND_CONFLICT */
  #checkIdentity(device: IdentifiedDevice): void {
    const { plant, chargePointId } = this.#options;
    const id = chargePointId(device);
    const other =
      id === null
        ? undefined
        : plant.devices.find((present) => present.index !== device.index && chargePointId(present) === id);
    if (other === undefined) return;
    throw new SimError(
      'COMMAND_CONFLICT',
      `device ${other.index} has the charge point identity ${JSON.stringify(id)}; give another identity in ocpp.id`,
    );
  }

  /** Removes a device from adapters; one that fails to close must not prevent the others from closing. */
  async #letGo(servers: readonly DeviceServer[], index: number): Promise<void> {
    for (const server of servers) {
      try {
        await server.removeDevice(index);
      } catch (error) {
        this.#options.log.error(`device ${index} was not removed cleanly: ${errorText(error)}`, index);
      }
    }
    this.#options.left?.(index);
  }

  /** Turns an error of the configuration into an error of the request. */
  #explained(error: unknown, body: RequestedMembers, translate: typeof entryIssues): unknown {
    if (!(error instanceof SimError) || error.code !== 'CONFIG_INVALID') return error;
    const entry = body as DeviceEntry;
    if (body.profile != null || body.evse_profile != null) return unfit(translate(error.issues, entry));
    const ofBlocks = error.issues.filter(({ name }) => deviceProtocols.some((block) => name.split('.')[0] === block));
    if (ofBlocks.length > 0) return unfit(entryIssues(ofBlocks, entry));
    // values of the configuration must not be shown to REST clients
    this.#options.log.warning(
      `a device cannot be added: ${error.issues.map(({ name, detail }) => `${name}: ${detail}`).join('; ')}`,
    );
    const detail =
      'the configuration gives such a device a profile or settings that do not fit; the log has the reason; give a profile';
    return unfit([{ name: body.device_type == null ? '' : '/device_type', detail }]);
  }
}
