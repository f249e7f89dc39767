/** The plant as interfaces and adapters use it: devices, time, surroundings, and the meter of the connection point. */
import type { Device } from './device.ts';
import type { Published } from './snapshot.ts';
import type { Origin, Provenance } from '../core/origin.ts';
import type { ClockPatch, ClockSettings, SimTime } from '../core/time/clock.ts';
import type {
  GridChange,
  GridEventArguments,
  GridEventKind,
  GridNow,
  GridPatch,
  SurroundingsNow,
  SurroundingsPatch,
} from './environment.ts';
import type { GridExchange } from './exchange.ts';
import type { DeviceEnergy, SiteEnergy } from './energy.ts';
import type { SiteCut, SiteNow, SitePatch, SiteTarget } from './site.ts';
import type { PointBank } from '../sunspec/map/bank.ts';

export const operatorCommands = ['start', 'stop', 'reset'] as const;
export type OperatorCommand = (typeof operatorCommands)[number];
export const commandStates = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;
export type CommandState = (typeof commandStates)[number];

export interface CommandRecord {
  readonly id: string;
  readonly command: OperatorCommand;
  readonly deviceIndex: number;
  readonly scope: 'alarms' | 'device' | null;
  readonly state: CommandState;
  readonly source: Origin['source'];
  readonly sourceDetail: string | null;
  /** wall times, ms since the epoch */
  readonly queuedAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly message: string | null;
}

export interface CommandRequest {
  readonly command: OperatorCommand;
  readonly deviceIndex: number;
  /** scope of a reset; default `alarms` */
  readonly scope?: 'alarms' | 'device';
}

export interface CommandQueue {
  /** @throws SimError COMMAND_QUEUE_FULL */
  submit(request: CommandRequest, by: Origin): CommandRecord;
  /** Queues all requests, or none. @throws SimError COMMAND_QUEUE_FULL */
  submitAll(requests: readonly CommandRequest[], by: Origin): readonly CommandRecord[];
  /** newest first */
  list(filter?: { deviceIndex?: number; state?: CommandState }): readonly CommandRecord[];
  get(id: string): CommandRecord | undefined;
}

/** The time object of `controls/time`. */
/** Longest sub-step of the control functions, simulated seconds. */
export const simStepS = 1;

export interface TimeNow extends ClockSettings {
  /** simulated seconds per real second in the last ticks; below `rate` when the machine is too slow, 0 while paused */
  readonly rateEffective: number;
  /** `HH:MM:SS` in the clock's time zone */
  readonly clockTime: string;
  readonly sim: SimTime;
  /** simulated date, ms since the epoch */
  readonly dateMs: number;
  readonly wallMs: number;
  readonly tick: number;
  readonly tickIntervalS: number;
  /** longest sub-step of the control functions, simulated seconds */
  readonly simStepS: number;
  /** last writer of mode, rate, time of day or zone; null: as started */
  readonly changedBy: Provenance | null;
  /** last client that ran ticks by hand, and the instant at which they began; null: none */
  readonly steppedBy: Provenance | null;
}

/** Instants at which ticks must end, such as those of the steps of a scenario. */
export interface TickGuide {
  /** the next instant at which a tick must end; Infinity: none */
  due(): number;
  /** Called at the end of each tick; must resolve in bounded real time. */
  reached(): Promise<void>;
}

export interface PlantHealth {
  readonly tick: number;
  /** real seconds since the last tick ended */
  readonly tickAgeS: number;
  /** ticks that were skipped because the machine was late */
  readonly skippedTicks: number;
  readonly paused: boolean;
  /** false while the machine cannot run the simulation at the requested rate */
  readonly rateHeld: boolean;
}

/** A device has gone dark (the fault `reboot`), or has returned. */
export interface PowerEvent {
  readonly index: number;
  readonly down: boolean;
  /** the instant, which inside a tick may be ahead of the plant's clock */
  readonly at: SimTime;
}

/** A disturbance of devices; that of one device is told at its instant, inside a tick too. */
export type Disturbance =
  | ({ readonly kind: 'grid' } & GridChange)
  | {
      /** a trip threshold is exceeded, a protection has tripped, an alarm of severity `error` that is no trip has begun */
      readonly kind: 'threshold' | 'trip' | 'alarm';
      readonly deviceIndex: number;
      readonly at: SimTime;
      /** code of the alarm; null: no alarm */
      readonly alarm: string | null;
    };

