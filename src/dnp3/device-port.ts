/** One device as the DER profile sees it; `bridge.ts` makes it from the register map. */
import type { Device, DeviceCommand } from '../contract/device.ts';
import type { Plant } from '../contract/plant.ts';
import type { SiteLimitName } from '../contract/site.ts';
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

/** Points that controls with an end have for as long as they last, by id of the control. */
export interface DeviceHolds {
  /** controls that hold points, also those whose end is still to come */
  readonly ids: readonly string[];
  /** As `PointHolds.follow`: these controls have these points, and others give theirs back. */
  follow(writesByControl: ReadonlyMap<string, readonly SettingWrite[]>): ReadonlyMap<string, Written>;
  /**
   * The outcome of these wishes now.
   * @param by `default`: the outcome if remote writes were permitted
   */
  check(writes: readonly SettingWrite[], by?: 'dnp3' | 'default'): Written;
  /** The device has been reset: nothing is held any more. */
  forget(): void;
  close(): void;
}

export interface DevicePort {
  readonly index: number;
  readonly name: string;
  /** state without registers; the map only through the members below */
  readonly device: Omit<Device, 'bank' | 'command'>;
  /** Decoded value; null: the device does not have it. @param at numbers of the repeated groups of its path, default 0 */
  value(point: PointPath, ...at: readonly number[]): AnyPointValue;
  number(point: PointPath, ...at: readonly number[]): number | null;
  /** `value` of one point that is read in every tick. */
  reader(point: PointPath): () => AnyPointValue;
  /** As `number`, with the number of the value of an enumeration. */
  code(point: PointPath): number | null;
  has(point: PointPath, ...at: readonly number[]): boolean;
  /** The last write of a point, an object of its own for each; undefined: it still has its start value. */
  writer(point: PointPath): Provenance | undefined;
  /** Distance of two values that a register of numbers can hold. */
  step(point: PointPath): number;
  /** Least and greatest value that the map takes now; null: no rule limits the point. */
  range(point: PointPath): readonly [min: number | null, max: number | null] | null;
  /** True if the device has a function and 702.CtrlModes allows it. */
  supports(name: FunctionName): boolean;
  isEnabled(name: FunctionName): boolean;
  /** The point that enables a function: `706.Ena`. */
  enablePoint(name: FunctionName): PointPath;
  hasCurve(name: CurveFunction, region?: TripRegion): boolean;
  /** Points that a curve of a function can have. */
  capacity(name: CurveFunction): number;
  /** Wishes that switch a function, and the others of reactive power off with it. */
  switching(name: FunctionName, on: boolean): readonly FunctionWish[];
  /** True if the registers hold these settings, to the last digit that they can hold. */
  isInForce(writes: readonly SettingWrite[]): boolean;
  /** All in one commit, set 1 included. @throws SimError as `Bank.adopt` */
  write(writes: readonly SettingWrite[], by: Origin): void;
  /** Checks as `write` and writes nothing. @throws SimError as `write` */
  check(writes: readonly SettingWrite[], by: Origin): void;
  /** Holds of an owner of its own, source `dnp3`. */
  createHolds(): DeviceHolds;
  /** @throws SimError COMMAND_* */
  readonly command: (command: DeviceCommand, by: Origin) => void;
  /** The own limit of DNP3 at the connection point of this device, W; null: none. */
  limitW(name: SiteLimitName): number | null;
  /** @throws SimError as `Plant.setSite` */
  setLimitW(name: SiteLimitName, limitW: number | null, by: Origin): void;
  /** Called after each commit, and after a reset of the device (`isReset`). The returned function ends it. */
  onSettings(listener: (isReset: boolean) => void): () => void;
  readonly now: SimTime;
  /** simulated date of an instant, ms since the epoch */
  dateMs(t: SimTime): number;
  /** the device is off and does not answer */
  readonly dark: boolean;
  /** Calls `act` at a simulated instant, never within the call; the returned function cancels it. */
  readonly at: Plant['at'];
}
