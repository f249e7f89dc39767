/** Controls, their outcomes, and the wishes of their modes for one device before conflicts are resolved. */
import type { HoldValue } from '../../sunspec/map/holds.ts';
import type { Received, UnreadMember } from '../xml/schema.ts';
import type { DERControlBase, DERCurve, DefaultDERControl } from '../xml/documents.ts';
import type { SiteLimitName } from '../../contract/site.ts';
import type { FunctionWish } from '../../sunspec/map/grid-support/wish.ts';
import type { RefusedWrite } from '../../sunspec/map/point-holds.ts';

/** A control mode: the name of a member of DERControlBase. */
export type ModeName = Exclude<keyof DERControlBase, 'rampTms'>;

/** Content of a DERControl or DefaultDERControl, with the curves that its links name. */
export interface ResolvedControl {
  readonly base: Received<DERControlBase>;
  /** by the `href` of the DERCurveLink as it stands in `base`; null: it could not be read */
  readonly curves: ReadonlyMap<string, Received<DERCurve> | null>;
  /** the members beside DERControlBase of a default control (setES..., setGradW); absent: an event */
  readonly settings?: Received<Omit<DefaultDERControl, 'DERControlBase'>>;
}

/** A control that is in force, with the modes that it has not lost to another one. */
export interface ControlInForce {
  /** mRID of an event; `default <mRID or href of the program>` */
  readonly id: string;
  readonly origin: 'event' | 'default';
  /** equal for controls with the same origin, primacy and, for events, time of creation */
  readonly rank: string;
  /** without the modes that cannot be read, which are in `base.unread` */
  readonly modes: readonly ModeName[];
  readonly control: ResolvedControl;
}

/** A mode of a control that is not carried out, with the reason. */
export interface LeftOutMode {
  readonly mode: ModeName;
  /** `unsupported`: the device has no physics for it; `invalid`: its value; `outweighed`: by another control's mode */
  readonly reason: 'unsupported' | 'invalid' | 'outweighed';
  /** reason as a sentence for the user */
  readonly detail: string;
}

/**
 * Outcome of a control in force.
 * - `applied`: its supported modes are in force
 * - `waiting`: the device accepts no control now (local control, off); the control is tried again
 * - `unsupported`: none of its modes has physics (response 252 in revision 2018, 251 in 2023)
 * - `invalid`: a value is out of range and nothing is in force (response 253)
 */
export interface ControlOutcome {
  readonly state: 'applied' | 'waiting' | 'unsupported' | 'invalid';
  readonly leftOut: readonly LeftOutMode[];
  /** another writer has since changed a value of the control */
  readonly overwritten: boolean;
}

/** One device, or all devices of an EndDevice, that controls act on. */
export interface ControlTarget {
  /** modes with physics, for `modesSupported` */
  readonly supported: ReadonlySet<ModeName>;
  /** Slope of the active power of a device for `setGradW`, percent per second, without the ramps of single controls. */
  gradW(deviceIndex: number): number;
  /** Values that a control has written to a device, by mode; for a control not in force, the values it would write. */
  claims(id: string, control: ResolvedControl, deviceIndex: number): ReadonlyMap<ModeName, readonly HoldValue[]>;
  /** Outcome of a control if it were in force alone; changes nothing. For responses at receipt. */
  check(control: ResolvedControl): ControlOutcome;
  /** Equal while no result of `check` can differ: its devices, their registers and whether they accept controls. */
  readonly stamp: string;
  /**
   * Puts exactly these controls in force, highest priority first, and releases the values of all other controls.
   * Calling it again with the same controls only tries the `waiting` ones again.
   * @returns the outcome of each, by id
   */
  apply(inForce: readonly ControlInForce[]): ReadonlyMap<string, ControlOutcome>;
  /** Calls back when the device can accept controls again, or has been reset; the returned function unsubscribes. */
  onChange(listener: (reset: boolean) => void): () => void;
  /** Releases all values. */
  close(): void;
  /** Ends without releasing values: the process ends, and the next one continues the controls. */
  leave(): void;
}

/** Modes of one contest exclude each other: rank decides, then the smallest magnitude. */
export interface Contest {
  /** functions of reactive power, or limits of the injected active power */
  readonly group: 'reactive' | 'injected power';
  /** size of the effect of the mode at the present operating point, var or W */
  readonly magnitude: () => number;
}

/** The power at which a mode aims, W and var; `rampTms` becomes the slope to it. */
export interface Aim {
  readonly w?: number;
  readonly var?: number;
}

/** The effects of the value of a mode. */
export interface ModeWish {
  readonly functions: readonly FunctionWish[];
  /** position of the disconnect switch */
  readonly switchClosed?: boolean;
  /** battery power of a hybrid, W, positive = discharge */
  readonly storageW?: number;
  readonly contest?: Contest;
  readonly aim?: Aim;
}

/** A wish as points of one device. */
export interface Wish extends Omit<ModeWish, 'functions'> {
  /** the points that carry out `functions` */
  readonly points: readonly HoldValue[];
}

/** The reason why a mode cannot run. */
export type Refusal = RefusedWrite;

/** A limit at the connection point of the EndDevice, W. */
export interface SiteWish {
  readonly limit: SiteLimitName;
  readonly limitW: number;
}

export const invalid = (detail: string): Refusal => ({ refused: 'invalid', detail });
export const unsupported = (detail: string): Refusal => ({ refused: 'unsupported', detail });

export function isRefusal(result: object): result is Refusal {
  return 'refused' in result;
}

export function leftOut(mode: ModeName, { refused, detail }: Refusal): LeftOutMode {
  return { mode, reason: refused, detail };
}

/** A value of a server, which may send anything, as an integer; null: not an integer. */
export function integerOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

/** Powers of ten that PowerOfTenMultiplierType allows. */
const maxPower = 9;

/**
 * value x 10^power as the number nearest to the decimal fraction: 57 x 10^-2 is 0.57.
 * @returns null if the value is no integer or the power is outside of -9..9
 */
export function scaledOf(value: unknown, power: number): number | null {
  const number = integerOf(value);
  if (number === null || !Number.isInteger(power) || Math.abs(power) > maxPower) return null;
  return Number(`${number}e${power}`);
}

/** The first unreadable member of a value; undefined: none. */
export const firstUnread = (value: unknown): UnreadMember | undefined =>
  typeof value === 'object' && value !== null && 'unread' in value
    ? Object.values(value.unread as Readonly<Record<string, UnreadMember>>)[0]
    : undefined;

/** The refusal of a mode whose value or `rampTms` cannot be read; null: both can be read. */
export function unreadIn(mode: ModeName, base: ResolvedControl['base']): Refusal | null {
  const { [mode]: value, unread = {} } = base;
  const member = value === undefined ? unread[mode] : (firstUnread(value) ?? unread['rampTms']);
  if (!member) return null;
  return member.reason === 'value' ? invalid(member.detail) : unsupported(member.detail);
}
