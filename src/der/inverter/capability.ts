/** What limits P and Q together: reactive capability, apparent power, priority (IEEE 1547-2018 5.2 and 5.3). */
import type { Settings, VarReference } from './settings.ts';

export interface Capability {
  readonly wMaxRtgW: number;
  /** reactive power that always goes before active power (Table 7), + inject, + absorb */
  readonly leastInjectVar: number;
  readonly leastAbsorbVar: number;
  /** the capability shrinks below 20 % of rated power */
  readonly reducedAtLowPower: boolean;
}

/** Reactive power inside the capability of the settings (702.VarMaxInj, VarMaxAbs). */
export function clampVar(settings: Settings, vars: number): number {
  return Math.min(settings.varMaxInjVar, Math.max(-settings.varMaxAbsVar, vars));
}

/** 100 % of a reactive percentage, var. @param pct its sign chooses between injection and absorption */
export function varBase(settings: Settings, reference: VarReference, pct: number, pW: number): number {
  const limit = pct >= 0 ? settings.varMaxInjVar : settings.varMaxAbsVar;
  switch (reference) {
    case 'W_MAX_PCT':
      return settings.wMaxW;
    case 'VAR_MAX_PCT':
      return limit;
    case 'VAR_AVAIL_PCT':
      return Math.min(limit, Math.sqrt(Math.max(0, settings.vaMaxVa ** 2 - pW ** 2)));
    case 'VA_MAX_PCT':
      return settings.vaMaxVa;
  }
}

const fullFrom = 0.2;
const noneBelow = 0.05;

/** Part of the reactive capability that a device has at `pW` (Table 7): in proportion below 20 %, none below 5 %. */
export function lowPowerShare({ wMaxRtgW, reducedAtLowPower }: Capability, pW: number): number {
  if (!reducedAtLowPower) return 1;
  const share = Math.abs(pW) / wMaxRtgW;
  // a power on the edge has the capability, whatever its last bit
  return share >= fullFrom ? 1 : share < noneBelow - 1e-9 ? 0 : share / fullFrom;
}

/** Which side gives way on the circle. */
export type Priority = 'reactive' | 'active' | 'both';

/**
 * Brings P and Q inside the circle of radius `sVa`. Active priority starts beyond the reactive power that Table 7
 * guarantees: up to there reactive power always wins.
 */
export function settle(
  pW: number,
  qVar: number,
  sVa: number,
  priority: Priority,
  { leastInjectVar, leastAbsorbVar }: Capability,
): readonly [number, number] {
  const wanted = Math.hypot(pW, qVar);
  if (wanted <= sVa) return [pW, qVar];
  if (priority === 'both') return [(pW * sVa) / wanted, (qVar * sVa) / wanted];
  const asked = Math.min(sVa, Math.abs(qVar));
  const kept = priority === 'reactive' ? asked : Math.min(asked, qVar >= 0 ? leastInjectVar : leastAbsorbVar);
  const p = Math.min(Math.abs(pW), legOf(sVa, kept));
  return [Math.sign(pW) * p, Math.sign(qVar) * Math.min(asked, Math.max(kept, legOf(sVa, p)))];
}

/** The other leg of a right triangle. */
function legOf(hypotenuse: number, leg: number): number {
  return Math.sqrt(Math.max(0, hypotenuse * hypotenuse - leg * leg));
}
