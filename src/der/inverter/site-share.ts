/** One device at the connection point of its site. AC powers at the terminals, W, positive into the grid. */
import type { Inverter } from './inverter.ts';
import { phaseCount, phaseShares } from './ac.ts';
import type { Wiring } from './ac.ts';
import { phaseOf } from './energy.ts';
import type { PhaseEnergy } from './energy.ts';
import type { EnergyCount } from '../../contract/energy.ts';
import type { MeteredFlow } from '../../contract/map-layout.ts';
import type { GridValues } from '../surroundings/environment.ts';

/** Adds the power drawn by one phase from the grid. */
export type AddPhase = (phase: number, watts: number, vars: number) => void;

export class MeterTap {
  readonly wiring: Wiring;
  /** nominal voltage, as in `Ratings` */
  readonly vNomV: number;
  readonly ratedVa: number;
  readonly #inverter: Inverter;
  readonly #localLoad: { readonly loadW: number };

  /** @param localLoad the local load of the last sub-step, W */
  constructor(inverter: Inverter, localLoad: { readonly loadW: number }) {
    const { wiring, vNomRtgV, wMaxRtgW, vaMaxRtgVa } = inverter.ratings;
    this.wiring = wiring;
    this.vNomV = vNomRtgV;
    this.ratedVa = Math.max(wMaxRtgW, vaMaxRtgVa);
    this.#inverter = inverter;
    this.#localLoad = localLoad;
  }

  /** energies of the device by phase, which no reset takes back */
  get energy(): readonly PhaseEnergy[] {
    return this.#inverter.meter.sinceStart;
  }

  /** Share of each phase of the device in its local load. */
  get loadShare(): number {
    return 1 / phaseCount(this.wiring);
  }

  /**
   * The powers of the last sub-step. A load takes no reactive power.
   * @param grid shares the power among the phases
   * @param of the powers that count: of device and load, of the device, or of the load
   */
  addPowers(grid: GridValues, add: AddPhase, of: MeteredFlow = 'site'): void {
    const { pW, qVar, phaseLoads: loads } = this.#inverter;
    const shares = phaseShares(this.wiring, grid);
    const loadW = of === 'generation' ? 0 : this.#localLoad.loadW * this.loadShare;
    for (let i = 0; i < phaseCount(this.wiring); i += 1) {
      if (of === 'load') {
        add(i, loadW, 0);
        continue;
      }
      const share = shares[i] ?? 0;
      const watts = loads === null ? pW * share : phaseOf(i, pW, share, loads.watts);
      const vars = loads === null ? qVar * share : phaseOf(i, qVar, share, loads.vars);
      add(i, loadW - watts, 0 - vars);
    }
  }
}

/** Distance within which the output counts as equal to the admitted power, W. */
const toleranceW = 1e-3;

interface LocalLoad {
  /** power of the last sub-step, W */
  readonly loadW: number;
  /** energy since the device was made, Wh */
  readonly loadWh: number;
}

export class SiteShare {
  readonly #inverter: Inverter;
  readonly #localLoad: LocalLoad;

  constructor(inverter: Inverter, localLoad: LocalLoad) {
    this.#inverter = inverter;
    this.#localLoad = localLoad;
  }

  /** Energies of device and local load, which no reset takes back. */
  get energy(): EnergyCount {
    const { injectedWh, absorbedWh } = this.#inverter.meter;
    return { producedWh: injectedWh, absorbedWh, loadWh: this.#localLoad.loadWh };
  }

  /** The device as the site meter sees it. */
  meterTap(): MeterTap {
    return new MeterTap(this.#inverter, this.#localLoad);
  }

  /** Power of the last sub-step. */
  get powerW(): number {
    return this.#inverter.pW;
  }

  /** Local load at the end of the last sub-step. */
  get loadW(): number {
    return this.#localLoad.loadW;
  }

  /** Own consumption of a generator whose source is asleep (PV at night), W. No limit reduces it. */
  get sleepW(): number {
    const { ratings, pW } = this.#inverter;
    return ratings.generator ? Math.max(0, -pW) : 0;
  }

  /** Power without a limit of the site, once ramps of the source are over. */
  get demandW(): number {
    const { activePower, settings, link } = this.#inverter;
    return activePower.demandW(settings, link);
  }

  /** Power that the device certainly reaches in `seconds` if the site admits its demand; never above the demand. */
  reachW(seconds: number): number {
    const {
      activePower: { freeW, site },
      link,
      pW,
    } = this.#inverter;
    const admittedW = Math.max(site.floorW, Math.min(site.ceilingW, freeW));
    // an output limited by the apparent-power circle, or by a source that pauses below its minimum power, does not rise
    const unlimitedW = Math.abs(pW - admittedW) > toleranceW ? pW : freeW;
    const ramped = site.inForce ? site.rateWS * seconds : Infinity;
    const boundW = Math.max(site.floorW - ramped, Math.min(site.ceilingW + ramped, unlimitedW));
    // a limited source ramps from its output; below its minimum power it still delivers nothing
    if (boundW < 0) {
      const reachW = Math.max(boundW, link.rampedW(pW, -1, seconds));
      return reachW > -this.minAbsorbW ? Math.max(reachW, Math.min(0, pW)) : reachW;
    }
    const reachW = Math.min(boundW, link.rampedW(pW, 1, seconds));
    return reachW < this.minInjectW ? Math.min(reachW, Math.max(0, pW)) : reachW;
  }

  /** Minimum power: below it the device injects nothing. */
  get minInjectW(): number {
    return this.#inverter.link.minInjectW;
  }

  /** Minimum power, a magnitude: below it the device absorbs nothing. */
  get minAbsorbW(): number {
    return this.#inverter.link.minAbsorbW;
  }

  /** 702.WMax, by which shares are weighted; 0 for a storage that cannot deliver at present. */
  get maxInjectW(): number {
    const { settings, ratings, link } = this.#inverter;
    return ratings.generator || link.availableW > 0 ? settings.wMaxW : 0;
  }

  /** 702.WChaRteMax, by which shares of absorption are weighted; 0 while nothing can be absorbed. */
  get maxAbsorbW(): number {
    const { settings, link } = this.#inverter;
    return link.absorbableW > 0 ? settings.chargeMaxW : 0;
  }

  /** Sets the bounds from the next sub-step on, `floorW` <= 0 <= `ceilingW`; infinite: none. */
  admit(floorW: number, ceilingW: number): void {
    this.#inverter.activePower.site.admit(floorW, ceilingW);
  }
}
