/** Sharing of one DC bus between PV array, battery and inverter: pure functions, per sub-step, all in DC watts. */
import type { HybridPolicy } from '../../../contract/kinds/hybrid.ts';

export interface DispatchInput {
  readonly policy: HybridPolicy;
  readonly pvAvailableW: number;
  /** power that the battery can absorb and deliver now, both >= 0; 0 at a bound of its state of charge */
  readonly chargeMaxW: number;
  readonly dischargeMaxW: number;
  /** set-point in force; in policy `manual` the manual target; null: none */
  readonly targetW: number | null;
  /** DC power that covers the local AC load */
  readonly loadW: number;
  /** minimum and maximum power on the bus that the inverter allows */
  readonly floorW: number;
  readonly ceilingW: number;
  /** battery flow that overrides the policy, positive = discharge; null: the policy decides */
  readonly pinnedBatteryW: number | null;
}

export interface Dispatch {
  pvW: number;
  /** positive = discharge */
  batteryW: number;
  /** available PV power that is not used */
  curtailedW: number;
  /** sum of `pvW` and `batteryW`: into the inverter */
  dcW: number;
}

function clip(value: number, low: number, high: number): number {
  return value < low ? low : value > high ? high : value;
}

/** Battery flow demanded by the policy, before the limits of the battery. */
function batteryDemandW(input: DispatchInput): number {
  const { policy, pinnedBatteryW, pvAvailableW, targetW, floorW, ceilingW } = input;
  if (pinnedBatteryW !== null) return pinnedBatteryW;
  switch (policy) {
    case 'self_consumption':
      return clip(targetW ?? input.loadW, floorW, ceilingW) - pvAvailableW;
    case 'pv_priority':
      if (pvAvailableW > ceilingW) return ceilingW - pvAvailableW;
      return targetW === null ? 0 : Math.max(0, clip(targetW, floorW, ceilingW) - pvAvailableW);
    case 'manual':
      return targetW === null ? 0 : clip(targetW, floorW, ceilingW) - pvAvailableW;
  }
}

/**
 * Shares the bus by policy. Order of precedence: limits of array and battery, floor and ceiling, a pinned battery, the
 * policy. PV is curtailed only for the ceiling and for a target of policy `manual`, and for that target never so far
 * that the import from the grid rises.
 * @param out filled and returned
 */
export function dispatch(
  input: DispatchInput,
  out: Dispatch = { pvW: 0, batteryW: 0, curtailedW: 0, dcW: 0 },
): Dispatch {
  const { policy, pvAvailableW, chargeMaxW, dischargeMaxW, targetW, floorW, ceilingW } = input;
  let batteryW = clip(batteryDemandW(input), -chargeMaxW, dischargeMaxW);
  const freeW = pvAvailableW + batteryW;
  let goalW = freeW;
  if (policy === 'manual' && targetW !== null && freeW > targetW) goalW = Math.max(targetW, Math.min(0, freeW));
  goalW = clip(goalW, floorW, ceilingW);
  let pvW = pvAvailableW;
  if (goalW > freeW) {
    batteryW = Math.min(dischargeMaxW, goalW - pvW);
  } else if (goalW < freeW) {
    pvW = clip(goalW - batteryW, 0, pvAvailableW);
    // curtailing the array alone is not enough
    if (pvW === 0) batteryW = clip(goalW, -chargeMaxW, batteryW);
  }
  out.pvW = pvW;
  // a sum, so that a battery at rest shows 0 and not -0
  out.batteryW = batteryW + 0;
  out.curtailedW = pvAvailableW - pvW;
  out.dcW = pvW + batteryW;
  return out;
}
