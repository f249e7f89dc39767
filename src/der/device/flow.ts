/** The power of a device at its terminals as doubles, for a grid solver: registers round to what a meter shows. */
import type { DeviceFlow, TerminalFlow } from '../../contract/exchange.ts';
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

/** Power of each phase. @param grid at the terminals */
export function phaseFlows(
  { wiring, vNomRtgV }: Pick<InverterRatings, 'wiring' | 'vNomRtgV'>,
  { pW, qVar, phaseLoads }: Pick<Output, 'pW' | 'qVar' | 'phaseLoads'>,
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
