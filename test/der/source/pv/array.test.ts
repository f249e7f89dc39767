import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../../../src/core/errors.ts';
import { acFromDc } from '../../../../src/der/inverter/dc-link.ts';
import { currentAt, maximumPowerPoint, parametersAt, pvModules } from '../../../../src/der/source/pv/module.ts';
import { PvSource } from '../../../../src/der/source/pv/array.ts';
import type { PvConfig, PvWeather } from '../../../../src/der/source/pv/array.ts';
import { holds } from '../../../support/property.ts';

const config: PvConfig = {
  module: pvModules['DATASHEET-270'],
  seriesCount: 20,
  parallelCount: 18.5,
  minDcVoltageV: 300,
  maxDcVoltageV: 1000,
};
const sunny: PvWeather = { irradianceWm2: 800, ambientTemperatureC: 20, windSpeedMS: 2, cellTemperatureC: null };
const night: PvWeather = { ...sunny, irradianceWm2: 0 };
const modules = config.seriesCount * config.parallelCount;

function fixed(irradianceWm2: number, cellTemperatureC = 25): PvWeather {
  return { irradianceWm2, ambientTemperatureC: 20, windSpeedMS: 1, cellTemperatureC };
}

function settled(weather: PvWeather, changes: Partial<PvConfig> = {}): PvSource {
  const source = new PvSource({ ...config, ...changes });
  source.settle(weather);
  return source;
}

function exactMppW(weather: PvWeather, cellC: number): number {
  return maximumPowerPoint(parametersAt(config.module, weather.irradianceWm2, cellC)).p * modules;
}

function faultNames(changes: Partial<PvConfig>): string[] {
  try {
    new PvSource({ ...config, ...changes });
  } catch (error) {
    expect(error).to.be.instanceOf(SimError).with.property('code', 'CONFIG_INVALID');
    return (error as SimError).issues.map((issue) => issue.name);
  }
  return [];
}

describe('PV source: settled', () => {
  it('stands at the maximum power point of the Faiman temperature', () => {
    const source = settled(sunny);
    const cell = 20 + 800 / (25 + 6.84 * 2);
    expect(source.cellTemperatureC).to.be.closeTo(cell, 1e-9);
    expect(source.mppW).to.be.closeTo(exactMppW(sunny, cell), 1e-6);
    expect(source.availableDcW).to.equal(source.mppW);
    expect(source.settled).to.equal(true);
    source.draw(Infinity, true);
    expect(source.state).to.equal('track');
    expect(source.powerW).to.equal(source.mppW);
    expect(source.voltageV).to.be.closeTo(20 * 28.9, 2);
  });

  it('does not move when time passes', () => {
    const source = settled(sunny);
    const before = source.availableDcW;
    for (const dt of [0, 0.02, 1, 3600]) source.prepare(dt, sunny);
    expect(source.availableDcW).to.equal(before);
    expect(source.settled).to.equal(true);
  });

  it('is off at night, without voltage', () => {
    const source = settled(night);
    source.draw(1000, true);
    expect([source.mppW, source.availableDcW, source.voltageV, source.currentA, source.powerW]).to.deep.equal([
      0, 0, 0, 0, 0,
    ]);
    expect(source.state).to.equal('off');
    expect(source.settled).to.equal(true);
  });

  it('waits at open circuit while it is not energized', () => {
    const source = settled(sunny);
    source.draw(10_000, false);
    expect(source.state).to.equal('off');
    expect(source.voltageV).to.equal(source.openCircuitVoltageV);
    expect([source.currentA, source.powerW]).to.deep.equal([0, 0]);
    expect(source.availableDcW).to.equal(source.mppW);
  });

  it('reports a voltage above the window', () => {
    const source = settled(fixed(1000, -10), { maxDcVoltageV: 750 });
    source.draw(0, false);
    expect(source.overVoltage).to.equal(true);
    source.draw(Infinity, true);
    expect(source.overVoltage).to.equal(false);
  });
});

