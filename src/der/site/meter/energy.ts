/** Energy registers of a meter. Powers and energies are those drawn from the grid; given ones are negative. Pure. */

/** Counters of one phase, or of all phases together: Wh, VAh and varh, doubles that never fall. */
export interface EnergyCounters {
  importedWh: number;
  exportedWh: number;
  importedVAh: number;
  exportedVAh: number;
  /** by quadrant: 1 both drawn, 2 active power given, 3 both given, 4 reactive power given */
  readonly varh: [number, number, number, number];
}

export const noEnergy = (): EnergyCounters => ({
  importedWh: 0,
  exportedWh: 0,
  importedVAh: 0,
  exportedVAh: 0,
  varh: [0, 0, 0, 0],
});

/** Adds what has flowed in one interval, netted over it. */
export function addFlow(to: EnergyCounters, wh: number, varh: number, vah: number): void {
  const isDrawn = wh >= 0;
  if (isDrawn) {
    to.importedWh += wh;
    to.importedVAh += vah;
  } else {
    to.exportedWh -= wh;
    to.exportedVAh += vah;
  }
  const quadrant = varh >= 0 ? (isDrawn ? 0 : 1) : isDrawn ? 3 : 2;
  to.varh[quadrant] += Math.abs(varh);
}

/** Energies of an interval that is not over, by phase, and the counters that they go to when it is. */
export class MeterEnergy {
  readonly phases: readonly EnergyCounters[];
  /** Netted over phases, as by a meter of the whole. */
  readonly total = noEnergy();
  readonly #wh: Float64Array;
  readonly #varh: Float64Array;

  constructor(phaseCount: number) {
    this.phases = Array.from({ length: phaseCount }, noEnergy);
    this.#wh = new Float64Array(phaseCount);
    this.#varh = new Float64Array(phaseCount);
  }

  add(phase: number, wh: number, varh: number): void {
    // a counter would never recover from a NaN
    if (!Number.isFinite(wh + varh)) return;
    this.#wh[phase] = (this.#wh[phase] ?? 0) + wh;
    this.#varh[phase] = (this.#varh[phase] ?? 0) + varh;
  }

  /** Ends the interval. */
  settle(): void {
    let [wh, varh, vah] = [0, 0, 0];
    this.phases.forEach((counters, i) => {
      const [phaseWh, phaseVarh] = [this.#wh[i] ?? 0, this.#varh[i] ?? 0];
      const phaseVAh = Math.hypot(phaseWh, phaseVarh);
      addFlow(counters, phaseWh, phaseVarh, phaseVAh);
      wh += phaseWh;
      varh += phaseVarh;
      vah += phaseVAh;
    });
    addFlow(this.total, wh, varh, vah);
    this.#wh.fill(0);
    this.#varh.fill(0);
  }
}
