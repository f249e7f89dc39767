import { resolveWind } from '../../../../src/config/profile/blocks/wind.ts';
import type { WindInput } from '../../../../src/config/profile/blocks/wind.ts';
import type { WindParameters } from '../../../../src/contract/kinds/wind.ts';
import { createRandom } from '../../../../src/core/random.ts';
import type { SourceInput } from '../../../../src/der/source/source.ts';
import { WindPort } from '../../../../src/der/source/wind/wind-port.ts';

export function parametersOf(input: WindInput): WindParameters {
  return resolveWind({ turbulence_class: 'none', anemometer_height_m: 100, shear_exponent: 0, ...input }, 5e6, 'p', []);
}

/** Surroundings whose wind is the hub wind where the shear exponent is 0. */
export function surroundings(windSpeedMS: number, more: Partial<SourceInput> = {}): SourceInput {
  return {
    irradianceWm2: 0,
    ambientTemperatureC: 20,
    cellTemperatureC: null,
    windSpeedMS,
    terminalPu: 1,
    phaseLnV: [230, 230, 230] as [number, number, number],
    loadW: 0,
    frequencySupport: false,
    rate: 1,
    ...more,
  };
}

export function settledPort(parameters: WindParameters, input: SourceInput, seed = 1): WindPort {
  const port = new WindPort(parameters, createRandom(seed, 'wind'));
  port.settle(input);
  port.draw(port.availableDcW, true);
  return port;
}

export interface RunOptions {
  readonly dtS?: number;
  /** maximum DC power that is drawn, W */
  readonly capW?: number;
  readonly energized?: boolean;
}

/** Runs for a time under constant surroundings. @returns DC energy, J */
export function run(port: WindPort, seconds: number, input: SourceInput, options: RunOptions = {}): number {
  const dtS = options.dtS ?? 1;
  let energyJ = 0;
  for (let n = Math.round(seconds / dtS); n > 0; n -= 1) {
    port.prepare(dtS, input);
    const powerW = port.answer({ targetW: null, floorW: 0, ceilingW: options.capW ?? Infinity });
    const energized = options.energized ?? true;
    port.draw(energized ? powerW : 0, energized);
    if (energized) energyJ += powerW * dtS;
  }
  return energyJ;
}
