import { expect } from 'chai';
import { createRandom } from '../../../../src/core/random.ts';
import { BatteryBank, currentFor } from '../../../../src/der/source/battery/bank.ts';
import { cellSpecs } from '../../../../src/der/source/battery/cell-spec.ts';
import type { CellSpec } from '../../../../src/der/source/battery/cell-spec.ts';
import { goldenRows, needsGolden } from '../../golden.ts';
import { evenSpec } from './rig.ts';

/** 100 Ah, 1.2 mOhm, 0.8 mOhm with 25 kF, and nothing that changes them. */
const pulseSpec: CellSpec = {
  ...evenSpec,
  r0OhmAh: 0.12,
  r1OhmAh: 0.08,
  rcTimeConstantS: 20,
  resistanceRiseShare: 0,
  activationJMol: 0,
};

function pulseCell(): BatteryBank {
  const capacityWh = (100 * (cellSpecs.nmc.ocvV.reduce((a, b) => a + b, 0) - (2.5 + 4.2) / 2)) / 100;
  return new BatteryBank(
    {
      strings: 1,
      modules: 1,
      cells: 1,
      spec: pulseSpec,
      capacityWh,
      soc: 0.6,
      soh: 1,
      thermalTimeConstantS: 7200,
    },
    createRandom(1, 'cell'),
  );
}

function bank(spec: CellSpec = cellSpecs.nmc, soc = 0.5, seed = 1): BatteryBank {
  return new BatteryBank(
    { strings: 2, modules: 4, cells: 16, spec, capacityWh: 15_000, soc, soh: 1, thermalTimeConstantS: 7200 },
    createRandom(seed, 'bank'),
  );
}

