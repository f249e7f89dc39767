import { expect } from 'chai';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { pick } from '../../support/depth.ts';
import { casesOf } from '../../support/random.ts';
import { byTest } from '../../support/rig.ts';
import { between, oneOf, steadyPlant } from './trial-cases.ts';
import { compareStep, expectStep, isExact, set, step, tried, volts } from './trial-rig.ts';

const vehicleToGrid = 'EVSE --evse_profile EVSE-V2G-DC-50kW-bidir';

const setPoint = (plant: SimPlant, pct: number) => {
  set(plant, (tx) => {
    Object.assign(tx.m704, { WSetEna: 'ENABLED', WSetMod: 'W_MAX_PCT', WSetPct: pct, WRmp: 100 });
  });
};

/** A bidirectional station whose vehicle discharges at 40 % of the rating. */
async function dischargingPlant(socPct: number): Promise<SimPlant> {
  const plant = steadyPlant([vehicleToGrid]);
  plant.device(0).command({ kind: 'evse.plug', connectorId: 1, ev: { socPct, reserveSocPct: 30 } }, byTest);
  setPoint(plant, 40);
  await step(plant, 60, volts(1));
  return plant;
}

describe('a trial of a charging station', () => {
  it('follows the voltage where a charging station draws a current', async () => {
    const plant = steadyPlant(['EVSE']);
    plant.device(0).command({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 30, maxChargeW: 50_000 } }, byTest);
    await step(plant, 60, volts(1));
    const { powerW } = plant.exchange.states()[0]!;
    expect(powerW).to.be.lessThan(-5000);
    const low = tried(plant, 1, volts(0.95)).powerW;
    expect(low / powerW).to.be.within(0.949, 0.952);
    await expectStep(plant, 1, volts(0.95));
    await expectStep(plant, 30, volts(1.01));
  });

  it('holds a vehicle in discharge, and takes it there and back', async () => {
    const plant = await dischargingPlant(60);
    expect(plant.exchange.states()[0]!.powerW).to.be.closeTo(20_000, 10);
    await expectStep(plant, 30, volts(1.02));
    expect(tried(plant, 0.02, volts(1)).powerW).to.be.closeTo(20_000, 10);
    for (const pct of [-40, 80, 20]) {
      setPoint(plant, pct);
      await expectStep(plant, 30, volts(1));
      expect(plant.exchange.states()[0]!.powerW, `${pct} %`).to.be.closeTo(500 * pct, 10);
    }
  });

  it('where exact, is what the step that follows gives, while set-points turn vehicles', async () => {
    const random = casesOf('exchange-trial-vehicles');
    const plant = steadyPlant(Array.from({ length: 8 }, () => vehicleToGrid));
    for (const device of plant.devices)
      device.command({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 60, reserveSocPct: 5 } }, byTest);
    const failures: string[] = [];
    const rounds = pick({ quick: 25, ci: 50, full: 500 });
    let exactCount = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (const wait of [oneOf(random, [1, 10, 30]), oneOf(random, [0.1, 0.5])]) {
        for (const { bank } of plant.devices)
          bank.transact(byTest, (tx) => {
            const WRmp = oneOf(random, [5, 10, 12, 20, 100]);
            Object.assign(tx.m704, {
              WSetEna: 'ENABLED',
              WSetMod: 'W_MAX_PCT',
              WSetPct: between(random, -60, 60),
              WRmp,
            });
          });
        await step(plant, wait, volts(1));
      }
      const dtS = oneOf(random, [0.1, 0.3, 0.5, 1, 2, 5, 10]);
      exactCount += await compareStep(plant, dtS, volts(1), (place, difference) => {
        failures.push(`device ${place} in round ${round}, ${dtS} s: ${difference}`);
      });
    }
    expect(failures).to.deep.equal([]);
    expect(exactCount).to.be.greaterThan(0.3 * plant.devices.length * rounds);
  });

  it('is not exact while a vehicle may be behind a set-point of discharge', async () => {
    const plant = await dischargingPlant(60);
    setPoint(plant, -80);
    await step(plant, 60, volts(1));
    setPoint(plant, 80);
    expect([1, 5, 30].map((dtS) => isExact(plant, dtS))).to.deep.equal([false, false, true]);
    await step(plant, 3, volts(1));
    expect(isExact(plant, 1), 'on the ramp').to.equal(false);
    await expectStep(plant, 30, volts(1));
    await expectStep(plant, 0.1, volts(1));
  });

  it('is not exact where a discharge may reach the reserve of the vehicle', async () => {
    const plant = await dischargingPlant(31);
    expect([1, 10, 600].map((dtS) => isExact(plant, dtS))).to.deep.equal([true, true, false]);
    setPoint(plant, -40);
    await step(plant, 60, volts(1));
    expect(isExact(plant, 600), 'while it charges').to.equal(true);
    setPoint(plant, 40);
    expect(
      [10, 50, 55, 600].map((dtS) => isExact(plant, dtS)),
      'from charge to discharge',
    ).to.deep.equal([true, true, false, false]);
  });
});
