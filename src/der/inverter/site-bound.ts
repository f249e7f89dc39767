/**
 * Bounds of one device at the connection point of the site. A tighter bound holds at once: a ramp must not exceed the
 * limit of the site. After a wider one the power rises with 704.WRmp.
 */

/** The next bound, as a magnitude. @param freeW power of the device without the bound */
function nextBound(fromW: number, towardsW: number, freeW: number, stepW: number): number {
  // a bound that does not limit the power needs no ramp
  return towardsW <= fromW || fromW >= freeW ? towardsW : Math.min(towardsW, fromW + stepW);
}

export class SiteBound {
  /** bounds of this sub-step, W; infinite: none */
  ceilingW = Infinity;
  floorW = -Infinity;
  /** rate of widening in the last sub-step with a bound, W/s */
  rateWS = Infinity;
  /** true: a bound is in force or ramping out */
  inForce = false;
  #admittedW = Infinity;
  #admittedFloorW = -Infinity;

  /** The lower bound in force or pending, W; -Infinity: none. */
  get admittedFloorW(): number {
    return this.#admittedFloorW;
  }

  /** @param floorW at most 0; -Infinity: none @param ceilingW at least 0; Infinity: none */
  admit(floorW: number, ceilingW: number): void {
    this.#admittedFloorW = floorW;
    this.#admittedW = ceilingW;
    this.inForce ||= floorW !== -Infinity || ceilingW !== Infinity;
  }

  /** Applies new bounds without a ramp, since no power flows. */
  jump(): void {
    this.ceilingW = this.#admittedW;
    this.floorW = this.#admittedFloorW;
    this.inForce = this.ceilingW !== Infinity || this.floorW !== -Infinity;
  }

  /**
   * Advances by `dtS`; Infinity goes to the end.
   * @param freeW power of the device without a bound
   * @returns true while a limiting bound moves
   */
  advance(freeW: number, rateWS: number, dtS: number): boolean {
    const stepW = dtS === Infinity ? Infinity : rateWS * dtS;
    this.rateWS = rateWS;
    this.ceilingW = nextBound(this.ceilingW, this.#admittedW, freeW, stepW);
    this.floorW = 0 - nextBound(-this.floorW, -this.#admittedFloorW, -freeW, stepW);
    this.inForce = this.ceilingW !== Infinity || this.floorW !== -Infinity;
    return this.moves(freeW);
  }

  /** True if the last admitted bounds change the power. @param freeW power of the device without a bound */
  moves(freeW: number): boolean {
    return (
      Math.max(this.floorW, Math.min(this.ceilingW, freeW)) !==
      Math.max(this.#admittedFloorW, Math.min(this.#admittedW, freeW))
    );
  }
}