describe('battery bank', () => {
  for (const dtS of [0.1, 1, 2, 5, 10]) {
    it(`follows the pulse of the reference cell in steps of ${dtS} s ${needsGolden}`, function () {
      const rows = goldenRows(this, 'battery_ecm_pulse.csv');
      const cell = pulseCell();
      for (const row of rows.slice(1)) {
        const amps = Number(row.i_discharge_a);
        for (let n = 0; n < Math.round(10 / dtS); n += 1) cell.advanceCurrent(dtS, amps);
        expect(cell.soc[0]).to.be.closeTo(Number(row.soc_pu), 1e-7);
        expect(cell.rcV[0]).to.be.closeTo(Number(row.v_rc_v), 1e-7);
        expect(cell.busVoltageV, `at ${row.t_s} s`).to.be.closeTo(Number(row.v_terminal_v), 1e-5);
      }
    });
  }

  it('one step of 300 s is the same pulse, and so is one of 300 s at rest', () => {
    const cell = pulseCell();
    cell.advanceCurrent(300, 100);
    expect(cell.busVoltageV).to.be.closeTo(3.567009, 1e-5);
    cell.advanceCurrent(300, 0);
    expect(cell.busVoltageV).to.be.closeTo(3.767009, 1e-5);
  });

  it('current for a power: both signs, and the maximum power', () => {
    expect(currentFor(0, 240, 0.1)).to.equal(0);
    for (const powerW of [5000, -5000]) {
      const amps = currentFor(powerW, 240, 0.1);
      expect(amps * (240 - amps * 0.1)).to.be.closeTo(powerW, 1e-6);
    }
    expect(currentFor(100, 0, 0.1)).to.equal(0);
    // 144 kW at 1200 A is the maximum power
    expect(currentFor(143_999.999, 240, 0.1)).to.be.closeTo(1200, 0.2);
    for (const powerW of [144_000, 144_001, 300_000, 1e9])
      expect(currentFor(powerW, 240, 0.1), `${powerW} W`).to.equal(1200);
  });

  it('differs from cell to cell by the seed alone, and has the nameplate as a whole', () => {
    const [a, again, other] = [bank(), bank(), bank(cellSpecs.nmc, 0.5, 2)];
    expect([...a.cells.soc]).to.deep.equal([...again.cells.soc]);
    expect([...a.cells.capacityAh]).to.not.deep.equal([...other.cells.capacityAh]);
    expect(a.meanSoc).to.be.closeTo(0.5, 1e-12);
    expect(a.closedAh).to.be.closeTo(a.nominalAh, 1e-9);
    const capacities = [...a.cells.capacityAh];
    const mean = capacities.reduce((x, y) => x + y, 0) / capacities.length;
    const deviation = Math.sqrt(capacities.reduce((x, y) => x + (y / mean - 1) ** 2, 0) / capacities.length);
    expect(deviation).to.be.within(0.004, 0.006);
    expect(Math.max(...capacities.map((c) => Math.abs(c / mean - 1)))).to.be.at.most(0.0155);
  });

  it('strings in parallel share the voltage and add up to the current', () => {
    const b = bank();
    b.cells.soc.forEach((soc, at) => {
      b.cells.soc[at] = soc + (at < 64 ? 0.01 : -0.01);
    });
    b.refresh();
    b.operate(8000);
    expect(b.currentA[0]! + b.currentA[1]!).to.be.closeTo(b.busCurrentA, 1e-9);
    expect(b.busVoltageV * b.busCurrentA).to.be.closeTo(8000, 1e-6);
    expect(b.currentA[0]).to.be.greaterThan(b.currentA[1]!);
    for (const k of [0, 1]) expect(b.emfV[k]! - b.currentA[k]! * b.r0Ohm[k]!).to.be.closeTo(b.busVoltageV, 1e-9);
  });

  it('strings of different charge come together over the bus', () => {
    const b = bank(evenSpec);
    b.cells.soc.forEach((soc, at) => {
      b.cells.soc[at] = soc + (at < 64 ? 0.01 : -0.01);
    });
    b.refresh();
    const total = b.meanSoc;
    b.advance(1800, 0);
    expect(Math.abs(b.soc[0]! - b.soc[1]!)).to.be.below(0.002);
    expect(b.meanSoc).to.be.closeTo(total, 1e-6);
  });

  it('resistance rises in the cold and towards empty and full', () => {
    const b = bank(evenSpec);
    b.setSurroundings(25, 25);
    const middle = b.busOhm;
    b.setSurroundings(25, 0);
    expect(b.busOhm / middle).to.be.closeTo(Math.exp((20_000 / 8.314462618) * (1 / 273.15 - 1 / 298.15)), 1e-6);
    b.setSurroundings(25, 25);
    b.fill(1);
    expect(b.busOhm / middle).to.be.closeTo(1.2, 1e-6);
    // Ohm Ah over Ah: 64 cells, two strings
    expect(middle).to.be.closeTo((64 * 0.05) / (b.nominalAh / 2) / 2, 1e-9);
  });

  it('warms by a few kelvin in an hour at C/2 and cools again', () => {
    const b = bank(cellSpecs.nmc, 0.75);
    b.setSurroundings(25, null);
    b.cool();
    b.advance(3600, 7500);
    expect(b.meanTemperatureC - 25).to.be.within(3, 8);
    b.advance(8 * 7200, 0);
    expect(b.meanTemperatureC).to.be.closeTo(25, 0.02);
  });

  it('bleeds high cells while charging, until they are closer together', () => {
    const b = bank(evenSpec, 0.75);
    b.cells.soc[5] = b.cells.soc[5]! + 0.03;
    b.refresh();
    const before = b.cells.soc[5] - b.cells.soc[6]!;
    b.advance(600, -2000);
    expect(b.cells.balancing[5]).to.equal(1);
    // 0.2 % of the capacity per hour, at rest before the charge as well
    expect(before - (b.cells.soc[5] - b.cells.soc[6]!)).to.be.closeTo((0.002 * 600) / 3600, 1e-6);
    expect(b.cells.balancing.filter((flag) => flag === 1)).to.have.length(1);
    b.advance(20, 2000);
    expect(b.cells.balancing.includes(1)).to.equal(false);
  });
});
