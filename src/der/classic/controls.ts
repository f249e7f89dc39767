/**
 * The classic controls of one device: the two faces (classic and current points) of its settings, their ramps, and the
 * commands behind other points.
 */
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { plainOrigin } from '../../core/origin.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import { createRandom } from '../../core/random.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { CommitParticipant, Commit, FollowUp } from '../../sunspec/map/commit.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { FaceKeeper } from './face-keeper.ts';
import type { FaceKeeperOptions } from './face-keeper.ts';
import { FaceRamps } from './face-ramps.ts';
import type { FaceRampsOptions } from './face-ramps.ts';
import { storageRates } from '../inverter/storage-flow.ts';
import type { StorageRates } from '../inverter/storage-flow.ts';
import { m124 } from '../../sunspec/models/m124.ts';
import { m123 } from '../../sunspec/models/m123.ts';
import { errorText } from '../../core/errors.ts';
import { keptTimer } from '../../core/time/scheduler.ts';
import type { Timer } from '../../core/time/scheduler.ts';

/** The device as used by commands of classic points that have no current counterpart. */
interface CommandHost extends Omit<FaceKeeperOptions, 'ramps'> {
  /** @throws SimError if the writer may not write now */
  readonly admit: (by: Origin) => void;
}

const byReversion: Origin = { source: 'reversion' };

/**
 * A command with a window and a reversion time, s. It acts after a random part of the window; until then its points
 * show the pending values. A command of another protocol cancels window and reversion.
 */
abstract class TimedCommand<Host extends CommandHost = CommandHost> implements CommitParticipant {
  protected readonly host: Host;
  protected abstract readonly model: number;
  /** points whose write is the command */
  protected abstract readonly triggers: readonly string[];
  #window: { readonly timer: Timer; readonly by: Origin } | null = null;
  #reversion: Timer | null = null;

  constructor(host: Host) {
    this.host = host;
  }

  protected abstract get windowS(): number;
  /** 0: no reversion */
  protected abstract get reversionS(): number;
  /** Carries out the command of the points. @returns true if a reversion is needed */
  protected abstract act(by: Origin): boolean;
  protected abstract revert(by: Origin): void;
  /** Updates the points to the state of the device. */
  protected abstract update(): void;

  prepare({ effective, by }: Commit): FollowUp | null {
    if (!effective.some(({ modelId, path }) => modelId === this.model && this.triggers.includes(path))) return null;
    return () => {
      this.#begin(by);
    };
  }

  reloaded(): void {
    this.clear();
  }

  /** Cancels window and reversion. */
  clear(): void {
    this.#stop();
    this.update();
  }

  /** Updates the points to the state of the device, unless a command is pending. */
  show(): void {
    if (!this.waiting) this.update();
  }

  /** True while a write waits within its window. */
  protected get waiting(): boolean {
    return this.#window?.timer.waiting === true;
  }

  /** State that a restart keeps; restored after the scheduler. */
  kept(): Kept {
    return keptParts({ random: this.host.random.kept(), timers: this.#keptTimers() });
  }

  #keptTimers(): Kept {
    return keptRecord(
      () => ({
        window: this.#window && { by: plainOrigin(this.#window.by), ...keptTimer(this.#window.timer) },
        reversion: this.#reversion && keptTimer(this.#reversion),
      }),
      ({ window, reversion }) => {
        const { scheduler } = this.host;
        this.#window = window && { timer: scheduler.again(window, this.#endOfWindow(window.by)), by: window.by };
        this.#reversion = reversion && scheduler.again(reversion, this.#endOfReversion);
      },
    );
  }

  #stop(): void {
    for (const timer of [this.#window?.timer, this.#reversion]) if (timer) this.host.scheduler.cancel(timer);
    this.#window = this.#reversion = null;
  }

  #begin(by: Origin): void {
    const { scheduler, now, random } = this.host;
    this.#stop();
    const seconds = by.source === 'reversion' ? 0 : this.windowS;
    if (seconds <= 0) {
      this.#carryOut(by);
      return;
    }
    const timer = scheduler.at(addSeconds(now(), random.next() * seconds), this.#endOfWindow(by));
    this.#window = { timer, by };
  }

  #endOfWindow(by: Origin): () => void {
    return () => {
      const { admit, warn } = this.host;
      this.#window = null;
      try {
        admit(by);
        this.#carryOut(by);
      } catch (error) {
        warn(`a command of model ${this.model} that waited within its window was refused: ${errorText(error)}`);
        this.update();
      }
    };
  }

  #carryOut(by: Origin): void {
    const { scheduler, now } = this.host;
    const seconds = this.reversionS;
    if (!this.act(by) || seconds <= 0) return;
    this.#reversion = scheduler.at(addSeconds(now(), seconds), this.#endOfReversion);
  }

