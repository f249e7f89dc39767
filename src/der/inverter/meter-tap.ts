/** One device, with the local load beside it, as the meter of the connection point sees it. */
import { phaseCount, phaseShares } from './ac.ts';
import type { Wiring } from './ac.ts';
import type { Inverter } from './inverter.ts';
import type { PhaseEnergy } from './energy.ts';
import { phaseOf } from './phase-loads.ts';
import type { GridValues } from '../surroundings/environment.ts';

/** Adds the power drawn by one phase from the grid. */
export type AddPhase = (phase: number, watts: number, vars: number) => void;

export class MeterTap {
  readonly wiring: Wiring;
  /** as `Ratings.vNomV` */
  readonly vNomV: number;
  readonly ratedVa: number;
  readonly #inverter: Inverter;
  readonly #beside: { readonly loadW: number };

  /** @param beside the local load of the last sub-step, W */
  constructor(inverter: Inverter, beside: { readonly loadW: number }) {
    const { wiring, vNomRtgV, wMaxRtgW, vaMaxRtgVa } = inverter.ratings;
    this.wiring = wiring;
    this.vNomV = vNomRtgV;
    this.ratedVa = Math.max(wMaxRtgW, vaMaxRtgVa);
    this.#inverter = inverter;
    this.#beside = beside;
  }

  /** lifetime counters of the device, by phase */
  get energy(): readonly PhaseEnergy[] {
    return this.#inverter.meter.phases;
  }

  /** Share of each phase of the device in its local load. */
  get loadShare(): number {
    return 1 / phaseCount(this.wiring);
  }

  /** The powers of the last sub-step. A load takes no reactive power. @param grid shares the power among the phases */
  addPowers(grid: GridValues, add: AddPhase): void {
    const { pW, qVar, phaseLoads: loads } = this.#inverter;
    const shares = phaseShares(this.wiring, grid);
    const loadW = this.#beside.loadW * this.loadShare;
    for (let i = 0; i < phaseCount(this.wiring); i += 1) {
      const share = shares[i] ?? 0;
      const watts = loads === null ? pW * share : phaseOf(i, pW, share, loads.watts);
      const vars = loads === null ? qVar * share : phaseOf(i, qVar, share, loads.vars);
      add(i, loadW - watts, 0 - vars);
    }
  }
}
