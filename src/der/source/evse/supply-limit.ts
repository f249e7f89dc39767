/**
 * The AC supply of a station: reactive power, phases and amperes of its chargers, and the limit in amperes. The limit
 * holds on each phase of the grid connection; where it permits one phase of three, the current of all phases together
 * counts. The draw of the station itself counts evenly on all phases.
 */
import { activeShare, lineVoltageV, phasesInUse, supplyPhases, wattsPerAmpere } from './connector.ts';
import type { Connector } from './connector.ts';
import type { Scratch } from './plan.ts';
import { chargeLevelW } from './reach.ts';
import { sharePower } from './plan.ts';
import type { Station } from './station.ts';
import type { PhaseLoads, Phases } from '../source.ts';
import { lowestA } from './profile-limit.ts';

/** Reactive power of a charger at `powerW`, + injected: chargers absorb reactive power, whichever way power flows. */
function chargerVar({ p: { powerFactor } }: Connector, powerW: number): number {
  return powerW === 0 ? 0 : (-Math.abs(powerW) * Math.sqrt(1 - powerFactor ** 2)) / powerFactor;
}

/** Reactive power of all chargers at their planned power, var, + injected. */
export function ownVar(connectors: readonly Connector[]): number {
  let sum = 0;
  for (const c of connectors) sum += chargerVar(c, c.planW);
  return sum;
}

/** Position of the only phase that a charger loads; null: it loads all phases of the station evenly. */
function onePhaseOf(c: Connector, { outside: { supplyPhases: supplied } }: Station): number | null {
  if (supplied < 3 || c.p.type !== 'ac' || phasesInUse(c) === 3) return null;
  return (supplyPhases(c, 3)[0] ?? 1) - 1;
}

/**
 * Power of the chargers that load one phase of a three-phase station; null: no such load. A single-phase vehicle loads
 * L1 of a three-phase connector; single-phase connectors use the phases in turn.
 */
export function phaseLoads(station: Station): PhaseLoads | null {
  const watts: [number, number, number] = [0, 0, 0];
  const vars: [number, number, number] = [0, 0, 0];
  let hasLoad = false;
  for (const c of station.connectors) {
    const phase = onePhaseOf(c, station);
    if (phase === null || c.planW === 0) continue;
    hasLoad = true;
    watts[phase] = (watts[phase] ?? 0) - c.planW;
    vars[phase] = (vars[phase] ?? 0) + chargerVar(c, c.planW);
  }
  return hasLoad ? { watts, vars } : null;
}

/**
 * Share of a change of reactive power that the limits follow in one sub-step: a damping, because limits and power
 * factor depend on each other.
 */
const limitStep = 0.5;

/**
 * Shares the reactive power of a function among the chargers: every phase carries its even part, and the chargers on a
 * phase take it in proportion to their power.
 * @param decidedVar reactive power of the whole station; null: the chargers draw their own
 */
export function shareVar(station: Station, decidedVar: number | null): void {
  const { connectors, phaseLnV, varPerW: former } = station;
  if (decidedVar === null) {
    if (former === null) return;
    [station.varPerW, station.limitVar] = [null, 0];
    for (const c of connectors) c.reactiveA = null;
    return;
  }
  const sumV = phaseLnV[0] + phaseLnV[1] + phaseLnV[2];
  const shareOf = (phase: number) => (sumV > 0 ? (phaseLnV[phase] ?? 0) / sumV : 0);
  const watts: [number, number, number] = [0, 0, 0];
  for (const c of connectors) {
    const onePhase = onePhaseOf(c, station);
    for (let i = 0; i < 3; i += 1) {
      if (onePhase === null) watts[i] = (watts[i] ?? 0) + Math.abs(c.planW) * shareOf(i);
      else if (onePhase === i) watts[i] = (watts[i] ?? 0) + Math.abs(c.planW);
    }
  }
  const varPerWatt = (phase: number, sumVar: number) =>
    (watts[phase] ?? 0) > 0 ? (sumVar * shareOf(phase)) / (watts[phase] ?? 0) : 0;
  const magnitude = Math.abs(decidedVar);
  station.varSign = decidedVar > 0 ? 1 : -1;
  station.limitVar += limitStep * (magnitude - station.limitVar);
  station.varPerW = [varPerWatt(0, magnitude), varPerWatt(1, magnitude), varPerWatt(2, magnitude)];
  const { limitVar } = station;
  const limitVarPerW: Phases = [varPerWatt(0, limitVar), varPerWatt(1, limitVar), varPerWatt(2, limitVar)];
  for (const c of connectors) {
    const onePhase = onePhaseOf(c, station);
    c.reactiveA =
      activeA(c, station, c.planW) * (onePhase === null ? Math.max(...limitVarPerW) : (limitVarPerW[onePhase] ?? 0));
  }
}

/** Active current of an AC charger per phase in use, A. */
function activeA(c: Connector, station: Station, powerW: number): number {
  const voltsInUse = phasesInUse(c) * lineVoltageV(c, station);
  return voltsInUse > 0 ? Math.abs(powerW) / voltsInUse : 0;
}

