/** The chargers at the AC supply of the station: reactive power, phases, and amperes of the whole station. */
import type { PhaseLoads } from '../source.ts';
import { phasesInUse, supplyPhases } from './connector.ts';
import type { Connector } from './connector.ts';
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

/**
 * Power of the chargers that load one phase of a three-phase station; null: there is none. A single-phase vehicle loads
 * L1 of a three-phase connector; single-phase connectors use the phases in turn.
 */
export function phaseLoads({ connectors, outside }: Station): PhaseLoads | null {
  if (outside.supplyPhases < 3) return null;
  const watts: [number, number, number] = [0, 0, 0];
  const vars: [number, number, number] = [0, 0, 0];
  let found = false;
  for (const c of connectors) {
    if (c.p.type !== 'ac' || c.planW === 0 || phasesInUse(c) === 3) continue;
    found = true;
    const at = (supplyPhases(c, 3)[0] ?? 1) - 1;
    watts[at] = (watts[at] ?? 0) - c.planW;
    vars[at] = (vars[at] ?? 0) + chargerVar(c, c.planW);
  }
  return found ? { watts, vars } : null;
}

/**
 * Watts of one ampere per phase of the whole station. Of several power factors the lowest counts: with the others the
 * current is less.
 */
export function supplyWattsPerAmpere({ connectors, profile, phaseLnV: [a, b, c], outside }: Station): number {
  let powerFactor = 1;
  for (const { p } of connectors) powerFactor = Math.min(powerFactor, p.powerFactor);
  return profile.phases * ((a + b + c) / outside.supplyPhases) * powerFactor;
}
