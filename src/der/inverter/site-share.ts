/** One device as the connection point of its site sees it. AC powers at the terminals, W, positive into the grid. */
import type { Inverter } from './inverter.ts';

/** Closer to what was asked for than this the device has followed, W. */
const followedW = 1e-3;

export class SiteShare {
  readonly #inverter: Inverter;
  readonly #beside: { readonly loadW: number };

  /** @param beside the local load of the last sub-step, W */
  constructor(inverter: Inverter, beside: { readonly loadW: number }) {
    this.#inverter = inverter;
    this.#beside = beside;
  }

  /** Power of the last sub-step. */
  get powerW(): number {
    return this.#inverter.pW;
  }

  /** Local load at the end of the last sub-step. */
  get loadW(): number {
    return this.#beside.loadW;
  }

  /** What the device would run at without a limit of the site, once ramps of its source are over. */
  get demandW(): number {
    const { activePower, settings, link } = this.#inverter;
    return activePower.demandW(settings, link);
  }

  /** What it can be counted on to run at after `seconds` when the site admits all of it; never beyond the demand. */
  reachW(seconds: number): number {
    const {
      activePower: { freeW, site },
      link,
      pW,
    } = this.#inverter;
    const admittedW = Math.max(site.floorW, Math.min(site.ceilingW, freeW));
    // what the circle leaves, or a source that rests rather than run on little, is all there is
    const ownW = Math.abs(pW - admittedW) > followedW ? pW : freeW;
    const ramped = site.inForce ? site.rateWS * seconds : Infinity;
    const boundW = Math.max(site.floorW - ramped, Math.min(site.ceilingW + ramped, ownW));
    // a source that was held back ramps from there; one on its way to its least power starts nothing yet
    if (boundW < 0) {
      const reachW = Math.max(boundW, link.risenW(pW, -1, seconds));
      return reachW > -this.leastAbsorbedW ? Math.max(reachW, Math.min(0, pW)) : reachW;
    }
    const reachW = Math.min(boundW, link.risenW(pW, 1, seconds));
    return reachW < this.leastGivenW ? Math.min(reachW, Math.max(0, pW)) : reachW;
  }

  /** Least power below which it gives nothing at all. */
  get leastGivenW(): number {
    return this.#inverter.link.leastGivenW;
  }

  /** Least power, a magnitude, below which it absorbs nothing at all. */
  get leastAbsorbedW(): number {
    return this.#inverter.link.leastAbsorbedW;
  }

  /** Setting of 702 for what it may give; 0 while it has nothing to give that sun or wind could not bring at once. */
  get mostW(): number {
    const { settings, ratings, link } = this.#inverter;
    return ratings.generator || link.availableW > 0 ? settings.wMaxW : 0;
  }

  /** The same for what it may take. */
  get mostAbsorbedW(): number {
    const { settings, link } = this.#inverter;
    return link.absorbableW > 0 ? settings.chargeMaxW : 0;
  }

  /** Bounds from the next sub-step on, `floorW` <= 0 <= `ceilingW`; infinite: none. */
  admit(floorW: number, ceilingW: number): void {
    this.#inverter.activePower.site.admit(floorW, ceilingW);
  }
}
