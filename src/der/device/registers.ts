/** The register bank of one device with all participants of its commits. */
import type { SourceCommand } from '../../contract/device.ts';
import { chainMeterModels } from '../../contract/map-layout.ts';
import { keptParts } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Origin } from '../../core/origin.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Scheduler } from '../../core/time/scheduler.ts';
import { AdoptionTimers, ReversionTimers } from '../../sunspec/map/timers.ts';
import { RegisterBank } from '../../sunspec/map/register-bank.ts';
import type { CommitClock } from '../../sunspec/map/register-bank.ts';
import type { Commit, CommitParticipant } from '../../sunspec/map/commit.ts';
import { functionTable } from '../../sunspec/map/grid-support/functions.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import type { KeptMaps } from '../../sunspec/map/kept-points.ts';
import { readPoint } from '../../sunspec/map/view.ts';
import type { DeviceEffects } from '../faults/device-effects.ts';
import { ClassicControls } from '../classic/controls.ts';
import type { ClassicHost } from '../classic/controls.ts';
import { noFormerRanks, reactiveFunctions } from '../inverter/reactive-power.ts';
import type { FormerRanks, ReactiveFunction } from '../inverter/reactive-power.ts';
import { readSettings, withGradient } from '../inverter/settings.ts';
import type { Settings } from '../inverter/settings.ts';
import { storageFlow } from '../inverter/storage-flow.ts';
import type { DcSource } from '../source/source.ts';
import type { Environment } from '../surroundings/environment.ts';
import { DeviceGradient } from './gradient.ts';
import { writeIdentity, writeMeterVersions } from './identity.ts';
import type { DeviceIdentity } from './identity.ts';
import { curveModelId, SimModels } from './sim-models.ts';
import { StorageCommands } from './storage-map.ts';
import type { DeviceTemplate } from './template.ts';

export interface DeviceRegistersOptions {
  readonly identity: DeviceIdentity;
  readonly template: DeviceTemplate;
  readonly source: DcSource;
  readonly environment: Environment;
  /** seed of the simulation */
  readonly seed: number;
  readonly scheduler: Scheduler;
  /** stamps commits; may be ahead of the plant's clock during a tick */
  readonly clock: CommitClock;
  /** stamps changes of the surroundings by requests */
  readonly requestClock: CommitClock;
  readonly warn: (message: string) => void;
}

/** The device as its registers use it. */
export interface RegistersHost extends ClassicHost {
  /** @throws SimError MAP_LOCAL_CONTROL, COMMAND_CONFLICT if the writer may not write now */
  admit(by: Origin): void;
  /** @param former functions of reactive power that regain their former rank */
  applySettings(settings: Settings, former: FormerRanks): void;
  rankOf(name: ReactiveFunction): number;
  resetAlarms(by: Origin): void;
  /** Carries out the command of a register write. */
  command(command: SourceCommand, by: Origin): void;
}

/** Models of measurements and surroundings: they keep their values when a device forgets its settings. */
const shownModels: readonly number[] = [101, 102, 103, 111, 112, 113, 122, 160, 701, 713, 714, 64413, 64414];

const isAlarmReset = ({ modelId, path }: PointSlot) =>
  (modelId === 715 && path === 'AlarmReset') || (modelId === 802 && path === 'AlmRst');

const isEnable = ({ modelId, path }: PointSlot, name: ReactiveFunction) =>
  functionTable[name].model === modelId && functionTable[name].enable === path;

/** Ranks of the functions of reactive power whose enables a commit restores. */
function formerRanks(restored: Commit['restored']): FormerRanks {
  if (restored.size === 0) return noFormerRanks;
  const ranks = new Map<ReactiveFunction, number>();
  for (const [slot, { rank }] of restored) {
    const name = rank === undefined ? undefined : reactiveFunctions.find((each) => isEnable(slot, each));
    if (name && rank !== undefined) ranks.set(name, rank);
  }
  return ranks;
}

function alarmReset(reset: (by: Origin) => void): CommitParticipant {
  return {
    prepare(commit) {
      const requests = commit.effective.filter((slot) => isAlarmReset(slot) && commit.value(slot) === 1);
      if (requests.length === 0) return null;
      // a command, not a state: the point reads 0 once it is carried out
      for (const slot of requests) commit.set(slot, 0);
      return () => {
        reset(commit.by);
      };
    },
  };
}

