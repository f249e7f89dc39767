/** Points of the DER profile, and the sources and targets of their values. */
import type { RandomStream } from '../../core/random.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { Origin } from '../../core/origin.ts';
import type { Dnp3Profile } from '../../contract/dnp3-settings.ts';
import type { ControlStatus } from '../stack/outstation/types.ts';
import type { DevicePort } from '../device-port.ts';

/** Binary input and output, analog input and output, counter. */
export const pointTypes = ['BI', 'BO', 'AI', 'AO', 'CTR'] as const;
export type PointType = (typeof pointTypes)[number];

/** `AI537` */
export type PointName = `${PointType}${number}`;

/** A point of a profile, as its table has it. Engineering value = wire value x multiplier. */
export interface PointRow {
  readonly type: PointType;
  readonly index: number;
  /** our own short name */
  readonly name: string;
  /** of inputs and counters; outputs make no events. 0: none */
  readonly class: 0 | 1 | 2 | 3;
  /** wire units, analogs; absent: the range of 32 bits */
  readonly min?: number;
  readonly max?: number;
  /** analogs; absent: 1 */
  readonly multiplier?: number;
  /** of the engineering value */
  readonly unit?: string;
  readonly iec61850?: string;
  /** of outputs: the input that mirrors it */
  readonly readBack?: PointName;
  /** a point of the built-in map, or of SunSpec, whose value this one has: `AI149`, `701.W`; absent: its own name */
  readonly bind?: string;
  /** wire units, of analog inputs and counters: an event follows a change above it; absent: 0 */
  readonly deadband?: number;
}

/** Gives the value of an input. */
export interface InputSource {
  /** Engineering value, or 0/1 and false/true of binaries. null: no value now, the point is not online. */
  read(): number | boolean | null;
  /** a measurement: it is compared once per tick, and not at each commit */
  readonly measured?: boolean;
  /** state of the device without a register: it is compared once per tick, after each commit and before each read */
  readonly live?: boolean;
  /** of analogs, engineering units: an event follows a change above it; absent: that of the row */
  readonly deadband?: number;
  /** the value is known and the function behind it is not active: sent without ONLINE by IEEE 1815.2 */
  readonly isIdle?: () => boolean;
  /** source in words, for REST and documents: `701.W`, `simulator` */
  readonly bound: string;
}

/** Takes the value of an output. */
export interface OutputTarget {
  /** The value in force, as `InputSource.read`, for g40, g10 and the paired input. */
  read(): number | boolean | null;
  /**
   * True if the value can be carried out now; moves nothing. Range and local control have been checked.
   * @param value engineering value; false or true for binaries
   * @throws SimError as the map or the device refuses it
   */
  check(value: number | boolean, by: Origin): ControlStatus;
  /** Carries it out, or answers why not. @throws SimError as `check` */
  operate(value: number | boolean, by: Origin): ControlStatus;
  /** Least and greatest engineering value that it takes now; absent: those of the row. */
  range?(): readonly [min: number | null, max: number | null] | null;
  /** as of `InputSource` */
  readonly isIdle?: () => boolean;
  readonly live?: boolean;
  readonly bound: string;
}

/** Points bound by a part of the profile. A point that no part binds is absent. */
export interface PointBindings {
  readonly inputs: ReadonlyMap<PointName, InputSource>;
  readonly outputs: ReadonlyMap<PointName, OutputTarget>;
}

/** Context of the parts of the profile of one device. */
export interface PartContext {
  readonly port: DevicePort;
  readonly profile: Dnp3Profile;
  /** time of the master that has written it last, for moments agreed with masters; before that the local calendar */
  readonly clock: Pick<RemoteClock, 'nowMs' | 'at'>;
  /** settings without a register, shared by the parts of this device; they go back to their start at a reset */
  readonly settings: InternalSettings;
  /** repeatable random numbers of this device */
  readonly random: (purpose: string) => RandomStream;
  readonly log: { info(message: string): void; warning(message: string): void };
  /** Values have changed outside of registers and ticks: inputs are compared now. */
  readonly changed: () => void;
  /**
   * Called after each commit, and after a reset of the device, when the settings have their start values again. It ends
   * with the outstation.
   */
  readonly onSettings: (listener: () => void) => void;
  /** Called at the end of each tick. */
  readonly onTick: (listener: () => void) => void;
  /** Called when the outstation ends. */
  readonly onClose: (listener: () => void) => void;
}

/** A part of the profile: monitoring, nameplate, a mode, the curves. Returns only points of the device. */
export type ProfilePart = (context: PartContext) => PointBindings;

/** Settings of the outstation that no register holds, by name of the output that sets them. Engineering values. */
export interface InternalSettings {
  /** @param start value before the first write, and after a reset of the device */
  declare(name: PointName, start: number | boolean): void;
  number(name: PointName): number;
  flag(name: PointName): boolean;
  set(name: PointName, value: number | boolean): void;
  /** Called after a reset of the device has put the start values back. */
  onReset(listener: () => void): void;
}
