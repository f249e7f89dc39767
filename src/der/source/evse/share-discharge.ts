/** Divides the discharge that the profile of a station permits among its connectors; W at the meter. */
import { canFlow } from './connector.ts';
import type { Connector } from './connector.ts';
import { maxDischargeW } from './reach.ts';

function availableDischargeW(c: Connector): number {
  return c.vehicle !== null && canFlow(c) ? maxDischargeW(c, c.vehicle) : 0;
}

function requestedDischargeW(c: Connector, availableW: number): number {
  return c.dischargeW === null ? 0 : Math.min(c.dischargeW, availableW);
}

/**
 * Lowers `dischargeCapW` so that all connectors together stay within `capW`: first the requested discharge, in proportion; the
 * rest is for the functions of the device, in proportion to the further discharge available from each vehicle.
 */
export function shareStationDischarge(connectors: readonly Connector[], capW: number): void {
  let requestedSumW = 0;
  let availableSumW = 0;
  for (const c of connectors) {
    const availableW = availableDischargeW(c);
    availableSumW += availableW;
    requestedSumW += requestedDischargeW(c, availableW);
  }
  if (availableSumW <= capW) return;
  const part = requestedSumW > capW ? capW / requestedSumW : 1;
  const restPart =
    availableSumW > requestedSumW ? Math.max(0, capW - requestedSumW) / (availableSumW - requestedSumW) : 0;
  for (const c of connectors) {
    const availableW = availableDischargeW(c);
    const requestedW = requestedDischargeW(c, availableW);
    c.dischargeCapW = Math.min(c.dischargeCapW, requestedW * part + (availableW - requestedW) * restPart);
  }
}

/** Keeps ramps down from carrying the vehicles together beyond `capW`. @param downW their discharge without this bound */
export function scaleDischarging(connectors: readonly Connector[], capW: number, downW: number): void {
  let dischargeW = 0;
  for (const c of connectors) dischargeW += Math.max(0, -c.unrestrictedW);
  const factor = dischargeW > capW ? capW / dischargeW : 1;
  for (const c of connectors) {
    if (c.unrestrictedW < 0) {
      c.unrestrictedW *= factor;
      c.unrestrictedEndW *= c.unrestrictedEndW < 0 ? factor : 1;
    }
    c.dischargeableW = Math.max(c.dischargeableW * (capW / downW), -c.unrestrictedW);
  }
}
