/** Limits of P and Q together: reactive capability, apparent power, priority (IEEE 1547-2018 5.2 and 5.3). */
import type { CirclePriority } from '../../contract/limit-chain.ts';
import type { Settings, VarReference } from './settings.ts';

export interface Capability {
  readonly wMaxRtgW: number;
  /** reactive power that always has priority over active power (Table 7), magnitudes */
  readonly minInjectVar: number;
  readonly minAbsorbVar: number;
  /** true: the capability shrinks below 20 % of rated power */
  readonly reducedAtLowPower: boolean;
}

/** Reactive power inside the capability of the settings (702.VarMaxInj, VarMaxAbs). */
export function clampVar(settings: Settings, vars: number): number {
  return Math.min(settings.varMaxInjVar, Math.max(-settings.varMaxAbsVar, vars));
}

/** 100 % of a reactive percentage, var. @param pct its sign selects injection or absorption */
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

/**
 * Radius of the circle, VA: the lowest limit of apparent power and current.
 * @param discharges true: the power comes from a storage
 */
export function circleVa(settings: Settings, lnV: number, discharges: boolean): number {
  const { vaMaxVa, dischargeMaxVa, aMaxA } = settings;
  return Math.min(vaMaxVa, discharges ? dischargeMaxVa : Infinity, lnV * aMaxA);
}

/** shares of rated power: full capability from the first on, none below the second */
const fullFrom = 0.2;
const noneBelow = 0.05;

/** Share of the reactive capability at `pW` (Table 7): in proportion to the power below 20 %, none below 5 %. */
export function lowPowerShare({ wMaxRtgW, reducedAtLowPower }: Capability, pW: number): number {
  if (!reducedAtLowPower) return 1;
  const share = Math.abs(pW) / wMaxRtgW;
  // a rounding error must not take the capability away exactly at the edge
  return share >= fullFrom ? 1 : share < noneBelow - 1e-9 ? 0 : share / fullFrom;
}

/**
 * Brings P and Q inside the circle of radius `sVa`. Up to the reactive power that Table 7 guarantees, reactive power
 * always has priority; active priority applies beyond it.
 */
export function settle(
  pW: number,
  qVar: number,
  sVa: number,
  priority: CirclePriority,
  { minInjectVar, minAbsorbVar }: Capability,
): readonly [number, number] {
  const requestedVa = Math.hypot(pW, qVar);
  if (requestedVa <= sVa) return [pW, qVar];
  if (priority === 'both') return [(pW * sVa) / requestedVa, (qVar * sVa) / requestedVa];
  const withinVar = Math.min(sVa, Math.abs(qVar));
  const priorityVar =
    priority === 'reactive' ? withinVar : Math.min(withinVar, qVar >= 0 ? minInjectVar : minAbsorbVar);
  const p = Math.min(Math.abs(pW), legOf(sVa, priorityVar));
  return [Math.sign(pW) * p, Math.sign(qVar) * Math.min(withinVar, Math.max(priorityVar, legOf(sVa, p)))];
}

/** The other leg of a right triangle. */
function legOf(hypotenuse: number, leg: number): number {
  return Math.sqrt(Math.max(0, hypotenuse * hypotenuse - leg * leg));
}

/** P and Q within the circle. Reactive current during a dip has priority: active power gets the rest. */
export function withSupport(pW: number, qVar: number, sVa: number): readonly [pW: number, qVar: number] {
  const priorityVar = Math.max(-sVa, Math.min(sVa, qVar));
  const roomW = Math.sqrt(Math.max(0, sVa ** 2 - priorityVar ** 2));
  return [Math.max(-roomW, Math.min(roomW, pW)), priorityVar];
}
