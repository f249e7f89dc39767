/** The meter of the connection point of all devices: a register map of its own, which belongs to no device. */
import type { PointBank } from '../sunspec/map/bank.ts';

/** The meter before rounding to its registers. Positive powers are drawn from the grid, as in its map. */
export interface SiteMeterNow {
  readonly w: number;
  readonly var: number;
  /** line to neutral, of each phase that the meter has, V */
  readonly volts: readonly number[];
  readonly hz: number;
  /** energy of all phases together by direction, Wh and varh */
  readonly importedWh: number;
  readonly exportedWh: number;
  readonly importedVarh: number;
  readonly exportedVarh: number;
}

export interface SiteMeter {
  /** configured unit id; null: not configured, then 1 at a port of its own */
  readonly unitId: number | null;
  /** models 1 and one of 201 to 203, in floating point 211 to 213; no point can be written */
  readonly bank: PointBank;
  /** as the last tick left it */
  readonly now: SiteMeterNow;
}
