import { expect } from 'chai';
import fc from 'fast-check';
import { cellSpecs } from '../../../../src/der/source/battery/cell-spec.ts';
import type { BatteryPort } from '../../../../src/der/source/battery/battery-port.ts';
import { real } from '../../../support/arbitrary.ts';
import { holds } from '../../../support/property.ts';
import { battery, evenSpec, run, step, weather, wide } from './rig.ts';

/** Chemical energy of equal cells, Wh: the integral of the open-circuit voltage over the charge. */
function storedWh(port: BatteryPort): number {
  const ocv = evenSpec.ocvV;
  let [sum, soc] = [0, port.bank.meanSoc * 100];
  for (let at = 0; soc > 0; at += 1, soc -= 1) {
    const part = Math.min(1, soc);
    const [low, high] = [ocv[at] ?? 0, ocv[at + 1] ?? 0];
    sum += part * (low + (part * (high - low)) / 2);
  }
  return (sum / 100) * port.bank.nominalAh * port.bank.cells.series;
}

/** AC energy out over AC energy in of a cycle between 20 and 80 %, with an inverter of constant efficiency. */
function roundTrip(acW: number): number {
  const eta = 0.97;
  const port = battery({ socPct: 20, capacityWh: 15_000, powerW: 15_600 });
  const cycle = (dcW: number, isOver: () => boolean): number => {
    let energyWh = 0;
    while (!isOver()) energyWh += Math.abs(step(port, 1, dcW)) / 3600;
    return energyWh;
  };
  const inWh = cycle(-acW * eta, () => port.bank.meanSoc >= 0.8) / eta;
  const outWh = cycle(acW / eta, () => port.bank.meanSoc <= 0.2) * eta;
  return outWh / inWh;
}

