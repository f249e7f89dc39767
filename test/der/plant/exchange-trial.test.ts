import { expect } from 'chai';
import { silentLogger } from '../../../src/core/log/log.ts';
import { rebootFault } from '../../../src/fault-kinds/device-effect.ts';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';
import { expectSameJson } from '../../support/continuation.ts';
import { pick } from '../../support/depth.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { casesOf } from '../../support/random.ts';
import { testPlant } from '../../support/plant.ts';
import { byTest } from '../../support/rig.ts';
import { HandWall } from '../../support/wall.ts';
import { useCurve } from '../inverter/ideal-rig.ts';
import { disturb, gridValues, kindNames, oneOf, steadyPlant } from './trial-cases.ts';
import { compareStep, expectStep, isExact, set, step, tried, volts } from './trial-rig.ts';

const dayKinds = ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'];

const voltVar = (tx: WritableMapView, others: Readonly<Record<string, number | string>> = {}) => {
  useCurve(
    tx,
    705,
    [
      [92, 44],
      [98, 0],
      [102, 0],
      [108, -44],
    ],
    { RspTms: 5, ...others },
  );
};
const offTrips = (tx: WritableMapView) => {
  tx.m707.Ena = tx.m708.Ena = tx.m709.Ena = tx.m710.Ena = 'DISABLED';
};
const service = (delayS: number, rampS: number) => (tx: WritableMapView) => {
  Object.assign(tx.m703, { ESDlyTms: delayS, ESRndTms: 0, ESRmpTms: rampS });
};

