/** The line between a stiff grid and the terminals of a device: its power changes the voltage. */
import { keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import type { GridValues } from './layers.ts';

/** Short-circuit ratio (at least 1) on the device's rated apparent power, and X/R of the line. */
export interface FeederSpec {
  readonly scr: number;
  readonly xOverR: number;
}

/** Impedance of the line, per unit of the rated apparent power of the device. */
export interface FeederImpedance {
  readonly rPu: number;
  readonly xPu: number;
}

/** R and X in per unit of the device: |Z| = 1/SCR. */
export function feederImpedance({ scr, xOverR }: FeederSpec): FeederImpedance {
  const rPu = 1 / (scr * Math.hypot(1, xOverR));
  return { rPu, xPu: rPu * xOverR };
}

/**
 * Voltage at the terminals in per unit, exact for positive sequence: the upper root of
 * V^4 - (2 (R P + X Q) + Vs^2) V^2 + |Z|^2 (P^2 + Q^2) = 0.
 * @param sourcePu voltage behind the line
 * @param pPu active power injected at the terminals
 * @param qPu reactive power injected at the terminals
 * @returns null where no voltage carries that power (collapse)
 */
export function feederVoltage(
  sourcePu: number,
  pPu: number,
  qPu: number,
  { rPu, xPu }: FeederImpedance,
): number | null {
  const b = 2 * (rPu * pPu + xPu * qPu) + sourcePu * sourcePu;
  const c = (rPu * rPu + xPu * xPu) * (pPu * pPu + qPu * qPu);
  const root = b * b - 4 * c;
  // a NaN fails both comparisons and has no solution either
  return b >= 0 && root >= 0 ? Math.sqrt((b + Math.sqrt(root)) / 2) : null;
}

/** Terminals of one device behind its feeder. */
export class FeederTerminal {
  readonly #impedance: FeederImpedance | null;
  readonly #meanPu: (source: GridValues) => number;
  #ratio = 1;
  #collapsed = false;
  #inputs: { readonly source: GridValues; readonly pPu: number; readonly qPu: number } | null = null;
  #output: GridValues | null = null;

  /**
   * @param spec null: a stiff grid
   * @param meanPu mean source voltage of the phases in use
   */
  constructor(spec: FeederSpec | null, meanPu: (source: GridValues) => number) {
    this.#impedance = spec && feederImpedance(spec);
    this.#meanPu = meanPu;
  }

  /** True if no voltage carries the power of the last call; then the previous voltage ratio stays in force. */
  get collapsed(): boolean {
    return this.#collapsed;
  }

  /** Terminal values for another grid at the source, with the voltage ratio of the last call. */
  ahead(source: GridValues): GridValues {
    return this.#scaled(source);
  }

  /**
   * The grid at the terminals; the same object as long as the inputs are the same.
   * In an outage (no source) and in an island (source on this side of the line) the line has no effect.
   * @param pPu active power injected, of the rated apparent power
   * @param qPu reactive power injected, of the rated apparent power
   */
  at(source: GridValues, pPu: number, qPu: number): GridValues {
    if (!this.#impedance) return source;
    const last = this.#inputs;
    if (this.#output && last && last.source === source && last.pPu === pPu && last.qPu === qPu) return this.#output;
    this.#solve(source, pPu, qPu, this.#impedance);
    const output = this.#scaled(source);
    this.#inputs = { source, pPu, qPu };
    this.#output = output;
    return output;
  }

  /** The object that `at` gives for these inputs; null: it would make a new one. */
  present(source: GridValues, pPu: number, qPu: number): GridValues | null {
    if (!this.#impedance) return source;
    const last = this.#inputs;
    return last && last.source === source && last.pPu === pPu && last.qPu === qPu ? this.#output : null;
  }

  /** State that a restart keeps. @param presentSource the grid at the source now */
  kept(presentSource: () => GridValues): Kept {
    return keptRecord(
      () => ({
        ratio: this.#ratio,
        collapsed: this.#collapsed,
        power: this.#inputs?.source === presentSource() ? [this.#inputs.pPu, this.#inputs.qPu] : null,
      }),
      ({ ratio, collapsed, power }) => {
        this.#ratio = ratio;
        this.#collapsed = collapsed;
        const source = presentSource();
        this.#inputs = power && { source, pPu: power[0] ?? 0, qPu: power[1] ?? 0 };
        this.#output = power && this.#scaled(source);
      },
    );
  }

  #solve(source: GridValues, pPu: number, qPu: number, impedance: FeederImpedance): void {
    const sourcePu = this.#meanPu(source);
    if (source.island || sourcePu <= 0 || (pPu === 0 && qPu === 0)) {
      this.#collapsed = false;
      this.#ratio = 1;
      return;
    }
    const terminalPu = feederVoltage(sourcePu, pPu, qPu, impedance);
    this.#collapsed = terminalPu === null;
    if (terminalPu !== null) this.#ratio = terminalPu / sourcePu;
  }

  #scaled(source: GridValues): GridValues {
    const ratio = this.#ratio;
    if (ratio === 1) return source;
    return { ...source, aPu: source.aPu * ratio, bPu: source.bPu * ratio, cPu: source.cPu * ratio };
  }
}
