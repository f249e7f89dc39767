/** Figures and names in the sentences of captures. */
import type { CurveTrip } from '../contract/abnormal-conditions.ts';
import { isVoltage } from './facts.ts';
import type { Limit } from './facts.ts';

/** At most `digits` decimals, without zeros at the end. */
export const plain = (value: number, digits: number): string => String(Number(value.toFixed(digits)));

/** `0.16 s`, `1.20 s`, `20 s`, `4:36` (min:s). */
export function spanText(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(2)} s`;
  if (seconds < 60) return `${plain(seconds, 1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

export const valueText = (name: CurveTrip, value: number): string =>
  isVoltage(name) ? `${plain(value, 1)} %` : `${plain(value, 2)} Hz`;

export const beyondWord = ({ name }: Pick<Limit, 'name'>): string =>
  name === 'lv_trip' || name === 'lf_trip' ? 'below' : 'above';

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
