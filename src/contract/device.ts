/**
 * A device as interfaces and adapters use it: state, commands, last writers of states without a register, and the
 * slopes with which power follows commands (`Gradient`).
 */
import type { Origin, Provenance } from '../core/origin.ts';
import type { Bank } from '../sunspec/map/bank.ts';
import type { FunctionName } from '../sunspec/map/grid-support/functions.ts';
import type { PointSlot } from '../sunspec/map/layout.ts';
import type { AnyPointValue } from '../sunspec/map/types.ts';
import type { GridTrace } from './grid-trace.ts';
import type { LimitChain, PowerLimit, ReactiveChain } from './limit-chain.ts';
import type { BatteryTree } from './kinds/battery.ts';
import type { EvseTransition } from './kinds/evse-transitions.ts';
import type { EvseSession } from './kinds/evse.ts';
import type { StackPower } from './kinds/fuelcell.ts';
import type { DeviceProtocols } from './device-protocols.ts';
import { kindTable } from './kinds/table.ts';
import type { AssetType, DcMode, DeviceDetail, SourceCommand, SourceOverrideName } from './kinds/table.ts';
import type { SimTime } from '../core/time/clock.ts';
import type { CommandState } from '../core/command-hold.ts';

export { assetTypes, dcModes } from './kinds/table.ts';
export type { AssetType, DcMode, DeviceDetail, SourceCommand } from './kinds/table.ts';

export type AlarmSeverity = 'info' | 'warning' | 'error';

export interface Alarm {
  readonly code: string;
  readonly source: 'ac' | 'dc' | 'battery' | 'comm' | 'evse' | 'sim';
  readonly severity: AlarmSeverity;
  /** wall time, ms since the epoch */
  readonly sinceMs: number;
  readonly deviceIndex: number;
  readonly port: number | null;
  readonly latched: boolean;
  readonly message: string;
}

/**
 * Present capability of a device at its terminals, magnitudes. Ratings, settings of 702, source, losses, state of
 * charge and temperature limit the capability; commands, curves and the site do not. 0 while no power can flow: out of
 * service, in momentary cessation, off.
 */
export interface AvailablePower {
  /** active power that the device could inject once ramps of the source are over, W */
  readonly injectW: number;
  /** active power that the device could absorb once ramps of the source are over, W */
  readonly absorbW: number;
  /** reactive power that the device could inject beside the present active power, var */
  readonly injectVar: number;
  /** reactive power that the device could absorb beside the present active power, var */
  readonly absorbVar: number;
}

/** Behaviour of an inverter that the standard leaves to its manufacturer and no register holds. */
export interface InverterParameters {
  /** reactive capability below 20 % of rated power: the minimum of IEEE 1547-2018 Table 7, or the whole */
  readonly lowPowerVars: 'reduced' | 'full';
  /** behaviour between the may-trip and the must-trip curve of 707-710 */
  readonly mayTrip: 'stay' | 'trip';
  /** time after momentary cessation from the return of voltage to the first output, s */
  readonly cessationReturnS: number;
  /** time after momentary cessation from the first to full output, s */
  readonly cessationRampS: number;
  /** time after which the device trips in an island, s (704.AntiIslEna; at most 2 s, IEEE 1547-2018 8.1) */
  readonly antiIslandingS: number;
  /** setting of a relay for the rate of change of frequency, which the standard does not require; null: not fitted */
  readonly rocofRelayHzS: number | null;
  /** setting of a relay for vector shift, which the standard does not require; null: not fitted */
  readonly vectorShiftRelayDeg: number | null;
  /** duration of the adoption of a curve, s; meanwhile 705-712.AdptCrvRslt is IN_PROGRESS */
  readonly adoptionS: number;
  /** `Gradient` at the start and after a reset */
  readonly gradient: Gradient;
}

/** One sample of a DC curve: volts, amperes, watts. */
export interface IvPoint {
  readonly v: number;
  readonly i: number;
  readonly p: number;
}

/** Sources that can have a DC-side curve. */
export const dcCurveKinds = ['pv', 'battery', 'fuelcell'] as const;

