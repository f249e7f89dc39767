import { expect } from 'chai';
import { secondsBetween } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { testPlant } from '../../support/plant.ts';
import { byTest } from '../../support/rig.ts';
import { attached, refusal, step } from './exchange-plant.ts';

describe('the attachment to a grid outside', () => {
  it('begins with the present grid, and returns devices to it', async () => {
    const plant = testPlant({ types: ['PV', 'PV'] });
    plant.setGrid({ voltagePu: 0.97 });
    plant.setGrid({ voltagePu: 1.04 }, 1);
    plant.exchange.attach([1], 'solver', byTest);
    expect(plant.grid(1).voltageAPu).to.equal(1.04);
    await step(plant, 1, { aPu: 1.1 });
    expect([plant.grid(0).voltageAPu, plant.grid(1).voltageAPu]).to.deep.equal([0.97, 1.1]);
    expect(plant.grid().deviatingDevices).to.deep.equal([1]);
    plant.exchange.end();
    expect(plant.grid(1).voltageAPu).to.equal(1.04);
    expect(plant.exchange.now).to.equal(null);
  });

  it('belongs to one owner, and keeps others from the grid of its devices alone', async () => {
    const plant = testPlant({ types: ['PV', 'PV'] });
    plant.exchange.attach([1], 'solver', byTest);
    const owned = 'COMMAND_CONFLICT: "solver" gives the grid of ';
    expect(await refusal(() => plant.setGrid({ voltagePu: 1 }))).to.contain(`${owned}attached devices`);
    expect(await refusal(() => plant.setGrid({ voltagePu: 1 }, 1))).to.contain(`${owned}device 1`);
    expect(await refusal(() => plant.startGridEvent('sag', {}, 1))).to.contain(`${owned}device 1`);
    expect(await refusal(() => plant.stopGridEvent())).to.contain(owned);
    plant.setGrid({ voltagePu: 0.98 }, 0);
    expect(await refusal(() => plant.exchange.attach([0], 'other', byTest))).to.contain('"solver" has an exchange');
    plant.exchange.end();
    for (const act of [() => plant.exchange.put({}), () => plant.exchange.end(), () => plant.exchange.states()])
      expect(await refusal(act)).to.contain('COMMAND_CONFLICT: no devices are attached');
  });

  it('is refused where the simulator has a feeder of its own, for unknown devices, and backwards', async () => {
    const behind = testPlant({ types: ['PV'], feeder: { scr: 5, xOverR: 2 } });
    expect(await refusal(() => behind.exchange.attach([0], 'solver', byTest))).to.contain('grid.feeder');
    const plant = testPlant({ types: ['PV'] });
    expect(await refusal(() => plant.exchange.attach([0, 7], 'solver', byTest))).to.contain('UNKNOWN_DEVICE');
    expect(plant.exchange.now).to.equal(null);
    plant.setGrid({ voltagePu: 0.99 }, 0);
    plant.exchange.attach([0], 'solver', byTest);
    expect(await refusal(() => plant.exchange.step((now) => now, { aPu: 0.9 }))).to.contain('COMMAND_BAD_VALUE');
    expect(await refusal(() => plant.exchange.step((now) => (now - 1) as SimTime, { aPu: 0.9 }))).to.contain(
      'must end after',
    );
    expect(plant.grid(0).voltageAPu, 'nothing is applied').to.equal(0.99);
    plant.setTime({ mode: 'accelerated' });
    expect(await refusal(() => step(plant, 1, { aPu: 0.9 }))).to.contain('needs the clock paused');
    expect(plant.grid(0).voltageAPu).to.equal(0.99);
  });

  it('is refused while a request of ticks passes time', async () => {
    const plant = testPlant({ types: ['PV-3Phase'] });
    const ticks = plant.step(2);
    expect(await refusal(() => plant.exchange.attach([0], 'solver', byTest))).to.contain(
      'a step of the clock is under way',
    );
    await ticks;
    expect(plant.exchange.attach([0], 'solver', byTest).pace).to.equal('stepped');
  });

  it('keeps the place of a device that is removed, with its event', async () => {
    const plant = attached(['PV', 'PV', 'PV']);
    await step(plant, 1);
    await plant.remove(1);
    await step(plant, 1, { aPu: [1.01, 1.02, 1.03] });
    expect(plant.exchange.states().map((state) => state === null)).to.deep.equal([false, true, false]);
    expect(plant.grid(2).voltageAPu).to.equal(1.03);
    expect(plant.exchange.events.events.map(({ place, event }) => [place, event])).to.deep.equal([[1, 'removed']]);
  });

  it('tells the vehicles that come and go, once, also those beyond the kept ones as lost', async () => {
    const plant = attached(['PV', 'EVSE']);
    const station = plant.device(1);
    const begin = plant.now;
    const plug = () => station.command({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 30 } }, byTest);
    const unplug = () => station.command({ kind: 'evse.unplug', connectorId: 1 }, byTest);
    const told = () =>
      plant.exchange.events.events.map(({ place, at, event }) => [place, secondsBetween(begin, at), event]);
    await step(plant, 2);
    plug();
    await step(plant, 10);
    expect(told()).to.deep.equal([[1, 2, 'plugged']]);
    await step(plant, 1);
    expect(told()).to.deep.equal([]);
    unplug();
    await step(plant, 1);
    expect(told()).to.deep.equal([[1, 13, 'unplugged']]);
    for (let vehicle = 0; vehicle < 501; vehicle += 1) {
      plug();
      unplug();
    }
    await step(plant, 1);
    expect([plant.exchange.events.events.length, plant.exchange.events.lost]).to.deep.equal([1000, 2]);
    plant.exchange.end();
    plug();
    plant.exchange.attach([1], 'solver', byTest);
    await step(plant, 1);
    expect(told()).to.deep.equal([]);
  });

  it('keeps a device that is reset attached with its voltages', async () => {
    const plant = attached(['PV']);
    await step(plant, 1, { aPu: 1.04 });
    plant.device(0).command({ kind: 'reset', scope: 'device' }, byTest);
    expect(plant.grid(0).voltageAPu).to.equal(1.04);
  });

  it('says wiring, base voltage and powers of each device, and phases whose sums are the whole', async () => {
    const plant = attached(['PV-1Phase', 'Batt-3Phase', 'EVSE']);
    const [pv, battery, charger] = plant.exchange.now?.devices ?? [];
    expect(pv).to.include({ index: 0, kind: 'pv', wiring: 'single', minW: 0 });
    expect(battery?.wiring).to.equal('three');
    expect(battery?.minW).to.be.lessThan(0);
    expect(charger).to.include({ maxW: 0 });
    await step(plant, 10, { aPu: 1.02, bPu: 0.99, cPu: 1.01 });
    for (const [place, state] of plant.exchange.states().entries()) {
      const sum = state?.phases.reduce((total, { w }) => total + w, 0) ?? NaN;
      expect(sum).to.be.closeTo(state?.powerW ?? 0, 1e-9);
      expect(state?.phases).to.have.length(plant.exchange.now?.devices[place]?.wiring === 'three' ? 3 : 1);
    }
  });
});
