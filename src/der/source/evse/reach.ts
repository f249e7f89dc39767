/** Motion of a vehicle through one sub-step: a linear ramp to its level, then along its curve. All means are exact. */
import { chargeAlong, curvePowerW } from './vehicle.ts';
import type { ChargeResult, Vehicle } from './vehicle.ts';
import { canFlow, nominalWattsPerAmpere } from './connector.ts';
import type { Connector } from './connector.ts';

const socTolerance = 1e-9;
/** A ramp this close to its level is over, W. */
const rampedW = 1e-6;

interface Motion {
  meanW: number;
  endW: number;
  ramping: boolean;
}

const motion: Motion = { meanW: 0, endW: 0, ramping: false };
const chargeResult: ChargeResult = { energyJ: 0, timeS: 0 };

export function isFull(vehicle: Vehicle): boolean {
  return vehicle.soc >= vehicle.goalSoc - socTolerance;
}

export function isAtReserve(vehicle: Vehicle): boolean {
  return vehicle.soc <= vehicle.reserveSoc + socTolerance;
}

/** Charging power of the vehicle under `capW` now, without a ramp, W. */
export function chargeLevelW(vehicle: Vehicle, capW: number): number {
  return isFull(vehicle) ? 0 : Math.min(capW, curvePowerW(vehicle.table, vehicle.soc));
}

/** Discharge power through this connector once the ramp is over, W. */
export function maxDischargeW({ p, dischargeCapW }: Connector, vehicle: Vehicle): number {
  return p.bidirectional && !isAtReserve(vehicle) ? Math.min(p.maxDischargeW, vehicle.maxDischargeW, dischargeCapW) : 0;
}

/** Ramp rate of the vehicle, W per second. */
export function vehicleRampWS(c: Connector, vehicle: Vehicle): number {
  return vehicle.rampAPerS * nominalWattsPerAmpere(c);
}

/**
 * Sets `chargeableW`, `dischargeableW` and `unrestrictedW` of the sub-step from `offerW`, and their ends.
 * @param dtS 0: without a ramp
 */
export function updateReach(c: Connector, vehicle: Vehicle, dtS: number): void {
  const rampWS = vehicleRampWS(c, vehicle);
  c.dischargeableW = 0;
  c.dischargeableEndW = 0;
  const maxW = maxDischargeW(c, vehicle);
  // at the reserve discharge stops at once
  if (maxW === 0 && c.flowW < 0) c.flowW = 0;
  if (maxW > 0) {
    discharge(c.flowW, vehicle, maxW, rampWS, dtS);
    c.dischargeableW = Math.max(0, -motion.meanW);
    c.dischargeableEndW = Math.max(0, -motion.endW);
  }
  if (c.dischargeW === null) charge(c, vehicle, rampWS, dtS);
  else discharge(c.flowW, vehicle, Math.min(maxW, c.dischargeW), rampWS, dtS);
  // a ramp out of discharge is bounded by the energy above the reserve
  const reachesReserve = motion.meanW < -c.dischargeableW;
  c.unrestrictedW = reachesReserve ? -c.dischargeableW : motion.meanW;
  c.unrestrictedEndW = reachesReserve ? Math.max(0, motion.endW) : motion.endW;
  c.ramping = motion.ramping;
  c.chargeableW = Math.max(0, c.unrestrictedW);
}

/** Sets the reach of a connector through which nothing can flow. */
export function clearReach(c: Connector): void {
  c.chargeableW = 0;
  c.dischargeableW = 0;
  c.dischargeableEndW = 0;
  c.unrestrictedW = 0;
  c.unrestrictedEndW = 0;
  c.flowW = 0;
  c.ramping = false;
}

/** Fills `motion` with mean and end of the ramp alone. @returns time of the ramp within `dtS`, s */
function ramp(flowW: number, levelW: number, rampWS: number, dtS: number): number {
  const gapW = levelW - flowW;
  const wholeS = dtS > 0 && Math.abs(gapW) > rampedW ? Math.abs(gapW) / rampWS : 0;
  const timeS = Math.min(wholeS, dtS);
  motion.ramping = wholeS > dtS;
  motion.endW = motion.ramping ? flowW + Math.sign(gapW) * rampWS * timeS : levelW;
  motion.meanW = timeS > 0 ? (flowW + motion.endW) / 2 : levelW;
  return timeS;
}

/** State of charge at which charging ends: the goal of the vehicle, or where the energy of its session is used up. */
function endSocOf({ energyLeftWh }: Connector, { soc, goalSoc, socPerJ }: Vehicle): number {
  return energyLeftWh === Infinity ? goalSoc : Math.min(goalSoc, soc + energyLeftWh * 3600 * socPerJ);
}