describe('PV source: curtailment', () => {
  it('raises the voltage above that of the maximum and reports limit', () => {
    const source = settled(sunny);
    source.draw(Infinity, true);
    const vmp = source.voltageV;
    source.draw(source.availableDcW / 2, true);
    expect(source.state).to.equal('limit');
    expect(source.voltageV).to.be.within(vmp * 1.05, source.openCircuitVoltageV);
    source.draw(0, true);
    expect(source.voltageV).to.equal(source.openCircuitVoltageV);
    expect(source.currentA).to.equal(0);
  });

  it('works on the curve: v times i is the requested power, for any light, temperature and power', () => {
    const light = fc.double({ min: 0.1, max: 1500, noNaN: true });
    const cell = fc.double({ min: -40, max: 90, noNaN: true });
    const share = fc.double({ min: 0, max: 1.2, noNaN: true });
    holds(
      'v times i is the power',
      [light, cell, share],
      (g, t, part) => {
        const source = settled(fixed(g, t), { minDcVoltageV: 0 });
        const requestW = part * source.availableDcW;
        source.draw(requestW, true);
        const given = Math.min(requestW, source.mppW);
        expect(source.powerW).to.equal(given);
        expect(source.voltageV * source.currentA).to.be.closeTo(given, 1e-6 * given + 1e-300);
        const onCurve = currentAt(parametersAt(config.module, g, t), source.voltageV / 20) * 18.5;
        expect(source.currentA).to.be.closeTo(onCurve, (1e-5 * source.mppW) / source.voltageV);
        expect(source.powerW - acFromDc(source.powerW, 100_000, 0.96)).to.be.at.least(0);
      },
      { runs: 500 },
    );
  });

  it('never gives NaN for invalid power or weather', () => {
    const source = settled(sunny);
    const before = source.availableDcW;
    for (const power of [NaN, -1, -Infinity]) {
      source.draw(power, true);
      expect([source.currentA, source.powerW]).to.deep.equal([0, 0]);
    }
    for (const bad of [
      { irradianceWm2: NaN },
      { ambientTemperatureC: NaN },
      { cellTemperatureC: NaN },
      { irradianceWm2: Infinity },
    ]) {
      source.prepare(1, { ...sunny, ...bad });
      expect(source.availableDcW).to.equal(before);
    }
    source.prepare(NaN, sunny);
    source.prepare(-5, sunny);
    expect(source.availableDcW).to.equal(before);
  });
});

describe('PV source: tracking', () => {
  const operate = (source: PvSource): number => {
    source.draw(Infinity, true);
    return source.voltageV;
  };

  it('moves its voltage with the time constant of the tracker, whatever the step', () => {
    const toV = operate(settled(fixed(800)));
    for (const steps of [1, 10, 1000]) {
      const source = settled(fixed(400));
      const fromV = operate(source);
      source.jumpTo(fixed(800));
      for (let n = 0; n < steps; n++) source.prepare(2 / steps, fixed(800));
      expect(operate(source)).to.be.closeTo(toV - (toV - fromV) * Math.exp(-2), 1e-6);
      expect(source.settled).to.equal(false);
    }
  });

  it('gains and loses current at once with the light, at the voltage at which it stands', () => {
    for (const [from, to] of [
      [400, 800],
      [800, 400],
    ] as const) {
      const source = settled(fixed(from));
      const beforeV = operate(source);
      source.jumpTo(fixed(to));
      expect([source.settled, operate(source)]).to.deep.equal([false, beforeV]);
      const onCurveA = currentAt(parametersAt(config.module, to, 25), beforeV / 20) * 18.5;
      expect(source.currentA).to.be.closeTo(onCurveA, 1e-9 * onCurveA);
      expect(source.powerW).to.be.within(0.99 * exactMppW(fixed(to), 25), exactMppW(fixed(to), 25));
    }
  });

  it('stands on the maximum while light rises by 10 W/m2 per second', () => {
    const source = settled(fixed(300));
    for (let light = 301; light <= 800; light++) {
      source.prepare(0.1, fixed(light));
      if (light % 100 !== 0) continue;
      expect(operate(source)).to.be.closeTo(maximumPowerPoint(parametersAt(config.module, light, 25)).v * 20, 1.5);
      expect(source.powerW).to.be.within(0.9999 * source.mppW, source.mppW);
    }
  });

  it('keeps power in a sudden dusk, in which even its open-circuit voltage is below the one at which it stood', () => {
    const source = settled(fixed(1000, -20), { minDcVoltageV: 100 });
    operate(source);
    source.jumpTo(fixed(0.2, 70));
    expect(operate(source)).to.be.below(source.openCircuitVoltageV);
    expect(source.powerW).to.be.above(0.5 * source.mppW);
  });

  it('settles, and then a long step moves less than 1e-4 of the maximum', () => {
    const source = settled(fixed(400));
    let steps = 0;
    while (!source.settled || steps === 0) {
      source.prepare(0.1, fixed(800));
      steps++;
    }
    expect(steps).to.be.within(20, 60);
    const before = source.availableDcW;
    source.prepare(3600, fixed(800));
    expect(Math.abs(source.availableDcW - before)).to.be.at.most(1e-4 * source.mppW);
  });

  it('keeps the solution exact while light and temperature drift', () => {
    const source = settled(sunny);
    for (let n = 0; n < 20_000; n++) {
      const weather = { ...sunny, irradianceWm2: 400 + 399.5 * Math.sin(n * 2e-4 + 0.1) };
      source.prepare(0.1, weather);
      const exact = exactMppW(weather, source.cellTemperatureC);
      expect(Math.abs(source.mppW - exact)).to.be.at.most(1e-8 * exact);
    }
  });

  it('never offers more than the maximum', () => {
    const weather = fc.record({
      irradianceWm2: fc.double({ min: 0, max: 1500, noNaN: true }),
      ambientTemperatureC: fc.double({ min: -50, max: 60, noNaN: true }),
      windSpeedMS: fc.double({ min: 0, max: 30, noNaN: true }),
      cellTemperatureC: fc.option(fc.double({ min: -50, max: 90, noNaN: true })),
    });
    const step = fc.tuple(
      fc.double({ min: 0, max: 100, noNaN: true }),
      weather,
      fc.double({ min: 0, max: 2e5, noNaN: true }),
      fc.boolean(),
    );
    holds(
      'no offer above the maximum',
      fc.array(step, { maxLength: 30 }),
      (steps) => {
        const source = new PvSource(config);
        for (const [dt, w, power, energized] of steps) {
          source.prepare(dt, w);
          source.draw(power, energized);
          expect(source.availableDcW).to.be.within(0, source.mppW);
          expect(source.powerW).to.be.within(0, source.availableDcW);
          expect(source.voltageV).to.be.within(0, source.openCircuitVoltageV);
          if (source.powerW > 0) expect(source.voltageV).to.be.at.least(config.minDcVoltageV - 1e-6);
          expect(Number.isFinite(source.currentA + source.cellTemperatureC)).to.equal(true);
        }
      },
      { runs: 300 },
    );
  });
});

