/** Steps and trials of a plant with one client, for tests of the exchange. */
import { expect } from 'chai';
import type { OutsideColumns } from '../../../src/contract/exchange.ts';
import { addSeconds } from '../../../src/core/time/clock.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';
import { byTest } from '../../support/rig.ts';

export const step = (plant: SimPlant, seconds: number, values: OutsideColumns = {}) =>
  plant.exchange.step((now) => addSeconds(now, seconds), values);
export const volts = (pu: number): OutsideColumns => ({ aPu: pu, bPu: pu, cPu: pu });
export const set = (plant: SimPlant, change: (tx: WritableMapView) => void) => {
  plant.device(0).bank.transact(byTest, change);
};
export const tried = (plant: SimPlant, dtS: number | null, values: OutsideColumns) =>
  plant.exchange.trial(values, dtS)[0]!;
export const isExact = (plant: SimPlant, dtS: number | null, values: OutsideColumns = volts(1)) =>
  tried(plant, dtS, values).exact;

/** Fails unless an exact trial of the first device has the power of the step that follows. */
export async function expectStep(plant: SimPlant, dtS: number, values: OutsideColumns): Promise<void> {
  const trial = tried(plant, dtS, values);
  await step(plant, dtS, values);
  const state = plant.exchange.states()[0]!;
  const { ratedVa } = plant.exchange.now!.devices[0]!;
  expect(trial.exact).to.equal(true);
  expect(trial.powerW).to.be.closeTo(state.powerW, 1e-3 * ratedVa);
  expect(trial.reactivePowerVar).to.be.closeTo(state.reactivePowerVar, 1e-3 * ratedVa);
}

/**
 * Tries a step, takes it, and notes each exact trial that differs by more than 0.1 % of the rating.
 * @returns the number of exact trials
 */
export async function compareStep(
  plant: SimPlant,
  dtS: number,
  values: OutsideColumns,
  note: (place: number, difference: string) => void,
): Promise<number> {
  const trials = plant.exchange.trial(values, dtS);
  await step(plant, dtS, values);
  for (const [place, state] of plant.exchange.states().entries()) {
    const { exact, powerW, reactivePowerVar } = trials[place]!;
    const { ratedVa } = plant.exchange.now!.devices[place]!;
    const errors = [powerW - state!.powerW, reactivePowerVar - state!.reactivePowerVar].map((d) => d / ratedVa);
    if (exact && errors.some((error) => !(Math.abs(error) <= 1e-3))) note(place, `off by ${errors.join()}`);
  }
  return trials.filter((trial) => trial!.exact).length;
}
