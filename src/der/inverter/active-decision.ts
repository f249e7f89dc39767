import type { ActiveDecider } from '../../contract/grid-trace.ts';

/**
 * The decision of all functions about active power in one sub-step: range and target of the source, resulting power,
 * and responsible function. `ActivePower` owns one object and refills it in every sub-step, beginning with `start`, so
 * that sub-steps allocate nothing. Between sub-steps it holds the last decision.
 */
export class ActiveDecision {
  /** target of the source, W; null: the source chooses within floor and ceiling */
  targetW: number | null = null;
  floorW = 0;
  floorBy: ActiveDecider = 'charge_limit';
  ceilingW = 0;
  ceilingBy: ActiveDecider = 'source';
  /** lowest ceiling of a function, W; without those of source and rating */
  functionCeilingW = Infinity;
  /** power of the source, W */
  powerW = 0;
  decidedBy: ActiveDecider = 'source';

  /** Begins a new decision with the ceiling of the source and the rating. */
  start(ceilingW: number, by: ActiveDecider): void {
    this.ceilingW = ceilingW;
    this.ceilingBy = by;
    this.functionCeilingW = Infinity;
  }

  /** Adds the ceiling of one function; the lowest ceiling counts, on a tie the first. */
  cap(ceilingW: number, by: ActiveDecider): void {
    this.functionCeilingW = Math.min(this.functionCeilingW, ceilingW);
    if (ceilingW >= this.ceilingW) return;
    this.ceilingW = ceilingW;
    this.ceilingBy = by;
  }

  /** Sets the floor. Where the ceiling lies below it, the ceiling rises to the floor. */
  raiseTo(floorW: number, by: ActiveDecider): void {
    this.floorW = floorW;
    this.floorBy = by;
    if (this.ceilingW >= floorW) return;
    this.ceilingW = floorW;
    // a device that only delivers is at zero because of the ceiling
    if (floorW < 0) this.ceilingBy = by;
  }

  /** Narrows range and target. */
  narrow(targetW: number | null, floorW: number, ceilingW: number): void {
    this.targetW = targetW;
    this.floorW = floorW;
    this.ceilingW = ceilingW;
  }
}
