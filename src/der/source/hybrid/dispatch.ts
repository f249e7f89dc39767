/** Sharing of one DC bus between PV array, battery and inverter: pure, per sub-step, DC watts throughout. */
import type { HybridPolicy } from '../../../contract/kinds/hybrid.ts';

export interface DispatchInput {
  readonly policy: HybridPolicy;
  readonly pvAvailableW: number;
  /** what the battery can take and give now, both >= 0; 0 at a bound of its state of charge */
  readonly chargeMaxW: number;
  readonly dischargeMaxW: number;
  /** set-point in force, in policy `manual` the manual target; null: none */
  readonly targetW: number | null;
  /** DC power that covers the local AC load */
  readonly loadW: number;
  /** least and most power on the bus that the inverter admits: D_min and D_max */
  readonly floorW: number;
  readonly ceilingW: number;
  /** a battery flow that holds whatever the policy says, positive = discharge; null: the policy decides */
  readonly pinnedBatteryW: number | null;
}

export interface Dispatch {
  pvW: number;
  /** positive = discharge */
  batteryW: number;
  /** PV power available and not used */
  curtailedW: number;
  /** `pvW` and `batteryW` together: into the inverter */
  dcW: number;
}

function clip(value: number, low: number, high: number): number {
  return value < low ? low : value > high ? high : value;
}

/** Battery flow that the policy asks for, before the limits of the battery. */
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
 * Shares the bus by policy. Limits rank: those of array and battery, then floor and ceiling, then a pinned battery,
 * then the policy. PV is curtailed only for the ceiling and for a target of `manual`, there never below what keeps
 * the import as it is.
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
    // the array alone does not get down there
    if (pvW === 0) batteryW = clip(goalW, -chargeMaxW, batteryW);
  }
  out.pvW = pvW;
  // a sum, so that a battery at rest shows 0 and not -0
  out.batteryW = batteryW + 0;
  out.curtailedW = pvAvailableW - pvW;
  out.dcW = pvW + batteryW;
  return out;
}