/** A device has joined or left, one member is null; both: another device has taken the place of one. */
export interface DeviceChange {
  readonly added: Device | null;
  readonly removed: Device | null;
}

export interface TickEvent {
  readonly tick: number;
  readonly sim: SimTime;
  readonly wallMs: number;
  /** one entry per device, in index order */
  readonly published: readonly Published[];
}

/**
 * The part of an adapter with state per device: it follows the devices while the process runs.
 * An adapter that only reads `Plant.devices` needs none of this.
 */
export interface DeviceServer {
  /**
   * Serves a device that is about to join; resolves when its listener is bound.
   * @throws SimError COMMAND_CONFLICT when there is no room; nothing is left open, and the device does not join
   */
  addDevice(device: Device): Promise<void>;
  /**
   * Closes the listener and drops the state that this adapter keeps for a device, if any, in bounded time.
   */
  removeDevice(index: number): Promise<void>;
}

/** All devices, their common surroundings and their clock, as REST and the stream use them. */
export interface Plant {
  /** devices in index order; replaced as a whole when one joins or leaves */
  readonly devices: readonly Device[];
  /**
   * index of the first device at the start of the process; a request without a device concerns this one, even after its
   * removal
   */
  readonly firstIndex: number;
  /** indexes of devices that are off and do not answer; one object for the life of the plant, changed in place */
  readonly silentDevices: ReadonlySet<number>;
  readonly commands: CommandQueue;
  /** devices whose grid is outside of the simulator */
  readonly exchange: GridExchange;
  /** snapshots of the last finished tick, one per device; replaced also when a device joins or leaves between ticks */
  readonly latest: TickEvent;
  readonly time: TimeNow;
  /** `time.sim` alone: formatting the clock costs more than a tick of a device */
  readonly now: SimTime;
  /** simulated seconds of a whole tick at the present rate */
  readonly tickSimS: number;
  readonly health: PlantHealth;
  /** Simulated date of an instant (provenance, timers), ms since the epoch. */
  dateMs(t: SimTime): number;
  /** The instant of a simulated date, the reverse of `dateMs`. @param dateMs ms since the epoch */
  simAt(dateMs: number): SimTime;
  /** @throws SimError UNKNOWN_DEVICE */
  device(index: number): Device;
  /** Listeners are called synchronously once per finished tick; the returned function unsubscribes. */
  onTick(listener: (event: TickEvent) => void): () => void;
  /**
   * As `onTick`, for work that grows with the number of devices: at each `yield` requests may be answered. The tick ends,
   * and the next one begins, when all parts are done.
   */
  onTickInParts(work: (event: TickEvent) => Iterable<undefined>): () => void;
  /**
   * Listeners are called synchronously, between ticks, when a device has joined or left: `devices` and `latest` are the
   * new ones then. The returned function unsubscribes.
   */
  onDevices(listener: (change: DeviceChange) => void): () => void;
  /**
   * Listeners are called synchronously at the instant at which a device goes dark or returns: `silentDevices` and the
   * registers are the new ones then. A device that leaves while it is dark does not return. The returned function
   * unsubscribes.
   */
  onPower(listener: (event: PowerEvent) => void): () => void;
  /** Calls the listener with each disturbance, synchronously. The returned function unsubscribes. */
  onDisturbance(listener: (disturbance: Disturbance) => void): () => void;
  /**
   * The next instant at which the grid of a device, or the common one, changes by itself, apart from a grid profile;
   * Infinity without one.
   */
  nextGridChange(deviceIndex?: number): number;
  /**
   * Calls `act` once at the simulated instant `t`: every device has advanced exactly to it, and what `act` writes or
   * starts is stamped with it. A tick that ends at `t` shows what `act` wrote; physics follows from `t` on. Acts run in
   * order of time, then of registration, and never within this call. If a device has passed `t` already, `act` runs at
   * the earliest instant that no device has passed: inside another act the present instant, between ticks the end of
   * the last tick. A failing act is logged. After the end of the plant no act runs.
   * @returns cancels `act`, unless it has run
   * @throws SimError COMMAND_BAD_VALUE for an instant that is not a number
   */
  at(t: SimTime, act: () => void): () => void;
  /**
   * Ticks of real time end at the instants of a guide too, and the next one begins when `reached` has resolved. One
   * guide at a time; the returned function removes it.
   */
  guideTicks(guide: TickGuide): () => void;
  /**
   * @param deviceIndex absent: the common grid (and every local deviation ends)
   * @param by writer, as in the methods below; default: the source `default`
   */
  setGrid(patch: GridPatch, deviceIndex?: number, by?: Origin): void;
  grid(deviceIndex?: number): GridNow;
  /** the named events, with ranges for this site */
  readonly gridEvents: readonly GridEventKind[];
  /**
   * Starts a named event in place of one under way in the same scope.
   * @param args arguments by parameter name; absent ones have their default
   * @param deviceIndex device as for `setGrid`
   * @throws SimError COMMAND_BAD_VALUE with the names and ranges that are allowed, UNKNOWN_DEVICE
   */
  startGridEvent(name: string, args: GridEventArguments, deviceIndex?: number, by?: Origin): void;
  /** Ends the event under way, if any. @param deviceIndex device as for `setGrid` */
  stopGridEvent(deviceIndex?: number, by?: Origin): void;
  setSurroundings(patch: SurroundingsPatch, deviceIndex?: number, by?: Origin): void;
  surroundings(deviceIndex?: number): SurroundingsNow;
  /** the connection point of all devices: powers of the last tick, and the limits in force */
  readonly site: SiteNow;
  /** energies of all devices and of that point, built at each read */
  readonly energy: SiteEnergy;
  /** @throws SimError UNKNOWN_DEVICE */
  energyOf(deviceIndex: number): DeviceEnergy;
  /** the meter of that point; null: no meter */
  readonly meter: SiteMeter | null;
  /**
   * Powers and limits of one device, or of a group of devices with the local loads beside them.
   * @throws SimError UNKNOWN_DEVICE, COMMAND_BAD_VALUE for an empty list
   */
  siteOf(devices: readonly number[]): SiteNow;
  /** the whole site, then every device and group with limits, inner ones before outer ones; built at each read */
  readonly siteScopes: readonly SiteNow[];
  /** ascending indexes of the devices of each group with limits */
  readonly siteGroups: readonly (readonly number[])[];
  /** power of a device at the end of the last tick, as the sums of `site` have it, W */
  sitePowerW(deviceIndex: number): number;
  /**
   * The limit that reduces the power of a device, where `decidedBy` of its trace is `site`; null: none, or power
   * returns after a limit.
   */
  siteCut(deviceIndex: number): SiteCut | null;
  /**
   * Sets or ends limits of one owner in one scope, all or none; the devices follow from the next tick on. For each
   * limit the tightest of the owners holds. Groups are disjoint, or one contains the other.
   * @param target default: the whole site, and the owner that follows from `by`
   * @throws SimError COMMAND_BAD_VALUE with one issue for each limit out of range, UNKNOWN_DEVICE, COMMAND_CONFLICT for
   *   a group that crosses another one, or when no further group or owner fits
   */
  setSite(patch: SitePatch, by?: Origin, target?: SiteTarget): void;
  /** @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT */
  setTime(patch: ClockPatch, by?: Origin): void;
  /**
   * Runs ticks at once; only while paused. Devices may join and leave between them.
   * @returns the event of the last tick
   * @throws SimError COMMAND_CONFLICT
   */
  step(ticks: number, by?: Origin): Promise<TickEvent>;
  /**
   * Runs ticks at once, whole ones and a shorter last one that ends exactly at `t`; only while paused. No tick if `t`
   * is the present instant. Devices may join and leave between them.
   * @returns the event of the last tick
   * @throws SimError COMMAND_CONFLICT; COMMAND_BAD_VALUE for an instant before the time shown, or more ticks away than
   *   `step` runs
   */
  runTo(t: SimTime, by?: Origin): Promise<TickEvent>;
}

/** The meter before rounding to its registers. Positive powers are drawn from the grid, as in its map. */
export interface SiteMeterNow {
  readonly w: number;
  readonly var: number;
  /** line-to-neutral voltage of each phase of the meter, V */
  readonly volts: readonly number[];
  readonly hz: number;
  /** active energy imported by all phases together */
  readonly importedWh: number;
  /** active energy exported by all phases together */
  readonly exportedWh: number;
  /** reactive energy imported by all phases together */
  readonly importedVarh: number;
  /** reactive energy exported by all phases together */
  readonly exportedVarh: number;
}

export interface SiteMeter {
  /** configured unit id; null: not configured, so that the meter answers as unit 1 at a separate port */
  readonly unitId: number | null;
  /** model 1, and one of 201 to 203 (integer) or 211 to 213 (floating point); no point can be written */
  readonly bank: PointBank;
  /** values after the last tick */
  readonly now: SiteMeterNow;
}
