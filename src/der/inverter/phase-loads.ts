/** Loads at single phases beside the even share of the rest. */
import type { PhaseLoads, Phases } from '../source/source.ts';

/** Power of phase `i`: its own load and its share of the rest. */
export function phaseOf(i: number, total: number, share: number, loads: Phases): number {
  return (total - loads[0] - loads[1] - loads[2]) * share + (loads[i] ?? 0);
}

const noVars: Phases = [0, 0, 0];

/** The loads with the reactive power of a function, shared evenly, instead of their own. */
export function withoutOwnVar(loads: PhaseLoads | null): PhaseLoads | null {
  return loads && { watts: loads.watts, vars: noVars };
}
