/**
 * Keeps the state of plant and devices in the store: restored before adapters are built, saved between ticks. A part
 * whose state is the same as before writes nothing.
 */
import { randomUUID } from 'node:crypto';
import type { AppConfig, DeviceConfig } from '../config/settings/app-config.ts';
import type { KeepPart } from '../contract/adapter-parts.ts';
import type { Keeping } from '../contract/keeping.ts';
import { changesOf } from './devices/placed.ts';
import { configurationMarks, fitOf } from './kept-fit.ts';
import type { Marks } from './kept-fit.ts';
import { KeptLayouts } from './kept-layouts.ts';
import type { ChangedDevices, PlacedDevice } from './devices/placed.ts';
import type { CommAlarmSwitch } from '../core/comm-alarms.ts';
import { errorText } from '../core/errors.ts';
import type { Kept, KeptByName } from '../core/kept.ts';
import type { Logger } from '../core/log/log.ts';
import { slotName } from '../core/store.ts';
import type { JsonValue } from '../core/store.ts';
import { secondsBetween } from '../core/time/clock.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { SimClock } from '../core/time/sim-clock.ts';
import { callEvery } from '../core/time/timers.ts';
import type { Every } from '../core/time/timers.ts';
import { yieldToLoop } from '../core/turns.ts';
import type { SimDevice } from '../der/device/device.ts';
import type { SimPlant } from '../der/plant/plant.ts';
import { layoutsSlot } from '../state/slots.ts';
import type { State } from './state.ts';

/** State of class D1 is at most this old on disk. */
const saveEveryMs = 1000;
/** Saving yields to other work after this many milliseconds. */
const sliceMs = 2;
/** A device whose state is this many ticks away from the clock was not part of the simulator meanwhile. */
const maxTicksBehind = 10;
/** names all devices among the parts that are not restored */
export const allDevices = 'all devices';

/** A part of the state that does not fit; its `part` is left out of the next attempt. */
export class UnfitState extends Error {
  readonly part: string;

  constructor(part: string, cause: unknown) {
    super(`the kept state of ${part} cannot be used: ${errorText(cause)}`);
    this.part = part;
  }
}

export interface PlantKeepingOptions {
  readonly plant: SimPlant;
  readonly state: Pick<State, 'store' | 'values' | 'write'>;
  readonly log: Pick<Logger, 'error' | 'info' | 'warning'>;
  readonly every: Every;
  readonly monotonicMs: () => number;
  /** marks of the configuration of a device, which decide what of a kept state fits it */
  readonly marksOf: (deviceIndex: number) => Marks;
  /** called when a part is too large to be kept (with the reason), and when all fit again (null) */
  readonly onRefusal: (reason: string | null) => void;
  /** parts that are not restored */
  readonly unfit?: ReadonlySet<string>;
}

/** State of a device, with the marks of its configuration. */
interface SavedDevice extends Marks {
  /** see `PlantKeeping.lifeOf` */
  readonly life?: string;
  readonly state: JsonValue;
}

interface KeptSlot {
  readonly kept: Kept;
  /** name of the slot */
  readonly slot: string;
}

interface KeptDevice extends KeptSlot {
  readonly device: SimDevice;
  /** see `PlantKeeping.lifeOf` */
  life: string;
  /** a register was written since the last save */
  isWritten: boolean;
  /** commands of the device up to the last save */
  commands: number;
}

const sharedName = (part: string) => slotName('plant', 'shared', part);
const deviceName = (index: number, ...part: readonly string[]) => slotName('plant', 'device', `${index}`, ...part);

/**
 * Restores the clock, before a plant is built at its instant.
 * @throws UnfitState
 */