describe('PV source: cell temperature', () => {
  it('follows with its time constant, whatever the step', () => {
    for (const steps of [1, 7, 4000]) {
      const source = settled(night);
      source.jumpTo(sunny);
      for (let n = 0; n < steps; n++) source.prepare(400 / steps, sunny);
      const rise = 800 / (25 + 6.84 * 2);
      expect(source.cellTemperatureC).to.be.closeTo(20 + rise * (1 - Math.exp(-1)), 1e-6);
      expect(source.settled).to.equal(false);
    }
  });

  it('comes to rest exactly where settling leads', () => {
    const source = settled({ ...sunny, irradianceWm2: 400 });
    for (let n = 0; n < 800; n++) source.prepare(10, sunny);
    expect(source.settled).to.equal(true);
    expect(source.availableDcW).to.equal(settled(sunny).availableDcW);
  });

  it('is taken as given when it is fixed, and starts from there when it is free again', () => {
    const source = settled(sunny);
    source.prepare(0.1, { ...sunny, cellTemperatureC: 75 });
    expect(source.cellTemperatureC).to.equal(75);
    source.prepare(0.1, sunny);
    expect(source.cellTemperatureC).to.be.within(74.9, 75);
  });
});

describe('PV source: start and low voltage', () => {
  it('ramps from zero to the maximum over the start time, then tracks', () => {
    const source = settled(night);
    source.prepare(0.1, fixed(600));
    source.draw(Infinity, true);
    expect(source.state).to.equal('start');
    expect(source.availableDcW).to.equal(0);
    expect(source.voltageV).to.equal(source.openCircuitVoltageV);
    for (let n = 0; n < 40; n++) source.prepare(0.1, fixed(600));
    source.draw(Infinity, true);
    expect(source.availableDcW).to.be.closeTo(0.4 * source.mppW, 1e-6);
    expect(source.voltageV).to.be.below(source.openCircuitVoltageV);
    expect(source.settled).to.equal(false);
    source.prepare(6.01, fixed(600));
    source.draw(Infinity, true);
    expect(source.state).to.equal('track');
    expect(source.availableDcW).to.equal(source.mppW);
    expect(source.settled).to.equal(true);
  });

  it('starts above the start voltage only, and goes on below it down to the window', () => {
    const dim = fixed(0.5);
    const source = settled(dim, { startVoltageV: 600, minDcVoltageV: 300 });
    expect(source.openCircuitVoltageV).to.be.within(300, 600);
    source.prepare(60, dim);
    source.draw(Infinity, true);
    expect([source.state, source.availableDcW, source.settled]).to.deep.equal(['off', 0, true]);
    source.prepare(1, fixed(600));
    source.prepare(60, fixed(600));
    source.prepare(1, dim);
    source.draw(Infinity, true);
    expect(source.state).to.equal('track');
    expect(source.availableDcW).to.be.above(0);
    source.prepare(1, fixed(1e-4));
    source.draw(Infinity, true);
    expect([source.state, source.availableDcW]).to.deep.equal(['off', 0]);
  });

  it('works at the lower end of the window when the maximum lies below', () => {
    const source = settled(fixed(1000, 75), { minDcVoltageV: 530, startVoltageV: 540 });
    source.draw(Infinity, true);
    expect(source.state).to.equal('dc_low');
    expect(source.voltageV).to.be.closeTo(530, 1e-3);
    expect(source.availableDcW).to.be.within(0.7 * source.mppW, 0.999 * source.mppW);
    expect(source.settled).to.equal(true);
  });

  it('starts at once with a start time of 0', () => {
    const source = new PvSource({ ...config, startSeconds: 0 });
    source.prepare(0, fixed(600));
    expect(source.availableDcW).to.equal(source.mppW);
  });
});

