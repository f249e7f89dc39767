/**
 * Bounds of the power at the terminals: available power without commands, curves and site limits, and the lowest limit
 * on consumption.
 */
import type { AvailablePower } from '../../contract/device.ts';
import { lowPowerShare } from './capability.ts';
import type { Inverter } from './inverter.ts';
import { isEnergized } from './service.ts';
import type { ActiveDecider } from '../../contract/grid-trace.ts';
import type { SimTime } from '../../core/time/clock.ts';

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

/** A bound on the power taken from the grid, W, at least 0, and its cause. */
interface TakeLimit {
  readonly limitW: number;
  readonly decidedBy: ActiveDecider;
}

/**
 * The lowest bound on consumption by settings, functions, service state and connection point, even if it does not limit
 * the power now and without ramps; null: none below `maxW`. A set-point counts as a bound: a load takes no more.
 * @param maxW maximum consumption without any bound
 */
export function takeLimit(inverter: Inverter, t: SimTime, maxW: number): TakeLimit | null {
  const { activePower, settings, phase } = inverter;
  if (!isEnergized(phase)) return { limitW: 0, decidedBy: 'out_of_service' };
  if (inverter.ceasedBy !== null) return { limitW: 0, decidedBy: 'cessation' };
  const { droop, site } = activePower;
  const siteW = -site.admittedFloorW;
  // on low frequency droop replaces the set-point
  const [commandW, commandBy] =
    droop.side === 'under'
      ? ([-droop.outputW, 'freq_droop'] as const)
      : ([settings.setPointW === null ? Infinity : -settings.setPointW, 'active_power'] as const);
  const rampW = inverter.enterRamp(t) ?? Infinity;
  const limitW = Math.min(siteW, commandW, settings.chargeMaxW, rampW);
  if (limitW >= maxW) return null;
  const decidedBy =
    limitW === siteW
      ? 'site'
      : limitW === commandW
        ? commandBy
        : limitW === settings.chargeMaxW
          ? 'charge_limit'
          : 'enter_service';
  return { limitW: limitW > 0 ? limitW : 0, decidedBy };
}
