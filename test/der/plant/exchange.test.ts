import { expect } from 'chai';
import { testPlant } from '../../support/plant.ts';
import { byTest } from '../../support/rig.ts';
import { HandWall } from '../../support/wall.ts';
import { ahead, attached, kinds, powersOf, step, voltVar } from './exchange-plant.ts';

describe('the exchange with a grid outside', () => {
  it('gives the same powers whatever the length of a step, each of one tick', async () => {
    const outcomes = [];
    for (const [seconds, count] of [
      [20, 1],
      [1, 20],
      [0.1, 200],
    ] as const) {
      const plant = attached(kinds, voltVar);
      await step(plant, 5, { aPu: 1, bPu: 1, cPu: 1 });
      const { tick } = plant.latest;
      plant.exchange.put({ aPu: 1.05, bPu: 1.04, cPu: 1.06 });
      for (let n = 0; n < count; n += 1) await step(plant, seconds);
      expect(plant.latest.tick - tick).to.equal(count);
      outcomes.push(powersOf(plant));
    }
    const [whole, ...others] = outcomes;
    for (const other of others) expect(other).to.deep.equal(whole);
    expect(new Set(whole?.map((power) => power?.[1])).size, 'they respond').to.be.greaterThan(2);
  });

  it('acts as the same values by controls/grid do', async () => {
    const [outside, inside] = [attached(kinds, voltVar), testPlant({ types: kinds, tickIntervalS: 7.25, ...voltVar })];
    for (const [n, voltagePu] of [1.02, 0.96, 1.07, 1].entries()) {
      const aPu = outside.devices.map(({ index }) => voltagePu + 0.001 * index);
      for (const { index } of inside.devices)
        inside.setGrid({ voltagePu: voltagePu + 0.001 * index, frequencyHz: 60 + n / 100 }, index);
      await step(outside, 7.25, { aPu, bPu: aPu, cPu: aPu, frequencyHz: 60 + n / 100 });
      await inside.runTo(ahead(inside, 7.25));
      const flows = inside.devices.map(({ flow }) => [flow.powerW, flow.reactivePowerVar]);
      expect(powersOf(outside)).to.deep.equal(flows);
    }
  });

  it('goes along ramps as controls/grid does, through steps', async () => {
    const [outside, inside] = [attached(kinds, voltVar), testPlant({ types: kinds, tickIntervalS: 2, ...voltVar })];
    await Promise.all([step(outside, 2), inside.runTo(ahead(inside, 2))]);
    outside.exchange.put({ aPu: 1.06, bPu: 1.06, cPu: 1.06, frequencyHz: 60.1 }, 4);
    inside.setGrid({ voltagePu: 1.06, frequencyHz: 60.1, rampS: 4 });
    for (const remainingS of [4, 2]) {
      expect(outside.grid(0).rampRemainingS).to.equal(remainingS);
      await Promise.all([step(outside, 2), inside.runTo(ahead(inside, 2))]);
      const flows = inside.devices.map(({ flow }) => [flow.powerW, flow.reactivePowerVar]);
      expect(powersOf(outside)).to.deep.equal(flows);
    }
    expect(outside.grid(0)).to.include({ voltageAPu: 1.06, frequencyHz: 60.1, rampRemainingS: 0 });
  });

  it('goes along a ramp with equal powers and energies whatever the length of a step', async () => {
    const outcomes = [];
    for (const [seconds, count] of [
      [20, 1],
      [1, 20],
      [0.1, 200],
    ] as const) {
      const plant = attached(kinds, voltVar);
      await step(plant, 5, { aPu: 1, bPu: 1, cPu: 1 });
      plant.exchange.put({ aPu: 1.06, bPu: 1.03, cPu: 1.05, frequencyHz: 60.2, angleDeg: 5 }, 12.5);
      for (let n = 0; n < count; n += 1) await step(plant, seconds);
      const energies = plant.exchange.states().map((state) => [state?.energyWh, state?.energyVarh]);
      outcomes.push({ powers: powersOf(plant), energies });
    }
    const [whole, ...others] = outcomes;
    for (const other of others) expect(other).to.deep.equal(whole);
  });

  it('has no exact trial on a ramp', async () => {
    const plant = attached(['PV']);
    const isExact = (values = {}) => plant.exchange.trial(values, 1)[0]?.exact;
    await step(plant, 2);
    expect(isExact()).to.equal(true);
    plant.exchange.put({ aPu: 1.01, bPu: 1.01, cPu: 1.01 }, 4);
    expect(isExact()).to.equal(false);
    plant.exchange.put({ outage: true });
    expect(isExact({ outage: false })).to.equal(false);
    plant.exchange.put({ outage: false });
    await step(plant, 4);
    expect(isExact()).to.equal(true);
  });

  it('keeps the voltages of an outage for its end', async () => {
    const plant = attached(['PV']);
    await step(plant, 1, { aPu: 1.03 });
    await step(plant, 1, { outage: true });
    expect(plant.grid(0)).to.include({ outage: true, voltageAPu: 0, frequencyHz: 0 });
    expect(plant.exchange.states()[0]).to.include({ powerW: 0 });
    await step(plant, 1, { outage: false });
    expect(plant.grid(0)).to.include({ outage: false, voltageAPu: 1.03, frequencyHz: 60 });
    plant.exchange.end();
    plant.setGrid({ outage: true });
    plant.exchange.attach([0], 'solver', byTest);
    expect(plant.grid(0).outage).to.equal(true);
    await step(plant, 1, { outage: [false] });
    expect(plant.grid(0)).to.include({ voltageAPu: 1, frequencyHz: 60 });
  });

  it('acts as an outage where no phase has a voltage', async () => {
    const [dead, out] = [attached(kinds), attached(kinds)];
    for (const plant of [dead, out]) await step(plant, 10);
    await step(dead, 3, { aPu: 0, bPu: 0, cPu: 0 });
    await step(out, 3, { outage: true });
    expect(powersOf(dead)).to.deep.equal(powersOf(out));
    expect(dead.exchange.events).to.deep.equal(out.exchange.events);
    expect(dead.grid(0)).to.deep.include({ outage: true, voltageAPu: 0, frequencyHz: 0 });
    await step(dead, 1, { cPu: 0.5 });
    expect(dead.grid(0)).to.include({ outage: false, voltageCPu: 0.5, frequencyHz: 60 });
  });

  it('has the mean power since the last answer where other ticks have passed time', async () => {
    const plant = testPlant({ types: ['PV-3Phase'], wall: new HandWall(), time: '00:00:00' });
    plant.setTime({ mode: 'accelerated' });
    plant.exchange.attach([0], 'solver', byTest);
    plant.setTime({ mode: 'paused' });
    await plant.step(100);
    const { powerW = NaN } = plant.exchange.states()[0] ?? {};
    await step(plant, 1);
    // the consumption of a night
    expect(powerW).to.equal(-2);
    expect(plant.exchange.states()[0]?.meanW).to.be.closeTo(powerW, 0.1);
  });

  it('has the mean power of a step, from its energy', async () => {
    const plant = attached(['PV']);
    await step(plant, 10);
    await step(plant, 4, { outage: true });
    await step(plant, 4);
    expect(plant.exchange.states()[0]).to.include({ powerW: 0, meanW: 0 });
    const other = attached(['PV']);
    await step(other, 10);
    const before = other.exchange.states()[0]?.powerW ?? 0;
    await step(other, 10);
    expect(other.exchange.states()[0]?.meanW).to.be.closeTo(before, 0.01 * before);
  });
});
