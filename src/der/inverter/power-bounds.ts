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

/** Available power by the last sub-step and the present settings; 0 out of service and in momentary cessation. */
export function availablePower(inverter: Inverter): AvailablePower {
  const { link, settings, pW, ratings } = inverter;
  if (!isEnergized(inverter.phase) || inverter.ceasedBy !== null) return noPower;
  // the circle of the last sub-step does not include later settings
  const circleVa = Math.min(inverter.circleVa, settings.vaMaxVa);
  const circleRoomVar = Math.sqrt(Math.max(0, circleVa ** 2 - pW ** 2));
  const share = link.powered ? lowPowerShare(ratings.capability, pW) : 0;
  return {
    injectW: Math.min(Math.max(0, link.potentialW), settings.wMaxW, circleVa),
    absorbW: Math.min(Math.max(0, link.potentialAbsorbableW), settings.chargeMaxW, circleVa),
    injectVar: Math.min(share * settings.varMaxInjVar, circleRoomVar),
    absorbVar: Math.min(share * settings.varMaxAbsVar, circleRoomVar),
  };
}

/** A bound on consumption from the grid, with its cause. */
interface ConsumptionLimit {
  /** at least 0 */
  readonly limitW: number;
  readonly decidedBy: ActiveDecider;
}

/**
 * The lowest bound on consumption by settings, functions, service state, connection point and the enter-service ramp,
 * even if it does not limit the power now; other ramps are ignored. null: none below `maxW`. A set-point counts as a
 * bound, because a load takes no more.
 * @param maxW maximum consumption without any bound
 */
export function consumptionLimit(inverter: Inverter, t: SimTime, maxW: number): ConsumptionLimit | null {
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
