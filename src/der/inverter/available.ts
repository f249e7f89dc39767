/** Power available at the terminals without commands, curves and site limits. */
import type { AvailablePower } from '../../contract/device.ts';
import { lowPowerShare } from './capability.ts';
import type { Inverter } from './inverter.ts';
import { isEnergized } from './service.ts';

export const noPower: AvailablePower = { injectW: 0, absorbW: 0, injectVar: 0, absorbVar: 0 };

/** From the last sub-step and the present settings, W and var; 0 out of service and in momentary cessation. */
export function availablePower(inverter: Inverter): AvailablePower {
  const { link, settings, pW, ratings } = inverter;
  if (!isEnergized(inverter.phase) || inverter.ceasedBy !== null) return noPower;
  // the circle of the last sub-step does not include later settings
  const circleVa = Math.min(inverter.circleVa, settings.vaMaxVa);
  const besideVar = Math.sqrt(Math.max(0, circleVa ** 2 - pW ** 2));
  const share = link.powered ? lowPowerShare(ratings.capability, pW) : 0;
  return {
    injectW: Math.min(Math.max(0, link.potentialW), settings.wMaxW, circleVa),
    absorbW: Math.min(Math.max(0, link.potentialAbsorbableW), settings.chargeMaxW, circleVa),
    injectVar: Math.min(share * settings.varMaxInjVar, besideVar),
    absorbVar: Math.min(share * settings.varMaxAbsVar, besideVar),
  };
}
