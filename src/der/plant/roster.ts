/** The devices of a plant by index. An index is never used again. */
import { errorText, noSuchDevice, SimError } from '../../core/errors.ts';
import { keptRecord, keptCount } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { Listeners } from '../../core/listeners.ts';
import type { Logger } from '../../core/log/log.ts';
import type { SimDevice } from '../device/device.ts';

/** An added or a removed device, the other member is null; both: another device has taken the place of one. */
export interface RosterChange {
  readonly added: SimDevice | null;
  readonly removed: SimDevice | null;
}

export class Roster {
  /** index of the first device at start */
  readonly firstIndex: number;
  readonly #byIndex: Map<number, SimDevice>;
  readonly #listeners: Listeners<[change: RosterChange]>;
  #devices: readonly SimDevice[];
  #nextIndex: number;

  constructor(devices: readonly SimDevice[], log: Logger, firstIndex = devices[0]?.index ?? 0) {
    this.#listeners = new Listeners((error) => {
      log.error(`a listener of the devices failed: ${errorText(error)}`);
    });
    this.#devices = devices;
    this.#byIndex = new Map(devices.map((device) => [device.index, device]));
    this.firstIndex = firstIndex;
    this.#nextIndex = (devices.at(-1)?.index ?? firstIndex - 1) + 1;
  }

  /** State that a restart keeps, besides the devices: indexes of removed devices remain used. */
  kept(): Kept {
    return keptRecord(
      () => ({ nextIndex: this.#nextIndex }),
      ({ nextIndex }) => {
        this.#nextIndex = Math.max(this.#nextIndex, keptCount(nextIndex, 'index of the next device'));
      },
    );
  }

  /** Devices in index order; a change replaces the list. */
  get devices(): readonly SimDevice[] {
    return this.#devices;
  }

  /** Index of the next device to be added. */
  get nextIndex(): number {
    return this.#nextIndex;
  }

  /** @throws SimError UNKNOWN_DEVICE */
  device(index: number): SimDevice {
    const device = this.#byIndex.get(index);
    if (!device) throw new SimError('UNKNOWN_DEVICE', this.#absence(index));
    return device;
  }

  #absence(index: number): string {
    if (Number.isInteger(index) && index >= this.firstIndex && index < this.#nextIndex) {
      const [first] = this.#devices;
      const hint =
        first === undefined ? 'no device is left' : `name one that is there with device=, for example ${first.index}`;
      return `device ${index} was removed; ${hint}`;
    }
    return noSuchDevice(
      index,
      this.#devices.map((device) => device.index),
    );
  }

  add(device: SimDevice): void {
    this.#byIndex.set(device.index, device);
    this.#devices = [...this.#devices, device];
    this.#nextIndex = device.index + 1;
  }

  /** Puts a device in the place of the one of its index. @throws SimError UNKNOWN_DEVICE */
  replace(device: SimDevice): SimDevice {
    const removed = this.device(device.index);
    this.#byIndex.set(device.index, device);
    this.#devices = this.#devices.map((other) => (other === removed ? device : other));
    return removed;
  }

  /** @throws SimError UNKNOWN_DEVICE */
  remove(index: number): SimDevice {
    const device = this.device(index);
    this.#byIndex.delete(index);
    this.#devices = this.#devices.filter((other) => other !== device);
    return device;
  }

  onChange(listener: (change: RosterChange) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Notifies all listeners of a completed change; a failing listener does not affect the others. */
  notify(change: Partial<RosterChange>): void {
    this.#listeners.notify({ added: null, removed: null, ...change });
  }
}
