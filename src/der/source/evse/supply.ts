/** The chargers at the AC supply of the station: reactive power, phases, and amperes. */
import type { PhaseLoads, Phases } from '../source.ts';
import { activeShare, lineVoltageV, phasesInUse, supplyPhases, wattsPerAmpere } from './connector.ts';
import type { Connector } from './connector.ts';
import { lowestA } from './profile-limit.ts';
import type { Station } from './station.ts';

/** Reactive power of a charger at `powerW`, + injected: chargers take reactive power, whichever way power flows. */
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
export function onePhaseOf(c: Connector, { outside: { supplyPhases: supplied } }: Station): number | null {
  if (supplied < 3 || c.p.type !== 'ac' || phasesInUse(c) === 3) return null;
  return (supplyPhases(c, 3)[0] ?? 1) - 1;
}

/**
 * Power of the chargers that load one phase of a three-phase station; null: there is none. A single-phase vehicle loads
 * L1 of a three-phase connector; single-phase connectors use the phases in turn.
 */
export function phaseLoads(station: Station): PhaseLoads | null {
  const watts: [number, number, number] = [0, 0, 0];
  const vars: [number, number, number] = [0, 0, 0];
  let hasLoad = false;
  for (const c of station.connectors) {
    const at = onePhaseOf(c, station);
    if (at === null || c.planW === 0) continue;
    hasLoad = true;
    watts[at] = (watts[at] ?? 0) - c.planW;
    vars[at] = (vars[at] ?? 0) + chargerVar(c, c.planW);
  }
  return hasLoad ? { watts, vars } : null;
}

/** Share of the way to a new reactive power that the limits go in one sub-step: limits and power factor depend on each other. */
const limitStep = 0.5;

/**
 * Shares the reactive power of a function among the chargers: every phase carries its even part, and the chargers on a
 * phase take it in proportion to their power.
 * @param decidedVar of the whole station; null: the chargers take their own
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
    const only = onePhaseOf(c, station);
    for (let i = 0; i < 3; i += 1) {
      if (only === null) watts[i] = (watts[i] ?? 0) + Math.abs(c.planW) * shareOf(i);
      else if (only === i) watts[i] = (watts[i] ?? 0) + Math.abs(c.planW);
    }
  }
  const ratio = (i: number, of: number) => ((watts[i] ?? 0) > 0 ? (of * shareOf(i)) / (watts[i] ?? 0) : 0);
  const magnitude = Math.abs(decidedVar);
  station.varSign = decidedVar > 0 ? 1 : -1;
  station.limitVar += limitStep * (magnitude - station.limitVar);
  station.varPerW = [ratio(0, magnitude), ratio(1, magnitude), ratio(2, magnitude)];
  const limitRatio: Phases = [ratio(0, station.limitVar), ratio(1, station.limitVar), ratio(2, station.limitVar)];
  for (const c of connectors) {
    const only = onePhaseOf(c, station);
    c.reactiveA = activeA(c, station, c.planW) * (only === null ? Math.max(...limitRatio) : (limitRatio[only] ?? 0));
  }
}

/** Active current of an AC charger per phase in use, A. */
function activeA(c: Connector, station: Station, powerW: number): number {
  const voltsInUse = phasesInUse(c) * lineVoltageV(c, station);
  return voltsInUse > 0 ? Math.abs(powerW) / voltsInUse : 0;
}

/** Currents in the cable of an AC connector, A: one for each phase of the connector; negative while it discharges. */
export function cableCurrents(c: Connector, station: Station): readonly number[] {
  const only = onePhaseOf(c, station);
  const { varPerW } = station;
  const currentA = (phase: number) => {
    if (varPerW !== null)
      return Math.sign(c.powerW) * activeA(c, station, c.powerW) * Math.hypot(1, varPerW[phase] ?? 0);
    const perA = wattsPerAmpere(c, station);
    return perA > 0 ? c.powerW / perA : 0;
  };
  const firstA = currentA(only ?? 0);
  if (c.p.phases === 1) return [firstA];
  return phasesInUse(c) === 1 ? [firstA, 0, 0] : [firstA, currentA(1), currentA(2)];
}

/** Reactive power through an AC connector, var, + absorbed; behind the rectifier of a DC connector there is none. */
export function connectorVar(c: Connector, station: Station): number {
  if (c.p.type === 'dc' || c.powerW === 0) return 0;
  const { varPerW, varSign, phaseLnV, outside } = station;
  if (varPerW === null) return -chargerVar(c, c.powerW);
  const flowA = activeA(c, station, c.powerW);
  const only = onePhaseOf(c, station);
  if (only !== null || outside.supplyPhases < 3) return -varSign * Math.abs(c.powerW) * (varPerW[only ?? 0] ?? 0);
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
