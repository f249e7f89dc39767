import { expect } from 'chai';
import type { SourceCommand } from '../../../../src/contract/device.ts';
import { codeOf } from '../../../support/map.ts';
import { mild, oxideBoth, oxideOnly, pemBoth, plantOf, ratedDcW, run, steadyAt, step } from './support.ts';

describe('fuel cell as a DC port', () => {
  it('a new fuel cell is warm and runs at maximum', () => {
    const port = plantOf();
    expect([port.availableDcW, port.absorbableDcW, port.settled, port.starting, port.maxStepS]).to.deep.equal([
      ratedDcW,
      0,
      true,
      false,
      Infinity,
    ]);
    steadyAt(port, 1e6);
    expect(step(port, null, 1)).to.equal(ratedDcW);
    const detail = port.detail();
    expect(detail).to.deep.include({
      kind: 'fuelcell',
      mode: 'FC',
      state: 'fc',
      chemistry: 'PEMFC',
      operatingMode: 'fc_only',
      fuel: 'tank',
      stackTemperatureC: 65,
      rampLimited: false,
      dwellRemainingS: 0,
      ratedPowerW: 4850,
      ratedElPowerW: 0,
      tankState: 'ok',
    });
    // gross less 3 % of rated and 4 % of gross is net
    expect(detail.stackPowerW * (1 - 0.07)).to.be.closeTo(ratedDcW, 1e-6);
    expect(detail.stackVoltageV / detail.cellCount).to.be.closeTo(0.6133788, 1e-5);
    expect(detail.stackVoltageV * detail.stackCurrentA).to.be.closeTo(detail.stackPowerW, 1e-6);
    const usedKgH = ((detail.stackCurrentA * detail.cellCount) / (2 * 96485.332)) * 2.01588e-3 * 3600;
    expect(detail.h2FlowKgH).to.be.closeTo(usedKgH / 0.97, 1e-9);
    expect(detail.efficiencyPct).to.be.closeTo((ratedDcW / (detail.h2FlowKgH * 33.33e3)) * 100, 1e-6);
  });

  it('with an Amphlett stack it gives its rating at every temperature that allows it', () => {
    const port = plantOf({ stack_model: 'amphlett' });
    steadyAt(port, 1e6);
    expect(step(port, null, 1)).to.equal(ratedDcW);
    const { stackVoltageV, stackCurrentA, stackPowerW, cellCount } = port.detail();
    expect(stackVoltageV / cellCount).to.be.closeTo(0.55916, 1e-5);
    expect(stackVoltageV * stackCurrentA).to.be.closeTo(stackPowerW, 1e-6);
    const { mpp, iScA } = port.curve(0, 50);
    expect([mpp!.p / stackPowerW, iScA! / stackCurrentA]).to.satisfy(
      ([atMaxPower, short]: number[]) => Math.abs(atMaxPower! - 1.295) < 0.002 && Math.abs(short! - 1.5 / 0.7) < 0.001,
    );
    for (const start of [-40, 0, 25, 49, 65]) {
      // the smallest cells that are allowed
      const small = plantOf({
        stack_model: 'amphlett',
        start_temperature_c: start,
        cell_count: 75,
        cell_area_cm2: 175,
      });
      steadyAt(small, 1e6);
      const detail = small.detail();
      expect(detail.stackVoltageV / 75, `${start} C`).to.be.above(0.49);
      expect(detail.stackVoltageV).to.be.closeTo(small.curve(0, 3).operatingPoint.v, 1e-9);
    }
    const both = plantOf({ ...pemBoth, stack_model: 'amphlett' });
    expect([both.availableDcW, both.absorbableDcW]).to.deep.equal([ratedDcW, 5000]);
  });

  it('the port carries exactly what is drawn', () => {
    const port = plantOf(pemBoth);
    expect(port.ports.map(({ type, name }) => [type, name])).to.deep.equal([['BIDIR', 'FC']]);
    expect(plantOf().ports[0]!.type).to.equal('INJ');
    for (const dcW of [0, 123.456, -777.7, 0.001, -0.001]) {
      port.settle(mild);
      port.draw(dcW, true);
      const [reading] = port.ports;
      expect(reading!.powerW).to.equal(dcW);
      expect(reading!.voltageV * reading!.currentA).to.be.closeTo(dcW, 1e-9);
    }
  });

  it('a bidirectional plant idles without a set-point, and runs in both directions', () => {
    const port = plantOf(pemBoth);
    expect([port.availableDcW, port.absorbableDcW]).to.deep.equal([ratedDcW, 5000]);
    expect(step(port, null, 1)).to.equal(0);
    expect(port.detail()).to.deep.include({
      mode: 'idle',
      state: 'idle',
      efficiencyPct: 0,
      h2FlowKgH: 0,
      stackPowerW: 0,
    });
    steadyAt(port, -4000);
    step(port, -4000, 1);
    const detail = port.detail();
    expect(detail).to.deep.include({ mode: 'EL', state: 'el' });
    expect(detail.stackPowerW).to.be.below(0);
    expect(detail.stackCurrentA).to.be.below(0);
    expect(detail.h2FlowKgH).to.be.below(0);
    expect(detail.efficiencyPct).to.be.within(50, 65);
  });

  it('answers within floor and ceiling; its own bounds come first', () => {
    const port = plantOf(pemBoth);
    const answer = (targetW: number | null, floorW: number, ceilingW: number) =>
      port.answer({ targetW, floorW, ceilingW });
    expect(answer(9000, -1e4, 1e4)).to.equal(ratedDcW);
    expect(answer(-9000, -1e4, 1e4)).to.equal(-5000);
    expect(answer(3000, -1e4, 2000)).to.equal(2000);
    expect(answer(null, 1000, 1000)).to.equal(1000);
    expect(answer(null, -1500, -1500)).to.equal(-1500);
    expect(answer(0, 9000, 9000)).to.equal(ratedDcW);
    // under 3 % it idles, under 10 % there is no electrolysis, unless forced
    expect(answer(149, -1e4, 1e4)).to.equal(0);
    expect(answer(150, -1e4, 1e4)).to.equal(150);
    expect(answer(-499, -1e4, 1e4)).to.equal(0);
    expect(answer(-500, -1e4, 1e4)).to.equal(-500);
    expect(answer(null, 100, 100)).to.equal(100);
    const only = plantOf();
    expect(only.answer({ targetW: null, floorW: 0, ceilingW: 2345 })).to.equal(2345);
    expect(only.answer({ targetW: -500, floorW: -1e4, ceilingW: 1e4 })).to.equal(0);
  });

  describe('ramps', () => {
    for (const dtS of [0.02, 0.1, 1, 3]) {
      it(`PEM rises by 15 %/s from its idle load, in steps of ${dtS} s`, () => {
        const port = plantOf();
        steadyAt(port, 0);
        expect(run(port, null, 3, dtS)).to.be.closeTo(ratedDcW * (0.03 + 0.45), 1e-6);
        expect(port.detail().rampLimited).to.equal(true);
        expect(port.settled).to.equal(false);
        expect(run(port, null, 4, dtS)).to.equal(ratedDcW);
        step(port, null, dtS);
        expect([port.detail().rampLimited, port.settled]).to.deep.equal([false, true]);
      });
    }

    it('electrolysis rises from its minimum load of 10 %', () => {
      const port = plantOf(pemBoth);
      steadyAt(port, 0);
      expect(step(port, -5000, 0.1)).to.be.closeTo(-5000 * 0.115, 1e-9);
      expect(run(port, -5000, 1.9, 0.1)).to.be.closeTo(-5000 * 0.4, 1e-6);
    });

    it('falls at once; the readiness for its last power decays by 50 %/s', () => {
      const port = plantOf();
      steadyAt(port, 1e6);
      expect(step(port, 0, 0.1)).to.equal(0);
      expect(step(port, 1e6, 0.1)).to.be.closeTo(ratedDcW * 0.965, 1e-6);
      steadyAt(port, 1e6);
      run(port, 0, 3, 0.1);
      expect(step(port, 1e6, 0.1)).to.be.closeTo(ratedDcW * 0.045, 1e-6);
    });

    it('solid oxide: 20 % per minute hot, 3 % per minute just ready, in steps of a second', () => {
      const port = plantOf(oxideOnly);
      steadyAt(port, 0);
      expect(run(port, null, 60, 1)).to.be.closeTo(ratedDcW * 0.23, 1e-6);
      expect([port.settled, port.detail().rampLimited]).to.deep.equal([true, true]);
      const cool = plantOf({ ...oxideOnly, start_temperature_c: 705 });
      expect(run(cool, null, 60, 0.1)).to.be.within(0, ratedDcW);
      steadyAt(cool, 0);
      expect(run(cool, null, 60, 1)).to.be.closeTo(ratedDcW * 0.06, 1e-6);
    });
  });

  describe('dwell', () => {
    for (const [name, input, dwellS] of [
      ['PEM', pemBoth, 30],
      ['solid oxide', oxideBoth, 600],
    ] as const) {
      for (const [from, to] of [
        [2000, -2000],
        [-2000, 2000],
      ] as const) {
        it(`${name} dwells ${dwellS} s between ${from} W and ${to} W`, () => {
          const port = plantOf(input);
          steadyAt(port, from);
          expect(run(port, to, dwellS - 1, 0.25)).to.equal(0);
          expect(port.detail()).to.deep.include({ mode: 'idle', state: 'transition' });
          expect(port.detail().dwellRemainingS).to.be.closeTo(1, 1e-9);
          expect(port.maxStepS).to.be.closeTo(1, 1e-9);
          expect(run(port, to, 1, 0.25)).to.equal(0);
          expect(Math.sign(step(port, to, 0.02))).to.equal(Math.sign(to));
          expect(port.detail().dwellRemainingS).to.equal(0);
        });
      }
    }

    it('the same direction needs no dwell, and running again restarts the dwell', () => {
      const port = plantOf(pemBoth);
      steadyAt(port, 2000);
      run(port, 0, 20, 1);
      expect(port.detail().dwellRemainingS).to.be.closeTo(10, 1e-9);
      expect(step(port, 2000, 0.1)).to.be.above(0);
      expect(port.detail().dwellRemainingS).to.equal(0);
      step(port, 0, 1);
      expect(port.detail().dwellRemainingS).to.be.closeTo(29, 1e-9);
      expect(port.absorbableDcW).to.equal(0);
    });

    it('a restart ends the dwell and does not interrupt flowing power', () => {
      const port = plantOf(pemBoth);
      steadyAt(port, 2000);
      run(port, 0, 5, 1);
      expect(port.detail().state).to.equal('transition');
      port.restart();
      expect(port.detail()).to.deep.include({ state: 'idle', dwellRemainingS: 0 });
      expect(step(port, -2000, 0.1)).to.be.below(0);
      const only = plantOf();
      steadyAt(only, 1e6);
      step(only, null, 0.1);
      only.restart();
      expect(step(only, null, 0.1)).to.equal(ratedDcW);
    });

    it('power below the minimum load counts as idle', () => {
      const port = plantOf(pemBoth);
      steadyAt(port, 2000);
      for (let s = 0; s < 30; s += 1) {
        port.prepare(1, mild);
        port.draw(100, true);
      }
      port.prepare(1, mild);
      expect(port.absorbableDcW).to.be.above(0);
    });
  });

  describe('temperature', () => {
    it('a cold PEM stack gives 30 to 100 % and warms up by itself', () => {
      const port = plantOf({ start_temperature_c: 0 });
      expect([port.starting, port.detail().state, port.availableDcW]).to.deep.equal([true, 'heatup', 0.3 * ratedDcW]);
      steadyAt(plantOf({ start_temperature_c: -30 }), 1e6);
      expect(plantOf({ start_temperature_c: 25 }).availableDcW).to.be.closeTo(0.65 * ratedDcW, 1e-9);
      let last = 0;
      for (let minute = 0; minute < 10; minute += 1) {
        const dcW = run(port, null, 60, 0.1);
        expect(dcW).to.be.at.least(last);
        last = dcW;
      }
      expect(last).to.equal(ratedDcW);
      expect([port.starting, port.detail().stackTemperatureC]).to.deep.equal([false, 65]);
    });

    it('steps of 0.01 s and 0.1 s warm up alike', () => {
      const reached = [0.01, 0.1].map((dtS) => {
        const port = plantOf({ start_temperature_c: 10 });
        const dcW = run(port, null, 100, dtS);
        return [dcW, port.detail().stackTemperatureC, port.detail().h2ConsumedKg];
      });
      for (const [at, value] of reached[0]!.entries()) expect(reached[1]![at]! / value).to.be.closeTo(1, 1e-3);
    });

    it('in heat beyond the cooling the power is derated and settles', () => {
      const port = plantOf();
      const heat = { ...mild, ambientTemperatureC: 75 };
      port.settle(heat);
      for (let s = 0; s < 7200; s += 1) step(port, null, 1, heat);
      const { stackTemperatureC } = port.detail();
      expect(stackTemperatureC).to.be.within(80, 90);
      expect(port.availableDcW / ratedDcW).to.be.closeTo((90 - stackTemperatureC) / 10, 0.05);
    });

    it('solid oxide from cold: nothing for hours, then loads slowly', () => {
      const port = plantOf({ ...oxideBoth, start_temperature_c: 20 });
      expect([port.availableDcW, port.absorbableDcW, port.detail().state, port.settled]).to.deep.equal([
        0,
        0,
        'heatup',
        true,
      ]);
      run(port, 5000, 7200, 1);
      expect([port.availableDcW, port.starting]).to.deep.equal([0, true]);
      run(port, 5000, 3600, 1);
      expect(port.starting).to.equal(false);
      expect(port.availableDcW).to.be.above(0);
    });

    it('with an open input a cold stack stays cold, and a warm one is in standby', () => {
      const cold = plantOf({ ...oxideOnly, start_temperature_c: 300 });
      for (let s = 0; s < 3600; s += 1) {
        cold.prepare(1, mild);
        cold.draw(0, false);
      }
      expect([cold.detail().state, cold.starting]).to.deep.equal(['off', false]);
      expect(cold.detail().stackTemperatureC).to.be.below(300);
      const warm = plantOf();
      warm.prepare(3600, mild);
      warm.draw(0, false);
      expect(warm.detail()).to.deep.include({ state: 'standby', stackTemperatureC: 65, mode: 'idle' });
    });
  });

  it('voltage lags behind a step of current, alike for every step size, and arrives', () => {
    const after = [0.02, 0.1, 0.5].map((dtS) => {
      const port = plantOf();
      steadyAt(port, 1000);
      const before = port.detail().stackVoltageV;
      for (let s = 0; s < Math.round(1 / dtS); s += 1) {
        port.prepare(dtS, mild);
        port.draw(1500, true);
      }
      const soon = port.detail().stackVoltageV;
      run(port, 1500, 60, 1);
      expect(soon).to.be.below(before);
      expect(soon).to.not.be.closeTo(port.detail().stackVoltageV, 1e-3);
      return soon;
    });
    expect(Math.max(...after) - Math.min(...after)).to.be.below(1e-9);
  });

  it('has a polarization curve, rising in voltage, with the maximum power point', () => {
    for (const input of [{}, { stack_model: 'amphlett' }, oxideBoth] as const) {
      const port = plantOf(input);
      steadyAt(port, 3000);
      const { kind, curve, mpp, operatingPoint, vOcV, iScA, irradianceWm2 } = port.curve(0, 100);
      expect([kind, curve.length, irradianceWm2]).to.deep.equal(['fuelcell', 100, null]);
      expect([curve[0]!.v, curve.at(-1)!.i]).to.deep.equal([0, 0]);
      expect(curve[0]!.i).to.be.closeTo(iScA!, 1e-6 * iScA!);
      expect(curve.at(-1)!.v).to.be.closeTo(vOcV!, 1e-9);
      for (let at = 1; at < curve.length; at += 1) {
        expect(curve[at]!.v).to.be.above(curve[at - 1]!.v);
        expect(curve[at]!.i).to.be.below(curve[at - 1]!.i);
      }
      expect(curve).to.include(mpp);
      expect(Math.max(...curve.map(({ p }) => p))).to.equal(mpp!.p);
      expect(operatingPoint.v).to.be.below(vOcV!);
      expect(operatingPoint.v).to.be.above(mpp!.v);
      expect(codeOf(() => port.curve(1, 100))).to.equal('UNKNOWN_RESOURCE');
    }
  });

  it('refuses commands of other kinds', () => {
    const other = { kind: 'wind.override', windSpeedMS: 5, height: 'hub' } as unknown as SourceCommand;
    expect(
      codeOf(() => {
        plantOf().command(other);
      }),
    ).to.equal('COMMAND_NOT_APPLICABLE');
    expect(
      codeOf(() => {
        plantOf(oxideOnly).command({ kind: 'fuelcell.tank', levelPct: 50 });
      }),
    ).to.equal('COMMAND_NOT_APPLICABLE');
    for (const levelPct of [-1, 101, NaN]) {
      expect(
        codeOf(() => {
          plantOf().command({ kind: 'fuelcell.tank', levelPct });
        }),
      ).to.equal('COMMAND_BAD_VALUE');
    }
  });
});