describe('battery energy', () => {
  it('the round trip comes out at 88 to 92 % at C/2 and falls with the power', () => {
    const [half, threeQuarters, full] = [roundTrip(7500), roundTrip(11_250), roundTrip(15_000)];
    expect(half).to.be.within(0.88, 0.92);
    expect(half).to.be.greaterThan(threeQuarters);
    expect(threeQuarters).to.be.greaterThan(full);
    expect(full).to.be.greaterThan(0.84);
  });

  it('energy in = energy out + losses + change of the content', () => {
    const port = battery({}, { spec: evenSpec });
    const before = storedWh(port);
    let throughput = 0;
    for (const [seconds, powerW] of [
      [1800, 6000],
      [600, 0],
      [2400, -7000],
      [300, 9000],
      [1200, -2000],
      [900, 0],
    ] as const) {
      throughput += Math.abs(run(port, seconds, 1, powerW));
    }
    const { energyChargedWh, energyDischargedWh } = port.detail();
    expect(energyChargedWh + energyDischargedWh).to.be.closeTo(throughput, 1e-6);
    const missing = energyChargedWh - energyDischargedWh - port.lossWh - (storedWh(port) - before);
    expect(Math.abs(missing) / throughput).to.be.below(0.001);
    expect(port.lossWh).to.be.greaterThan(50);
  });

  it('the charge counted is the charge moved', () => {
    const port = battery({}, { spec: evenSpec });
    const { nominalAh } = port.bank;
    let chargeAh = 0;
    for (let n = 0; n < 1200; n += 1) {
      step(port, 1, 8000);
      chargeAh += port.bank.busCurrentA / 3600;
    }
    expect((0.5 - port.bank.meanSoc) * nominalAh).to.be.closeTo(chargeAh, 2e-3 * chargeAh);
  });

  for (const dtS of [0.1, 10, 60]) {
    it(`steps of ${dtS} s and of 1 s give the same content, voltage and losses`, () => {
      const ports = [1, dtS].map((h) => {
        const port = battery();
        for (const powerW of [8000, -6000, 0, 5000, 9500]) run(port, 1200, h, powerW);
        return port;
      });
      const [fine, coarse] = ports.map((port) => ({ soc: port.bank.meanSoc, loss: port.lossWh, ...port.detail() }));
      expect(coarse!.soc).to.be.closeTo(fine!.soc, 0.001 * 0.5);
      expect(coarse!.loss).to.be.closeTo(fine!.loss, 0.001 * fine!.loss);
      expect(coarse!.energyDischargedWh).to.be.closeTo(fine!.energyDischargedWh, 0.001 * fine!.energyDischargedWh);
      expect(coarse!.dcVoltageV).to.be.closeTo(fine!.dcVoltageV, 0.01);
      expect(coarse!.temperatureC).to.be.closeTo(fine!.temperatureC, 0.02);
    });
  }

  for (const dtS of [0.1, 1, 10, 60]) {
    it(`stops exactly at the floor and the ceiling in steps of ${dtS} s`, () => {
      const port = battery({ socPct: 11.3 });
      const outWh = run(port, 1800, dtS, 9000);
      expect(port.availableDcW).to.equal(0);
      expect(port.bank.meanSoc).to.be.within(0.1 - 1e-12, 0.1 + 2e-6);
      expect(port.detail().socPct).to.equal(10);
      const other = battery({ socPct: 11.3 });
      expect(outWh).to.be.closeTo(run(other, 1800, 1, 9000), 0.001 * outWh);
      other.command({ kind: 'battery.control', socPct: 88.2 });
      for (let n = 0; n < 100_000 && other.absorbableDcW > 0; n += 1) step(other, Math.min(dtS, other.maxStepS), -9000);
      expect(other.absorbableDcW).to.equal(0);
      expect(other.detail().socPct).to.equal(90);
      expect(other.bank.meanSoc).to.be.at.most(0.9 + 1e-12);
    });
  }

  it('a bound is met to the millisecond if sub-steps are no longer than the maximum', () => {
    const at = [0.1, 1].map((dtS) => {
      const port = battery({ socPct: 12 });
      let elapsedS = 0;
      for (;;) {
        const h = Math.min(dtS, port.maxStepS);
        if (step(port, h, 9000) === 0) return elapsedS;
        elapsedS += h;
      }
    });
    expect(at[0]).to.be.closeTo(at[1]!, 0.005);
  });

  it('random demands and step sizes keep every bound, and counters never fall', () => {
    const demands = fc.array(
      fc.tuple(real(-14_000, 14_000), fc.constantFrom(0.02, 0.1, 1, 7, 30, 60), fc.integer({ min: 1, max: 40 })),
      { minLength: 1, maxLength: 30 },
    );
    const chemistry = fc.constantFrom('nmc' as const, 'lfp' as const);
    holds(
      'bounds at any demand and step',
      // at the ends of the second window the voltage of the cells ends the flow
      [demands, chemistry, fc.integer({ min: 10, max: 90 }), fc.constantFrom([10, 90] as const, [0, 100] as const)],
      (list, kind, socPct, [lowPct, highPct]) => {
        const window = { socMinPct: lowPct, socReserveMinPct: lowPct, socMaxPct: highPct, socReserveMaxPct: highPct };
        const port = battery({ socPct, chemistry: kind, ...window });
        const spec = cellSpecs[kind];
        let last = port.detail();
        for (const [powerW, dtS, count] of list) {
          for (let n = 0; n < count; n += 1) {
            const h = Math.min(dtS, port.maxStepS);
            port.prepare(h, weather);
            const dcW = port.answer({ targetW: powerW, ...wide });
            expect(dcW).to.be.within(-port.absorbableDcW, port.availableDcW);
            port.draw(dcW, true);
            expect(port.ports[0]!.powerW).to.equal(dcW);
            expect(port.ports[0]!.voltageV * port.ports[0]!.currentA).to.be.closeTo(dcW, 1e-6);
            // the window closes within 1e-6 of a bound
            expect(port.bank.meanSoc).to.be.within(lowPct / 100 - 1e-6, highPct / 100 + 1e-6);
          }
          const now = port.detail();
          for (const name of ['energyChargedWh', 'energyDischargedWh', 'cycleCount'] as const)
            expect(now[name]).to.be.at.least(last[name]);
          expect(now.cellVoltageMinV).to.be.at.least(spec.minV - 0.005);
          expect(now.cellVoltageMaxV).to.be.at.most(spec.maxV + 0.005);
          for (const value of Object.values(now)) if (typeof value === 'number') expect(value).to.be.finite;
          last = now;
        }
      },
      { runs: 60 },
    );
  });

  it('a full charge tapers by the cell voltage and ends', () => {
    for (const chemistry of ['nmc', 'lfp'] as const) {
      const port = battery({ chemistry, socPct: 90, socMaxPct: 100, socReserveMaxPct: 100 });
      const powers: number[] = [];
      while (port.absorbableDcW > 0 && powers.length < 40_000) powers.push(-step(port, 1, -10_000));
      expect(powers[0]).to.be.closeTo(10_000, 1);
      // taper: the power falls bit by bit
      expect(powers.filter((powerW) => powerW < 5000).length).to.be.greaterThan(60);
      expect(port.detail()).to.include({ inhibit: 'soc_ceiling', state: 'soc_protection' });
      expect(port.bank.meanSoc).to.be.within(0.975, 1);
      expect(port.detail().cellVoltageMaxV).to.be.within(
        cellSpecs[chemistry].maxV - 0.03,
        cellSpecs[chemistry].maxV + 1e-3,
      );
    }
  });
});
