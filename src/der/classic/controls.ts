/** The classic controls of one device: faces of its settings, their ramps, and the commands behind other points. */
import { storageIn } from '../../contract/kinds/table.ts';
import type { SourceCommand } from '../../contract/device.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import { createRandom } from '../../core/random.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { CommitParticipant } from '../../sunspec/map/commit.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { DcSource } from '../source/source.ts';
import { BatteryRates } from './battery-rates.ts';
import { ConnectCommands } from './connect.ts';
import { FaceKeeper } from './face-keeper.ts';
import { FaceRamps } from './face-ramps.ts';
import type { FaceRampsOptions } from './face-ramps.ts';

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

export interface ClassicControlsOptions extends Pick<FaceRampsOptions, 'bank' | 'scheduler' | 'gradient'> {
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
