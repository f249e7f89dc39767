import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { at, fallingProfile, steadyEnvironment } from '../../support/environment.ts';
import type { Environment } from '../../../src/der/surroundings/environment.ts';
import type { WeatherNow } from '../../../src/der/surroundings/environment.ts';
import { codeOf } from '../../support/map.ts';
import { Rig } from '../../support/rig.ts';

const volts = (env: Environment, seconds: number, device = 0) => env.gridAt(device, at(seconds)).aPu;

describe('Grid source', () => {
  it('starts normal and is one object while nothing changes', () => {
    const env = steadyEnvironment();
    expect(env.gridAt(0, at(5))).to.deep.equal({ aPu: 1, bPu: 1, cPu: 1, hz: 60, angleDeg: 0, island: false });
    expect(env.gridAt(0, at(5))).to.equal(env.gridAt(3, at(99)));
    expect([env.gridMotion(0, at(5)) !== 'still', env.nextEvent(0, at(5))]).to.deep.equal([false, Infinity]);
  });

  it('steps at its instant, not before', () => {
    const env = steadyEnvironment();
    env.setGrid({ voltagePu: 0.9, frequencyHz: 59.9 }, at(10));
    expect([9.9, 10, 11].map((s) => volts(env, s))).to.deep.equal([1, 0.9, 0.9]);
    expect(env.gridAt(0, at(9.9)).hz).to.equal(60);
    // a device that lags behind must stop there
    expect(env.nextEvent(0, at(9.9))).to.equal(at(10));
    expect(env.nextEvent(0, at(10))).to.equal(Infinity);
  });

  it('single phases win over all phases; absent members stay', () => {
    const env = steadyEnvironment();
    env.setGrid({ voltagePu: 0.95, voltageBPu: 0.8, phaseAngleDeg: 20 }, at(1));
    env.setGrid({ voltageCPu: 1.1 }, at(2));
    env.setGrid({ frequencyHz: 61 }, at(3));
    expect(env.gridAt(0, at(3))).to.deep.equal({ aPu: 0.95, bPu: 0.8, cPu: 1.1, hz: 61, angleDeg: 20, island: false });
  });

  it('ramps linearly from the present value', () => {
    const env = steadyEnvironment();
    env.setGrid({ voltagePu: 0.8, frequencyHz: 59, rampS: 10 }, at(0));
    expect(volts(env, 5)).to.be.closeTo(0.9, 1e-12);
    expect(env.gridAt(0, at(5)).hz).to.be.closeTo(59.5, 1e-12);
    expect([env.gridMotion(0, at(9.9)) !== 'still', env.gridMotion(0, at(10)) !== 'still']).to.deep.equal([
      true,
      false,
    ]);
    expect(env.nextEvent(0, at(5))).to.equal(at(10));
    expect(env.grid(at(4)).rampRemainingS).to.equal(6);
    env.setGrid({ voltagePu: 1, rampS: 4 }, at(5));
    expect(volts(env, 7)).to.be.closeTo(0.95, 1e-12);
    expect(volts(env, 99)).to.equal(1);
  });

  it('a duration ends with the values before', () => {
    const env = steadyEnvironment();
    env.setGrid({ voltagePu: 0.7, durationS: 3 }, at(10));
    expect(env.grid(at(11))).to.deep.include({
      voltageAPu: 0.7,
      durationRemainingS: 2,
      source: 'const',
      outage: false,
    });
    expect([12.999, 13].map((s) => volts(env, s))).to.deep.equal([0.7, 1]);
    expect(env.nextEvent(0, at(11))).to.equal(at(13));
    expect(env.grid(at(13)).durationRemainingS).to.equal(null);
  });

  it('durations nest, whichever ends first', () => {
    const inner = steadyEnvironment();
    inner.setGrid({ voltagePu: 0.9, durationS: 10 }, at(0));
    inner.setGrid({ voltagePu: 0.5, durationS: 2 }, at(3));
    expect([2, 4, 6, 11].map((s) => volts(inner, s))).to.deep.equal([0.9, 0.5, 0.9, 1]);
    const outer = steadyEnvironment();
    outer.setGrid({ voltagePu: 0.9, durationS: 4 }, at(0));
    outer.setGrid({ voltagePu: 0.5, durationS: 10 }, at(3));
    expect([2, 4, 12.9, 13].map((s) => volts(outer, s))).to.deep.equal([0.9, 0.5, 0.5, 1]);
  });

  it('a ramp within a duration goes back in a step', () => {
    const env = steadyEnvironment();
    env.setGrid({ voltagePu: 0.8, rampS: 2, durationS: 5 }, at(0));
    expect([1, 2, 4.9, 5].map((s) => Math.round(volts(env, s) * 1e9) / 1e9)).to.deep.equal([0.9, 0.8, 0.8, 1]);
  });

  it('an outage takes voltage and frequency away until it ends', () => {
    const env = steadyEnvironment();
    env.setGrid({ voltagePu: 0.97 }, at(0));
    env.setGrid({ outage: true }, at(1));
    expect(env.gridAt(0, at(2))).to.deep.equal({ aPu: 0, bPu: 0, cPu: 0, hz: 0, angleDeg: 0, island: false });
    expect(env.grid(at(2))).to.deep.include({ outage: true, voltageAPu: 0, frequencyHz: 0 });
    env.setGrid({ frequencyHz: 60.05 }, at(3));
    expect(volts(env, 4)).to.equal(0);
    env.setGrid({ outage: false }, at(5));
    expect(env.gridAt(0, at(6))).to.deep.include({ aPu: 0.97, hz: 60.05 });
    env.setGrid({ outage: true, durationS: 2 }, at(7));
    expect([8, 9].map((s) => volts(env, s))).to.deep.equal([0, 0.97]);
  });

  it('a ramp continues during an outage', () => {
    const env = steadyEnvironment();
    env.setGrid({ voltagePu: 0.5, rampS: 10 }, at(0));
    env.setGrid({ outage: true }, at(4));
    env.setGrid({ outage: false }, at(6));
    expect(volts(env, 6)).to.be.closeTo(0.7, 1e-12);
    expect(volts(env, 8)).to.be.closeTo(0.6, 1e-12);
  });

  it('follows a series, until a value is set, and goes back to it', () => {
    const env = steadyEnvironment(fallingProfile);
    expect(env.gridAt(0, at(5))).to.deep.include({ aPu: 0.95, bPu: 0.95, cPu: 0.95, hz: 59.5 });
    expect([env.gridMotion(0, at(5)) !== 'still', env.grid(at(5)).source]).to.deep.equal([true, 'csv']);
    env.setGrid({ frequencyHz: 60.2 }, at(5));
    expect(env.gridAt(0, at(8))).to.deep.include({ aPu: 0.95, hz: 60.2 });
    expect(env.grid(at(8)).source).to.equal('const');
    env.setGrid({ source: 'csv' }, at(8));
    expect(volts(env, 10)).to.be.closeTo(0.9, 1e-12);
  });

  it('source const holds the values of the moment', () => {
    const env = steadyEnvironment(fallingProfile);
    env.setGrid({ source: 'const' }, at(5));
    expect([volts(env, 5), volts(env, 50)]).to.deep.equal([0.95, 0.95]);
  });

  it('source csv needs a series', () => {
    expect(
      codeOf(() => {
        steadyEnvironment().setGrid({ source: 'csv' }, at(0));
      }),
    ).to.equal('COMMAND_CONFLICT');
  });

  describe('local deviation', () => {
    it('concerns one device', () => {
      const env = steadyEnvironment();
      env.setGrid({ voltagePu: 0.8 }, at(0), 1);
      expect([0, 1, 2].map((device) => volts(env, 1, device))).to.deep.equal([1, 0.8, 1]);
      expect([env.grid(at(1)).voltageAPu, env.grid(at(1), 1).voltageAPu]).to.deep.equal([1, 0.8]);
    });

    it('starts from what the device saw', () => {
      const env = steadyEnvironment();
      env.setGrid({ voltagePu: 0.9 }, at(0));
      env.setGrid({ frequencyHz: 59 }, at(1), 1);
      expect(env.gridAt(1, at(2))).to.deep.include({ aPu: 0.9, hz: 59 });
    });

    it('ends with its duration, back to the common grid', () => {
      const env = steadyEnvironment();
      env.setGrid({ voltagePu: 0.9 }, at(0));
      env.setGrid({ voltagePu: 0.5, durationS: 2 }, at(1), 1);
      expect([2, 3].map((s) => volts(env, s, 1))).to.deep.equal([0.5, 0.9]);
    });

    it('ends with source csv', () => {
      const env = steadyEnvironment();
      env.setGrid({ voltagePu: 0.5 }, at(1), 1);
      env.setGrid({ source: 'csv' }, at(2), 1);
      expect(volts(env, 3, 1)).to.equal(1);
    });

    it('ends with the next common change', () => {
      const env = steadyEnvironment();
      env.setGrid({ voltagePu: 0.5 }, at(1), 1);
      env.setGrid({ frequencyHz: 60.1 }, at(2));
      expect(env.gridAt(1, at(3))).to.deep.include({ aPu: 1, hz: 60.1 });
    });

    it('ends with a reset of the device', () => {
      const env = steadyEnvironment();
      env.setGrid({ voltagePu: 0.5 }, at(1), 1);
      env.setSurroundings({ irradianceWm2: 1 }, at(1), 1);
      env.clearLocal(1);
      expect([volts(env, 3, 1), env.surroundings(at(3), 1).irradianceWm2]).to.deep.equal([1, 500]);
    });
  });
});

