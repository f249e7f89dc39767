/**
 * Keeps the state of plant and devices in the store: restored before adapters are built, saved between ticks by
 * `state-saver.ts`.
 */
import { randomUUID } from 'node:crypto';
import type { KeepPart } from '../contract/adapter-parts.ts';
import type { Keeping } from '../contract/keeping.ts';
import { changesOf } from './devices/placed.ts';
import type { ChangedDevices } from './devices/placed.ts';
import { fitOf } from './kept-fit.ts';
import type { Marks } from './kept-fit.ts';
import { KeptLayouts } from './kept-layouts.ts';
import { errorText, misfitText, SimError } from '../core/errors.ts';
import type { Kept, KeptByName } from '../core/kept.ts';
import type { Logger } from '../core/log/log.ts';
import { slotName } from '../core/store.ts';
import type { JsonValue } from '../core/store.ts';
import { secondsBetween } from '../core/time/clock.ts';
import type { SimDevice } from '../der/device/device.ts';
import type { SimPlant } from '../der/plant/plant.ts';
import { layoutsSlot } from '../state/slots.ts';
import type { State } from './state.ts';
import { StateSaver } from './state-saver.ts';
import type { KeptDevice, KeptSlot, StateSaverOptions } from './state-saver.ts';

/** A device whose state is this many ticks away from the clock was not part of the simulator meanwhile. */
const maxTicksBehind = 10;
/** names all devices among the parts that are not restored */
export const allDevices = 'all devices';

/** A part of the state that does not fit; its `part` is left out of the next attempt. */
export class UnfitState extends Error {
  readonly part: string;

  constructor(part: string, cause: unknown) {
    super(`the kept state of ${part} cannot be used: ${misfitText(cause)}`, { cause });
    this.part = part;
  }

  /** Says that the part starts anew, to developers also why the engine could not read it. */
  report(log: Pick<Logger, 'debug' | 'warning'>): void {
    log.warning(`${this.message}; it starts anew`);
    if (!(this.cause instanceof SimError)) log.debug(`the state of ${this.part}: ${errorText(this.cause)}`);
  }
}

export interface PlantKeepingOptions extends StateSaverOptions {
  readonly plant: SimPlant;
  readonly state: Pick<State, 'store' | 'values' | 'write'>;
  readonly log: Pick<Logger, 'debug' | 'error' | 'info' | 'warning'>;
  /** marks of the configuration of a device, which decide what of a kept state fits it */
  readonly marksOf: (deviceIndex: number) => Marks;
  /** parts that are not restored */
  readonly unfit?: ReadonlySet<string>;
}

/** State of a device, with the marks of its configuration. */
interface SavedDevice extends Marks {
  /** see `PlantKeeping.lifeOf` */
  readonly life?: string;
  readonly state: JsonValue;
}

const sharedName = (part: string) => slotName('plant', 'shared', part);
const deviceName = (index: number, ...part: readonly string[]) => slotName('plant', 'device', `${index}`, ...part);

/**
 * Restores a shared part before the plant is built, which depends on it: the clock, the settings in force.
 * @throws UnfitState
 */
export function restoreEarly(
  part: 'clock' | 'settings',
  kept: Kept,
  state: Pick<State, 'values'>,
  unfit: ReadonlySet<string>,
): void {
  restorePart(part, kept, state.values(sharedName(part)), unfit);
}

/** Devices that clients of earlier processes have added and removed. */
export function changedDevices(state: Pick<State, 'values'>): ChangedDevices {
  return changesOf(state.values(sharedName('changes'))[0]);
}

/** Points named in a warning. */
const maxListed = 20;

function listed(points: readonly string[]): string {
  const more = points.length - maxListed;
  return points.slice(0, maxListed).join(', ') + (more > 0 ? `, and ${more} more` : '');
}

