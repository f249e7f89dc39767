/** One device as the DER profile sees it; `bridge.ts` implements it on the register map. */
import type { Device, DeviceCommand } from '../contract/device.ts';
import type { Plant } from '../contract/plant.ts';
import type { SiteLimitName } from '../contract/site.ts';
import type { Kept } from '../core/kept.ts';
import type { Origin, Provenance } from '../core/origin.ts';
import type { SimTime } from '../core/time/clock.ts';
import type { CurveFunction, FunctionName } from '../sunspec/map/grid-support/functions.ts';
import type { FunctionWish, TripRegion } from '../sunspec/map/grid-support/wish.ts';
import type { PointPath } from '../sunspec/map/point-path.ts';
import type { Written } from '../sunspec/map/point-holds.ts';
import type { AnyPointValue } from '../sunspec/map/types.ts';

/** A value for a point in set 1 or outside of sets, in engineering units of the model. */
export interface PointWrite {
  readonly point: PointPath;
  readonly value: AnyPointValue;
}

/** A write of one setting: a grid-support function, or a single point. */
export type SettingWrite = PointWrite | FunctionWish;

/** Points held by scheduled controls while they last, by id of the control. */
export interface DeviceHolds {
  /** controls that hold points, also those that cannot end while the device is off */
  readonly ids: readonly string[];
  /** As `PointHolds.follow`: makes these controls hold these points, and releases those of others. */
  follow(writesByControl: ReadonlyMap<string, readonly SettingWrite[]>): ReadonlyMap<string, Written>;
  /**
   * Outcome of these writes now, without writing.
   * @param by `default`: the outcome if remote writes were permitted
   */
  check(writes: readonly SettingWrite[], by?: 'dnp3' | 'default'): Written;
  /** Forgets all holds after a reset of the device. */
  forget(): void;
  /** State that a restart keeps. It is to be saved after each change, and before the registers. */
  kept(): Kept;
  close(): void;
}

export interface DevicePort {
  readonly index: number;
  readonly name: string;
  /** device without its registers, which only the members below read and write */
  readonly device: Omit<Device, 'bank' | 'command'>;
  /** Decoded value; null: the device does not have it. @param at indexes of the groups in its path, default 0 */
  value(point: PointPath, ...at: readonly number[]): AnyPointValue;
  number(point: PointPath, ...at: readonly number[]): number | null;
  /** A fast reader of the `value` of one point, for reads in every tick. */
  reader(point: PointPath): () => AnyPointValue;
  /** As `number`; an enumeration gives the number of its symbol. */
  code(point: PointPath): number | null;
  has(point: PointPath, ...at: readonly number[]): boolean;
  /** Provenance of the last write, a new object for each write; undefined: none. */
  writer(point: PointPath): Provenance | undefined;
  /** Resolution of a numeric point. */
  step(point: PointPath): number;
  /** Minimum and maximum that the map accepts now; null: no rule limits the point. */
  range(point: PointPath): readonly [min: number | null, max: number | null] | null;
  /** True if the device has a function and 702.CtrlModes allows it. */
  supports(name: FunctionName): boolean;
  isEnabled(name: FunctionName): boolean;
  /** The point that enables a function: `706.Ena`. */
  enablePoint(name: FunctionName): PointPath;
  hasCurve(name: CurveFunction, region?: TripRegion): boolean;
  /** Maximum number of points in a curve of a function. */
  capacity(name: CurveFunction): number;
  /** Wishes that switch a function; switching on one of reactive power switches the others off. */
  switching(name: FunctionName, on: boolean): readonly FunctionWish[];
  /** True if the registers hold these settings, rounded to their resolution. */
  isInForce(writes: readonly SettingWrite[]): boolean;
  /** Writes all settings in one commit, also to curve set 1. @throws SimError as `Bank.adopt` */
  write(writes: readonly SettingWrite[], by: Origin): void;
  /** Checks as `write`, without writing. @throws SimError as `write` */
  check(writes: readonly SettingWrite[], by: Origin): void;
  /** Creates holds with the owner and source `dnp3`. */
  createHolds(): DeviceHolds;
  /** @throws SimError COMMAND_* */
  readonly command: (command: DeviceCommand, by: Origin) => void;
  /** The limit that DNP3 has set at the connection point of this device, W; null: none. */
  limitW(name: SiteLimitName): number | null;
  /** @throws SimError as `Plant.setSite` */
  setLimitW(name: SiteLimitName, limitW: number | null, by: Origin): void;
  /** Called after each commit, and a reset of the device (`isReset`). The returned function removes the listener. */
  onSettings(listener: (isReset: boolean) => void): () => void;
  readonly now: SimTime;
  /** simulated date of an instant, ms since the epoch */
  dateMs(t: SimTime): number;
  /** true: the device is off and does not answer */
  readonly dark: boolean;
  /** Calls `act` at a simulated instant, never within the call; the returned function cancels it. */
  readonly at: Plant['at'];
}