/** Value of a point in the start image shared by a profile, or the device's own address. */
function startValueOf({ template, identity }: DeviceRegistersOptions, slot: PointSlot): AnyPointValue {
  if (slot.modelId === 1 && slot.path === 'DA') return identity.unitAddress ?? null;
  return slot.implemented ? readPoint(template.layout, template.image, slot) : null;
}

export class DeviceRegisters {
  readonly bank: RegisterBank;
  /** null: no fault of layer `effect` so far */
  effects: DeviceEffects | null = null;
  readonly gradient: DeviceGradient;
  readonly #options: DeviceRegistersOptions;
  readonly #host: RegistersHost;
  readonly #reversions: ReversionTimers;
  readonly #adoptions: AdoptionTimers;
  /** null: no classic controls in the map */
  readonly #classic: ClassicControls | null;
  /** null: no simulation models in the map */
  readonly #simModels: SimModels | null;

  constructor(options: DeviceRegistersOptions, host: RegistersHost) {
    const { template, clock, scheduler, warn, identity, source, environment } = options;
    this.#options = options;
    this.#host = host;
    this.bank = new RegisterBank(template.layout, Buffer.from(template.image), clock, {
      startWriters: template.profilePoints,
      startValueOf: (slot) => startValueOf(options, slot),
      onError: warn,
      writerOf: (slot) => this.#classic?.connect.writerOf(slot) ?? this.#simModels?.writerOf(slot),
      onDemand: { modelId: curveModelId, update: (map) => this.#simModels?.updateCurve(map) },
    });
    const { measurements } = this.bank;
    this.#reversions = new ReversionTimers(this.bank, scheduler, clock, warn);
    this.#adoptions = new AdoptionTimers(this.bank, scheduler, clock, {
      adoptionS: template.inverter.adoptionS,
      overrule: (request, by) => this.effects?.adopting(request, by) ?? null,
    });
    this.#simModels = measurements.m64414
      ? new SimModels({ index: identity.index, map: measurements, environment, clock: options.requestClock })
      : null;
    const { gradient } = template.inverter;
    this.gradient = new DeviceGradient(gradient, template.layout, (slot) => this.effects?.withholds(slot) ?? false);
    this.#classic = measurements.m123
      ? new ClassicControls({
          ...options,
          bank: this.bank,
          host,
          gradient: this.gradient,
          refresh: () => {
            this.refresh();
          },
          isWithheld: (slot) => this.effects?.withholds(slot) ?? false,
        })
      : null;
    this.bank.join(this.#participants(host));
    writeIdentity(measurements, identity, source.ports, template.meters);
  }

