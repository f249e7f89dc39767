/**
 * Saves the state of plant and devices in the store, between ticks. A part whose state is the same as before writes
 * nothing.
 */
import { errorText } from '../core/errors.ts';
import type { Kept } from '../core/kept.ts';
import type { Logger } from '../core/log/log.ts';
import type { Every } from '../core/time/timers.ts';
import { yieldToLoop } from '../core/turns.ts';
import type { SimDevice } from '../der/device/device.ts';
import type { SimPlant } from '../der/plant/plant.ts';
import { layoutsSlot } from '../state/slots.ts';
import type { KeptLayouts } from './kept-layouts.ts';
import type { State } from './state.ts';

/** State of class D1 is at most this old on disk. */
const saveEveryMs = 1000;
/** Saving yields to other work after this many milliseconds. */
const sliceMs = 2;

/** A part of the state. */
export interface KeptSlot {
  readonly kept: Kept;
  /** name of the slot */
  readonly slot: string;
}

export interface KeptDevice extends KeptSlot {
  readonly device: SimDevice;
  /** see `PlantKeeping.lifeOf` */
  life: string;
  /** a register was written since the last save */
  isWritten: boolean;
  /** commands of the device up to the last save */
  commands: number;
}

/** Everything whose state is kept; parts come and go. */
export interface KeptThings {
  /** by name */
  readonly shared: ReadonlyMap<string, KeptSlot>;
  /** by index */
  readonly devices: ReadonlyMap<number, KeptDevice>;
  /** parts that go with the registers of a device */
  readonly partsOf: ReadonlyMap<number, ReadonlySet<KeptSlot>>;
  /** parts that go with the registers of any device */
  readonly linked: ReadonlySet<KeptSlot>;
  readonly layouts: Pick<KeptLayouts, 'changes'>;
}

export interface StateSaverOptions {
  readonly plant: Pick<SimPlant, 'betweenTicks'>;
  readonly state: Pick<State, 'store' | 'write'>;
  readonly log: Pick<Logger, 'error'>;
  readonly every: Every;
  readonly monotonicMs: () => number;
  /** called when the parts change that are too large to be kept, with the reason of the oldest; null: all fit */
  readonly onRefusal: (reason: string | null) => void;
}

export class StateSaver {
  readonly #options: StateSaverOptions;
  readonly #shared: KeptThings['shared'];
  readonly #devices: KeptThings['devices'];
  readonly #partsOf: KeptThings['partsOf'];
  readonly #linked: KeptThings['linked'];
  readonly #layouts: KeptThings['layouts'];
  /** true: a tick has ended since the last save */
  #hasTicked = false;
  /** reasons by slots that the store refuses */
  readonly #refused = new Map<string, string>();
  /** a save of the shared parts that waits for the end of a tick */
  #waitingSave: { readonly promise: Promise<void> } | null = null;
  #sliceStart = 0;
  #stopTimer: () => void = () => undefined;
  #isSaving = false;
  #closed = false;

  constructor({ shared, devices, partsOf, linked, layouts }: KeptThings, options: StateSaverOptions) {
    this.#options = options;
    this.#shared = shared;
    this.#devices = devices;
    this.#partsOf = partsOf;
    this.#linked = linked;
    this.#layouts = layouts;
  }

  /** The next save includes every device. */
  noteTick(): void {
    this.#hasTicked = true;
  }

