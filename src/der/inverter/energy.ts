/** Lifetime energy counters of phases and DC ports: doubles that never decrease; the registers get whole units. */
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { DcPort, DcSource, PhaseLoads, Phases } from '../source/source.ts';

/** Power of phase `i`: its own load and its share of the rest. */
export function phaseOf(i: number, total: number, share: number, loads: Phases): number {
  return (total - loads[0] - loads[1] - loads[2]) * share + (loads[i] ?? 0);
}

const noVars: Phases = [0, 0, 0];

/** The loads without reactive power: a function decides the total, of which each phase has its share. */
export function withoutVars(loads: PhaseLoads | null): PhaseLoads | null {
  return loads && { watts: loads.watts, vars: noVars };
}

/** One phase, Wh and varh. */
export interface PhaseEnergy {
  whInjected: number;
  whAbsorbed: number;
  varhInjected: number;
  varhAbsorbed: number;
}

/** One DC port, Wh, and its power at the end of the last sub-step. */
interface PortEnergy {
  whInjected: number;
  whAbsorbed: number;
  lastW: number;
}

/** Power at both ends of a sub-step, W and var. */
export interface PowerSpan {
  readonly fromW: number;
  readonly toW: number;
  readonly fromVar: number;
  readonly toVar: number;
  /** true: the power moved linearly between both ends; false: the later value held throughout */
  readonly linear: boolean;
}

const noPhase = (): PhaseEnergy => ({ whInjected: 0, whAbsorbed: 0, varhInjected: 0, varhAbsorbed: 0 });
const sumOf = (a: PhaseEnergy, b: PhaseEnergy): PhaseEnergy => ({
  whInjected: a.whInjected + b.whInjected,
  whAbsorbed: a.whAbsorbed + b.whAbsorbed,
  varhInjected: a.varhInjected + b.varhInjected,
  varhAbsorbed: a.varhAbsorbed + b.varhAbsorbed,
});
const noPort = (): PortEnergy => ({ whInjected: 0, whAbsorbed: 0, lastW: 0 });

export class EnergyMeter {
  readonly phases: readonly PhaseEnergy[];
  readonly ports: readonly PortEnergy[];
  /** energies from before the last `clear`, by phase; null: none */
  #cleared: readonly PhaseEnergy[] | null = null;

  constructor(phaseCount: number, portCount: number) {
    this.phases = Array.from({ length: phaseCount }, noPhase);
    this.ports = Array.from({ length: portCount }, noPort);
  }

  /**
   * Adds a sub-step, exactly for constant or linear power.
   * @param shares share of each phase in the total
   * @param loads loads at single phases; null: none
   */
  add(
    dtS: number,
    span: PowerSpan,
    shares: readonly number[],
    { ports }: Pick<DcSource, 'ports'>,
    loads: PhaseLoads | null = null,
  ): void {
    const hours = dtS / 3600;
    const fromW = span.linear ? span.fromW : span.toW;
    const fromVar = span.linear ? span.fromVar : span.toVar;
    // a counter would never recover from a NaN
    if (Number.isFinite(fromW + span.toW + fromVar + span.toVar)) {
      const injected = { wh: meanAbove(fromW, span.toW) * hours, varh: meanAbove(fromVar, span.toVar) * hours };
      const absorbed = { wh: meanAbove(-fromW, -span.toW) * hours, varh: meanAbove(-fromVar, -span.toVar) * hours };
      if (loads) this.#addUneven(span, hours, shares, loads);
      else this.#addPhases(injected, absorbed, shares);
    }
    this.#addPorts(hours, span.linear, ports);
  }

  /** Energies by phase since the device was made: `clear` takes nothing from them. */
  get sinceStart(): readonly PhaseEnergy[] {
    const cleared = this.#cleared;
    return cleared === null ? this.phases : this.phases.map((phase, i) => sumOf(cleared[i] ?? noPhase(), phase));
  }

  /** Active energy into the grid since then, Wh. */
  get injectedWh(): number {
    return this.#activeWh('whInjected');
  }

  /** Active energy out of the grid since then, Wh. */
  get absorbedWh(): number {
    return this.#activeWh('whAbsorbed');
  }

  clear(): void {
    this.#cleared = this.sinceStart.map((phase) => ({ ...phase }));
    for (const phase of this.phases) Object.assign(phase, noPhase());
    for (const port of this.ports) Object.assign(port, noPort());
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ phases: this.phases, ports: this.ports, cleared: this.#cleared }),
      ({ phases, ports, cleared }) => {
        this.#cleared = cleared;
        this.phases.forEach((phase, i) => Object.assign(phase, phases[i]));
        this.ports.forEach((port, i) => Object.assign(port, ports[i]));
      },
    );
  }

  #activeWh(counter: 'whInjected' | 'whAbsorbed'): number {
    let wh = 0;
    for (const phase of this.phases) wh += phase[counter];
    for (const phase of this.#cleared ?? []) wh += phase[counter];
    return wh;
  }

  #addPhases(injected: Energy, absorbed: Energy, shares: readonly number[]): void {
    for (let i = 0; i < this.phases.length; i += 1) {
      const phase = this.phases[i];
      const share = shares[i] ?? 0;
      if (!phase || !Number.isFinite(share)) continue;
      phase.whInjected += injected.wh * share;
      phase.whAbsorbed += absorbed.wh * share;
      phase.varhInjected += injected.varh * share;
      phase.varhAbsorbed += absorbed.varh * share;
    }
  }

  /** Phases may carry power in opposite directions: each has its own counters. */
  #addUneven(span: PowerSpan, hours: number, shares: readonly number[], { watts, vars }: PhaseLoads): void {
    for (let i = 0; i < this.phases.length; i += 1) {
      const phase = this.phases[i];
      const share = shares[i] ?? 0;
      const wh = phaseOf(i, span.toW, share, watts) * hours;
      const varh = phaseOf(i, span.toVar, share, vars) * hours;
      if (!phase || !Number.isFinite(wh + varh)) continue;
      phase.whInjected += Math.max(0, wh);
      phase.whAbsorbed += Math.max(0, -wh);
      phase.varhInjected += Math.max(0, varh);
      phase.varhAbsorbed += Math.max(0, -varh);
    }
  }

  #addPorts(hours: number, linear: boolean, ports: readonly DcPort[]): void {
    for (let i = 0; i < this.ports.length; i += 1) {
      const energy = this.ports[i];
      const powerW = ports[i]?.powerW ?? 0;
      if (!energy || !Number.isFinite(powerW)) continue;
      const fromW = linear ? energy.lastW : powerW;
      energy.whInjected += meanAbove(fromW, powerW) * hours;
      energy.whAbsorbed += meanAbove(-fromW, -powerW) * hours;
      energy.lastW = powerW;
    }
  }
}

/** Energy of all phases, Wh and varh. */
interface Energy {
  readonly wh: number;
  readonly varh: number;
}

/** Mean of the positive part of a straight line between two values. */
function meanAbove(from: number, to: number): number {
  if (from >= 0 && to >= 0) return (from + to) / 2;
  if (from <= 0 && to <= 0) return 0;
  const top = Math.max(from, to);
  return (top * top) / (2 * (Math.abs(from) + Math.abs(to)));
}
