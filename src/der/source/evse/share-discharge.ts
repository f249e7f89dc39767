/** Divides the discharge that the profile of a station permits among its connectors; W at the meter. */
import { canFlow } from './connector.ts';
import type { Connector } from './connector.ts';
import { maxDischargeW } from './reach.ts';

function mostW(c: Connector): number {
  return c.vehicle !== null && canFlow(c) ? maxDischargeW(c, c.vehicle) : 0;
}

function askedW(c: Connector, mostOfC: number): number {
  return c.dischargeW === null ? 0 : Math.min(c.dischargeW, mostOfC);
}

/**
 * Lowers `dischargeCapW` so that all connectors together stay within `capW`: first what is asked for, in proportion; the
 * rest is for the functions of the device, in proportion to what each vehicle could give beyond.
 */
export function shareStationDischarge(connectors: readonly Connector[], capW: number): void {
  let askedSumW = 0;
  let mostSumW = 0;
  for (const c of connectors) {
    const most = mostW(c);
    mostSumW += most;
    askedSumW += askedW(c, most);
  }
  if (mostSumW <= capW) return;
  const part = askedSumW > capW ? capW / askedSumW : 1;
  const restPart = mostSumW > askedSumW ? Math.max(0, capW - askedSumW) / (mostSumW - askedSumW) : 0;
  for (const c of connectors) {
    const most = mostW(c);
    const asked = askedW(c, most);
    c.dischargeCapW = Math.min(c.dischargeCapW, asked * part + (most - asked) * restPart);
  }
}

/** Keeps ramps down from carrying the vehicles together beyond `capW`. @param downW what they would give */
export function scaleDischarging(connectors: readonly Connector[], capW: number, downW: number): void {
  let givenW = 0;
  for (const c of connectors) givenW += Math.max(0, -c.unrestrictedW);
  const factor = givenW > capW ? capW / givenW : 1;
  for (const c of connectors) {
    if (c.unrestrictedW < 0) {
      c.unrestrictedW *= factor;
      c.unrestrictedEndW *= c.unrestrictedEndW < 0 ? factor : 1;
    }
    c.dischargeableW = Math.max(c.dischargeableW * (capW / downW), -c.unrestrictedW);
  }
}
