/** Plants whose devices are attached to a grid outside, and their steps. */
import type { OutsideColumns } from '../../../src/contract/exchange.ts';
import { addSeconds } from '../../../src/core/time/clock.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { failureOf } from '../../support/client.ts';
import { testPlant } from '../../support/plant.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import { byTest } from '../../support/rig.ts';

export const kinds = ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'];
export const voltVar: TestPlantOptions = { models: { 705: { Ena: 'ENABLED' } } };

/** Attaches all devices. */
export function attach(plant: SimPlant): SimPlant {
  plant.exchange.attach(
    plant.devices.map(({ index }) => index),
    'solver',
    byTest,
  );
  return plant;
}

export const attached = (types: readonly string[] = kinds, options: TestPlantOptions = {}): SimPlant =>
  attach(testPlant({ types, ...options }));

export const ahead = (plant: SimPlant, seconds: number) => addSeconds(plant.now, seconds);

export const step = (plant: SimPlant, seconds: number, values: OutsideColumns = {}) =>
  plant.exchange.step((now) => addSeconds(now, seconds), values);

export const powersOf = (plant: SimPlant) =>
  plant.exchange.states().map((state) => state && [state.powerW, state.reactivePowerVar]);

/** Phases of a voltage that differ a little. */
export const volts = (pu: number) => ({ aPu: pu, bPu: pu - 0.005, cPu: pu + 0.005 });

/** Code and text of the error that a call ends with. */
export const refusal = async (act: () => unknown): Promise<string> => {
  const { code, message } = (await failureOf(Promise.resolve().then(act))) as { code: string; message: string };
  return `${code}: ${message}`;
};