export function restoreClock(state: Pick<State, 'values'>, clock: Kept, unfit: ReadonlySet<string>): void {
  restorePart('clock', clock, state.values(sharedName('clock')), unfit);
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
  readonly #shared = new Map<string, KeptSlot>();
  readonly #devices = new Map<number, KeptDevice>();
  readonly #layouts: KeptLayouts;
  /** true: a tick has ended since the last save */
  #hasTicked = false;
  /** parts that this process has restored, by name: a later one of the name begins anew */
  readonly #parts = new Map<string, KeptSlot>();
  /** parts that go with the registers of a device */
  readonly #partsOf = new Map<number, Set<KeptSlot>>();
  /** parts that go with the registers of any device */
  readonly #linked = new Set<KeptSlot>();
  /** slots that the store has refused */
  readonly #refused = new Set<string>();
  /** a save of the shared parts that waits for the end of a tick */
  #waitingSave: { readonly promise: Promise<void> } | null = null;
  #sliceStart = 0;
  #stopTimer: () => void = () => undefined;
  #isSaving = false;
  #closed = false;

  constructor(options: PlantKeepingOptions) {
    this.#options = options;
    this.#unfit = options.unfit ?? new Set();
    this.#layouts = new KeptLayouts(options.state.values(layoutsSlot)[0]);
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
      this.#hasTicked = true;
    });
    plant.onDevices(({ added, removed }) => {
      if (added && !this.#devices.has(added.index)) this.#enter(added);
      if (removed) this.#leave(removed.index);
    });
  }

  /** A further shared part, restored now. A state that does not fit is left out with a warning. */
  add(part: string, kept: Kept): void {
    const keptSlot = { kept, slot: sharedName(part) };
    this.#restoreWithWarning(part, keptSlot);
    this.#shared.set(part, keptSlot);
  }

  /** A part that belongs to the registers of devices, restored now: both are written together. */
  readonly keepPart: KeepPart = (name, kept, deviceIndices = []) => {
    const [index] = deviceIndices;
    const isOfOne = index !== undefined && deviceIndices.length === 1;
    const part: KeptSlot = { kept, slot: isOfOne ? deviceName(index, name) : sharedName(name) };
    const former = this.#parts.get(name);
    if (former) this.#drop(former);
    else this.#restoreWithWarning(name, part);
    this.#parts.set(name, part);
    if (deviceIndices.length === 0) this.#linked.add(part);
    for (const index of deviceIndices) {
      const parts = this.#partsOf.get(index) ?? new Set();
      this.#partsOf.set(index, parts.add(part));
    }
    return () => {
      this.#drop(part);
      if (this.#parts.get(name) === part) this.#clear(part.slot);
    };
  };

  #drop(part: KeptSlot): void {
    this.#linked.delete(part);
    for (const parts of this.#partsOf.values()) parts.delete(part);
  }

  #restoreWithWarning(part: string, { kept, slot }: KeptSlot): void {
    try {
      restorePart(part, kept, this.#options.state.values(slot), this.#unfit);
    } catch (error) {
      this.#options.log.warning(`${errorText(error)}; it starts anew`);
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
    try {
      device.kept({ ...fit, maps }).restore(saved.state);
    } catch (error) {
      throw new UnfitState(part, error);
    }
    const entry = this.#devices.get(index);
    if (entry && saved.life !== undefined) entry.life = saved.life;
    const { sim, tickIntervalS, rate } = plant.time;
    // also a device of a later time, from the state of another simulator
    if (Math.abs(secondsBetween(device.now, sim)) > maxTicksBehind * tickIntervalS * rate) device.skipTo(sim);
  }

  /** A text that changes when the device starts anew, and stays while its state is restored; empty: no such device. */
  lifeOf(index: number): string {
    return this.#devices.get(index)?.life ?? '';
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

  #enter(device: SimDevice): void {
    const { index } = device;
    const kept = device.kept();
    const marks = this.#options.marksOf(index);
    this.#layouts.use(device.bank.layout);
    const entry: KeptDevice = {
      device,
      life: randomUUID(),
      kept: { save: () => ({ ...marks, life: entry.life, state: kept.save() }), restore: () => undefined },
      slot: deviceName(index),
      isWritten: false,
      commands: 0,
    };
    this.#devices.set(index, entry);
    device.bank.onChange(() => {
      entry.isWritten = true;
    });
  }

  #leave(index: number): void {
    this.#clear(deviceName(index));
    for (const { slot } of this.#partsOf.get(index) ?? []) this.#clear(slot);
    this.#partsOf.delete(index);
    this.#devices.delete(index);
  }

  #clear(slot: string): void {
    this.#options.state.store
      .slot(slot)
      .replace([])
      .catch((error: unknown) => {
        this.#refuse(slot, error);
      });
  }

  /** Devices that registers or commands have changed since they were written. */
  #changedDevices(): readonly number[] {
    return [...this.#devices]
      .filter(([, { device, isWritten, commands }]) => isWritten || device.commandCount !== commands)
      .map(([index]) => index);
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
      if (this.#refused.delete(slot) && this.#refused.size === 0) this.#options.onRefusal(null);
    } catch (error) {
      this.#refuse(slot, error);
    }
  }

  /** Reports the first refusal of a slot: the next ones come every second. */
  #refuse(slot: string, error: unknown): void {
    if (this.#refused.has(slot)) return;
    this.#refused.add(slot);
    this.#options.log.error(`the state ${slot} is not kept any more: ${errorText(error)}`);
    this.#options.onRefusal(errorText(error));
  }

  async #giveWay(): Promise<void> {
    await yieldToLoop();
    this.#sliceStart = this.#options.monotonicMs();
  }
}