describe('Surroundings', () => {
  const blank = (): WeatherNow => ({
    irradianceWm2: 0,
    ambientTemperatureC: 0,
    cellTemperatureC: null,
    windSpeedMS: 0,
  });
  const weather = (env: Environment, seconds: number, device = 0) => {
    const out = blank();
    env.weatherAt(device, at(seconds), out);
    return out;
  };

  it('come from the weather', () => {
    expect(weather(steadyEnvironment(), 1)).to.deep.equal({
      irradianceWm2: 500,
      ambientTemperatureC: 15,
      cellTemperatureC: null,
      windSpeedMS: 2,
    });
    expect(steadyEnvironment().surroundings(at(1))).to.deep.include({
      source: 'csv',
      loadKw: 0,
      rampRemainingS: 0,
      durationRemainingS: null,
    });
  });

  it('irradiance: step, ramp from the present value, back to the source with null', () => {
    const env = steadyEnvironment();
    env.setSurroundings({ irradianceWm2: 1000, rampS: 10 }, at(0));
    expect(weather(env, 5).irradianceWm2).to.equal(750);
    expect(env.surroundings(at(4))).to.deep.include({ irradianceWm2: 700, source: 'const', rampRemainingS: 6 });
    expect(env.nextEvent(0, at(5))).to.equal(at(10));
    env.setSurroundings({ irradianceWm2: 0 }, at(12));
    expect([11, 12].map((s) => weather(env, s).irradianceWm2)).to.deep.equal([1000, 0]);
    env.setSurroundings({ irradianceWm2: null }, at(13));
    expect(env.surroundings(at(13))).to.deep.include({ irradianceWm2: 500, source: 'csv' });
  });

  it('duration, nested with others', () => {
    const env = steadyEnvironment();
    env.setSurroundings({ irradianceWm2: 100, ambientTemperatureC: 40, durationS: 10 }, at(0));
    env.setSurroundings({ irradianceWm2: 50, durationS: 2 }, at(3));
    expect([2, 4, 6, 10].map((s) => weather(env, s).irradianceWm2)).to.deep.equal([100, 50, 100, 500]);
    expect([4, 6, 10].map((s) => weather(env, s).ambientTemperatureC)).to.deep.equal([40, 40, 15]);
    expect(env.nextEvent(0, at(4))).to.equal(at(5));
    expect(env.surroundings(at(6)).durationRemainingS).to.equal(4);
  });

  it('ambient, a fixed cell temperature and the load hold until null', () => {
    const env = steadyEnvironment();
    env.setSurroundings({ ambientTemperatureC: -5, cellTemperatureC: 60, loadKw: 3 }, at(0));
    env.setSurroundings({ irradianceWm2: 10 }, at(1));
    expect(weather(env, 2)).to.deep.equal({
      irradianceWm2: 10,
      ambientTemperatureC: -5,
      cellTemperatureC: 60,
      windSpeedMS: 2,
    });
    expect(env.surroundings(at(2)).loadKw).to.equal(3);
    env.setSurroundings({ ambientTemperatureC: null, cellTemperatureC: null, loadKw: null }, at(3));
    expect(weather(env, 4)).to.deep.equal({
      irradianceWm2: 10,
      ambientTemperatureC: 15,
      cellTemperatureC: null,
      windSpeedMS: 2,
    });
    expect(env.surroundings(at(4)).loadKw).to.equal(0);
  });

  it('sources: clear_sky, csv, const holds the present irradiance', () => {
    const env = steadyEnvironment();
    env.setSurroundings({ source: 'clear_sky' }, at(0));
    // the air is that of the date, the wind still that of the series
    const clear = { irradianceWm2: 900, ambientTemperatureC: 25, windSpeedMS: 2, source: 'clear_sky' };
    expect(env.surroundings(at(1))).to.deep.include(clear);
    env.setSurroundings({ source: 'const' }, at(1));
    expect(env.surroundings(at(2))).to.deep.include({ irradianceWm2: 900, source: 'const' });
    env.setSurroundings({ source: 'csv' }, at(3));
    expect(env.surroundings(at(3))).to.deep.include({ irradianceWm2: 500, source: 'csv' });
  });

  it('deviate locally, and come back three ways', () => {
    const env = steadyEnvironment();
    const local = () => {
      env.setSurroundings({ irradianceWm2: 1 }, at(0), 2);
    };
    local();
    expect([1, 2].map((device) => weather(env, 1, device).irradianceWm2)).to.deep.equal([500, 1]);
    env.setSurroundings({ source: 'csv' }, at(1), 2);
    expect(weather(env, 1, 2).irradianceWm2).to.equal(500);
    local();
    env.setSurroundings({ ambientTemperatureC: 30 }, at(2));
    expect(weather(env, 2, 2)).to.deep.include({ irradianceWm2: 500, ambientTemperatureC: 30 });
    env.setSurroundings({ irradianceWm2: 1, durationS: 1 }, at(3), 2);
    expect([3, 4].map((s) => weather(env, s, 2).irradianceWm2)).to.deep.equal([1, 500]);
  });
});

