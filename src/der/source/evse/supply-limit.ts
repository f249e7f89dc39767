/**
 * The limit of a station in amperes: it holds on each phase of the grid connection. Where it permits one phase of three,
 * the current of all phases together counts. The draw of the station itself counts evenly on all phases.
 */
import { activeShare, lineVoltageV, phasesInUse } from './connector.ts';
import type { Connector } from './connector.ts';
import type { Scratch } from './plan.ts';
import { chargeLevelW } from './reach.ts';
import { sharePower } from './sharing.ts';
import type { Station } from './station.ts';
import { onePhaseOf } from './supply.ts';

const noLimit = Infinity;
/** Two phases have the same load within this, so that the order of connectors does not depend on last bits. */
const tolerance = 1e-9;

/** All current counts together: one phase of three may be used. */
function countsTogether({ profile, outside }: Station): boolean {
  return profile.phases === 1 && outside.supplyPhases === 3;
}

function voltsOf({ phaseLnV: [a, b, c] }: Station): number {
  return a + b + c;
}

/** True if the connector loads a phase of the supply, 0 to 2. */
function loads(c: Connector, station: Station, phase: number): boolean {
  if (countsTogether(station)) return phase === 0;
  const only = onePhaseOf(c, station);
  return only === null ? phase < station.outside.supplyPhases : only === phase;
}

/** Volts that an ampere on each phase of the connector passes through. */
function voltsInUse(c: Connector, station: Station): number {
  const only = onePhaseOf(c, station);
  if (only !== null) return station.phaseLnV[only] ?? 0;
  // a converter loads three phases: an ampere of their sum is a third on each
  return countsTogether(station) ? voltsOf(station) / 3 : voltsOf(station);
}

/** Watts of one ampere on each phase that the connector loads. */
function wattsPerSupplyAmpere(c: Connector, station: Station): number {
  // where a function decides the reactive current, the limit is lowered by it instead
  const ownFactor = c.p.type === 'ac' && station.varPerW === null;
  return voltsInUse(c, station) * (ownFactor ? c.p.powerFactor : 1);
}

/** A limit as active current of the connectors on one phase. */
interface Budget {
  readonly limitA: number;
  /** the part of any current that is active, beside the reactive one that a function decides */
  readonly activePart: number;
  /** of the station itself */
  readonly standbyA: number;
}

function budgetOf(station: Station): Budget {
  const { profile, p, limitVar, varPerW } = station;
  const meanV = countsTogether(station) ? voltsOf(station) / 3 : voltsOf(station);
  const ampereOf = (power: number) => (meanV > 0 ? power / meanV : 0);
  const activePart = varPerW === null ? 1 : activeShare(profile.limitA, ampereOf(limitVar));
  const standbyA = ampereOf(p.standbyW);
  return { limitA: Math.max(0, profile.limitA * activePart - standbyA), activePart, standbyA };
}

/** Minimum current, A, lowered so that a limit of exactly the minimum still charges beside the standby of the station. */
function minA(c: Connector, station: Station, { activePart, standbyA }: Budget): number {
  const volts = voltsInUse(c, station);
  if (!(volts > 0)) return 0;
  const ownA =
    c.p.type === 'dc'
      ? c.p.minPowerW / volts
      : (c.p.minCurrentA * activePart * phasesInUse(c) * lineVoltageV(c, station)) / volts;
  return Math.max(0, ownA * (1 - tolerance) - standbyA);
}

function demandW({ vehicle, dischargeW, capW }: Connector): number {
  return vehicle === null || dischargeW !== null ? 0 : chargeLevelW(vehicle, capW);
}

function amperesOf(watts: number, perA: number): number {
  return perA > 0 ? watts / perA : 0;
}

/** The phase with the greatest demand of the connectors. */
function fullestPhase(station: Station): number {
  let fullest = 0;
  let maxA = 0;
  for (let phase = 0; phase < 3; phase += 1) {
    let sumA = 0;
    for (const c of station.connectors)
      if (loads(c, station, phase)) sumA += amperesOf(demandW(c), wattsPerSupplyAmpere(c, station));
    if (sumA <= maxA * (1 + tolerance)) continue;
    [fullest, maxA] = [phase, sumA];
  }
  return fullest;
}

/** Shares one phase among its connectors that have no cap yet. @returns whether it is too little for them */
function sharePhase(station: Station, phase: number, budget: Budget, { demandW: wanted, minW, shareW }: Scratch) {
  const { connectors } = station;
  let leftA = budget.limitA;
  for (const [i, c] of connectors.entries()) {
    const takesA = loads(c, station, phase) ? amperesOf(demandW(c), wattsPerSupplyAmpere(c, station)) : 0;
    const open = c.supplyCapW === noLimit;
    wanted[i] = open ? takesA : 0;
    minW[i] = minA(c, station, budget);
    if (takesA > 0 && !open) leftA -= Math.min(takesA, amperesOf(c.supplyCapW, wattsPerSupplyAmpere(c, station)));
  }
  leftA = Math.max(0, leftA);
  const binds = sharePower(wanted, minW, leftA, shareW);
  for (const [i, c] of connectors.entries()) {
    if (c.supplyCapW !== noLimit || !loads(c, station, phase)) continue;
    c.supplyCapW = (binds ? (shareW[i] ?? 0) : leftA) * wattsPerSupplyAmpere(c, station);
    if (c.supplyCapW < demandW(c)) c.capSource = 'charging_profile';
  }
  return binds;
}

/**
 * Sets `supplyCapW` of every connector from its `capW`. The fullest phase comes first: it caps all three-phase
 * connectors, which take the same current from the other phases.
 * @param scratch amperes instead of watts
 * @returns whether the limit binds
 */
export function capBySupply(station: Station, scratch: Scratch): boolean {
  const { connectors, profile } = station;
  for (const c of connectors) c.supplyCapW = noLimit;
  if (profile.limitA === Infinity) return false;
  const budget = budgetOf(station);
  const fullest = fullestPhase(station);
  let binds = sharePhase(station, fullest, budget, scratch);
  for (let phase = 0; phase < 3; phase += 1)
    if (phase !== fullest) binds = sharePhase(station, phase, budget, scratch) || binds;
  return binds;
}

/** Lowers what a connector may charge in the prepared sub-step. */
export function scaleCharging(c: Connector, factor: number): void {
  if (c.chargeableW <= 0) return;
  c.chargeableW *= factor;
  c.unrestrictedW *= factor;
  c.unrestrictedEndW *= factor;
}

/** Keeps ramps down and rising curves from carrying a phase above the limit. */
export function scaleBySupply(station: Station): void {
  const { connectors, profile } = station;
  if (profile.limitA === Infinity) return;
  const { limitA } = budgetOf(station);
  const factors = [0, 1, 2].map((phase) => {
    let sumA = 0;
    for (const c of connectors)
      if (loads(c, station, phase)) sumA += amperesOf(c.chargeableW, wattsPerSupplyAmpere(c, station));
    return sumA > limitA ? limitA / sumA : 1;
  });
  for (const c of connectors) {
    const phaseFactors = factors.filter((_, phase) => loads(c, station, phase));
    scaleCharging(c, Math.min(1, ...phaseFactors));
  }
}