interface KeptPlant {
  readonly plant: SimPlant;
  readonly clock: SimClock;
  readonly state: State;
  readonly log: Logger;
  readonly wall: WallClock;
  readonly unfit: ReadonlySet<string>;
  readonly faults: Kept;
  readonly devices: readonly PlacedDevice[];
  readonly onRefusal: (reason: string | null) => void;
  /** configuration of a device that joins while the simulator runs */
  readonly joined: (deviceIndex: number) => DeviceConfig | undefined;
}

/**
 * A plant with the state of an earlier process; null: no state is kept.
 * @throws UnfitState
 */
export function keepPlant(
  config: AppConfig,
  { plant, clock, state, log, wall, unfit, faults, devices, onRefusal, joined }: KeptPlant,
): PlantKeeping | null {
  if (config.stateDir === null) return null;
  const marksOf = configurationMarks(config);
  const atStart = new Map(devices.map((device) => [device.index, device.config]));
  const keeping = new PlantKeeping({
    plant,
    state,
    log,
    every: callEvery,
    monotonicMs: () => wall.monotonicMs(),
    unfit,
    onRefusal,
    marksOf(index) {
      const device = atStart.get(index) ?? joined(index);
      return device ? marksOf(device) : { configuration: '', fits: [] };
    },
  });
  keeping.restore(faults);
  followClockSettings(keeping, clock, config.clock);
  return keeping;
}

/** A clock whose settings in the configuration have changed follows them; `start_paused` is of each start. */
function followClockSettings(
  keeping: PlantKeeping,
  clock: SimClock,
  { followsWall, rate, timezone, startsPaused }: AppConfig['clock'],
): void {
  const settings = JSON.stringify({ followsWall, rate, timezone });
  keeping.add('clock_settings', {
    save: () => settings,
    restore(saved) {
      if (saved !== settings) clock.set({ mode: followsWall ? 'wall_clock' : 'accelerated', rate, timezone });
    },
  });
  if (startsPaused) clock.set({ mode: 'paused' });
}

interface StateAlarm {
  readonly plant: SimPlant;
  readonly commAlarms: CommAlarmSwitch;
}

/**
 * An alarm of each device while its state is not kept: a restart would lose what it does from then on.
 * @returns receives the reason of one cause of it, null at its end
 */
export function alarmOfState(devices: () => StateAlarm): (cause: string) => (reason: string | null) => void {
  const reasons = new Map<string, string>();
  return (cause) => (reason) => {
    if (reason === null) reasons.delete(cause);
    else reasons.set(cause, reason);
    const [first] = reasons.values();
    const { plant, commAlarms } = devices();
    for (const { index } of plant.devices) {
      if (first === undefined) commAlarms.end(index, 'state_not_kept');
      else commAlarms.raise(index, 'state_not_kept', `A restart would lose what happens from now on: ${first}`);
    }
  };
}