/** A DC-side curve of one 714 port at this moment. */
export interface IvCurve {
  readonly kind: (typeof dcCurveKinds)[number];
  readonly port: number;
  readonly irradianceWm2: number | null;
  readonly cellTemperatureC: number;
  readonly operatingPoint: IvPoint;
  readonly curve: readonly IvPoint[];
  readonly mpp: IvPoint | null;
  readonly vOcV: number | null;
  readonly iScA: number | null;
}

/** One simulated DER as every adapter sees it: its register bank, its commands, its typed detail. */
export interface Device extends DeviceProtocols {
  readonly index: number;
  readonly name: string;
  /** the flag value as given */
  readonly deviceType: string;
  readonly profileName: string | null;
  readonly assetType: AssetType;
  readonly dcMode: DcMode;
  /** the register map: the device's visible state */
  readonly bank: Bank;
  /**
   * a new object at each change; between sub-steps computed for the instant of the read, within one the last computed
   */
  readonly detail: DeviceDetail;
  /** the instant that `detail` shows */
  readonly detailAt: SimTime;
  readonly alarms: readonly Alarm[];
  /** alarms that stay until a reset */
  readonly latchedAlarmCount: number;
  /** why the device is out of service, ramps up or is derated; null: it is not */
  readonly statusMessage: string | null;
  /**
   * the functions (keys of `controls.modes`) that set or limited the output in the last sub-step, or keep the device
   * out of service
   */
  readonly activeFunctions: ReadonlySet<ControlFunction>;
  /** true: the device refuses remote writes and commands (715.LocRemCtl) */
  readonly localControl: boolean;
  /** position of the disconnect switch; 701.ConnSt also opens on trips */
  readonly switchClosed: boolean;
  /** computed when it is read, from the last sub-step and the present settings */
  readonly available: AvailablePower;
  /** the limit that holds the active power, computed when it is read */
  readonly powerLimit: PowerLimit;
  /** the same with all other limits */
  readonly limitChain: LimitChain;
  /** functions and limits of reactive power, computed when it is read */
  readonly reactiveChain: ReactiveChain;
  /** null: the device is no fuel cell */
  readonly stackPower: StackPower | null;
  /** slopes in force, of commands or of the registers */
  readonly gradient: { readonly w: Slope; readonly var: Slope };
  readonly enterService: {
    readonly state: 'in_service' | 'waiting' | 'out_of_service';
    readonly delayRemainingS: number;
  };
  /** names of the functions that keep the device tripped */
  readonly activeTrips: readonly string[];
  /** names of the trip functions beyond their limit, whose time runs or has run out */
  readonly startedTrips: readonly string[];
  /** deciding function or limit of the power in each step */
  readonly trace: GridTrace;
  /** last writers of state without a register, newest first; after a reset of the device only the reset itself */
  readonly overrides: readonly Override[];
  /** present strings, modules and cells of a storage; null: no storage */
  storageTree(): BatteryTree | null;
  /** charging sessions, newest first; times count from `startedAt` */
  chargingSessions(): readonly EvseSession[];
  /** instant at which the device began */
  readonly startedAt: SimTime;
  /** The value in use while a fault withholds the last write of a point; undefined: the register value. */
  heldValue(slot: PointSlot): AnyPointValue | undefined;
  /** Carries out a command whole or throws `COMMAND_*`. */
  command(command: DeviceCommand, by: Origin): void;
  /**
   * Calls `listener` with each transition of a charging station, in order, once the sub-step, command or write that
   * caused it is complete and before the next sub-step; `detail` shows the state after it then. A listener may issue
   * commands: their transitions follow after the present ones. Any other device never calls. The returned function
   * unsubscribes.
   */
  onEvse(listener: (transition: EvseTransition) => void): () => void;
  /**
   * DC-side curve of a 714 port at this moment.
   * @param port 0-based 714 port; default the first that has a curve
   * @param points number of samples, 16..1000
   * @throws SimError COMMAND_NOT_APPLICABLE when the device has no curve at all, UNKNOWN_RESOURCE when the port has
   *   none
   */
  dcCurve(port: number | undefined, points: number): IvCurve;
}

/** The keys of `controls.modes`. */
export type ControlFunction = FunctionName;

/**
 * A change of state that no register holds, or the command `start` or `stop`: carried out whole or not at all, with the
 * same provenance as a register write.
 */
