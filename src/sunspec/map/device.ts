import type { AssetType, Alarm, DcMode, DeviceCommand, DeviceDetail, IvCurve, Origin, Published } from '../../core/device.ts';
import type { ClockPatch, ClockSettings, SimTime } from '../../core/clock.ts';
import type {
  GridEventArguments, GridEventKind, GridNow, GridPatch, SurroundingsNow, SurroundingsPatch,
} from '../../core/environment.ts';
import type { GridTrace } from '../../core/grid-trace.ts';
import type { BatteryTree } from '../../core/kinds/battery.ts';
import type { EvseSession } from '../../core/kinds/evse.ts';
import type { Bank } from './bank.ts';

/** One simulated DER as every adapter sees it: its register bank, its commands, its typed detail. */
export interface Device {
  readonly index: number;
  readonly name: string;
  /** the flag value as given */
  readonly deviceType: string;
  readonly profileName: string | null;
  readonly assetType: AssetType;
  readonly dcMode: DcMode;
  /** the register map: the device's visible state */
  readonly bank: Bank;
  /** replaced as a whole by each tick */
  readonly detail: DeviceDetail;
  readonly alarms: readonly Alarm[];
  /** alarms that stay until a reset */
  readonly latchedAlarmCount: number;
  /** reason of a stop, trip or derating, while there is one */
  readonly statusMessage: string | null;
  /** the functions that set or limit the output in the last sub-step (keys of `controls.modes`) */
  readonly activeFunctions: ReadonlySet<ControlFunction>;
  /** the device takes no remote write or command (715.LocRemCtl) */
  readonly localControl: boolean;
  readonly enterService: { readonly state: 'in_service' | 'waiting' | 'out_of_service'; readonly delayRemainingS: number };
  /** names of the trip functions beyond their limit */
  readonly activeTrips: readonly string[];
  /** why the power is what it is */
  readonly trace: GridTrace;
  /** strings, modules and cells of a storage now; null: there is none */
  storageTree(): BatteryTree | null;
  /** charging sessions, newest first; times count from `startedAt` */
  chargingSessions(): readonly EvseSession[];
  /** instant at which the device began */
  readonly startedAt: SimTime;
  /** Carries out a command whole or throws `COMMAND_*`. */
  command(command: DeviceCommand, by: Origin): void;
  /**
   * DC-side curve of a 714 port at this moment.
   * @param port 0-based 714 port; default the first that has a curve
   * @param points number of samples, 16..1000
   * @throws SimError COMMAND_NOT_APPLICABLE when the device has no such curve
   */
  dcCurve(port: number | undefined, points: number): IvCurve;
}

/** The keys of `controls.modes`. */
export const controlFunctions = [
  'volt_var', 'volt_watt', 'watt_var', 'freq_droop', 'pf_inject', 'pf_absorb', 'constant_var', 'max_power',
  'active_power', 'enter_service', 'lv_trip', 'hv_trip', 'lf_trip', 'hf_trip', 'anti_islanding', 'ramp',
] as const;
export type ControlFunction = (typeof controlFunctions)[number];

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
  /** wall times, ms since the epoch */
  readonly queuedAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly message: string | null;
}

export interface CommandRequest {
  readonly command: OperatorCommand;
  readonly deviceIndex: number;
  /** of a reset; default `alarms` */
  readonly scope?: 'alarms' | 'device';
}

export interface CommandQueue {
  /** @throws SimError COMMAND_QUEUE_FULL */
  submit(request: CommandRequest, by: Origin): CommandRecord;
  /** All of them, or none. @throws SimError COMMAND_QUEUE_FULL */
  submitAll(requests: readonly CommandRequest[], by: Origin): readonly CommandRecord[];
  /** newest first */
  list(filter?: { deviceIndex?: number; state?: CommandState }): readonly CommandRecord[];
  get(id: string): CommandRecord | undefined;
}

/** The time object of `controls/time`. */
export interface TimeNow extends ClockSettings {
  /** simulated seconds per real second that the last ticks reached; below `rate` when the machine cannot hold it */
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
}

export interface PlantHealth {
  readonly tick: number;
  /** real seconds since the last tick ended */
  readonly tickAgeS: number;
  /** grid slots of the tick that were skipped because the machine was late */
  readonly skippedTicks: number;
  readonly paused: boolean;
  /** false while the machine cannot run the simulation at the rate that was asked for */
  readonly rateHeld: boolean;
}

export interface TickEvent {
  readonly tick: number;
  readonly sim: SimTime;
  readonly wallMs: number;
  /** one entry per device, in index order */
  readonly published: readonly Published[];
}

/** All devices, their common surroundings and their clock: what REST and the stream work with. */
export interface Plant {
  readonly devices: readonly Device[];
  readonly commands: CommandQueue;
  /** snapshots of the last finished tick, one per device */
  readonly latest: TickEvent;
  readonly time: TimeNow;
  readonly health: PlantHealth;
  /** Simulated date of an instant (provenance, timers), ms since the epoch. */
  dateMs(t: SimTime): number;
  /** @throws SimError UNKNOWN_DEVICE */
  device(index: number): Device;
  /** Listeners are called synchronously once per finished tick; the returned function ends it. */
  onTick(listener: (event: TickEvent) => void): () => void;
  /** @param deviceIndex absent: the common grid (and every local deviation ends) */
  setGrid(patch: GridPatch, deviceIndex?: number): void;
  grid(deviceIndex?: number): GridNow;
  /** the named events, with ranges for this site */
  readonly gridEvents: readonly GridEventKind[];
  /**
   * Starts a named event in place of one under way in the same scope.
   * @param args by parameter name; absent ones have their default
   * @param deviceIndex as for `setGrid`
   * @throws SimError COMMAND_BAD_VALUE with the names and ranges that are allowed, UNKNOWN_DEVICE
   */
  startGridEvent(name: string, args: GridEventArguments, deviceIndex?: number): void;
  /** Ends the event under way; nothing happens when there is none. @param deviceIndex as for `setGrid` */
  stopGridEvent(deviceIndex?: number): void;
  setSurroundings(patch: SurroundingsPatch, deviceIndex?: number): void;
  surroundings(deviceIndex?: number): SurroundingsNow;
  /** @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT */
  setTime(patch: ClockPatch): void;
  /** Runs ticks at once; only while paused. @throws SimError COMMAND_CONFLICT */
  step(ticks: number): Promise<void>;
}
