/** Controls as the scheduler hands them to the bridge: the controls to be in force on one device, and their outcomes. */
import type { HoldValue } from '../../sunspec/map/holds.ts';
import type { Received } from '../xml/document.ts';
import type { DERControlBase, DERCurve, DefaultDERControl } from '../xml/documents.ts';

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
  readonly modes: readonly ModeName[];
  readonly control: ResolvedControl;
}

/** A mode of a control that is not carried out, with the reason. */
export interface LeftOutMode {
  readonly mode: ModeName;
  /** `unsupported`: the device has no physics for it; `invalid`: its value; `outweighed`: by another control's mode */
  readonly reason: 'unsupported' | 'invalid' | 'outweighed';
  /** in a sentence */
  readonly detail: string;
}

/**
 * Outcome of a control in force.
 * - `applied`: its supported modes are in force
 * - `waiting`: the device takes no control now (local control, dark); it is tried again
 * - `unsupported`: none of its modes has physics (response 252)
 * - `invalid`: a value is out of range and nothing is in force (response 253)
 */
export interface ControlOutcome {
  readonly state: 'applied' | 'waiting' | 'unsupported' | 'invalid';
  readonly leftOut: readonly LeftOutMode[];
  /** another writer has changed a point of it since */
  readonly overwritten: boolean;
}

/** One device (or all devices of an EndDevice) under control. Made by the bridge. */
export interface ControlTarget {
  /** modes with physics, for `modesSupported` */
  readonly supported: ReadonlySet<ModeName>;
  /** The slope of active power of a device for `setGradW`, percent per second: without the ramps of single controls. */
  gradW(deviceIndex: number): number;
  /** The values that a control has written to a device, by mode; of one that is not in force what it would write. */
  claims(id: string, control: ResolvedControl, deviceIndex: number): ReadonlyMap<ModeName, readonly HoldValue[]>;
  /** Outcome of a control if it were in force alone; changes nothing. For responses at receipt. */
  check(control: ResolvedControl): ControlOutcome;
  /**
   * Makes exactly these controls be in force, of highest priority first; controls no longer among them are given back.
   * Calling it again with the same controls only tries the `waiting` ones again.
   * @returns the outcome of each, by id
   */
  apply(inForce: readonly ControlInForce[]): ReadonlyMap<string, ControlOutcome>;
  /** Calls back when the device can take controls again, or has been reset; the returned function ends it. */
  onChange(listener: (reset: boolean) => void): () => void;
  /** Gives everything back. */
  close(): void;
}