/** @throws UnfitState */
function restorePart(part: string, kept: Kept, [saved]: readonly JsonValue[], unfit: ReadonlySet<string>): void {
  if (saved === undefined || unfit.has(part)) return;
  try {
    kept.restore(saved);
  } catch (error) {
    throw new UnfitState(part, error);
  }
}

export class PlantKeeping implements Keeping {
  readonly #options: PlantKeepingOptions;
  readonly #unfit: ReadonlySet<string>;
  readonly #saver: StateSaver;
  readonly #shared = new Map<string, KeptSlot>();
  readonly #devices = new Map<number, KeptDevice>();
  readonly #layouts: KeptLayouts;
  /** parts that this process has restored, by name: a later one of the name begins anew */
  readonly #parts = new Map<string, KeptSlot>();
  /** parts that go with the registers of a device */
  readonly #partsOf = new Map<number, Set<KeptSlot>>();
  /** parts that go with the registers of any device */
  readonly #linked = new Set<KeptSlot>();

  constructor(options: PlantKeepingOptions) {
    this.#options = options;
    this.#unfit = options.unfit ?? new Set();
    this.#layouts = new KeptLayouts(options.state.values(layoutsSlot)[0], options.log);
    this.#saver = new StateSaver(
      {
        shared: this.#shared,
        devices: this.#devices,
        partsOf: this.#partsOf,
        linked: this.#linked,
        layouts: this.#layouts,
      },
      options,
    );
  }

  /**
   * Restores the plant and its devices.
   * @param faults the registry, which devices ask for the faults that act on them
   * @throws UnfitState
   */
  restore(faults: Kept): void {
    const { plant } = this.#options;
    const { beforeDevices, afterDevices } = plant.keptShared();
    this.#restoreShared({ ...beforeDevices, faults });
    for (const device of plant.devices) this.#restoreDevice(device);
    this.#restoreShared(afterDevices);
    plant.onTick(() => {
      this.#saver.noteTick();
    });
    plant.onDevices(({ added, removed }) => {
      if (removed && added) this.#begin(added);
      else if (removed) this.#leave(removed.index);
      else if (added && !this.#devices.has(added.index)) this.#enter(added);
    });
  }

  /** A further shared part, restored now. A state that does not fit is left out with a warning. */
  add(part: string, kept: Kept): void {
    const keptSlot = { kept, slot: sharedName(part) };
    this.#restoreWithWarning(part, keptSlot);
    this.#shared.set(part, keptSlot);
  }

  /**
   * A part that belongs to the registers of devices, restored now unless all of them start anew: both are written
   * together.
   */
  readonly keepPart: KeepPart = (name, kept, deviceIndices = []) => {
    const [index] = deviceIndices;
    const isOfOne = index !== undefined && deviceIndices.length === 1;
    const part: KeptSlot = { kept, slot: isOfOne ? deviceName(index, name) : sharedName(name) };
    const former = this.#parts.get(name);
    if (former) this.#drop(former);
    else if (this.#hasRegisters(deviceIndices)) this.#restoreWithWarning(name, part);
    this.#parts.set(name, part);
    if (deviceIndices.length === 0) this.#linked.add(part);
    for (const index of deviceIndices) {
      const parts = this.#partsOf.get(index) ?? new Set();
      this.#partsOf.set(index, parts.add(part));
    }
    return () => {
      this.#drop(part);
      if (this.#parts.get(name) === part) this.#saver.clear(part.slot);
    };
  };

  /** True if registers of an earlier process are with a part; empty: those of no device in particular. */
  #hasRegisters(deviceIndices: readonly number[]): boolean {
    const restored = (index: number) => this.#devices.get(index)?.device.bank.restored ?? null;
    return deviceIndices.length === 0 || deviceIndices.some((index) => restored(index) !== null);
  }

  #drop(part: KeptSlot): void {
    this.#linked.delete(part);
    for (const parts of this.#partsOf.values()) parts.delete(part);
  }

  #restoreWithWarning(part: string, { kept, slot }: KeptSlot): void {
    try {
      restorePart(part, kept, this.#options.state.values(slot), this.#unfit);
    } catch (error) {
      if (!(error instanceof UnfitState)) throw error;
      error.report(this.#options.log);
    }
  }

  #restoreShared(parts: KeptByName): void {
    const { state } = this.#options;
    for (const [part, kept] of Object.entries(parts)) {
      const name = sharedName(part);
      restorePart(part, kept, state.values(name), this.#unfit);
      this.#shared.set(part, { kept, slot: name });
    }
  }

  /**
   * Restores what fits the configuration of a device, which may have changed since.
   * @throws UnfitState
   */
  #restoreDevice(device: SimDevice): void {
    const { state, log, plant } = this.#options;
    const { index } = device;
    this.#enter(device);
    const part = `device ${index}`;
    const [value] = state.values(deviceName(index));
    const saved = value as unknown as SavedDevice | null | undefined;
    if (saved === undefined || this.#unfit.has(part) || this.#unfit.has(allDevices)) return;
    const fit = saved && fitOf(saved, this.#options.marksOf(index));
    if (!saved || !fit) {
      log.warning(`${part} starts anew: its configuration has changed since its state was kept`, index);
      return;
    }
    if (!fit.sameStart)
      log.info(`the configuration of ${part} has changed since its state was kept: ${fit.words}`, index);
    const maps = {
      placesOf: this.#layouts.placesOf,
      sameStart: fit.sameStart,
      left: (points: readonly string[]) => {
        log.warning(`${part}: kept points that its register map no longer has, or refuses: ${listed(points)}`, index);
      },
    };
    const { sim, tickIntervalS, rate } = plant.time;
    const tickS = tickIntervalS * rate;
    const kept = device.kept({ ...fit, maps });
    const restore = () => {
      kept.restore(saved.state);
      // also a device of a later time, from the state of another simulator
      if (Math.abs(secondsBetween(device.now, sim)) > maxTicksBehind * tickS) device.skipTo(sim);
    };
    try {
      restore();
      device.rehearse(tickS);
      // the rehearsal has moved the device
      restore();
    } catch (error) {
      throw new UnfitState(part, error);
    }
    const entry = this.#devices.get(index);
    if (entry && typeof saved.life === 'string') entry.life = saved.life;
  }

  /** A text that changes when the device starts anew, and stays while its state is restored; empty: no such device. */
  lifeOf(index: number): string {
    return this.#devices.get(index)?.life ?? '';
  }

  /** Saves once a second from here on. */
  start(): void {
    this.#saver.start();
  }

  /** The state of the named device is written within the call, also while a tick runs. */
  commit(deviceIndex: number | null): Promise<void> {
    return this.#saver.commit(deviceIndex);
  }

  /** Saves a last time, which is durable once the store has closed. */
  close(): Promise<void> {
    return this.#saver.close();
  }

  #enter(device: SimDevice): void {
    const { index } = device;
    // made at the first save: a start makes one to restore the device
    let kept: Kept | null = null;
    const marks = this.#options.marksOf(index);
    this.#layouts.use(device.bank.layout);
    const entry: KeptDevice = {
      device,
      life: randomUUID(),
      kept: {
        save: () => ({ ...marks, life: entry.life, state: (kept ??= device.kept()).save() }),
        restore: () => undefined,
      },
      slot: deviceName(index),
      isWritten: false,
      commands: 0,
    };
    this.#devices.set(index, entry);
    device.bank.onChange(() => {
      entry.isWritten = true;
    });
  }

  /** A device in the place of another one: adapters have registered its parts already. */
  #begin(device: SimDevice): void {
    this.#saver.clear(deviceName(device.index));
    this.#enter(device);
  }

  #leave(index: number): void {
    this.#saver.clear(deviceName(index));
    for (const { slot } of this.#partsOf.get(index) ?? []) this.#saver.clear(slot);
    this.#partsOf.delete(index);
    this.#devices.delete(index);
  }
}