export type DeviceCommand =
  | SourceCommand
  /** the disconnect switch: opModConnect, DNP3 connect */
  | { readonly kind: 'switch'; readonly closed: boolean }
  /** permits service and ends an operator stop (703.ES, 715.OpCtl); an open disconnect switch stays open */
  | { readonly kind: 'start' }
  /** ends service, ramps to zero, disconnects (operator stop); the disconnect switch stays as it is */
  | { readonly kind: 'stop' }
  /** the local/remote switch at the device: local refuses every write and command from afar */
  | { readonly kind: 'local'; readonly local: boolean }
  /**
   * sets slopes in the place of 704.WRmp and VarRmp, within `gradientRange`; null ends one, an absent one stays.
   * A later write to the register ends it too.
   */
  | ({ readonly kind: 'gradient' } & Partial<Gradient>)
  /** clears latched alarms; `device` also ends overrides and reloads the start values */
  | { readonly kind: 'reset'; readonly scope: 'alarms' | 'device' };

/**
 * Names of the values that commands common to all kinds set. `start` and `stop` have none: they write registers
 * (703.ES, 715.OpCtl), whose last writers the register map records.
 */
const commonOverrides = {
  start: [],
  stop: [],
  switch: ['switch'],
  local: ['local_control'],
  gradient: ['gradient'],
  reset: ['alarm_reset', 'device_reset'],
} as const satisfies Record<Exclude<DeviceCommand, SourceCommand>['kind'], readonly string[]>;

/** Name of a value that commands set and no register holds; `Override` has its last writer. */
export type OverrideName = (typeof commonOverrides)[keyof typeof commonOverrides][number] | SourceOverrideName;

const namesByKind = Object.assign(
  {},
  commonOverrides,
  ...(Object.keys(kindTable) as AssetType[]).map((kind) => kindTable[kind].overrides),
) as Readonly<Record<DeviceCommand['kind'], readonly OverrideName[]>>;

/** The names under which `controls.overrides` shows the last writers. */
export const overrideNames: readonly OverrideName[] = [...new Set(Object.values(namesByKind).flat())];

/** Last writer of one override. */
export interface Override extends Provenance {
  readonly name: OverrideName;
  /** connector of a charging station; 0: the whole station, null: not about a connector */
  readonly connectorId: number | null;
}

/** Names of the values that a command sets; one command for a battery may set several. */
export function overridesOf(command: DeviceCommand): readonly OverrideName[] {
  if (command.kind === 'reset') return [command.scope === 'device' ? 'device_reset' : 'alarm_reset'];
  if (command.kind === 'battery.control') {
    const { mode, powerW, durationS, socPct, strings } = command;
    return [
      ...(mode !== undefined || powerW !== undefined || durationS !== undefined ? ['battery_mode' as const] : []),
      ...(socPct !== undefined ? ['battery_soc' as const] : []),
      ...(strings !== undefined ? ['battery_contactors' as const] : []),
    ];
  }
  return namesByKind[command.kind];
}

/**
 * Rate at which power follows commands, percent per second: active power of 702.WMax, reactive power of the larger of
 * 702.VarMaxInj and VarMaxAbs. null: by 704.WRmp and 704.VarRmp.
 */
export interface Gradient {
  readonly wPctPerS: number | null;
  readonly varPctPerS: number | null;
}

/** Range of a gradient, percent per second: from 11 days over the full range to the fastest of 704.WRmp. */
export const gradientRange = { min: 1e-4, max: 1000 } as const;

/** The slope in force for one kind of power. */
export interface Slope {
  /** rate as in `Gradient`; a rate by 704.WRmpRef A_MAX is converted to percent of 702.WMax */
  readonly pctPerS: number;
  /** a gradient of a command or of the profile, or the register */
  readonly source: 'gradient' | 'register';
}

/** One slope of `Gradient` as state of commands; null: the register decides. */
export function slopeState(
  device: Pick<Device, 'command' | 'gradient'>,
  name: keyof Gradient,
): CommandState<number | null> {
  const read = () => {
    const { pctPerS, source } = device.gradient[name === 'wPctPerS' ? 'w' : 'var'];
    return source === 'gradient' ? pctPerS : null;
  };
  return {
    read,
    write: (value, by) => {
      device.command({ kind: 'gradient', [name]: value }, by);
    },
    // the record of the last writer is common to both slopes: the value itself marks a change of this one
    mark: read,
  };
}
