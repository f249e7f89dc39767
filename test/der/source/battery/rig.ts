/** Drives a battery as an inverter does. */
import { createRandom } from '../../../../src/core/random.ts';
import type { BatteryParameters } from '../../../../src/contract/kinds/battery.ts';
import { cellSpecs } from '../../../../src/der/source/battery/cell-spec.ts';
import type { CellSpec } from '../../../../src/der/source/battery/cell-spec.ts';
import { BatteryPort } from '../../../../src/der/source/battery/battery-port.ts';
import type { BatteryOptions } from '../../../../src/der/source/battery/battery-port.ts';

export const weather = {
  irradianceWm2: 0,
  ambientTemperatureC: 25,
  cellTemperatureC: null as number | null,
  windSpeedMS: 1,
  terminalPu: 1,
  phaseLnV: [230, 230, 230] as [number, number, number],
  loadW: 0,
  frequencySupport: false,
  rate: 1,
};

export const defaults: BatteryParameters = {
  chemistry: 'nmc',
  capacityWh: 15_000,
  powerW: 10_000,
  socPct: 50,
  socMinPct: 10,
  socMaxPct: 90,
  socReserveMinPct: 10,
  socReserveMaxPct: 90,
  strings: 2,
  modules: 4,
  cells: 16,
  sohPct: 100,
  cycleLife: null,
  socDrift: null,
  ambientTemperatureC: null,
  thermalTimeConstantS: 7200,
  efficiencyNominal: 0.97,
};

/** Cells without differences: a string is one cell times their number. */
export const evenSpec: CellSpec = {
  ...cellSpecs.nmc,
  spread: { capacityShare: 0, resistanceShare: 0, socShare: 0, temperatureK: 0, moduleGradientK: 0 },
};

export function battery(
  parameters: Partial<BatteryParameters> = {},
  options: BatteryOptions = {},
  seed = 1,
): BatteryPort {
  const port = new BatteryPort({ ...defaults, ...parameters }, createRandom(seed, 'battery'), options);
  port.settle(weather);
  return port;
}

export const wide = { floorW: -1e9, ceilingW: 1e9 };

/** One sub-step at a target power, clipped to the limits of the battery. @returns the power that flowed */
export function step(port: BatteryPort, dtS: number, targetW: number | null, around = weather): number {
  port.prepare(dtS, around);
  const dcW = port.answer({ targetW, ...wide });
  port.draw(dcW, true);
  return dcW;
}

/** Sub-steps of at most `dtS` and `maxStepS`. @returns energy that flowed out, Wh */
export function run(port: BatteryPort, seconds: number, dtS: number, targetW: number | null, around = weather): number {
  let [leftS, energyWh] = [seconds, 0];
  while (leftS > 1e-6) {
    const h = Math.min(dtS, port.maxStepS, leftS);
    energyWh += (step(port, h, targetW, around) * h) / 3600;
    leftS -= h;
  }
  return energyWh;
}
