import { expect } from 'chai';
import fc from 'fast-check';
import { FeederTerminal, feederImpedance, feederVoltage } from '../../../../src/der/surroundings/grid/feeder.ts';
import type { GridValues } from '../../../../src/der/surroundings/grid/layers.ts';
import { goldenRows, needsGolden } from '../../golden.ts';
import { holds } from '../../../support/property.ts';

const normal: GridValues = { aPu: 1, bPu: 1, cPu: 1, hz: 60, angleDeg: 0, island: false };
const mean = ({ aPu, bPu, cPu }: GridValues) => (aPu + bPu + cPu) / 3;

describe('Feeder impedance', () => {
  it(`gives the exact voltage of the golden data ${needsGolden}`, function () {
    const rows = goldenRows(this, 'feeder_voltage.csv');
    expect(rows).to.have.length.above(40);
    for (const row of rows) {
      const impedance = feederImpedance({ scr: Number(row.scr), xOverR: Number(row.x_over_r) });
      expect(impedance.rPu).to.be.closeTo(Number(row.r_pu), 1e-6);
      expect(impedance.xPu).to.be.closeTo(Number(row.x_pu), 1e-6);
      const volts = feederVoltage(1, Number(row.p_inj_pu), Number(row.q_inj_pu), impedance);
      if (row.v_pcc_pu_exact === 'no_solution') expect(volts).to.equal(null);
      else expect(volts).to.be.closeTo(Number(row.v_pcc_pu_exact), 1e-6);
    }
  });

  it('|Z| is 1/SCR, all resistance at X/R 0', () => {
    expect(feederImpedance({ scr: 4, xOverR: 0 })).to.deep.equal({ rPu: 0.25, xPu: 0 });
    const { rPu, xPu } = feederImpedance({ scr: 20, xOverR: 3 });
    expect([Math.hypot(rPu, xPu), xPu / rPu].map((x) => x.toFixed(9))).to.deep.equal(['0.050000000', '3.000000000']);
  });

  it('rises by about R P at the default short-circuit ratio', () => {
    expect(feederVoltage(1, 1, 0, feederImpedance({ scr: 20, xOverR: 1 }))).to.be.closeTo(1.034, 0.001);
  });

  it('solves its own equation, or has none: never a number that is none', () => {
    const any = fc.double({ min: -3, max: 3, noNaN: true });
    holds(
      "the feeder's own equation",
      [
        fc.double({ min: 0, max: 2, noNaN: true }),
        any,
        any,
        fc.double({ min: 1, max: 100, noNaN: true }),
        fc.double({ min: 0, max: 10, noNaN: true }),
      ],
      (source, p, q, scr, xOverR) => {
        const z = feederImpedance({ scr, xOverR });
        const v = feederVoltage(source, p, q, z);
        if (v === null) return;
        expect(v).to.be.finite.and.at.least(0);
        // the complex form: Vs^2 V^2 = (V^2 - RP - XQ)^2 + (XP - RQ)^2
        const left = (v * v - z.rPu * p - z.xPu * q) ** 2 + (z.xPu * p - z.rPu * q) ** 2;
        expect(left).to.be.closeTo(source * source * v * v, 1e-9 * (1 + v ** 4));
      },
    );
    expect(feederVoltage(1, NaN, 0, feederImpedance({ scr: 20, xOverR: 1 }))).to.equal(null);
  });
});

describe('Terminals behind a feeder', () => {
  it('are the grid itself when it is stiff, when nothing flows, and in an outage or island', () => {
    expect(new FeederTerminal(null, mean).at(normal, 1, 1)).to.equal(normal);
    const terminal = new FeederTerminal({ scr: 5, xOverR: 1 }, mean);
    expect(terminal.at(normal, 0, 0)).to.equal(normal);
    const dead = { ...normal, aPu: 0, bPu: 0, cPu: 0, hz: 0 };
    expect(terminal.at(dead, 1, 0)).to.equal(dead);
    const island = { ...normal, island: true };
    expect(terminal.at(island, 1, 0)).to.equal(island);
    expect(terminal.collapsed).to.equal(false);
  });

  it('scale all phases alike, and are one object while nothing changes', () => {
    const terminal = new FeederTerminal({ scr: 5, xOverR: 1 }, mean);
    const source = { ...normal, bPu: 0.9, angleDeg: 20 };
    const seen = terminal.at(source, 0.8, -0.1);
    expect(seen.aPu).to.be.above(1);
    expect(seen.bPu / seen.aPu).to.be.closeTo(0.9, 1e-12);
    expect(seen).to.include({ hz: 60, angleDeg: 20, island: false });
    expect(mean(seen) / mean(source)).to.be.closeTo(terminal.ahead(normal).aPu, 1e-12);
    expect(terminal.at(source, 0.8, -0.1)).to.equal(seen);
    expect(terminal.at(source, 0.8, -0.2)).to.not.equal(seen);
  });

  it('keep the ratio through a collapse, and say so until there is a solution again', () => {
    const terminal = new FeederTerminal({ scr: 2.5, xOverR: 0.5 }, mean);
    const before = terminal.at(normal, 0.5, 0).aPu;
    expect(terminal.at(normal, -1, 0).aPu).to.equal(before);
    expect(terminal.collapsed).to.equal(true);
    expect(terminal.at(normal, 0.2, 0).aPu).to.be.within(1, before);
    expect(terminal.collapsed).to.equal(false);
  });
});
