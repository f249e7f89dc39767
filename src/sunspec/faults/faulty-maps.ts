/** Puts faults between devices and whoever serves their registers, and takes them away again. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { FaultChange } from '../../core/faults/registry.ts';
import { FaultyMap, isOfMap } from './faulty-map.ts';
import type { FaultyDevice, MapFaults, Registers } from './faulty-map.ts';

/** Told at once where there are faults for its device, and whenever they come and go; null: the bank itself serves. */
export type MapListener = (map: FaultyMap | null) => void;

/** One device with those who serve it. */
class Followed {
  /** null: there is no fault for the device */
  map: FaultyMap | null = null;
  readonly listeners = new Set<MapListener>();
  readonly #device: FaultyDevice;
  readonly #faults: MapFaults;
  /** kept from the first fault on: it knows what has not landed yet */
  #made: FaultyMap | null = null;
  readonly #forget: () => void;
  #endSampling: (() => void) | null = null;

  constructor(device: FaultyDevice, faults: MapFaults) {
    this.#device = device;
    this.#faults = faults;
    this.#forget = faults.registry.onChange((change) => {
      this.#follow(change);
    });
    this.#follow({ begun: faults.registry.active, ended: [] });
  }

  end(): void {
    this.#forget();
    this.#endSampling?.();
  }

  #follow(change: FaultChange): void {
    const concerns = (fault: ActiveFault) => isOfMap(fault) && fault.concerns(this.#device.index);
    if (!change.begun.some(concerns) && !change.ended.some(concerns)) return;
    const made = (this.#made ??= new FaultyMap(this.#device, this.#faults));
    if (made.follow(change)) {
      this.map = made;
      this.#endSampling ??= this.#faults.onTick(() => {
        made.sample();
      });
    } else {
      this.map = null;
      this.#endSampling?.();
      this.#endSampling = null;
    }
    for (const listener of this.listeners) listener(this.map);
  }
}

/** The maps of all devices as faults show them: one per device, whoever serves it. */
export class FaultyMaps {
  readonly #faults: MapFaults;
  readonly #followed = new Map<number, Followed>();

  constructor(faults: MapFaults) {
    this.#faults = faults;
  }

  /** Addresses in the map itself of what a request to a device names, as far as structure faults strike each request. */
  under(deviceIndex: number, asked: Registers): readonly Registers[] {
    return this.#followed.get(deviceIndex)?.map?.under(asked) ?? [asked];
  }

  /** @returns ends it */
  follow(device: FaultyDevice, listener: MapListener): () => void {
    const followed = this.#followed.get(device.index) ?? new Followed(device, this.#faults);
    this.#followed.set(device.index, followed);
    followed.listeners.add(listener);
    if (followed.map !== null) listener(followed.map);
    return () => {
      followed.listeners.delete(listener);
      if (followed.listeners.size > 0) return;
      followed.end();
      this.#followed.delete(device.index);
    };
  }
}
