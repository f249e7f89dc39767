/** The classic controls of one device: faces of its settings, their ramps, and the commands behind other points. */
import { storageIn } from '../../contract/kinds/table.ts';
import type { SourceCommand } from '../../contract/device.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import { createRandom } from '../../core/random.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { CommitParticipant, Commit, FollowUp } from '../../sunspec/map/commit.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { DcSource } from '../source/source.ts';
import { FaceKeeper, FaceRamps } from './face-keeper.ts';
import type { FaceKeeperOptions, FaceRampsOptions } from './face-keeper.ts';
import type { BatteryDetail } from '../../contract/kinds/battery.ts';
import { m124 } from '../../sunspec/models/m124.ts';
import { assignTo, readerOf, rateValues, ratedW } from './faces.ts';
import { m123 } from '../../sunspec/models/m123.ts';
import { errorText } from '../../core/errors.ts';
import type { Timer } from '../../core/time/scheduler.ts';

/** Commands of classic points without a current counterpart: they act within a window and end by reversion. */
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
  #window: Timer | null = null;
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
    if (this.#window?.waiting !== true) this.update();
  }

  #stop(): void {
    for (const timer of [this.#window, this.#reversion]) if (timer) this.host.scheduler.cancel(timer);
    this.#window = this.#reversion = null;
  }

  #begin(by: Origin): void {
    const { scheduler, now, random, admit, warn } = this.host;
    this.#stop();
    const seconds = this.windowS;
    if (seconds <= 0) {
      this.#carryOut(by);
      return;
    }
    this.#window = scheduler.at(addSeconds(now(), random.next() * seconds), () => {
      this.#window = null;
      try {
        admit(by);
        this.#carryOut(by);
      } catch (error) {
        warn(`a command of model ${this.model} that waited within its window was refused: ${errorText(error)}`);
        this.update();
      }
    });
  }

  #carryOut(by: Origin): void {
    const { scheduler, now } = this.host;
    const seconds = this.reversionS;
    if (!this.act(by) || seconds <= 0) return;
    this.#reversion = scheduler.at(addSeconds(now(), seconds), () => {
      this.#reversion = null;
      this.revert(byReversion);
      this.update();
    });
  }
}

/**
 * The rates of 124 on a device whose battery is not its only source: they force the battery, whatever flows at the
 * terminals, where a set-point of 704 would demand power there.
 */
interface BatteryRatesHost extends CommandHost {
  readonly battery: () => BatteryDetail | null;
  readonly command: (command: SourceCommand, by: Origin) => void;
}

/** W; smaller changes do not show in the registers */
const negligibleW = 1;

/** Power of a forced battery, W, + to discharge; null: not forced. */
function forcedW({ requestedMode, requestedPowerW }: BatteryDetail): number | null {
  if (requestedMode === 'auto') return null;
  return (requestedMode === 'charge' ? -1 : 1) * (requestedPowerW ?? 0);
}

class BatteryRates extends TimedCommand<BatteryRatesHost> {
  protected readonly model = m124.id;
  protected readonly triggers = ['StorCtl_Mod', 'OutWRte', 'InWRte', 'InOutWRte_RvrtTms'];
  readonly #read = readerOf(this.host.bank.layout, (slot) => this.host.bank.value(slot));

  protected get windowS(): number {
    return this.host.bank.map.m124?.InOutWRte_WinTms ?? 0;
  }

  protected get reversionS(): number {
    return this.host.bank.map.m124?.InOutWRte_RvrtTms ?? 0;
  }

  protected act(by: Origin): boolean {
    const requestedW = ratedW(this.#read);
    const before = this.host.battery();
    if (requestedW === null) {
      if (before !== null && forcedW(before) !== null) this.revert(by);
      return false;
    }
    const mode = requestedW < 0 ? 'charge' : 'discharge';
    this.host.command({ kind: 'battery.control', mode, powerW: Math.abs(requestedW) }, by);
    return true;
  }

  protected revert(by: Origin): void {
    this.host.command({ kind: 'battery.control', mode: 'auto' }, by);
  }

  /** Another protocol may have forced the battery. */
  protected update(): void {
    const { bank, battery } = this.host;
    const detail = battery();
    if (!detail) return;
    const [forcedNowW, shownRateW] = [forcedW(detail), ratedW(this.#read)];
    if (
      forcedNowW === shownRateW ||
      (forcedNowW !== null && shownRateW !== null && Math.abs(forcedNowW - shownRateW) <= negligibleW)
    )
      return;
    assignTo(bank.layout, rateValues(this.#read, forcedNowW), (slot, value) => {
      bank.publish(slot, value);
    });
  }
}

/** The disconnect switch behind 123.Conn. */
interface ConnectHost extends CommandHost {
  readonly isClosed: () => boolean;
  readonly setSwitch: (closed: boolean, by: Origin) => void;
  /** last writer of the switch; undefined: as started */
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
  /** last writer of the switch; undefined: as started */
  switchWriter(): Provenance | undefined;
  /** Remembers the writer of the gradient. */
  gradientSet(by: Origin): void;
  /** Carries out the command of a register write. */
  command(command: SourceCommand, by: Origin): void;
}

interface ClassicControlsOptions extends Pick<FaceRampsOptions, 'bank' | 'scheduler' | 'gradient'> {
  readonly identity: { readonly index: number };
  readonly seed: number;
  readonly clock: { sim(): SimTime };
  readonly source: DcSource;
  readonly warn: (message: string) => void;
  readonly host: ClassicHost;
  /** makes physics read its settings again */
  readonly refresh: () => void;
  /** true if a fault keeps the last write of a point from physics */
  readonly isWithheld: (slot: PointSlot) => boolean;
}

/** On a device whose map has model 123. */
export class ClassicControls {
  readonly faces: FaceKeeper;
  readonly ramps: FaceRamps;
  readonly connect: ConnectCommands;
  /** null: the rates of 124 are a set-point of 704, or model 124 is missing */
  readonly #rates: BatteryRates | null;

  constructor({ bank, host, gradient, refresh, isWithheld, ...options }: ClassicControlsOptions) {
    const { identity, seed, scheduler, clock, source, warn } = options;
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
    const { m124, m714 } = bank.map;
    this.#rates =
      m124 && m714.Prt.length > 1
        ? new BatteryRates({
            ...commandHost('rates-window'),
            battery: () => storageIn(source.detail()),
            command: host.command.bind(host),
          })
        : null;
  }

  /** Commands behind points without a face, as participants of commits. */
  get commands(): readonly CommitParticipant[] {
    return [this.connect, ...(this.#rates ? [this.#rates] : [])];
  }

  /** Updates the points that follow the state of the device. */
  show(): void {
    this.connect.show();
    this.#rates?.show();
  }

  /** Cancels delayed writes and reversions of commands. */
  clear(): void {
    this.faces.clear();
    this.connect.clear();
    this.#rates?.clear();
  }
}