  /** Participants in the order of their calls. */
  #participants(host: RegistersHost): readonly CommitParticipant[] {
    const { template } = this.#options;
    const apply = (former: FormerRanks) => {
      this.refresh(former);
    };
    return [
      {
        admit: (by) => {
          host.admit(by);
        },
      },
      // both faces of a setting have changed before a timer or a fault reads either
      ...(this.#classic ? [this.#classic.faces] : []),
      this.#adoptions,
      this.#reversions,
      {
        prepare: (commit) => this.effects?.prepare(commit) ?? null,
        reloaded: () => this.effects?.reloaded(),
      },
      // later participants do not act on points withheld by faults
      alarmReset((by) => {
        host.resetAlarms(by);
      }),
      this.gradient,
      ...(this.#classic ? [this.#classic.ramps] : []),
      // a write that waits must be held back before physics reads its settings
      ...(this.#classic?.storage ? [this.#classic.storage] : []),
      // after each commit, not each tick: the function enabled last must not depend on ticks
      {
        prepare({ restored }) {
          const former = formerRanks(restored);
          return () => {
            apply(former);
          };
        },
        reloaded: () => {
          apply(noFormerRanks);
        },
        rankOf(slot) {
          const name = reactiveFunctions.find((each) => isEnable(slot, each));
          return name && host.rankOf(name);
        },
      },
      ...(this.#classic ? [this.#classic.connect] : []),
      new StorageCommands(this.bank, template.storage, (command, by) => {
        host.command(command, by);
      }),
      ...(this.#simModels ? [this.#simModels] : []),
    ];
  }

  /**
   * State that a restart keeps, restored after the scheduler. `settings` then gives those that physics follows.
   * @param effects faults of layer `effect`, which need the registers
   */
  kept(effects: Kept, maps: KeptMaps): Kept {
    return keptParts({
      bank: this.#keptBank(maps),
      gradient: this.gradient.kept(),
      reversions: this.#reversions.kept(),
      adoptions: this.#adoptions.kept(),
      ...(this.#classic && { classic: this.#classic.kept() }),
      effects,
    });
  }

  /** The registers; versions in them are those of this process. */
  #keptBank(maps: KeptMaps): Kept {
    const { source, identity, template } = this.#options;
    const { measurements } = this.bank;
    const bank = this.bank.kept(template.image, maps);
    return {
      save: () => {
        this.#simModels?.settleCurve(source);
        return bank.save();
      },
      restore: (saved) => {
        const { Vr } = measurements.m1;
        bank.restore(saved);
        measurements.m1.Vr = Vr;
        writeMeterVersions(measurements, identity, template.meters);
      },
    };
  }

  /** State of the curve of 64413 beside its registers, restored after the source. */
  keptCurve(): Kept {
    return this.#simModels?.kept(this.#options.source) ?? keptParts({});
  }

  /** The settings that physics follows now. */
  settings(): Settings {
    const { mayTrip } = this.#options.template.inverter;
    const map = this.effects?.map ?? this.bank.map;
    const settings = withGradient(readSettings(map, mayTrip), this.gradient.now);
    const [secondLimitPct, rates] = [this.effects?.limitPct, this.#classic?.storage?.ratesInForce];
    if (secondLimitPct === undefined && rates === undefined) return settings;
    return {
      ...settings,
      ...(secondLimitPct !== undefined && { secondLimitPct }),
      ...(rates && { storageFlow: storageFlow(map, rates) }),
    };
  }

  /** Makes physics read its settings again. @param former ranks that functions of reactive power regain */
  refresh(former: FormerRanks = noFormerRanks): void {
    this.#host.applySettings(this.settings(), former);
  }

  /**
   * Writes the registers of a tick besides the measurements.
   * @param clockTime simulated time of day, `HH:MM:SS`
   */
  publish(instant: SimTime, clockTime: string): void {
    this.#reversions.publish(instant);
    this.#classic?.show();
    this.#simModels?.publish(instant, clockTime, this.#options.source);
  }

  /** Updates the simulation models to the surroundings at `t`. */
  showSurroundings(t: SimTime): void {
    this.#simModels?.show(t);
  }

  /** Called after the disconnect switch moved by a command without a register. */
  switchMoved(): void {
    this.#classic?.connect.clear();
  }

  /** Cancels all reversion timers and delayed writes. */
  clearReversions(): void {
    this.#reversions.clear();
    this.#classic?.clear();
  }

  /** Loads the start values; meters keep their registers. @param local the position of the local/remote switch */
  loadStart(by: Origin, local: boolean): void {
    this.#load(this.#startImage(chainMeterModels), by, local);
  }

  /** Resets settings and curves; measurements and surroundings keep their registers. */
  forgetSettings(by: Origin, local: boolean): void {
    this.#load(this.#startImage([...shownModels, ...chainMeterModels]), by, local);
  }

  /** The start values, with the present ones of some models. */
  #startImage(keptModels: readonly number[]): Buffer {
    const { layout } = this.bank;
    const image = Buffer.from(this.#options.template.image);
    for (const { address, length } of layout.models.filter(({ def: { id } }) => keptModels.includes(id))) {
      const [from, to] = [2 * (address - layout.base), 2 * (address - layout.base + length + 2)];
      this.bank.image().copy(image, from, from, to);
    }
    return image;
  }

  #load(image: Buffer, by: Origin, local: boolean): void {
    const { identity, source, template } = this.#options;
    this.bank.reload(image, by);
    writeIdentity(this.bank.measurements, identity, source.ports, template.meters);
    this.bank.measurements.m715.LocRemCtl = local ? 'LOCAL' : 'REMOTE';
  }
}
