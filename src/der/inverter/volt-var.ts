/** Volt-var (model 705, IEEE 1547-2018 5.3.3): reactive power by voltage around a fixed or autonomous reference. */
import { interpolate } from './curve.ts';
import type { VoltVarSetting } from './settings.ts';

/** Range of the autonomous reference, percent of VNom. */
const lowestReferencePct = 95;
const highestReferencePct = 105;

/** Reactive power in percent of the reference of the curve, which is centred on `vRefPct` instead of 100. */
export function voltVarPct({ points }: VoltVarSetting, vPct: number, vRefPct: number): number {
  return interpolate(points, vPct - (vRefPct - 100));
}

/** The reference voltage, percent of VNom: the setting, or a low-pass of the voltage that starts at the setting. */
export class ReferenceVoltage {
  #autoPct: number | null = null;

  /** The reference after `dtS` under `vPct`. */
  advance({ autoReference, autoReferenceS, vRefPct, enabled }: VoltVarSetting, vPct: number, dtS: number): number {
    if (!autoReference || !enabled) {
      this.#autoPct = null;
      return vRefPct;
    }
    const target = Math.min(highestReferencePct, Math.max(lowestReferencePct, vPct));
    const from = this.#autoPct ?? vRefPct;
    const next = autoReferenceS > 0 ? target + (from - target) * Math.exp(-dtS / autoReferenceS) : target;
    this.#autoPct = next;
    return next;
  }
}
