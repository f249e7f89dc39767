/** Reactive power functions and the apparent-power circle (IEEE 1547-2018 5.3; 4.6 and 5.2 for the limits). */
import type { PfSetting, Settings } from './settings.ts';

/** Of several enabled functions the one enabled last acts; a fresh process starts in this order, the last one winning. */
export const reactiveFunctions = ['pf_absorb', 'pf_inject', 'constant_var', 'watt_var', 'volt_var'] as const;
export type ReactiveFunction = (typeof reactiveFunctions)[number];

export function reactiveEnabled(settings: Settings, name: ReactiveFunction): boolean {
  switch (name) {
    case 'pf_inject': return settings.pfInject.enabled;
    case 'pf_absorb': return settings.pfAbsorb.enabled;
    case 'constant_var': return settings.constantVar.enabled;
    // models 712 and 705 refuse ENABLED while the device lacks the function
    case 'watt_var':
    case 'volt_var': return false;
  }
}

/** The order after a change of settings: functions that have just been enabled move to the end. */
export function reorderReactive(
  order: readonly ReactiveFunction[], before: Settings, after: Settings,
): readonly ReactiveFunction[] {
  const fresh = order.filter((name) => reactiveEnabled(after, name) && !reactiveEnabled(before, name));
  return fresh.length === 0 ? order : [...order.filter((name) => !fresh.includes(name)), ...fresh];
}

/** Constant power factor has a setting for each direction of active power; the others act in both. */
function applies(name: ReactiveFunction, pW: number): boolean {
  return name === 'pf_inject' ? pW >= 0 : name !== 'pf_absorb' || pW < 0;
}

/** The function that acts at `pW`: of those enabled that apply, the one enabled last. */
export function actingReactive(order: readonly ReactiveFunction[], settings: Settings, pW: number): ReactiveFunction | null {
  return order.findLast((name) => reactiveEnabled(settings, name) && applies(name, pW)) ?? null;
}

function powerFactorVar({ pf, overExcited }: PfSetting, pW: number, sVa: number): number {
  const atCircleW = Math.min(Math.abs(pW), sVa * pf);
  const magnitude = atCircleW * Math.sqrt(Math.max(0, 1 - pf * pf)) / Math.max(pf, 0.01);
  return overExcited ? magnitude : -magnitude;
}

function constantVar({ constantVar: { mode, pct, vars }, ...settings }: Settings, pW: number): number {
  const share = pct / 100;
  const limit = share >= 0 ? settings.varMaxInjVar : settings.varMaxAbsVar;
  switch (mode) {
    case 'W_MAX_PCT': return share * settings.wMaxW;
    case 'VAR_MAX_PCT': return share * limit;
    case 'VAR_AVAIL_PCT': return share * Math.min(limit, Math.sqrt(Math.max(0, settings.vaMaxVa ** 2 - pW ** 2)));
    case 'VA_MAX_PCT': return share * settings.vaMaxVa;
    case 'VARS': return vars;
  }
}

/** What the acting function asks for at `pW` under an apparent power of at most `sVa`; + injects. */
export function reactiveTarget(settings: Settings, acting: ReactiveFunction | null, pW: number, sVa: number): number {
  switch (acting) {
    case 'pf_inject': return powerFactorVar(settings.pfInject, pW, sVa);
    case 'pf_absorb': return powerFactorVar(settings.pfAbsorb, pW, sVa);
    case 'constant_var': return constantVar(settings, pW);
    case 'watt_var':
    case 'volt_var':
    case null: return 0;
  }
}

/** Reactive power inside the capability of the settings (702.VarMaxInj, VarMaxAbs). */
export function clampVar(settings: Settings, vars: number): number {
  return Math.min(settings.varMaxInjVar, Math.max(-settings.varMaxAbsVar, vars));
}

const isPowerFactor = (name: ReactiveFunction | null) => name === 'pf_inject' || name === 'pf_absorb';

/** Which side gives way on the circle. */
export type Priority = 'reactive' | 'active' | 'both';

/** Constant PF shrinks both together; constant var follows VarSetPri; otherwise reactive power wins (physics of category B). */
export function priorityOf(settings: Settings, acting: ReactiveFunction | null): Priority {
  if (isPowerFactor(acting)) return 'both';
  return acting === 'constant_var' && !settings.constantVar.reactiveFirst ? 'active' : 'reactive';
}

/**
 * Most active power beside `qVar` under constant power factor: its share of the circle, and while reactive power is
 * still on its way the room that is left.
 */
export function activeRoom(settings: Settings, acting: ReactiveFunction | null, qVar: number, sVa: number): number {
  if (!isPowerFactor(acting)) return Infinity;
  const { pf } = acting === 'pf_inject' ? settings.pfInject : settings.pfAbsorb;
  return Math.max(sVa * pf, Math.sqrt(Math.max(0, sVa * sVa - qVar * qVar)));
}

/** Brings P and Q inside the circle of radius `sVa`. */
export function limitToCircle(pW: number, qVar: number, sVa: number, priority: Priority): readonly [number, number] {
  const wanted = Math.hypot(pW, qVar);
  if (wanted <= sVa) return [pW, qVar];
  if (priority === 'both') return [pW * sVa / wanted, qVar * sVa / wanted];
  if (priority === 'reactive') {
    const q = Math.min(sVa, Math.max(-sVa, qVar));
    return [Math.sign(pW) * Math.sqrt(Math.max(0, sVa * sVa - q * q)), q];
  }
  const p = Math.min(sVa, Math.max(-sVa, pW));
  return [p, Math.sign(qVar) * Math.sqrt(Math.max(0, sVa * sVa - p * p))];
}
