/**
 * Devices that join and leave while the simulator runs: configuration, adapters and plant, one change after the other.
 */
import type { AppConfig, DeviceConfig } from '../../config/settings/app-config.ts';
import { maxDevices } from '../../config/profile/device-entry.ts';
import type { DeviceEntry } from '../../config/profile/device-entry.ts';
import { entryIssues, profileIssues } from '../../config/issues/entry-issues.ts';
import type { ChargePointIdOf, IdentifiedDevice } from '../../contract/charge-point-ids.ts';
import type { Adapter } from '../../core/adapter.ts';
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

/** True for an adapter with a listener, session or outstation for each device. */
export function isDeviceServer(adapter: Adapter): adapter is Adapter & DeviceServer {
  return 'addDevice' in adapter && 'removeDevice' in adapter;
}

export interface DeviceChangesOptions {
  readonly plant: SimPlant;
  /** adapters with a listener, session or outstation for each device; called before a device joins and after it left */
  readonly servers: () => readonly DeviceServer[];
  readonly deviceOf: AppConfig['deviceOf'];
  readonly seriesOf: SeriesOf;
  readonly chargePointId: ChargePointIdOf;
  /** true for a device of the start that a client of an earlier process has added; default: none is */
  readonly hasJoined?: (deviceIndex: number) => boolean;
  /** faults of profiles; absent: faults are ignored */
  readonly faults?: JoiningFaults;
  /** called with what `kept` saves, within the change of the plant by which a device leaves */
  readonly changed?: (kept: JsonValue) => void;
  /** called when the adapters have let go of a removed device */
  readonly left?: (deviceIndex: number) => void;
  readonly log: Logger;
  /** default: the maximum of a configuration */
  readonly maxDevices?: number;
}

const unfit = (issues: readonly Issue[]) =>
  new SimError('COMMAND_BAD_VALUE', 'the device cannot be built from its entry', issues);

export class DeviceChanges {
  readonly #options: DeviceChangesOptions;
  readonly #joined = new Map<number, DeviceEntry>();
  readonly #left = new Set<number>();
  /** one change at a time: each takes an index, a port and a place together */
  readonly #turns = new Turns();

  constructor(options: DeviceChangesOptions) {
    this.#options = options;
    options.plant.onDevices(({ removed }) => {
      if (removed === null) return;
      if (!this.#joined.delete(removed.index)) this.#left.add(removed.index);
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
        left: [...this.#left],
      }),
      (saved) => {
        const { joined, left } = changesOf(saved);
        this.#joined.clear();
        for (const { index, entry } of joined)
          if (this.#options.hasJoined?.(index) === true) this.#joined.set(index, entry);
        this.#left.clear();
        for (const index of left) this.#left.add(index);
      },
    );
  }

  async #leave(index: number): Promise<SimDevice> {
    const device = await this.#options.plant.remove(index);
    await this.#letGo(this.#options.servers(), index);
    return device;
  }

  /** Configuration of a device that has joined; undefined: it is one of the configuration. */
  joinedConfig(index: number): DeviceConfig | undefined {
    const entry = this.#joined.get(index);
    return entry && this.#configOf(entry, index);
  }

  /** Entry of a device that has joined; undefined: it is one of the configuration. */
  joinedEntry(index: number): DeviceEntry | undefined {
    return this.#joined.get(index);
  }

  /** Does work while no device joins or leaves. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(work);
  }

  /** Resolves when no change is under way. */
  async settled(): Promise<void> {
    await this.#turns.settled();
  }

  #configOf(entry: DeviceEntry, index: number): DeviceConfig {
    try {
      return this.#options.deviceOf(entry, index);
    } catch (error) {
      throw this.#explained(error, entry, entryIssues);
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
    const spec = this.#specOf(config);
    const serving: DeviceServer[] = [];
    let index = at;
    const admit = async (device: SimDevice): Promise<void> => {
      ({ index } = device);
      this.#checkIdentity(device);
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

  /** @throws SimError COMMAND_CONFLICT */
  #checkIdentity(device: IdentifiedDevice): void {
    const { plant, chargePointId } = this.#options;
    const id = chargePointId(device);
    const other =
      id === null ? undefined : plant.devices.find((present) => present !== device && chargePointId(present) === id);
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
  #explained(error: unknown, entry: DeviceEntry, translate: typeof entryIssues): unknown {
    if (!(error instanceof SimError) || error.code !== 'CONFIG_INVALID') return error;
    if (entry.profile !== undefined || entry.evse_profile !== undefined) return unfit(translate(error.issues, entry));
    // values of the configuration must not be shown to REST clients
    this.#options.log.warning(
      `a device cannot be added: ${error.issues.map(({ name, detail }) => `${name}: ${detail}`).join('; ')}`,
    );
    const detail =
      'the configuration gives such a device a profile or settings that do not fit; the log has the reason; give a profile';
    return unfit([{ name: entry.device_type === undefined ? '' : '/device_type', detail }]);
  }
}
