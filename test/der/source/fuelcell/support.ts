import { resolveFuelCell } from '../../../../src/config/profile/blocks/fuel-cell.ts';
import type { FuelCellInput } from '../../../../src/config/profile/blocks/fuel-cell.ts';
import type { Issue } from '../../../../src/core/errors.ts';
import { FuelCellPort } from '../../../../src/der/source/fuelcell/fuelcell-port.ts';
import type { SourceInput } from '../../../../src/der/source/source.ts';

export const mild: SourceInput = {
  irradianceWm2: 0,
  ambientTemperatureC: 20,
  cellTemperatureC: null,
  windSpeedMS: 0,
  terminalPu: 1,
  phaseLnV: [230, 230, 230] as [number, number, number],
  loadW: 0,
  frequencySupport: false,
  rate: 1,
};

export const pemBoth = { operating_mode: 'bidirectional' } as const;
export const oxideBoth = { chemistry: 'SOFC', operating_mode: 'bidirectional' } as const;
export const oxideOnly = { chemistry: 'SOFC' } as const;

/** Net DC power of a plant of 4850 W at the terminals, W. */
export const ratedDcW = 5000;

/** A settled plant with a rating of 5 kW DC, and of 5 kW for electrolysis. */
export function plantOf(input: FuelCellInput = {}): FuelCellPort {
  const issues: Issue[] = [];
  const both = input.operating_mode === 'bidirectional' ? { rated_el_power_w: ratedDcW } : {};
  const parameters = resolveFuelCell({ ...both, ...input }, 4850, 'test', issues);
  if (issues.length > 0) throw new Error(JSON.stringify(issues));
  const port = new FuelCellPort(parameters);
  port.settle(mild);
  return port;
}

/** One sub-step at the answer of the plant. @returns that power, W */
export function step(port: FuelCellPort, targetW: number | null, dtS: number, input = mild): number {
  port.prepare(dtS, input);
  const dcW = port.answer({ targetW, floorW: -1e6, ceilingW: 1e6 });
  port.draw(dcW, true);
  return dcW;
}

/** Steps of `dtS` over `totalS`, shorter if `maxStepS` is. @returns the last power, W */
export function run(port: FuelCellPort, targetW: number | null, totalS: number, dtS: number): number {
  let [dcW, leftS] = [0, totalS];
  while (leftS > 1e-9) {
    const stepS = Math.min(dtS, leftS, port.maxStepS);
    dcW = step(port, targetW, stepS);
    leftS -= stepS;
  }
  return dcW;
}

/** Starts from a steady power, W. */
export function steadyAt(port: FuelCellPort, targetW: number): void {
  port.settle(mild);
  port.draw(port.answer({ targetW, floorW: -1e6, ceilingW: 1e6 }), true);
}
