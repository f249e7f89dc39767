/** The power of a device at its terminals as doubles, for a grid solver: registers round to what a meter shows. */
import type { DeviceFlow, ExchangeTrial, TerminalFlow } from '../../contract/exchange.ts';
import { phaseCount, phaseCurrentA, phaseShares, terminalVoltages } from '../inverter/ac.ts';
import { phaseOf } from '../inverter/energy.ts';
import type { Inverter } from '../inverter/inverter.ts';
import type { InverterRatings, Output } from '../inverter/output.ts';
import type { GridValues } from '../surroundings/environment.ts';

/** @param grid at the terminals in the last sub-step, which shares the power among the phases */
export function deviceFlow(inverter: Inverter, grid: GridValues): DeviceFlow {
  let [energyWh, energyVarh] = [0, 0];
  for (const { whInjected, whAbsorbed, varhInjected, varhAbsorbed } of inverter.meter.sinceStart) {
    energyWh += whInjected - whAbsorbed;
    energyVarh += varhInjected - varhAbsorbed;
  }
  const { pW, qVar, ratings } = inverter;
  return { powerW: pW, reactivePowerVar: qVar, phases: phaseFlows(ratings, inverter, grid), energyWh, energyVarh };
}

type FlowRatings = Pick<InverterRatings, 'wiring' | 'vNomRtgV'>;
type Outcome = Pick<Output, 'pW' | 'qVar' | 'phaseLoads'>;

/** Power under a grid that the device does not have. A class: an object with a getter of its own takes ten times as long. */
export class TriedFlow implements ExchangeTrial {
  readonly powerW: number;
  readonly reactivePowerVar: number;
  readonly exact: boolean;
  readonly #ratings: FlowRatings;
  readonly #outcome: Outcome;
  readonly #grid: GridValues;

  /** @param grid at the terminals */
  constructor(ratings: FlowRatings, outcome: Outcome, grid: GridValues, exact: boolean) {
    this.powerW = outcome.pW;
    this.reactivePowerVar = outcome.qVar;
    this.exact = exact;
    this.#ratings = ratings;
    this.#outcome = outcome;
    this.#grid = grid;
  }

  /** Made on request: most solvers ask for the sums alone. */
  get phases(): TerminalFlow['phases'] {
    return phaseFlows(this.#ratings, this.#outcome, this.#grid);
  }
}

/** Power of each phase. @param grid at the terminals */
function phaseFlows(
  { wiring, vNomRtgV }: FlowRatings,
  { pW, qVar, phaseLoads }: Outcome,
  grid: GridValues,
): TerminalFlow['phases'] {
  const shares = phaseShares(wiring, grid);
  const { ln } = terminalVoltages(wiring, vNomRtgV, grid);
  return shares.slice(0, phaseCount(wiring)).map((share, i) => {
    const w = phaseLoads === null ? pW * share : phaseOf(i, pW, share, phaseLoads.watts);
    const vars = phaseLoads === null ? qVar * share : phaseOf(i, qVar, share, phaseLoads.vars);
    return { w, var: vars, a: phaseCurrentA(Math.hypot(w, vars), ln[i] ?? 0) };
  });
}