/** Currents in the cable of an AC connector, A: one for each phase of the connector; negative while it discharges. */
export function cableCurrents(c: Connector, station: Station): readonly number[] {
  const onePhase = onePhaseOf(c, station);
  const { varPerW } = station;
  const currentA = (phase: number) => {
    if (varPerW !== null)
      return Math.sign(c.powerW) * activeA(c, station, c.powerW) * Math.hypot(1, varPerW[phase] ?? 0);
    const perA = wattsPerAmpere(c, station);
    return perA > 0 ? c.powerW / perA : 0;
  };
  const firstA = currentA(onePhase ?? 0);
  if (c.p.phases === 1) return [firstA];
  return phasesInUse(c) === 1 ? [firstA, 0, 0] : [firstA, currentA(1), currentA(2)];
}

/** Reactive power through an AC connector, var, + absorbed; behind the rectifier of a DC connector there is none. */
export function connectorVar(c: Connector, station: Station): number {
  if (c.p.type === 'dc' || c.powerW === 0) return 0;
  const { varPerW, varSign, phaseLnV, outside } = station;
  if (varPerW === null) return -chargerVar(c, c.powerW);
  const flowA = activeA(c, station, c.powerW);
  const onePhase = onePhaseOf(c, station);
  if (onePhase !== null || outside.supplyPhases < 3)
    return -varSign * Math.abs(c.powerW) * (varPerW[onePhase ?? 0] ?? 0);
  return -varSign * flowA * (phaseLnV[0] * varPerW[0] + phaseLnV[1] * varPerW[1] + phaseLnV[2] * varPerW[2]);
}

/**
 * Watts of one ampere per phase of the whole station, all phases evenly loaded. Of several power factors the lowest
 * counts: with the others the current is less.
 */
export function supplyWattsPerAmpere(station: Station): number {
  const { connectors, profile, outside } = station;
  const [a, b, c] = station.phaseLnV;
  const sumV = a + b + c;
  let powerFactor = 1;
  if (station.varPerW === null) for (const { p } of connectors) powerFactor = Math.min(powerFactor, p.powerFactor);
  else if (sumV > 0) powerFactor = activeShare(lowestA(profile), station.limitVar / sumV);
  return (outside.supplyPhases === 3 ? profile.phases / 3 : 1) * sumV * powerFactor;
}

const noLimit = Infinity;
/** Relative difference that counts as rounding, so that the result does not depend on the order of connectors. */
const tolerance = 1e-9;

/** True if the current of all phases counts together: the profile permits one phase of three. */
function countsTogether({ profile, outside }: Station): boolean {
  return profile.phases === 1 && outside.supplyPhases === 3;
}

function voltsOf({ phaseLnV: [a, b, c] }: Station): number {
  return a + b + c;
}

/** True if the connector loads a phase of the supply, 0 to 2. */
function loads(c: Connector, station: Station, phase: number): boolean {
  if (countsTogether(station)) return phase === 0;
  const onePhase = onePhaseOf(c, station);
  return onePhase === null ? phase < station.outside.supplyPhases : onePhase === phase;
}

/** Power of one ampere on each phase that the connector loads, at power factor 1, W/A. */
function voltsInUse(c: Connector, station: Station): number {
  const onePhase = onePhaseOf(c, station);
  if (onePhase !== null) return station.phaseLnV[onePhase] ?? 0;
  // a converter loads three phases: an ampere of their sum is a third on each
  return countsTogether(station) ? voltsOf(station) / 3 : voltsOf(station);
}

/** Watts of one ampere on each phase that the connector loads. */
function wattsPerSupplyAmpere(c: Connector, station: Station): number {
  // where a function decides the reactive current, `budgetOf` lowers the limit instead
  const ownFactor = c.p.type === 'ac' && station.varPerW === null;
  return voltsInUse(c, station) * (ownFactor ? c.p.powerFactor : 1);
}

/** A limit as active current of the connectors on one phase. */
interface Budget {
  readonly limitA: number;
  /** active part of a current, beside the reactive current of a function */
  readonly activePart: number;
  /** current of the station itself */
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

/** Minimum current, A, lowered so that a limit of just the minimum still charges beside the standby of the station. */
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

/** Shares the limit on one phase among its connectors without a cap. @returns true if the limit binds */
function sharePhase(station: Station, phase: number, budget: Budget, { demandW: demandA, minW, shareW }: Scratch) {
  const { connectors } = station;
  let leftA = budget.limitA;
  for (const [i, c] of connectors.entries()) {
    const takesA = loads(c, station, phase) ? amperesOf(demandW(c), wattsPerSupplyAmpere(c, station)) : 0;
    const open = c.supplyCapW === noLimit;
    demandA[i] = open ? takesA : 0;
    minW[i] = minA(c, station, budget);
    if (takesA > 0 && !open) leftA -= Math.min(takesA, amperesOf(c.supplyCapW, wattsPerSupplyAmpere(c, station)));
  }
  leftA = Math.max(0, leftA);
  const binds = sharePower(demandA, minW, leftA, shareW);
  for (const [i, c] of connectors.entries()) {
    if (c.supplyCapW !== noLimit || !loads(c, station, phase)) continue;
    c.supplyCapW = (binds ? (shareW[i] ?? 0) : leftA) * wattsPerSupplyAmpere(c, station);
    if (c.supplyCapW < demandW(c)) c.capSource = 'charging_profile';
  }
  return binds;
}

/**
 * Sets `supplyCapW` of every connector from its `capW`. The fullest phase is shared first: it caps all three-phase
 * connectors, which take the same current from the other phases.
 * @param scratch amperes instead of watts
 * @returns true if the limit binds
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

/** Lowers the charging power of a connector in the prepared sub-step. */
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
