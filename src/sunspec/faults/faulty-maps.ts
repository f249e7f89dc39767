/** Puts faults between devices and the servers of their registers, and takes them away again. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { FaultChange } from '../../core/faults/registry.ts';
import { FaultyMap, isOfMap } from './faulty-map.ts';
import type { FaultyDevice, MapFaults, Registers } from './faulty-map.ts';

/** Called at once if its device has faults, and at each begin and end of a fault; null: no fault. */
export type MapListener = (map: FaultyMap | null) => void;

/** One device with the listeners of its servers. */
class Followed {
  /** null: no fault of the device */
  map: FaultyMap | null = null;
  readonly listeners = new Set<MapListener>();
  readonly #device: FaultyDevice;
  readonly #faults: MapFaults;
  /** kept after its last fault, for writes that are still pending */
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
    const map = (this.#made ??= new FaultyMap(this.#device, this.#faults));
    if (map.follow(change)) {
      this.map = map;
      this.#endSampling ??= this.#faults.onTick(() => {
        map.sample();
      });
    } else {
      this.map = null;
      this.#endSampling?.();
      this.#endSampling = null;
    }
    for (const listener of this.listeners) listener(this.map);
  }
}

/** The faulty maps of all devices: one per device, shared by its servers. */
export class FaultyMaps {
  readonly #faults: MapFaults;
  readonly #followed = new Map<number, Followed>();

  constructor(faults: MapFaults) {
    this.#faults = faults;
  }

  /** Addresses in the map itself of the registers of a request, under structure faults that strike each request. */
  under(deviceIndex: number, asked: Registers): readonly Registers[] {
    return this.#followed.get(deviceIndex)?.map?.under(asked) ?? [asked];
  }

  /** @returns unsubscribes the listener */
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
