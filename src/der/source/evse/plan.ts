/**
 * Divides the power of the station, and the discharge that its profile permits, among its connectors; W at the meter,
 * positive into the vehicles.
 */
import { minChargeW, canFlow } from './connector.ts';
import type { Connector } from './connector.ts';
import { chargeLevelW, maxDischargeW } from './reach.ts';

/**
 * Shares a limit in proportion to demand. A share below its minimum is raised to it; if the minimums do not fit
 * together, the smallest demand is paused (on a tie the last one).
 * @param demandW demand of each participant, 0 for none
 * @param minW minimum useful power of each; a demand below it is its own minimum
 * @param outW filled with the shares; must not be `demandW`
 * @returns true if a share is below its demand
 */
export function sharePower(demandW: Float64Array, minW: Float64Array, limitW: number, outW: Float64Array): boolean {
  let total = 0;
  for (let i = 0; i < demandW.length; i++) {
    outW[i] = demandW[i] ?? 0;
    total += demandW[i] ?? 0;
  }
  if (total <= limitW) return false;
  while (minTotalW(demandW, minW, outW) > limitW) pauseSmallest(demandW, outW);
  for (let i = 0; i < demandW.length; i++) if ((outW[i] ?? 0) > 0) outW[i] = Infinity;
  raiseToMinimum(demandW, minW, limitW, outW);
  return true;
}

function minShareW(demandW: Float64Array, minW: Float64Array, i: number): number {
  return Math.min(minW[i] ?? 0, demandW[i] ?? 0);
}

function minTotalW(demandW: Float64Array, minW: Float64Array, outW: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < demandW.length; i++) if ((outW[i] ?? 0) > 0) sum += minShareW(demandW, minW, i);
  return sum;
}

function pauseSmallest(demandW: Float64Array, outW: Float64Array): void {
  let smallest = -1;
  for (let i = 0; i < demandW.length; i++) {
    if ((outW[i] ?? 0) > 0 && (smallest < 0 || (demandW[i] ?? 0) <= (demandW[smallest] ?? 0))) smallest = i;
  }
  if (smallest >= 0) outW[smallest] = 0;
}

/**
 * Infinity in `outW` marks shares that are still open; each round fixes at least one at its minimum, or is the last.
 */
function raiseToMinimum(demandW: Float64Array, minW: Float64Array, limitW: number, outW: Float64Array): void {
  for (let round = 0; round <= demandW.length; round++) {
    let left = limitW;
    let open = 0;
    for (let i = 0; i < demandW.length; i++) {
      if (outW[i] === Infinity) open += demandW[i] ?? 0;
      else left -= outW[i] ?? 0;
    }
    const factor = open > 0 ? Math.max(0, Math.min(1, left / open)) : 0;
    let raised = false;
    for (let i = 0; i < demandW.length; i++) {
      if (outW[i] !== Infinity || (demandW[i] ?? 0) * factor >= minShareW(demandW, minW, i)) continue;
      outW[i] = minShareW(demandW, minW, i);
      raised = true;
    }
    if (raised) continue;
    for (let i = 0; i < demandW.length; i++) if (outW[i] === Infinity) outW[i] = (demandW[i] ?? 0) * factor;
    return;
  }
}

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
 * @returns true if the limit binds
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
 * Plans charging with `limitW` in total. If that is below every minimum, the smallest minimum is planned where `maxW`
 * allows it and it is nearer to `limitW` than 0 is, or `forced`.
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
 * Plans `dischargeW` in total: first the discharge without a set-point, `commandedDischargeW`, then more of each
 * vehicle.
 */
function planDischarge(
  connectors: readonly Connector[],
  dischargeW: number,
  commandedDischargeW: number,
  maxW: number,
): void {
  const commandedShare = commandedDischargeW > 0 ? Math.min(1, dischargeW / commandedDischargeW) : 1;
  const extraShare =
    maxW > commandedDischargeW
      ? Math.max(0, Math.min(1, (dischargeW - commandedDischargeW) / (maxW - commandedDischargeW)))
      : 0;
  for (const c of connectors) {
    const commandedW = Math.max(0, -c.unrestrictedW);
    const outputW = commandedW * commandedShare + (c.dischargeableW - commandedW) * extraShare;
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
  let commandedDischargeW = 0;
  let downW = 0;
  for (const c of connectors) {
    c.planW = 0;
    if (c.unrestrictedW < 0) commandedDischargeW -= c.unrestrictedW;
    downW += c.dischargeableW;
  }
  const chargeW = totalW + commandedDischargeW;
  let totalDischargeW = Math.min(downW, -totalW);
  if (chargeW > 0) {
    const chargedW = planCharge(connectors, scratch, chargeW, maxW + commandedDischargeW, forced);
    const missingW = chargeW - chargedW;
    totalDischargeW = missingW > toleranceW ? Math.max(0, commandedDischargeW - missingW) : commandedDischargeW;
  }
  if (totalDischargeW > 0) planDischarge(connectors, totalDischargeW, commandedDischargeW, downW);
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
  const factor = chargedW > 0 ? Math.max(0, (chargedW + gapW) / chargedW) : 0;
  const moreW = -gapW - chargedW;
  const room = downW - (chargedW - plannedW);
  const part = moreW > 0 && room > 0 ? Math.min(1, moreW / room) : 0;
  for (const c of connectors) {
    if (c.planW > 0) c.planW *= factor;
    if (part > 0) c.planW -= (c.dischargeableW + Math.min(0, c.planW)) * part;
  }
}

function availableDischargeW(c: Connector): number {
  return c.vehicle !== null && canFlow(c) ? maxDischargeW(c, c.vehicle) : 0;
}

function requestedDischargeW(c: Connector, availableW: number): number {
  return c.dischargeW === null ? 0 : Math.min(c.dischargeW, availableW);
}

/**
 * Lowers `dischargeCapW` so that all connectors together stay within `capW`: first the requested discharge, in
 * proportion; the rest is for the functions of the device, in proportion to the further discharge available from each
 * vehicle.
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

/**
 * Keeps ramps down from carrying the vehicles together beyond `capW`.
 * @param downW discharge of the vehicles without this bound
 */
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
    c.dischargeableEndW *= capW / downW;
  }
}
