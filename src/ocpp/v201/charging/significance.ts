import type { Variables } from '../variables/model.ts';

/**
 * Whether a change is worth a message by LimitChangeSignificance, percent of the value before. Any change of 0 is.
 * @param before null: no limit
 */
export function isSignificant(before: number | null, now: number, variables: Pick<Variables, 'decimal'>): boolean {
  if (before === now) return false;
  if (before === null) return true;
  const percent = variables.decimal('SmartChargingCtrlr', 'LimitChangeSignificance');
  return (Math.abs(now - before) / Math.abs(before)) * 100 >= percent;
}
