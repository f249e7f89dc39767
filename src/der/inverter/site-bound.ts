/**
 * What the connection point of the site admits to one device. A bound that becomes tighter holds at once: a limit of the
 * site must not be exceeded for a ramp. One that becomes wider lets the power go on with 704.WRmp.
 */

/** The next bound, as a magnitude. @param wishW what the device would run at without it */
function followed(fromW: number, towardsW: number, wishW: number, stepW: number): number {
  // a bound that is not felt has nothing to ramp
  return towardsW <= fromW || fromW >= wishW ? towardsW : Math.min(towardsW, fromW + stepW);
}

export class SiteBound {
  /** what holds in this sub-step, W; infinite: nothing */
  ceilingW = Infinity;
  floorW = -Infinity;
  /** change of the bounds towards wider ones, W per second, in the last sub-step with a bound */
  rateWS = Infinity;
  /** a bound is in force or on its way out */
  inForce = false;
  #admittedW = Infinity;
  #admittedFloorW = -Infinity;

  /** @param floorW at most 0; -Infinity: none @param ceilingW at least 0; Infinity: none */
  admit(floorW: number, ceilingW: number): void {
    this.#admittedFloorW = floorW;
    this.#admittedW = ceilingW;
    this.inForce ||= floorW !== -Infinity || ceilingW !== Infinity;
  }

  /** Goes to what is admitted: nothing flows that could ramp. */
  arrive(): void {
    this.ceilingW = this.#admittedW;
    this.floorW = this.#admittedFloorW;
    this.inForce = this.ceilingW !== Infinity || this.floorW !== -Infinity;
  }

  /**
   * Advances by `dtS`; Infinity goes to the end.
   * @param freeW what the device would run at without a bound
   * @returns whether a bound that is felt is on its way
   */
  follow(freeW: number, rateWS: number, dtS: number): boolean {
    const stepW = dtS === Infinity ? Infinity : rateWS * dtS;
    this.rateWS = rateWS;
    this.ceilingW = followed(this.ceilingW, this.#admittedW, freeW, stepW);
    this.floorW = 0 - followed(-this.floorW, -this.#admittedFloorW, -freeW, stepW);
    this.inForce = this.ceilingW !== Infinity || this.floorW !== -Infinity;
    return (
      (this.ceilingW < this.#admittedW && freeW > this.ceilingW) ||
      (this.floorW > this.#admittedFloorW && freeW < this.floorW)
    );
  }
}
