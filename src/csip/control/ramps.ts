/** Slopes of power from `rampTms` and `setGradW`. */
import type { ControlledValue } from '../../core/command-hold.ts';
import { gradientRange } from '../../contract/device.ts';
import { scaledOf } from './values.ts';
import type { Aim } from './wish.ts';

/** Powers now and at 100 % of a gradient, W and var. */
export interface RampBase {
  readonly w: number;
  readonly var: number;
  readonly wMax: number;
  readonly varMax: number;
}

/** Slopes that a control asks for, percent per second; absent: none. */
export interface Slopes {
  readonly w?: number;
  readonly var?: number;
}

function within(pctPerS: number): number {
  return Math.min(gradientRange.max, Math.max(gradientRange.min, pctPerS));
}

/** From the present power to the aim within `seconds`. */
function slope(from: number, to: number, max: number, seconds: number): number | null {
  const pct = max > 0 ? (100 * Math.abs(to - from)) / max : 0;
  if (pct === 0) return null;
  return within(seconds > 0 ? pct / seconds : Infinity);
}

/**
 * The slopes with which a control reaches its aims within its `rampTms`.
 * @param aims of the modes of the control that run
 * @param rampTms hundredths of a second
 */
export function slopesFor(aims: readonly Aim[], rampTms: unknown, present: RampBase): Slopes {
  const seconds = scaledOf(rampTms, -2);
  if (seconds === null || seconds < 0) return {};
  const aimW = aims.find((aim) => aim.w !== undefined)?.w;
  const aimVar = aims.find((aim) => aim.var !== undefined)?.var;
  const w = aimW === undefined ? null : slope(present.w, aimW, present.wMax, seconds);
  const reactive = aimVar === undefined ? null : slope(present.var, aimVar, present.varMax, seconds);
  return { ...(w !== null && { w }), ...(reactive !== null && { var: reactive }) };
}

/** `setGradW` of a default control, hundredths of a percent per second; 0: no limit. null: not given. */
export function defaultSlope(setGradW: unknown): number | null {
  const pctPerS = scaledOf(setGradW, -2);
  if (pctPerS === null || pctPerS < 0) return null;
  return within(pctPerS === 0 ? Infinity : pctPerS);
}

/** The first control in order of priority that asks for a slope. */
export function firstSlope(
  slopes: readonly ControlledValue<Slopes>[],
  of: keyof Slopes,
): ControlledValue<number> | null {
  for (const { id, value } of slopes) {
    const pctPerS = value[of];
    if (pctPerS !== undefined) return { id, value: pctPerS };
  }
  return null;
}
