import { expect } from 'chai';
import { HydrogenTank } from '../../../../src/der/source/fuelcell/hydrogen.ts';
import { casesOf } from '../../../support/random.ts';
import { mild, oxideBoth, oxideOnly, pemBoth, plantOf, run, steadyAt, step } from './support.ts';

const numbersOf = (detail: object) => Object.values(detail).filter((value) => typeof value === 'number');

describe('hydrogen of a fuel cell plant', () => {
  it('tank: pressure with compressibility, level, reserves', () => {
    const tank = new HydrogenTank({
      tankCapacityKg: 4,
      tankLevelPct: 100,
      tankPressureMaxBar: 200,
      tankReserveMinPct: 5,
      tankReserveMaxPct: 95,
      tankLowPct: 15,
    });
    expect([tank.massKg, tank.levelPct]).to.deep.equal([4, 100]);
    expect(tank.pressureBar(15)).to.be.closeTo(200, 1e-9);
    // p V = Z m R T / M with the volume of a full tank at 15 C
    const molarVolume = (8.314462618 * 288.15) / 2.01588e-3;
    const volumeM3 = ((1 + 200 * 6e-4) * 4 * molarVolume) / 200e5;
    tank.setLevel(50);
    const halfBar = tank.pressureBar(15);
    expect(halfBar * 1e5 * volumeM3).to.be.closeTo((1 + halfBar * 6e-4) * 2 * molarVolume, 1);
    tank.setLevel(100);
    expect(tank.state(0, 0)).to.equal('full');
    for (const [level, state] of [
      [94, 'ok'],
      [14, 'low'],
      [5, 'empty'],
      [0, 'empty'],
    ] as const) {
      tank.setLevel(level);
      expect(tank.state(1e-9, 1e-9)).to.equal(state);
    }
    expect([tank.pressureBar(15), tank.take(1)]).to.deep.equal([0, 0]);
  });

  for (const [name, input] of [
    ['PEM', pemBoth],
    ['solid oxide', { ...oxideBoth, dwell_s: 20 }],
  ] as const) {
    it(`${name}: in less out is the change of the tank, over random commands and steps`, () => {
      const random = casesOf('hydrogen', name);
      const port = plantOf({ ...input, tank_capacity_kg: 0.02 });
      const startKg = port.detail().tankMassKg!;
      let [reachedLow, reachedHigh] = [false, false];
      for (let round = 0; round < 1500; round += 1) {
        // long spells in either direction: both ends of the tank are met
        const targetW = (random.next() - 0.5 + Math.sin(round / 60)) * 7000;
        const dtS = [0.02, 0.1, 1, 2.5][Math.floor(random.next() * 4)]!;
        for (let s = 0; s < 40; s += 1) step(port, targetW, dtS);
        const detail = port.detail();
        expect(
          startKg + detail.h2ProducedKg - detail.h2ConsumedKg - detail.tankMassKg!,
          `round ${round}`,
        ).to.be.closeTo(0, 1e-9);
        expect(detail.tankLevelPct!).to.be.within(5 - 1e-9, 95 + 1e-9);
        for (const value of numbersOf(detail)) expect(Number.isFinite(value)).to.equal(true);
        reachedLow ||= detail.state === 'tank_empty';
        reachedHigh ||= detail.state === 'tank_full';
      }
      expect([reachedLow, reachedHigh]).to.deep.equal([true, true]);
    });
  }

  for (const [name, targetW, bound, state] of [
    ['empty', 4000, 5, 'tank_empty'],
    ['full', -4000, 95, 'tank_full'],
  ] as const) {
    for (const dtS of [0.1, 1]) {
      for (const withinMaxStep of [true, false]) {
        it(`the ${name} tank is met exactly, in steps of ${dtS} s ${withinMaxStep ? 'or' : 'beyond'} the maximum step`, () => {
          const port = plantOf({ ...pemBoth, tank_capacity_kg: 0.05 });
          port.command({ kind: 'fuelcell.tank', levelPct: targetW > 0 ? 5.5 : 94.5 });
          steadyAt(port, targetW);
          let powers = 0;
          while (port.detail().state !== state && powers < 5000) {
            step(port, targetW, withinMaxStep ? Math.min(dtS, port.maxStepS) : dtS);
            powers += 1;
          }
          expect(port.detail()).to.deep.include({ state, tankState: name, mode: 'idle' });
          expect(port.detail().tankLevelPct!).to.be.closeTo(bound, 1e-9);
          expect(targetW > 0 ? port.availableDcW : port.absorbableDcW).to.equal(0);
          expect(step(port, targetW, dtS)).to.equal(0);
          expect(port.maxStepS).to.be.above(0.01);
        });
      }
    }
  }

  it('an empty tank blocks the fuel cell only, and a refill opens it again', () => {
    const port = plantOf(pemBoth);
    port.command({ kind: 'fuelcell.tank', levelPct: 3 });
    expect([...port.conditions]).to.deep.equal(['h2_tank_low']);
    expect(step(port, 3000, 1)).to.equal(0);
    expect(step(port, -3000, 1)).to.be.below(0);
    port.command({ kind: 'fuelcell.tank', levelPct: 100 });
    expect([[...port.conditions], port.detail().tankState, port.detail().tankLevelPct]).to.deep.equal([
      [],
      'full',
      100,
    ]);
    expect(step(port, -3000, 1)).to.equal(0);
    run(port, 0, 30, 1);
    expect(step(port, 3000, 1)).to.be.above(0);
    port.command({ kind: 'fuelcell.tank', levelPct: 14 });
    expect([[...port.conditions], port.detail().tankState]).to.deep.equal([['h2_tank_low'], 'low']);
  });

  it('steps of any size use the same hydrogen at constant power', () => {
    const used = [0.02, 0.1, 1, 60].map((dtS) => {
      const port = plantOf();
      steadyAt(port, 3000);
      for (let s = 0; s < Math.round(120 / dtS); s += 1) {
        port.prepare(dtS, mild);
        port.draw(3000, true);
      }
      return port.detail().h2ConsumedKg;
    });
    for (const kg of used) expect(kg).to.be.closeTo(used[0]!, 1e-12);
  });

  it('a round trip through the tank loses more than half, and the loss is counted', () => {
    const port = plantOf(pemBoth);
    steadyAt(port, -5000);
    run(port, -5000, 3600, 1);
    const { h2ProducedKg, h2LostKg } = port.detail();
    expect(h2LostKg).to.be.closeTo((h2ProducedKg * 0.04) / 0.96, 1e-12);
    // 5 kWh in, at most 83 % HHV of a cell
    expect((h2ProducedKg * 39.41) / 5).to.be.within(0.55, 0.75);
  });

  it('steam electrolysis absorbs no more heat than its heater supplies', () => {
    const port = plantOf(oxideBoth);
    steadyAt(port, -4000);
    step(port, -4000, 1);
    const { efficiencyPct, stackPowerW } = port.detail();
    expect(efficiencyPct).to.be.within(80, 97);
    expect(-stackPowerW).to.be.below(4000);
  });

  it('continuous supply: no tank, but a counter', () => {
    const port = plantOf(oxideOnly);
    steadyAt(port, 1e6);
    run(port, null, 3600, 1);
    const detail = port.detail();
    expect(detail).to.deep.include({
      tankLevelPct: null,
      tankMassKg: null,
      tankPressureBar: null,
      tankState: null,
      state: 'fc',
    });
    expect(detail.h2ConsumedKg).to.be.closeTo(detail.h2FlowKgH, 1e-9);
    expect([port.conditions.size, port.maxStepS]).to.deep.equal([0, Infinity]);
  });

  it('a restart brings back the start values', () => {
    const port = plantOf(pemBoth);
    steadyAt(port, 4000);
    run(port, 4000, 600, 1);
    port.restart();
    expect(port.detail()).to.deep.include({ tankLevelPct: 50, h2ConsumedKg: 0, h2ProducedKg: 0, h2LostKg: 0 });
  });

  it('a trip ends the power at once and the counters stop', () => {
    const port = plantOf();
    steadyAt(port, 1e6);
    run(port, null, 10, 1);
    const before = port.detail().h2ConsumedKg;
    for (let s = 0; s < 10; s += 1) {
      port.prepare(1, mild);
      port.draw(port.availableDcW, false);
    }
    expect(port.detail()).to.deep.include({ h2ConsumedKg: before, stackPowerW: 0, state: 'standby' });
    expect(port.ports[0]!.powerW).to.equal(0);
  });
});