describe('PV source: curve', () => {
  it('rises in voltage from zero to open circuit with the maximum among the samples', () => {
    holds(
      'samples of the curve',
      [fc.integer({ min: 3, max: 200 }), fc.double({ min: 0.1, max: 1500, noNaN: true })],
      (points, g) => {
        const source = settled(fixed(g));
        const { curve, mpp, vOcV, iScA } = source.curve(points);
        expect(curve).to.have.length(points);
        expect(curve[0]).to.deep.equal({ v: 0, i: curve[0]!.i, p: 0 });
        expect(curve[0]!.i).to.be.closeTo(iScA, 1e-9 * iScA);
        expect(curve.at(-1)).to.deep.equal({ v: vOcV, i: 0, p: 0 });
        expect(mpp).to.not.equal(null);
        expect(curve).to.include(mpp);
        expect(mpp!.p).to.equal(source.mppW);
        curve.forEach((sample, n) => {
          expect(sample.p).to.be.at.most(mpp!.p);
          expect(sample.p).to.be.closeTo(sample.v * sample.i, 1e-9 * mpp!.p);
          if (n > 0) expect(sample.v).to.be.above(curve[n - 1]!.v);
          if (n > 0) expect(sample.i).to.be.at.most(curve[n - 1]!.i);
        });
      },
      { runs: 60 },
    );
  });

  it('is one sample of zeros in the dark', () => {
    expect(settled(night).curve(128)).to.deep.equal({ curve: [{ v: 0, i: 0, p: 0 }], mpp: null, vOcV: 0, iScA: 0 });
  });

  it('keeps the number of samples within bounds', () => {
    const source = settled(sunny);
    expect([NaN, 0, -3, 2.9, 1e9].map((points) => source.curve(points).curve.length)).to.deep.equal([3, 3, 3, 3, 1000]);
  });
});

describe('PV source: configuration', () => {
  it('doubles its power with its strings', () => {
    expect(settled(sunny, { parallelCount: 37 }).mppW).to.be.closeTo(2 * settled(sunny).mppW, 1e-6);
  });

  it('names every issue', () => {
    expect(faultNames({})).to.deep.equal([]);
    expect(faultNames({ seriesCount: 0, parallelCount: NaN, mpptTimeConstantS: 0 })).to.deep.equal([
      'seriesCount',
      'parallelCount',
      'mpptTimeConstantS',
    ]);
    expect(faultNames({ minDcVoltageV: 1000 })).to.include('minDcVoltageV');
    expect(faultNames({ startVoltageV: 200 })).to.deep.equal(['startVoltageV']);
    expect(faultNames({ startSeconds: -1, thermal: { u0: 0, u1: -1, timeConstantS: 0 } })).to.have.members([
      'startSeconds',
      'thermal.u0',
      'thermal.u1',
      'thermal.timeConstantS',
    ]);
    expect(faultNames({ module: { ...config.module, i0Ref: 0, rS: -1 } })).to.deep.equal(['module.i0Ref', 'module.rS']);
  });
});