  readonly #endOfReversion = () => {
    this.#reversion = null;
    this.revert(byReversion);
    this.update();
  };
}

/** The device as used by the bounds of 124. */
interface StorageHost extends CommandHost {
  /** makes physics read its settings again */
  readonly refresh: () => void;
}

/**
 * The bounds of 124 on the storage. They act at once through the settings; within a window the bounds from before the
 * write stay in force, and the reversion time switches the bounds off.
 */
class StorageBounds extends TimedCommand<StorageHost> {
  protected readonly model = m124.id;
  protected readonly triggers = ['StorCtl_Mod', 'OutWRte', 'InWRte', 'InOutWRte_RvrtTms'];
  /** rates from before a write that waits; null: those of the registers */
  #inForce: StorageRates | null = null;

  /** The rates in force instead of those of the registers; undefined: those of the registers. */
  get ratesInForce(): StorageRates | undefined {
    return this.#inForce ?? undefined;
  }

  override kept(): Kept {
    return keptParts({
      command: super.kept(),
      rates: keptRecord(
        () => ({ inForce: this.#inForce }),
        ({ inForce }) => {
          this.#inForce = inForce;
        },
      ),
    });
  }

  override prepare(commit: Commit): FollowUp | null {
    const { m124: m } = this.host.bank.map;
    const former = this.#inForce ?? (m ? storageRates(m) : null);
    const begin = super.prepare(commit);
    if (!begin) return null;
    return () => {
      this.#inForce = null;
      begin();
      if (this.waiting) this.#inForce = former;
    };
  }

  override reloaded(): void {
    this.#inForce = null;
    super.reloaded();
  }

  protected get windowS(): number {
    return this.host.bank.map.m124?.InOutWRte_WinTms ?? 0;
  }

  protected get reversionS(): number {
    return this.host.bank.map.m124?.InOutWRte_RvrtTms ?? 0;
  }

  protected act(): boolean {
    if (this.#inForce) {
      this.#inForce = null;
      this.host.refresh();
    }
    return this.host.bank.map.m124?.StorCtl_Mod !== 0;
  }

  protected revert(by: Origin): void {
    const slot = this.host.bank.layout.slot(m124.id, 'StorCtl_Mod');
    if (slot) this.host.bank.assign(by, [{ slot, value: 0 }]);
  }

  /** Restores the rates in force to the registers after a waiting write was dropped. */
  protected update(): void {
    const { bank } = this.host;
    for (const [path, value] of Object.entries(this.#inForce ?? {})) {
      const slot = bank.layout.slot(m124.id, path);
      if (slot) bank.publish(slot, value);
    }
    this.#inForce = null;
  }
}

/** The disconnect switch behind 123.Conn. */
interface ConnectHost extends CommandHost {
  readonly isClosed: () => boolean;
  readonly setSwitch: (closed: boolean, by: Origin) => void;
  /** last writer of the switch; undefined: not moved since the start */
  readonly switchWriter: () => Provenance | undefined;
  /** true if a fault keeps the last write of the point from the device */
  readonly isWithheld: (slot: PointSlot) => boolean;
}

/** Writes of 123.Conn move the switch; after Conn_RvrtTms an open one closes again. */
class ConnectCommands extends TimedCommand<ConnectHost> {
  protected readonly model = m123.id;
  protected readonly triggers = ['Conn', 'Conn_RvrtTms'];
  readonly #slot = this.host.bank.layout.slot(m123.id, 'Conn');

  /** The last writer of the switch over any protocol; undefined for other points. */
  writerOf(slot: PointSlot): Provenance | undefined {
    return slot === this.#slot ? this.host.switchWriter() : undefined;
  }

  protected get windowS(): number {
    return this.host.bank.map.m123?.Conn_WinTms ?? 0;
  }

  protected get reversionS(): number {
    return this.host.bank.map.m123?.Conn_RvrtTms ?? 0;
  }

  protected act(by: Origin): boolean {
    const closed = this.host.bank.map.m123?.Conn === 'CONNECT';
    this.host.setSwitch(closed, by);
    return !closed;
  }

  protected revert(by: Origin): void {
    this.host.setSwitch(true, by);
  }

  protected update(): void {
    const { bank, isClosed, isWithheld } = this.host;
    const { m123: m } = bank.measurements;
    if (m && this.#slot && !isWithheld(this.#slot)) m.Conn = isClosed() ? 'CONNECT' : 'DISCONNECT';
  }
}

/** The device as its classic controls use it. */
export interface ClassicHost {
  /** @throws SimError if the writer may not write now */
  admit(by: Origin): void;
  /** the disconnect switch */
  isClosed(): boolean;
  setSwitch(closed: boolean, by: Origin): void;
  /** last writer of the switch; undefined: not moved since the start */
  switchWriter(): Provenance | undefined;
  /** Remembers the writer of the gradient. */
  gradientSet(by: Origin): void;
}

interface ClassicControlsOptions extends Pick<FaceRampsOptions, 'bank' | 'scheduler' | 'gradient'> {
  readonly identity: { readonly index: number };
  readonly seed: number;
  readonly clock: { sim(): SimTime };
  readonly warn: (message: string) => void;
  readonly host: ClassicHost;
  /** makes physics read its settings again */
  readonly refresh: () => void;
  /** true if a fault keeps the last write of a point from physics */
  readonly isWithheld: (slot: PointSlot) => boolean;
}

/** The classic controls of a device whose map has model 123. */
export class ClassicControls {
  readonly faces: FaceKeeper;
  readonly ramps: FaceRamps;
  readonly connect: ConnectCommands;
  /** null: the map has no model 124 */
  readonly storage: StorageBounds | null;

  constructor({ bank, host, gradient, refresh, isWithheld, ...options }: ClassicControlsOptions) {
    const { identity, seed, scheduler, clock, warn } = options;
    const now = () => clock.sim();
    const recordWriter = host.gradientSet.bind(host);
    this.ramps = new FaceRamps({ bank, scheduler, now, gradient, refresh, recordWriter });
    const random = createRandom(seed, identity.index, 'windows');
    this.faces = new FaceKeeper({ bank, scheduler, now, random, ramps: this.ramps, warn });
    const commandHost = (name: string) => ({
      bank,
      scheduler,
      now,
      warn,
      admit: host.admit.bind(host),
      random: createRandom(seed, identity.index, name),
    });
    this.connect = new ConnectCommands({
      ...commandHost('connect-window'),
      isClosed: () => host.isClosed(),
      setSwitch: host.setSwitch.bind(host),
      switchWriter: () => host.switchWriter(),
      isWithheld,
    });
    this.storage = bank.map.m124 ? new StorageBounds({ ...commandHost('rates-window'), refresh }) : null;
  }

  /** State that a restart keeps; restored after scheduler and gradient. */
  kept(): Kept {
    return keptParts({
      faces: this.faces.kept(),
      ramps: this.ramps.kept(),
      connect: this.connect.kept(),
      ...(this.storage && { storage: this.storage.kept() }),
    });
  }

  /** Updates the points that follow the state of the device. */
  show(): void {
    this.connect.show();
  }

  /** Cancels delayed writes and reversions of commands. */
  clear(): void {
    this.faces.clear();
    this.connect.clear();
    this.storage?.clear();
  }
}
