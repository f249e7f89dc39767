/** Reactive power functions and the apparent-power circle (IEEE 1547-2018 5.3; 4.6 and 5.2 for the limits). */
import type { ControlFunction } from '../../sunspec/map/device.ts';
import type { Settings } from './settings.ts';

/** Of several enabled functions the one enabled last acts; a fresh process starts in this order, the last one winning. */
export const reactiveFunctions = ['pf', 'constant_var', 'watt_var', 'volt_var'] as const;
export type ReactiveFunction = (typeof reactiveFunctions)[number];

export function reactiveEnabled(settings: Settings, name: ReactiveFunction): boolean {
  switch (name) {
    case 'pf': return settings.pfInject.enabled || settings.pfAbsorb.enabled;
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

export function actingReactive(order: readonly ReactiveFunction[], settings: Settings): ReactiveFunction | null {
  return order.findLast((name) => reactiveEnabled(settings, name)) ?? null;
}

function powerFactorVar(
  { pfInject, pfAbsorb }: Settings, pW: number, sVa: number,
): { vars: number; by: ControlFunction } | null {
  const by = pW >= 0 ? 'pf_inject' : 'pf_absorb';
  const { enabled, pf, overExcited } = pW >= 0 ? pfInject : pfAbsorb;
  if (!enabled) return null;
  const atCircleW = Math.min(Math.abs(pW), sVa * pf);
  const magnitude = atCircleW * Math.sqrt(Math.max(0, 1 - pf * pf)) / Math.max(pf, 0.01);
  return { vars: overExcited ? magnitude : -magnitude, by };
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
export function reactiveTarget(
  settings: Settings, acting: ReactiveFunction | null, pW: number, sVa: number,
): { readonly vars: number; readonly by: ControlFunction | null } {
  if (acting === 'pf') return powerFactorVar(settings, pW, sVa) ?? { vars: 0, by: null };
  if (acting === 'constant_var') return { vars: constantVar(settings, pW), by: 'constant_var' };
  return { vars: 0, by: null };
}

/** Reactive power inside the capability of the settings (702.VarMaxInj, VarMaxAbs). */
export function clampVar(settings: Settings, vars: number): number {
  return Math.min(settings.varMaxInjVar, Math.max(-settings.varMaxAbsVar, vars));
}

/** Which side gives way on the circle. */
export type Priority = 'reactive' | 'active' | 'both';

/** Constant PF shrinks both together; constant var follows VarSetPri; otherwise reactive power wins (physics of category B). */
export function priorityOf(settings: Settings, acting: ReactiveFunction | null): Priority {
  if (acting === 'pf') return 'both';
  return acting === 'constant_var' && !settings.constantVar.reactiveFirst ? 'active' : 'reactive';
}

/**
 * Most active power beside `qVar` under constant power factor: its share of the circle, and while reactive power is
 * still on its way the room that is left.
 */
export function activeRoom(settings: Settings, acting: ReactiveFunction | null, qVar: number, sVa: number): number {
  if (acting !== 'pf') return Infinity;
  const { enabled, pf } = settings.pfInject;
  return Math.max(sVa * (enabled ? pf : 1), Math.sqrt(Math.max(0, sVa * sVa - qVar * qVar)));
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
