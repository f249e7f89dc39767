/** Divides the power of the station among its connectors; W at the meter, positive into the vehicles. */
import type { Connector } from './connector.ts';
import { minChargeW } from './connector.ts';
import { chargeLevelW } from './reach.ts';
import { sharePower } from './sharing.ts';

/** Buffers reused between calls, one element per connector. */
export interface Scratch {
  readonly demandW: Float64Array;
  readonly minW: Float64Array;
  readonly shareW: Float64Array;
}

export function createScratch(count: number): Scratch {
  return { demandW: new Float64Array(count), minW: new Float64Array(count), shareW: new Float64Array(count) };
}

const toleranceW = 1e-6;

function sumOfPlan(connectors: readonly Connector[]): number {
  let sum = 0;
  for (const c of connectors) sum += c.planW;
  return sum;
}

function fillDemand(connectors: readonly Connector[], scratch: Scratch, use: 'capW' | 'offerW'): void {
  for (let i = 0; i < connectors.length; i++) {
    const c = connectors[i];
    if (c === undefined) continue;
    scratch.demandW[i] =
      c.vehicle === null || c.dischargeW !== null ? 0 : chargeLevelW(c.vehicle, Math.min(c.supplyCapW, c[use]));
    scratch.minW[i] = minChargeW(c);
  }
}

/**
 * Shares the limit of the station: sets `offerW` of every connector from its `capW` and `supplyCapW`.
 * @returns whether the limit binds
 */
export function shareStationLimit(
  connectors: readonly Connector[],
  scratch: Scratch,
  limitW: number,
  byProfile: boolean,
): boolean {
  fillDemand(connectors, scratch, 'capW');
  const binds = sharePower(scratch.demandW, scratch.minW, limitW, scratch.shareW);
  for (let i = 0; i < connectors.length; i++) {
    const c = connectors[i];
    if (c === undefined) continue;
    const shareW = scratch.shareW[i] ?? 0;
    // without sharing a vehicle may follow a rising curve within the sub-step
    const boundW = Math.min(limitW, c.supplyCapW);
    c.offerW = binds ? shareW : Math.min(c.capW, boundW);
    c.allocatedW = binds ? shareW : Math.min(c.grantW, boundW);
    if (binds && shareW < (scratch.demandW[i] ?? 0)) {
      c.capSource = byProfile ? 'charging_profile' : connectors.length > 1 ? 'sharing' : 'hardware';
    }
  }
  return binds;
}

/**
 * Plans charging with `limitW` in total. If that is below every minimum, the smallest minimum is used when it is nearer
 * than 0, or forced.
 */
function planCharge(
  connectors: readonly Connector[],
  scratch: Scratch,
  limitW: number,
  maxW: number,
  forced: boolean,
): number {
  fillDemand(connectors, scratch, 'offerW');
  const { demandW, minW, shareW } = scratch;
  let binds = sharePower(demandW, minW, limitW, shareW);
  if (binds && limitW > 0 && shareW.every((w) => w === 0)) {
    let minUsefulW = Infinity;
    for (let i = 0; i < demandW.length; i++)
      if ((demandW[i] ?? 0) > 0) minUsefulW = Math.min(minUsefulW, minW[i] ?? 0, demandW[i] ?? 0);
    if (minUsefulW <= maxW && (forced || minUsefulW - limitW < limitW))
      binds = sharePower(demandW, minW, minUsefulW, shareW);
  }
  let sum = 0;
  for (let i = 0; i < connectors.length; i++) {
    const c = connectors[i];
    if (c === undefined) continue;
    c.planW = binds ? Math.min(c.chargeableW, shareW[i] ?? 0) : c.chargeableW;
    sum += c.planW;
  }
  return sum;
}

/**
 * Plans `dischargeW` in total: first the discharge without a set-point (`ownDischargeW`), then more of each vehicle.
 */
function planDischarge(
  connectors: readonly Connector[],
  dischargeW: number,
  ownDischargeW: number,
  maxW: number,
): void {
  const ownShare = ownDischargeW > 0 ? Math.min(1, dischargeW / ownDischargeW) : 1;
  const extraShare =
    maxW > ownDischargeW ? Math.max(0, Math.min(1, (dischargeW - ownDischargeW) / (maxW - ownDischargeW))) : 0;
  for (const c of connectors) {
    const ownW = Math.max(0, -c.unrestrictedW);
    const outputW = ownW * ownShare + (c.dischargeableW - ownW) * extraShare;
    if (outputW > 0) c.planW = -outputW;
  }
}

/** Plans every connector without a set-point. @returns the sum */
export function planUnrestricted(connectors: readonly Connector[]): number {
  for (const c of connectors) c.planW = c.unrestrictedW;
  return sumOfPlan(connectors);
}

/**
 * Plans the total nearest to `totalW` that the vehicles can reach: charging is reduced before any vehicle discharges
 * more than commanded.
 * @param maxW upper bound of the total
 * @param forced a function demands at least this much
 * @returns the sum
 */
export function planTotal(
  connectors: readonly Connector[],
  scratch: Scratch,
  totalW: number,
  maxW: number,
  forced: boolean,
): number {
  let ownDischargeW = 0;
  let downW = 0;
  for (const c of connectors) {
    c.planW = 0;
    if (c.unrestrictedW < 0) ownDischargeW -= c.unrestrictedW;
    downW += c.dischargeableW;
  }
  const chargeW = totalW + ownDischargeW;
  let totalDischargeW = Math.min(downW, -totalW);
  if (chargeW > 0) {
    const chargedW = planCharge(connectors, scratch, chargeW, maxW + ownDischargeW, forced);
    const missingW = chargeW - chargedW;
    totalDischargeW = missingW > toleranceW ? Math.max(0, ownDischargeW - missingW) : ownDischargeW;
  }
  if (totalDischargeW > 0) planDischarge(connectors, totalDischargeW, ownDischargeW, downW);
  return sumOfPlan(connectors);
}

/**
 * Adjusts the plan to exactly `totalW`: in proportion where the sign allows, otherwise towards the bounds of the
 * vehicles.
 */
export function adjustPlan(connectors: readonly Connector[], totalW: number): void {
  let plannedW = 0;
  let chargedW = 0;
  let upW = 0;
  let downW = 0;
  for (const c of connectors) {
    plannedW += c.planW;
    chargedW += Math.max(0, c.planW);
    upW += c.chargeableW;
    downW += c.dischargeableW;
  }
  const gapW = totalW - plannedW;
  if (gapW > 0) {
    const room = upW - plannedW;
    const part = room > 0 ? Math.min(1, gapW / room) : 0;
    for (const c of connectors) c.planW += (c.chargeableW - c.planW) * part;
    return;
  }
  const keep = chargedW > 0 ? Math.max(0, (chargedW + gapW) / chargedW) : 0;
  const moreW = -gapW - chargedW;
  const room = downW - (chargedW - plannedW);
  const part = moreW > 0 && room > 0 ? Math.min(1, moreW / room) : 0;
  for (const c of connectors) {
    if (c.planW > 0) c.planW *= keep;
    if (part > 0) c.planW -= (c.dischargeableW + Math.min(0, c.planW)) * part;
  }
}