describe('a trial of the exchange', () => {
  it('where exact, is what the step that follows gives, whatever the device', async () => {
    const random = casesOf('exchange-trial');
    const failures: string[] = [];
    let exactCount = 0;
    const [plants, rounds] = [pick({ quick: 3, ci: 8, full: 24 }), 6];
    for (let n = 0; n < plants; n += 1) {
      const plant = steadyPlant();
      for (const device of plant.devices) for (let k = 0; k < 4; k += 1) disturb(device, random);
      await step(plant, 30);
      for (let round = 0; round < rounds; round += 1) {
        for (const device of plant.devices) if (random.next() < 0.4) disturb(device, random);
        await step(plant, oneOf(random, [0.1, 1, 10, 60]));
        const values = gridValues(random, plant.devices.length);
        const dtS = oneOf(random, [0.02, 0.1, 0.5, 1, 1, 5, 30]);
        exactCount += await compareStep(plant, dtS, values, (place, difference) => {
          failures.push(`${kindNames[place]!} in plant ${n}, round ${round}, ${dtS} s: ${difference}`);
        });
      }
    }
    expect(failures).to.deep.equal([]);
    expect(exactCount).to.be.greaterThan(0.4 * kindNames.length * plants * rounds);
  });

  for (const name of kindNames)
    it(`is exact for a steady ${name}, at other voltages too`, async () => {
      const plant = steadyPlant([name]);
      // a function beside currents of vehicles is exact at present voltages alone
      if (name.startsWith('EVSE'))
        plant.device(0).command({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 30 } }, byTest);
      else set(plant, voltVar);
      await step(plant, 300, volts(1));
      await expectStep(plant, 0.5, volts(1.01));
      await expectStep(plant, 0.5, volts(0.97));
    });

  it('changes nothing: a run with trials is that without, to the last bit', async () => {
    const run = async (withTrials: boolean) => {
      const random = casesOf('exchange-trial-run');
      const lines: string[] = [];
      const note = (line: string) => lines.push(line);
      const log = { ...silentLogger, info: note, warning: note, error: note };
      const plant = steadyPlant(undefined, { wall: new HandWall(), log, dcLog: log });
      const shown: unknown[] = [];
      for (let round = 0; round < pick({ quick: 6, ci: 15, full: 60 }); round += 1) {
        for (const device of plant.devices) disturb(device, random);
        const [values, others] = [gridValues(random, plant.devices.length), gridValues(random, plant.devices.length)];
        if (withTrials) {
          const trials = () => [0.1, 10, null].map((dtS) => plant.exchange.trial(others, dtS));
          expect(trials(), 'asked twice').to.deep.equal(trials());
        }
        await step(plant, oneOf(random, [0.1, 5, 400]), values);
        const maps = plant.devices.map(({ bank }) => bank.read(bank.layout.base, bank.layout.size).toString('hex'));
        shown.push(maps, plant.exchange.states(), plant.exchange.events);
      }
      return { shown, lines, kept: plant.devices.map((device) => device.kept().save()) };
    };
    expectSameJson(await run(true), await run(false), 'the run');
  });

  it('changes nothing over a day in steps of a minute, with one for each of them', async () => {
    const day = async (withTrials: boolean) => {
      const models = { 705: { Ena: 'ENABLED' } };
      const plant = testPlant({ types: dayKinds, models, time: '06:00:00', wall: new HandWall() });
      plant.exchange.attach(
        plant.devices.map(({ index }) => index),
        'solver',
        byTest,
      );
      const shown: unknown[] = [];
      for (let minute = 0; minute < pick({ quick: 60, ci: 180, full: 1440 }); minute += 1) {
        const pu = 1 + 0.05 * Math.sin(minute / 40);
        if (withTrials) plant.exchange.trial(volts(2 - pu), 60);
        await step(plant, 60, volts(pu));
        shown.push(plant.exchange.states());
      }
      return { shown, kept: plant.devices.map((device) => device.kept().save()) };
    };
    expectSameJson(await day(true), await day(false), 'the day');
  });

  it('responds as far as its time goes, and without one to the end', async () => {
    const plant = steadyPlant(['PV-3Phase']);
    set(plant, voltVar);
    await step(plant, 60, volts(1));
    const q = (dtS: number | null) => tried(plant, dtS, volts(1.05)).reactivePowerVar;
    expect(q(null)).to.be.closeTo(-2200, 1e-6);
    expect(q(5)).to.be.closeTo(0.9 * -2200, 1e-6);
    expect(q(1)).to.be.closeTo((1 - 10 ** -0.2) * -2200, 1e-6);
    expect(isExact(plant, null, volts(1.05))).to.equal(true);
    await expectStep(plant, 1, volts(1.05));
    await expectStep(plant, 60, volts(1.06));
  });

  it('has the power of each phase, which add up', () => {
    const plant = steadyPlant(['PV-3Phase']);
    const { phases, powerW } = tried(plant, 1, { aPu: 1.02, bPu: 0.99, cPu: 0.99 });
    expect(phases.map(({ w }) => w / powerW)).to.deep.equal([0.34, 0.33, 0.33]);
    expect(phases[0]!.a).to.be.closeTo(phases[1]!.a, 1e-9);
  });

  it('takes absent values as the present ones, and has null for a removed device', async () => {
    const plant = steadyPlant(['PV-3Phase', 'PV-3Phase']);
    set(plant, voltVar);
    await step(plant, 60, volts(1.05));
    expect(plant.exchange.trial({}, null)[0]!.reactivePowerVar).to.be.closeTo(-2200, 0.01);
    expect(tried(plant, 1, { outage: true })).to.include({ powerW: 0, exact: false });
    await plant.remove(1);
    expect(plant.exchange.trial({}, 1).map((trial) => trial === null)).to.deep.equal([false, true]);
    plant.exchange.end();
    expect(() => plant.exchange.trial({}, 1)).to.throw('no devices are attached');
  });

  it('is not exact beyond the thresholds of trips, nor while their timers run', async () => {
    const plant = steadyPlant(['PV-3Phase']);
    await step(plant, 30, volts(1));
    expect([1, 1.09, 1.11, 0.87, 0.3].map((pu) => isExact(plant, 0.1, volts(pu)))).to.deep.equal([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(isExact(plant, 0.1, { frequencyHz: 63 })).to.equal(false);
    expect(isExact(plant, 0.1, { island: true })).to.equal(false);
    await step(plant, 0.5, volts(0.87));
    expect(isExact(plant, 0.1, volts(1)), 'its end').to.equal(false);
    await step(plant, 30, volts(1));
    expect(isExact(plant, 0.1, volts(1))).to.equal(true);
  });

  it('is not exact where ride-through begins without any threshold', () => {
    const plant = steadyPlant(['PV-3Phase']);
    set(plant, offTrips);
    expect(isExact(plant, 1, volts(0.9))).to.equal(true);
    expect(isExact(plant, 1, volts(0.87))).to.equal(false);
  });

  it('is not exact for a change that a relay may act on', async () => {
    const plant = steadyPlant(['PV-3Phase'], { inverter: { vectorShiftRelayDeg: 10 } });
    await step(plant, 30, volts(1));
    expect(isExact(plant, 1, { angleDeg: 12 })).to.equal(false);
    expect(isExact(plant, 1, volts(1.02))).to.equal(true);
  });

  it('is not exact while droop moves', async () => {
    const plant = steadyPlant(['PV-3Phase']);
    await step(plant, 30, volts(1));
    expect([60.03, 60.5].map((frequencyHz) => isExact(plant, 1, { frequencyHz }))).to.deep.equal([true, false]);
    await step(plant, 600, { frequencyHz: 60.5 });
    expect(isExact(plant, 1, volts(1.01)), 'it has settled').to.equal(true);
    expect(isExact(plant, 1, { frequencyHz: 60 })).to.equal(false);
  });

  it('is not exact where a reference voltage follows', async () => {
    const plant = steadyPlant(['PV-3Phase']);
    set(plant, (tx) => {
      voltVar(tx, { VRefAutoEna: 'ENABLED', VRefAutoTms: 300 });
    });
    await step(plant, 5000, volts(1.03));
    expect(isExact(plant, 1, volts(1.03))).to.equal(true);
    expect(isExact(plant, 30, volts(1.05))).to.equal(false);
  });

  it('is not exact where reactive power follows an active power that moves', async () => {
    const plant = steadyPlant(['PV-3Phase']);
    set(plant, (tx) => {
      Object.assign(tx.m704, { PFWInjEna: 'ENABLED' });
      Object.assign(tx.m704.PFWInj, { PF: 0.9 });
      useCurve(
        tx,
        706,
        [
          [102, 100],
          [108, 0],
        ],
        { RspTms: 10 },
      );
    });
    await step(plant, 60, volts(1));
    expect(isExact(plant, 1, volts(1.06))).to.equal(false);
    expect(isExact(plant, null, volts(1.06))).to.equal(true);
    expect(isExact(plant, 1, volts(1.01))).to.equal(true);
  });

  it('is not exact while a limit shrinks a reactive power that moves', async () => {
    const plant = steadyPlant(['PV-1Phase']);
    set(plant, (tx) => {
      Object.assign(tx.m704, { VarSetEna: 'ENABLED', VarSetMod: 'VAR_MAX_PCT', VarSetPct: 60, VarRmp: 100 });
      tx.m702.AMax = 0.8 * tx.m702.AMaxRtg!;
    });
    await step(plant, 60, volts(1));
    set(plant, (tx) => {
      Object.assign(tx.m704, { PFWInjEna: 'ENABLED', VarRmp: 5 });
      Object.assign(tx.m704.PFWInj, { PF: 0.99, Ext: 'OVER_EXCITED' });
    });
    await step(plant, 0.1, volts(1));
    expect(isExact(plant, 1, volts(0.95))).to.equal(false);
  });

  it('is not exact where a ramp goes on from a limit that cuts first', async () => {
    const plant = steadyPlant(['PV-3Phase']);
    const cut = (tx: WritableMapView, limit: number) => {
      Object.assign(tx.m704, { WMaxLimPctEna: 'ENABLED', WMaxLimPct: limit, WRmp: 10 });
      const curve = [
        [102, 100],
        [104, 30],
      ] as const; // prettier-ignore
      useCurve(tx, 706, curve, { RspTms: 0 });
    };
    set(plant, (tx) => {
      cut(tx, 100);
    });
    await step(plant, 60, volts(1));
    set(plant, (tx) => {
      cut(tx, 5);
    });
    await step(plant, 0.1, volts(1));
    expect(isExact(plant, 1, volts(1.05))).to.equal(false);
    expect(isExact(plant, 1, volts(1))).to.equal(true);
  });

  it('ends a stop in a dip: the support of a turbine ends with it', async () => {
    const plant = steadyPlant(['Wind-T4-3Phase']);
    set(plant, (tx) => {
      tx.m704.WRmp = 100;
    });
    await step(plant, 30, volts(1));
    await step(plant, 0.5, volts(0.7));
    expect(plant.exchange.states()[0]!.reactivePowerVar, 'support').to.be.above(1);
    plant.device(0).command({ kind: 'stop' }, byTest);
    await step(plant, 3, volts(0.7));
    expect(plant.exchange.states()[0]).to.include({ service: 'off', powerW: 0, reactivePowerVar: 0 });
  });

  it('is not exact where reactive power follows a limit on its ramp', async () => {
    const plant = steadyPlant(['PV-3Phase']);
    set(plant, (tx) => {
      Object.assign(tx.m704, { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 90, WRmp: 5, VarRmp: 1 });
      useCurve(tx, 712, [
        [0, 0],
        [20, 0],
        [100, -44],
      ]);
    });
    await step(plant, 120, volts(1));
    await expectStep(plant, 1, volts(1.01));
    set(plant, (tx) => {
      tx.m704.WMaxLimPct = 40;
    });
    expect(isExact(plant, 1)).to.equal(false);
    expect(isExact(plant, null)).to.equal(true);
  });

  it('is exact out of service until the delay may end, and on the ramp until it ends', async () => {
    const plant = steadyPlant(['PV-3Phase']);
    set(plant, service(100, 50));
    await step(plant, 10, { ...volts(1), outage: true });
    const back = { ...volts(1), outage: false };
    expect([99, 100.5, null].map((dtS) => isExact(plant, dtS, back))).to.deep.equal([true, false, false]);
    expect(isExact(plant, 1000, { ...volts(0.8), outage: false }), 'outside the window').to.equal(true);
    await step(plant, 40, back);
    expect([59, 61].map((dtS) => isExact(plant, dtS))).to.deep.equal([true, false]);
    await step(plant, 70);
    expect([39, 41, null].map((dtS) => isExact(plant, dtS))).to.deep.equal([true, false, false]);
    await expectStep(plant, 10, volts(1.01));
    expect(plant.exchange.states()[0]!.powerW).to.be.closeTo(4000, 50);
  });

  it('is not exact once the device is told to stop or to cease, until it has', async () => {
    const plant = steadyPlant(['PV-3Phase']);
    await step(plant, 1, volts(1));
    set(plant, (tx) => (tx.m703.ES = 'DISABLED'));
    expect(isExact(plant, 1)).to.equal(false);
    await step(plant, 5);
    expect(tried(plant, 1000, volts(1))).to.include({ powerW: 0, exact: true });
    set(plant, (tx) => (tx.m703.ES = 'ENABLED'));
    set(plant, service(0, 0));
    expect(isExact(plant, 1), 'it enters at once').to.equal(false);
    await step(plant, 60);
    plant.device(0).command({ kind: 'switch', closed: false }, byTest);
    expect(isExact(plant, 1)).to.equal(false);
    await step(plant, 2);
    plant.device(0).command({ kind: 'switch', closed: true }, byTest);
    await step(plant, 0.05);
    expect(isExact(plant, 0.02), 'the rise after a stop').to.equal(false);
  });

  it('is not exact where a timer of the device ends', () => {
    const plant = steadyPlant(['PV-3Phase']);
    set(plant, (tx) => {
      Object.assign(tx.m704, { WMaxLimPct: 50, WMaxLimPctRvrtTms: 20, WMaxLimPctEna: 'ENABLED' });
      tx.m704.WRmp = 100;
    });
    expect([19, 21, null].map((dtS) => isExact(plant, dtS))).to.deep.equal([true, false, false]);
  });

  it('is not exact under a limit of the connection point', async () => {
    const plant = steadyPlant(['PV-3Phase']);
    plant.setSite({ export: 5000 }, byTest);
    await step(plant, 5, volts(1));
    expect(tried(plant, 1, volts(1))).to.include({ exact: false });
    expect(tried(plant, 1, volts(1)).powerW).to.be.closeTo(5000, 1);
  });

  it('is not exact for a device that is down', () => {
    const rig = new FaultyRig();
    rig.plant.exchange.attach([0], 'solver', byTest);
    expect(isExact(rig.plant, 1)).to.equal(true);
    rig.inject(rebootFault, { off_s: 40 });
    expect(tried(rig.plant, 1, volts(1))).to.include({ powerW: 0, reactivePowerVar: 0, exact: false });
  });

  it('is not exact while a source is not settled', async () => {
    const plant = steadyPlant(['PV-3Phase']);
    plant.device(0).command({ kind: 'pv.shading', shading: { shadedShare: 0.3, irradianceShare: 0.4 } }, byTest);
    expect(isExact(plant, 1)).to.equal(false);
    await step(plant, 30);
    expect(isExact(plant, 1)).to.equal(true);
  });

  it('is not exact on the ramp of a fuel cell', async () => {
    const plant = steadyPlant([
      'Fuelcell-3Phase --fuelcell_chemistry SOFC --fuelcell_mode bidirectional --fuelcell_fuel tank',
    ]);
    const setPoint = (pct: number) => {
      set(plant, (tx) => {
        Object.assign(tx.m704, { WSetEna: 'ENABLED', WSetMod: 'W_MAX_PCT', WSetPct: pct, WRmp: 100 });
      });
    };
    setPoint(30);
    await step(plant, 600, volts(1));
    expect(isExact(plant, 1)).to.equal(true);
    setPoint(100);
    await step(plant, 2);
    expect(isExact(plant, 1)).to.equal(false);
  });

  it('is exact for a battery until its charge may limit it', async () => {
    const plant = steadyPlant(['Batt-3Phase']);
    const control = (change: object) => {
      plant.device(0).command({ kind: 'battery.control', ...change }, byTest);
    };
    control({ mode: 'discharge', powerW: 1000, socPct: 50 });
    await step(plant, 60, volts(1));
    expect([60, 600, 86_400].map((dtS) => isExact(plant, dtS))).to.deep.equal([true, true, false]);
    control({ durationS: 20 });
    await step(plant, 1);
    expect([15, 25].map((dtS) => isExact(plant, dtS))).to.deep.equal([true, false]);
  });

  it('is exact for a turbine in steady wind for a second, not in a dip', async () => {
    const plant = steadyPlant(['Wind-T4-3Phase']);
    set(plant, offTrips);
    await step(plant, 600, volts(1));
    expect([0.5, 5, null].map((dtS) => isExact(plant, dtS))).to.deep.equal([true, false, false]);
    expect(isExact(plant, 0.5, volts(0.87))).to.equal(false);
    plant.device(0).command({ kind: 'wind.override', speedMS: 7, height: 'hub' }, byTest);
    await step(plant, 1);
    expect(isExact(plant, 0.5), 'the rotor slows down').to.equal(false);
  });
});
