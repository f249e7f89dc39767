import { expect } from 'chai';
import { createRandom } from '../../../../src/core/random.ts';
import { BatteryPort } from '../../../../src/der/source/battery/battery-port.ts';
import { codeOf } from '../../../support/map.ts';
import { battery, defaults, run, step, weather, wide } from './rig.ts';

const at = (cellTemperatureC: number) => ({ ...weather, cellTemperatureC });

describe('battery as a DC port', () => {
  it('starts settled: half full, closed, at rest, able to do its rating both ways', () => {
    const port = battery();
    expect(port.ports).to.have.length(1);
    expect(port.ports[0]).to.include({ type: 'ESS', powerW: 0, currentA: 0 });
    expect(port.ports[0]!.voltageV).to.be.closeTo(64 * 3.751, 0.5);
    expect([port.availableDcW, port.absorbableDcW]).to.deep.equal([10_000, 10_000]);
    expect([port.settled, port.starting, port.maxStepS]).to.deep.equal([true, false, Infinity]);
    expect([...port.conditions]).to.deep.equal([]);
    expect(port.detail()).to.deep.include({
      kind: 'battery',
      socPct: 50,
      sohPct: 100,
      mode: 'idle',
      control: 'auto',
      powerW: 0,
      chemistry: 'nmc',
      capacityWh: 15_000,
      maxChargeW: 10_000,
      maxDischargeW: 10_000,
      state: 'standby',
      inhibit: 'none',
      requestedPowerW: null,
      clampedPowerW: null,
      remainingS: null,
      events: [],
      contactorsClosed: 2,
      cycleCount: 0,
      energyChargedWh: 0,
      energyDischargedWh: 0,
    });
    expect(port.detail().energyAvailableWh).to.be.closeTo(7500, 1e-6);
    expect(port.detail().ampHourRating).to.be.closeTo(15_000 / (64 * 3.722), 0.1);
  });

  it('answers a target within floor, ceiling and its own limits; without a target it idles', () => {
    const port = battery();
    port.prepare(1, weather);
    expect(port.answer({ targetW: null, ...wide })).to.equal(0);
    expect(port.answer({ targetW: 4000, ...wide })).to.equal(4000);
    expect(port.answer({ targetW: 4000, floorW: -1e4, ceilingW: 3000 })).to.equal(3000);
    expect(port.answer({ targetW: null, floorW: 2000, ceilingW: 5000 })).to.equal(2000);
    expect(port.answer({ targetW: -4e4, ...wide })).to.equal(-port.absorbableDcW);
    expect(port.answer({ targetW: 0, floorW: 2e4, ceilingW: 3e4 })).to.equal(port.availableDcW);
  });

  it('follows the drawn power, at a voltage that sags and rises', () => {
    const port = battery();
    const volts = [8000, 0, -8000].map((powerW) => {
      port.prepare(1, weather);
      port.draw(powerW, true);
      expect(port.ports[0]!.powerW).to.equal(powerW);
      return port.ports[0]!.voltageV;
    });
    expect(volts[0]).to.be.below(volts[1]!);
    expect(volts[1]).to.be.below(volts[2]!);
    port.prepare(1, weather);
    port.draw(8000, false);
    expect(port.ports[0]!.powerW).to.equal(0);
  });

  it('a second draw in one sub-step moves no more charge', () => {
    const port = battery();
    step(port, 1, 5000);
    const { energyDischargedWh, trueSocPct } = port.detail();
    port.draw(0, false);
    expect(port.detail()).to.include({ energyDischargedWh, trueSocPct, powerW: 0 });
  });

  it('standby is taken from the cells, down to the floor and no further', () => {
    const port = battery({ socPct: 10.1 });
    const before = port.bank.meanSoc;
    run(port, 600, 1, 0);
    // 0.3 % of 10 kW for ten minutes
    expect((before - port.bank.meanSoc) * port.bank.nominalAh * port.bank.busVoltageV).to.be.closeTo(5, 0.1);
    run(port, 7200, 10, 0);
    expect(port.bank.meanSoc).to.be.closeTo(0.1, 1e-6);
    expect(port.detail()).to.include({
      energyDischargedWh: 0,
      socPct: 10,
      inhibit: 'soc_floor',
      state: 'soc_protection',
    });
    expect([...port.conditions]).to.deep.equal(['soc_low']);
    expect(port.detail().events).to.deep.equal(['UNDER_SOC_MIN_WARNING']);
  });

  it('resumes a per cent above the floor', () => {
    const port = battery({ socPct: 10.2 });
    run(port, 600, 1, 9000);
    expect(port.availableDcW).to.equal(0);
    run(port, 45, 1, -9000);
    expect(port.bank.meanSoc).to.be.within(0.105, 0.109);
    expect(port.availableDcW).to.equal(0);
    run(port, 30, 1, -9000);
    expect(port.availableDcW).to.equal(10_000);
    expect([...port.conditions]).to.deep.equal([]);
  });

  it('keeps the reserve for frequency support and forced modes', () => {
    const port = battery({ socPct: 31, socReserveMinPct: 30, socReserveMaxPct: 80 });
    run(port, 300, 1, 9000);
    expect(port.detail()).to.include({ socPct: 30, inhibit: 'soc_floor', maxDischargeW: 0 });
    step(port, 1, 9000, { ...weather, frequencySupport: true });
    expect(port.ports[0]!.powerW).to.equal(9000);
    step(port, 1, 9000);
    expect(port.ports[0]!.powerW).to.equal(0);
    port.command({ kind: 'battery.control', mode: 'discharge', powerW: 9000 });
    run(port, 3600, 1, null);
    expect(port.detail()).to.include({ socPct: 10, inhibit: 'soc_floor' });
  });

  it('takes new reserve bounds in order only', () => {
    const port = battery();
    port.command({ kind: 'battery.reserve', minPct: 20, maxPct: 60 });
    expect(port.detail()).to.include({ socReserveMinPct: 20, socReserveMaxPct: 60 });
    for (const [minPct, maxPct] of [
      [5, 60],
      [70, 60],
      [20, 95],
      [Number.NaN, 60],
      [20, Number.NaN],
    ] as const) {
      expect(
        codeOf(() => {
          port.command({ kind: 'battery.reserve', minPct, maxPct });
        }),
      ).to.equal('COMMAND_BAD_VALUE');
    }
    expect(port.detail()).to.include({ socReserveMinPct: 20, socReserveMaxPct: 60 });
  });

  it('charges half as much at 0 C, nothing at -10 C, half at 50 C, nothing at 60 C', () => {
    const port = battery();
    const limits = [-20, -10, 0, 15, 40, 50, 60].map((degrees) => {
      step(port, 1, 0, at(degrees));
      return [port.absorbableDcW, port.availableDcW].map(Math.round);
    });
    expect(limits).to.deep.equal([
      [0, 0],
      [0, 5000],
      [5000, 10_000],
      [10_000, 10_000],
      [10_000, 10_000],
      [5000, 5000],
      [0, 0],
    ]);
    step(port, 1, -5000, at(-15));
    expect(port.detail()).to.include({ inhibit: 'temperature', state: 'suspending', maxChargeW: 0 });
  });

  it('a hot cell opens the strings until the fault is cleared and the heat is gone', () => {
    const port = battery();
    step(port, 1, 5000, at(55));
    expect(port.detail().events).to.deep.equal(['OVER_TEMP_WARNING']);
    step(port, 1, 5000, at(70));
    expect(port.detail()).to.include({
      state: 'fault',
      contactorsClosed: 0,
      powerW: 0,
      dcVoltageV: 0,
      maxChargeW: 0,
      maxDischargeW: 0,
    });
    expect([...port.conditions]).to.deep.equal(['over_temp', 'dc_disconnect']);
    expect(port.detail().events).to.include('OVER_TEMP_ALARM');
    port.clearFaults();
    expect(port.detail().state).to.equal('fault');
    run(port, 10, 1, 5000, at(30));
    expect(port.detail().state).to.equal('fault');
    // the request is kept, the strings stay open
    expect(
      codeOf(() => {
        port.command({ kind: 'battery.connect', connect: true });
      }),
    ).to.equal(null);
    expect(port.detail().contactorsClosed).to.equal(0);
    port.clearFaults();
    expect(port.detail().state).to.equal('initializing');
    expect(port.starting).to.equal(true);
    run(port, 3, 1, 5000, at(30));
    expect(port.detail()).to.include({ state: 'connected', contactorsClosed: 2, powerW: 5000 });
    step(port, 1, 0, at(-35));
    expect([...port.conditions]).to.deep.equal(['under_temp', 'dc_disconnect']);
  });

  it('in a hybrid a fixed cell temperature of the surroundings applies to the array alone', () => {
    const port = battery({}, { takesCellTemperature: false });
    step(port, 1, 5000, at(70));
    expect(port.detail().state).to.equal('connected');
    expect(port.detail().temperatureC).to.be.closeTo(25, 1e-9);
  });

  it('an ambient temperature of its own replaces that of the surroundings', () => {
    const port = battery({ ambientTemperatureC: 18 });
    port.settle({ ...weather, ambientTemperatureC: -20 });
    expect(port.detail().temperatureC).to.be.closeTo(18, 1e-9);
  });

  it('the curve rises in voltage from the discharge limit to the charge limit', () => {
    const port = battery();
    step(port, 1, 3000);
    const { curve, kind, vOcV, operatingPoint, mpp, irradianceWm2 } = port.curve(0, 41);
    expect({ kind, mpp, irradianceWm2 }).to.deep.equal({ kind: 'battery', mpp: null, irradianceWm2: null });
    expect(curve).to.have.length(41);
    for (let n = 1; n < curve.length; n += 1) {
      expect(curve[n]!.v).to.be.greaterThan(curve[n - 1]!.v);
      expect(curve[n]!.i).to.be.below(curve[n - 1]!.i);
    }
    expect(curve[0]!.p).to.be.closeTo(10_000, 1e-6);
    expect(curve[40]!.p).to.be.closeTo(-10_000, 1e-6);
    expect(vOcV).to.be.within(curve[0]!.v, curve[40]!.v);
    expect(operatingPoint.p).to.equal(3000);
    expect(codeOf(() => port.curve(1, 10))).to.equal('UNKNOWN_RESOURCE');
    port.command({ kind: 'battery.connect', connect: false });
    expect(port.curve(undefined, 10).curve).to.deep.equal([{ v: 0, i: 0, p: 0 }]);
  });

  it('shows every cell, and sums that fit', () => {
    const port = battery();
    run(port, 60, 1, 6000);
    const { strings } = port.tree();
    expect(strings.map((string) => string.modules.map((module) => module.cells.length))).to.deep.equal([
      [16, 16, 16, 16],
      [16, 16, 16, 16],
    ]);
    const detail = port.detail();
    const cells = strings.flatMap((string) =>
      string.modules.flatMap((module) => module.cells.map((cell) => cell.voltageV)),
    );
    expect(Math.min(...cells)).to.equal(detail.cellVoltageMinV);
    expect(Math.max(...cells)).to.equal(detail.cellVoltageMaxV);
    const { string, module } = detail.cellVoltageMinAt;
    expect(strings[string]!.modules[module]!.cellVoltageMinV).to.equal(detail.cellVoltageMinV);
    for (const { voltageV, contactor } of strings) {
      expect(voltageV).to.be.closeTo(detail.dcVoltageV, 0.002);
      expect(contactor).to.equal('closed');
    }
    expect(strings.reduce((sum, { currentA }) => sum + currentA, 0)).to.be.closeTo(
      (6000 + 30) / detail.dcVoltageV,
      0.01,
    );
    for (const { temperatureMinC, temperatureMaxC } of strings[0]!.modules)
      expect(temperatureMaxC - temperatureMinC).to.be.within(0.5, 5);
  });

  it('is the same for the same seed, however often it is read', () => {
    const [a, b] = [battery({}, {}, 3), battery({}, {}, 3)];
    for (let n = 0; n < 300; n += 1) {
      step(a, 0.7, 5000);
      step(b, 0.7, 5000);
      b.detail();
      b.tree();
      b.curve(0, 20);
    }
    expect(a.detail()).to.deep.equal(b.detail());
    expect(a.tree()).to.deep.equal(b.tree());
  });

  it('settled or not, a new port shows finite numbers, and bad surroundings change nothing', () => {
    const port = new BatteryPort(defaults, createRandom(1, 'battery'));
    port.prepare(Number.NaN, { ...weather, ambientTemperatureC: Number.NaN, cellTemperatureC: Number.NaN });
    port.draw(Number.NaN, true);
    for (const value of Object.values(port.detail())) if (typeof value === 'number') expect(value).to.be.finite;
    expect(port.ports[0]!.powerW).to.equal(0);
  });

  it('ages if a cycle life is set: less capacity, more resistance', () => {
    const [port, ageless] = [battery({ cycleLife: 10 }), battery()];
    for (const each of [port, ageless]) {
      for (let n = 0; n < 4; n += 1) {
        run(each, 3000, 10, 9000);
        run(each, 3000, 10, -9000);
      }
    }
    const { cycleCount, sohPct } = port.detail();
    expect(cycleCount).to.be.within(1.5, 2.5);
    expect(sohPct).to.be.closeTo(100 - 2 * cycleCount, 0.1);
    expect(ageless.detail().sohPct).to.equal(100);
    expect(port.bank.busOhm / ageless.bank.busOhm).to.be.closeTo(1 / port.bank.soh, 0.01);
    expect(port.bank.closedAh / ageless.bank.closedAh).to.be.closeTo(port.bank.soh, 1e-3);
    expect(battery({ sohPct: 80 }).detail().energyAvailableWh).to.be.closeTo(6000, 1e-6);
  });
});