describe('A device in its environment', () => {
  it('rides through the sag of a grid profile and enters no trip', async () => {
    const rig = await Rig.sunny({
      gridProfile: readFileSync(new URL('../../../fixtures/der/grid-sag.csv', import.meta.url), 'utf8'),
      time: '11:59:30',
    });
    expect(rig.map.m701.LNV).to.be.closeTo(277.1, 0.1);
    await rig.run(10.5);
    expect(rig.map.m701.LNV).to.be.closeTo(110.9, 0.1);
    // momentary cessation of category III
    expect(rig.w).to.equal(0);
    expect(rig.state).to.equal('on throttled connected');
    await rig.run(2);
    expect(rig.w).to.equal(10_000);
    await rig.run(12.5);
    expect(rig.map.m701.Hz).to.be.closeTo(59.5, 0.001);
    expect(rig.plant.grid()).to.deep.include({ source: 'csv' });
  });

  it('responds to a short sag inside a long tick', async () => {
    const rig = await Rig.sunny();
    rig.plant.setGrid({ voltagePu: 0.4, durationS: 2.5 });
    await rig.run(60);
    // UV2 after 2 s
    expect(rig.state).to.equal('off standby disconnected');
    const other = await Rig.sunny();
    other.plant.setGrid({ voltagePu: 0.4, durationS: 1.9 });
    await other.run(60);
    expect(other.state).to.equal('on running connected');
  });

  it('follows an irradiance ramp and a fixed cell temperature', async () => {
    const rig = new Rig();
    rig.plant.setSurroundings({ irradianceWm2: 200, cellTemperatureC: 25 });
    await rig.run(60);
    const before = rig.w;
    rig.plant.setSurroundings({ irradianceWm2: 600, rampS: 100 });
    await rig.run(50);
    expect(rig.device.detail).to.deep.include({ irradianceWm2: 400, cellTemperatureC: 25 });
    expect(rig.w / before).to.be.closeTo(2, 0.08);
    rig.plant.setSurroundings({ cellTemperatureC: 70 });
    await rig.run(60);
    expect(rig.device.detail).to.deep.include({ irradianceWm2: 600, cellTemperatureC: 70 });
  });
});