function charge(c: Connector, vehicle: Vehicle, rampWS: number, dtS: number): void {
  const { flowW, offerW: capW } = c;
  const { socPerJ, table } = vehicle;
  const goalSoc = endSocOf(c, vehicle);
  const levelW = chargeLevelW(vehicle, capW);
  if (isFull(vehicle)) {
    // a full vehicle opens its contactors without a ramp
    ramp(Math.min(0, flowW), 0, rampWS, dtS);
    return;
  }
  const rampS = ramp(flowW, levelW, rampWS, dtS);
  if (!(dtS > 0)) return;
  const maxJ = (goalSoc - vehicle.soc) / socPerJ;
  const rampedJ = Math.min(motion.meanW * rampS, maxJ);
  chargeResult.energyJ = 0;
  if (rampS < dtS) {
    chargeAlong(table, vehicle.soc + Math.max(0, rampedJ) * socPerJ, goalSoc, capW, socPerJ, dtS - rampS, chargeResult);
    const soc = vehicle.soc + (Math.max(0, rampedJ) + chargeResult.energyJ) * socPerJ;
    motion.endW = goalSoc - soc <= socTolerance ? 0 : Math.min(capW, curvePowerW(table, soc));
  }
  motion.meanW = (rampedJ + chargeResult.energyJ) / dtS;
}

function discharge(flowW: number, vehicle: Vehicle, levelW: number, rampWS: number, dtS: number): void {
  const rampS = ramp(flowW, -levelW, rampWS, dtS);
  if (!(dtS > 0)) return;
  const demandJ = motion.meanW * rampS - levelW * (dtS - rampS);
  const minJ = -Math.max(0, vehicle.soc - vehicle.reserveSoc) / vehicle.drainPerJ;
  if (demandJ <= minJ) motion.endW = 0;
  motion.meanW = Math.max(demandJ, minJ) / dtS;
}

/** Discharge power of a vehicle that can discharge through this connector, W; null: none can. */
function dischargeOf(c: Connector): { vehicle: Vehicle; maxW: number } | null {
  if (c.vehicle === null || !canFlow(c)) return null;
  const maxW = maxDischargeW(c, c.vehicle);
  return maxW > 0 ? { vehicle: c.vehicle, maxW } : null;
}

/** Mean power in the last `lastS` of `dtS` if the vehicle discharges as much as it can all the time, W. */
export function lateDischargeW(c: Connector, dtS: number, lastS: number): number {
  const discharging = dischargeOf(c);
  if (discharging === null) return 0;
  const { vehicle, maxW } = discharging;
  const rampWS = vehicleRampWS(c, vehicle);
  const energyJ = (seconds: number) => {
    discharge(c.flowW, vehicle, maxW, rampWS, seconds);
    return motion.meanW * seconds;
  };
  return Math.max(0, (energyJ(dtS - lastS) - energyJ(dtS)) / lastS);
}

/** True if a discharge of `dtS` may take the vehicle to its reserve. */
export function mayReachReserve(c: Connector, dtS: number): boolean {
  const discharging = dischargeOf(c);
  if (discharging === null) return false;
  const { vehicle, maxW } = discharging;
  return Math.max(maxW, -c.flowW) * dtS * vehicle.drainPerJ >= vehicle.soc - vehicle.reserveSoc;
}

/** Beyond this time, a lower bound suffices. */
const nearS = 10;

/**
 * Lower bound of the time until the vehicle is full, its session has no energy left, or it is at its reserve, s: the
 * maximum of the next sub-step. Infinity: none of them.
 */
export function timeToEndS(c: Connector, vehicle: Vehicle): number {
  if (c.flowW < 0) {
    return isAtReserve(vehicle) ? Infinity : (vehicle.soc - vehicle.reserveSoc) / (vehicle.drainPerJ * -c.flowW);
  }
  const capW = c.heldByDer ? Math.max(0, c.flowW) : c.offerW;
  if (!(capW > 0) || c.dischargeW !== null || isFull(vehicle)) return Infinity;
  const endSoc = endSocOf(c, vehicle);
  const boundS = (endSoc - vehicle.soc) / (vehicle.socPerJ * Math.min(capW, vehicle.maxChargeW));
  if (boundS > nearS) return boundS;
  chargeAlong(vehicle.table, vehicle.soc, endSoc, capW, vehicle.socPerJ, Infinity, chargeResult);
  return chargeResult.timeS;
}
