/** Points of the DER profile, and the sources and targets of their values. */
import type { Kept } from '../../core/kept.ts';
import type { RandomStream } from '../../core/random.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { Origin } from '../../core/origin.ts';
import type { Dnp3Profile } from '../../contract/dnp3-settings.ts';
import type { ControlStatus } from '../stack/outstation/types.ts';
import type { DevicePort } from '../device-port.ts';
import type { Keep } from '../memory/memory.ts';

/** Binary input and output, analog input and output, counter. */
export const pointTypes = ['BI', 'BO', 'AI', 'AO', 'CTR'] as const;
export type PointType = (typeof pointTypes)[number];

/** `AI537` */
export type PointName = `${PointType}${number}`;

/** A row of a point map. Engineering value = wire value x multiplier. */
export interface PointRow {
  readonly type: PointType;
  readonly index: number;
  /** short name, not that of the publications */
  readonly name: string;
  /** event class of inputs and counters; 0: no events, as for outputs */
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
  /** point of the built-in map or of SunSpec that is bound: `AI149`, `701.W`; absent: the one of the same name */
  readonly bind?: string;
  /** wire units, of analog inputs and counters: an event follows a change above it; absent: 0 */
  readonly deadband?: number;
}

/** The source of the value of an input. */
export interface InputSource {
  /** Engineering value, or 0/1 and false/true of binaries. null: no value at present, the point is not online. */
  read(): number | boolean | null;
  /** true: a measurement, compared once per tick and not after commits */
  readonly measured?: boolean;
  /** true: state without a register, compared once per tick, after each commit and before each read */
  readonly live?: boolean;
  /** of analogs, engineering units: an event follows a change above it; absent: that of the row */
  readonly deadband?: number;
  /** true while the function of the value is inactive: IEEE 1815.2 sends the value without ONLINE */
  readonly isIdle?: () => boolean;
  /** source in words, for REST and documents: `701.W`, `simulator` */
  readonly bound: string;
}

/** The target of the values of an output. */
export interface OutputTarget {
  /** The value in force, as `InputSource.read`, for g40, g10 and the paired input. */
  read(): number | boolean | null;
  /**
   * The status that `operate` would have now; changes nothing. Range and local control are already checked.
   * @param value engineering value; false or true for binaries
   * @throws SimError as the map or the device refuses it
   */
  check(value: number | boolean, by: Origin): ControlStatus;
  /** Carries out the value; a status other than success refuses it. @throws SimError as `check` */
  operate(value: number | boolean, by: Origin): ControlStatus;
  /** Minimum and maximum engineering value that the output accepts now; absent or null: those of the row. */
  range?(): readonly [min: number | null, max: number | null] | null;
  /** as in `InputSource` */
  readonly isIdle?: () => boolean;
  readonly live?: boolean;
  readonly bound: string;
  /** state that a restart keeps and that `operate` alone changes; absent: none */
  readonly kept?: () => Kept;
}

/** Points bound by a part of the profile. A point that no part binds is absent. */
export interface PointBindings {
  readonly inputs: ReadonlyMap<PointName, InputSource>;
  readonly outputs: ReadonlyMap<PointName, OutputTarget>;
}

/**
 * The end of an outstation. `gone`: nothing continues its state. `replaced`: another outstation of this process does, and
 * begins its holds anew. `kept`: another process does, so that registers and holds stay as they are.
 */
export type OutstationEnd = 'gone' | 'replaced' | 'kept';

/** Context of the parts of the profile of one device. */
export interface PartContext {
  readonly port: DevicePort;
  readonly profile: Dnp3Profile;
  /** clock of the last time write of a master, for times agreed with masters; before it the local calendar */
  readonly clock: Pick<RemoteClock, 'nowMs' | 'at'>;
  /** settings without a register, shared by the parts of this device; a reset restores their start values */
  readonly settings: InternalSettings;
  /** repeatable random numbers of this device */
  readonly random: (purpose: string) => RandomStream;
  readonly log: { info(message: string): void; warning(message: string): void };
  /** To be called when values have changed outside of registers and ticks: inputs are compared. */
  readonly changed: () => void;
  /**
   * Called after each commit, and after a reset of the device once the settings have their start values, until the
   * outstation ends.
   */
  readonly onSettings: (listener: () => void) => void;
  /** Called at the end of each tick. */
  readonly onTick: (listener: () => void) => void;
  /** Called when the outstation ends. */
  readonly onClose: (listener: (end: OutstationEnd) => void) => void;
  /** Makes state survive the process. The returned function is to be called after each change of the state. */
  readonly keep: Keep;
  /** Called once all kept state is restored. */
  readonly onRestored: (listener: () => void) => void;
}

/** A part of the profile: monitoring, nameplate, a mode, the curves. Returns only points that the device has. */
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
