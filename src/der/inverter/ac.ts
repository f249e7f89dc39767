/** AC quantities at the terminals from per-unit phase voltages and total P and Q. */
import { measurablePct } from '../../contract/abnormal-conditions.ts';
import type { GridValues } from '../surroundings/environment.ts';

export const wirings = ['single', 'split', 'three'] as const;
export type Wiring = (typeof wirings)[number];

export function phaseCount(wiring: Wiring): 1 | 2 | 3 {
  return wiring === 'single' ? 1 : wiring === 'split' ? 2 : 3;
}

/** Nominal line-to-neutral voltage: 702.VNom is line-to-neutral on single phase, line-to-line otherwise. */
export function nominalLnV(wiring: Wiring, vNomV: number): number {
  return wiring === 'single' ? vNomV : wiring === 'split' ? vNomV / 2 : vNomV / Math.sqrt(3);
}

/** The inverse of `nominalLnV`: the nominal voltage as a device of a wiring states it. */
export function nominalV(wiring: Wiring, lnV: number): number {
  return wiring === 'single' ? lnV : wiring === 'split' ? 2 * lnV : lnV * Math.sqrt(3);
}

/** Voltages in V; unused phases are 0. */
export interface TerminalVoltages {
  readonly ln: readonly [number, number, number];
  /** L1-L2, L2-L3, L3-L1 */
  readonly ll: readonly [number, number, number];
  readonly meanLnV: number;
  /** null on single phase */
  readonly meanLlV: number | null;
}

/** The rated nominal voltage of a device: the base of the grid's per unit. */
export class NominalVoltage {
  readonly #wiring: Wiring;
  readonly #vNomRtgV: number;

  constructor({ wiring, vNomRtgV }: { readonly wiring: Wiring; readonly vNomRtgV: number }) {
    this.#wiring = wiring;
    this.#vNomRtgV = vNomRtgV;
  }

  /** line to neutral, V */
  get lnV(): number {
    return nominalLnV(this.#wiring, this.#vNomRtgV);
  }

  /** Converts phase voltages from per unit to volts. */
  volts(aPu: number, bPu: number, cPu: number): TerminalVoltages {
    return terminalVoltages(this.#wiring, this.#vNomRtgV, { aPu, bPu, cPu });
  }

  /** True if equal values in per unit are equal voltages. */
  equals(other: NominalVoltage): boolean {
    return this.lnV === other.lnV && this.#wiring === other.#wiring;
  }
}

const cosOf120Deg = Math.cos((120 * Math.PI) / 180);

/** Distance between two phasors with 120 degrees between them. */
function chord(a: number, b: number): number {
  return Math.sqrt(Math.max(0, a * a + b * b - 2 * a * b * cosOf120Deg));
}

/** Fills `lnV` with the voltage of each phase, line to neutral, V; 0 for a phase that the wiring does not have. */
export function phaseVoltages(wiring: Wiring, vNomV: number, grid: GridValues, lnV: [number, number, number]): void {
  const nominal = nominalLnV(wiring, vNomV);
  const count = phaseCount(wiring);
  lnV[0] = grid.aPu * nominal;
  lnV[1] = count > 1 ? grid.bPu * nominal : 0;
  lnV[2] = count > 2 ? grid.cPu * nominal : 0;
}

/** Phase angles stay 120 degrees (split phase: 180) apart; only magnitudes differ. */
export function terminalVoltages(
  wiring: Wiring,
  vNomV: number,
  grid: Pick<GridValues, 'aPu' | 'bPu' | 'cPu'>,
): TerminalVoltages {
  const nominal = nominalLnV(wiring, vNomV);
  const a = grid.aPu * nominal;
  if (wiring === 'single') return { ln: [a, 0, 0], ll: [0, 0, 0], meanLnV: a, meanLlV: null };
  const b = grid.bPu * nominal;
  if (wiring === 'split') return { ln: [a, b, 0], ll: [a + b, 0, 0], meanLnV: (a + b) / 2, meanLlV: a + b };
  const c = grid.cPu * nominal;
  const ll = [chord(a, b), chord(b, c), chord(c, a)] as const;
  return { ln: [a, b, c], ll, meanLnV: (a + b + c) / 3, meanLlV: (ll[0] + ll[1] + ll[2]) / 3 };
}

/**
 * Mean voltage in per unit over the phases in use: the input of curves and of the current limit. With phase angles at
 * equal distances the mean equals the positive sequence.
 */
export function meanPu(wiring: Wiring, grid: GridValues): number {
  if (wiring === 'single') return grid.aPu;
  return wiring === 'split' ? (grid.aPu + grid.bPu) / 2 : (grid.aPu + grid.bPu + grid.cPu) / 3;
}

/** Lowest and highest phase voltage in per unit: the applicable voltages of trips (any phase). */
export function extremePu(wiring: Wiring, grid: GridValues): readonly [number, number] {
  if (wiring === 'single') return [grid.aPu, grid.aPu];
  if (wiring === 'split') return [Math.min(grid.aPu, grid.bPu), Math.max(grid.aPu, grid.bPu)];
  return [Math.min(grid.aPu, grid.bPu, grid.cPu), Math.max(grid.aPu, grid.bPu, grid.cPu)];
}

/** Frequency, or null where the voltage is too low to measure it. */
export function measurableHz(wiring: Wiring, grid: GridValues): number | null {
  const [, highestPu] = extremePu(wiring, grid);
  return highestPu * 100 > measurablePct ? grid.hz : null;
}

/** Share of the total that each phase carries. Currents are equal, so the share is in proportion to the voltage. */
export function phaseShares(wiring: Wiring, grid: GridValues): readonly [number, number, number] {
  if (wiring === 'single') return [1, 0, 0];
  const c = wiring === 'three' ? grid.cPu : 0;
  const sum = grid.aPu + grid.bPu + c;
  if (sum <= 0) return wiring === 'split' ? [0.5, 0.5, 0] : [1 / 3, 1 / 3, 1 / 3];
  return [grid.aPu / sum, grid.bPu / sum, c / sum];
}

/** Current of one phase, A; 0 below a millivolt, where the quotient could overflow. */
export const phaseCurrentA = (va: number, lnV: number): number => (lnV > 1e-3 ? va / lnV : 0);