  /** Saves once a second from here on. */
  start(): void {
    this.#stopTimer = this.#options.every(saveEveryMs, () => {
      if (this.#isSaving) return;
      this.#isSaving = true;
      void this.#save(this.#hasTicked).finally(() => {
        this.#isSaving = false;
      });
    });
  }

  /** The state of the named device is written within the call, also while a tick runs. */
  async commit(deviceIndex: number | null): Promise<void> {
    if (this.#closed) return;
    if (deviceIndex === null) await this.#save(true);
    else {
      this.#writeTogether([deviceIndex]);
      await this.#saveShared();
    }
    await this.#options.state.store.durable();
  }

  /** Saves a last time, which is durable once the store has closed. */
  async close(): Promise<void> {
    this.#stopTimer();
    if (this.#closed) return;
    await this.#save(true);
    this.#closed = true;
  }

  /** Empties a slot. */
  clear(slot: string): void {
    this.#accepted(slot);
    this.#options.state.store
      .slot(slot)
      .replace([])
      .catch((error: unknown) => {
        this.#refuse(slot, error);
      });
  }

  /** Devices that registers or commands have changed since they were written. */
  #changedDevices(): readonly number[] {
    const indexes: number[] = [];
    // each slice of a save asks for them: a list of all devices would cost as much as some of them
    for (const { device, isWritten, commands } of this.#devices.values())
      if (isWritten || device.commandCount !== commands) indexes.push(device.index);
    return indexes;
  }

  /**
   * Writes devices, those that others have changed meanwhile, and the parts that go with their registers, within the
   * call: a process that ends afterwards leaves all of them or none.
   */
  #writeTogether(indexes: readonly number[]): void {
    for (const index of new Set([...indexes, ...this.#changedDevices()])) this.#writeDevice(index);
    for (const part of this.#linked) this.#write(part);
  }

  /** @param all false: only devices that were changed between two ticks */
  #save(all: boolean): Promise<void> {
    const { plant, monotonicMs } = this.#options;
    return plant.betweenTicks(async () => {
      if (this.#closed) return;
      this.#sliceStart = monotonicMs();
      for (const part of this.#shared.values()) this.#write(part);
      this.#writeTogether([]);
      if (!all) {
        for (const parts of this.#partsOf.values()) for (const part of parts) this.#write(part);
        return;
      }
      this.#hasTicked = false;
      for (const index of [...this.#devices.keys()]) {
        this.#writeDevice(index);
        if (monotonicMs() - this.#sliceStart <= sliceMs) continue;
        this.#writeTogether([]);
        await this.#giveWay();
      }
      this.#writeTogether([]);
    });
  }

  /** Commits that wait for the end of a tick share one save. */
  #saveShared(): Promise<void> {
    const waiting = this.#waitingSave;
    if (waiting) return waiting.promise;
    const save = { hasBegun: false, promise: Promise.resolve() };
    save.promise = this.#options.plant.betweenTicks(() => {
      save.hasBegun = true;
      this.#waitingSave = null;
      if (!this.#closed) for (const part of this.#shared.values()) this.#write(part);
      return Promise.resolve();
    });
    // without a tick it is done by now
    if (!save.hasBegun) this.#waitingSave = save;
    return save.promise;
  }

  #writeDevice(index: number): void {
    const entry = this.#devices.get(index);
    if (entry === undefined) return;
    const layouts = this.#layouts.changes();
    if (layouts !== null) this.#writeText(layoutsSlot, () => JSON.stringify(layouts));
    entry.isWritten = false;
    entry.commands = entry.device.commandCount;
    this.#write(entry);
    for (const part of this.#partsOf.get(index) ?? []) this.#write(part);
  }

  #write({ kept, slot }: KeptSlot): void {
    this.#writeText(slot, () => JSON.stringify(kept.save()));
  }

  #writeText(slot: string, text: () => string): void {
    try {
      this.#options.state.write(slot, text());
      this.#accepted(slot);
    } catch (error) {
      this.#refuse(slot, error);
    }
  }

  #accepted(slot: string): void {
    if (this.#refused.delete(slot)) this.#reportRefusal();
  }

  /** Reports the first refusal of a slot: the next ones come every second. */
  #refuse(slot: string, error: unknown): void {
    if (this.#refused.has(slot)) return;
    this.#refused.set(slot, errorText(error));
    this.#options.log.error(`the state ${slot} is not kept any more: ${errorText(error)}`);
    this.#reportRefusal();
  }

  #reportRefusal(): void {
    const [oldest = null] = this.#refused.values();
    this.#options.onRefusal(oldest);
  }

  async #giveWay(): Promise<void> {
    await yieldToLoop();
    this.#sliceStart = this.#options.monotonicMs();
  }
}