describe('Changes with a duration', () => {
  it('drop layers that can never show again', () => {
    const env = steadyEnvironment();
    for (let i = 0; i < 1000; i += 1) env.setGrid({ voltagePu: 0.9, durationS: 10 }, at(0));
    expect(env.gridAt(0, at(9)).aPu).to.equal(0.9);
    expect(env.gridAt(0, at(10)).aPu).to.equal(1);
  });

  it('are pending in a bounded number, however their durations fall', () => {
    const env = steadyEnvironment();
    let refused = 0;
    for (let i = 0; i < 100; i += 1) {
      try {
        env.setGrid({ voltagePu: 1 - i / 1000, durationS: 1000 - i }, at(0));
      } catch (error) {
        expect(error).to.include({ code: 'COMMAND_CONFLICT' });
        refused += 1;
      }
    }
    expect(refused).to.be.within(60, 70);
    expect(env.gridAt(0, at(999.5)).aPu).to.equal(1);
    expect(env.gridAt(0, at(2000)).aPu).to.equal(1);
  });

  it('need a value, and the end of a local deviation has no other one', () => {
    const env = steadyEnvironment();
    for (const patch of [{}, { rampS: 5 }, { durationS: 5 }]) {
      expect(() => {
        env.setGrid(patch, at(0));
      }).to.throw(/changes nothing/);
      expect(() => {
        env.setSurroundings(patch, at(0), 0);
      }).to.throw(/changes nothing/);
    }
    expect(() => {
      env.setGrid({ source: 'csv', voltagePu: 0.9 }, at(0), 0);
    }).to.throw(/no other value/);
    expect(() => {
      env.setSurroundings({ source: 'csv', ambientTemperatureC: 40 }, at(0), 0);
    }).to.throw(/no other value/);
  });

  it('ramp every value of the surroundings', () => {
    const env = steadyEnvironment();
    env.setSurroundings({ ambientTemperatureC: 55, loadKw: 4, rampS: 10 }, at(0));
    expect(env.surroundings(at(5))).to.include({ ambientTemperatureC: 35, loadKw: 2, rampRemainingS: 5 });
    expect(env.surroundings(at(10))).to.include({ ambientTemperatureC: 55, loadKw: 4, rampRemainingS: 0 });
  });
});
