import { expect } from 'chai';
import fc from 'fast-check';
import {
  currentAt,
  isc,
  maximumPowerPoint,
  parametersAt,
  pvModules,
  voc,
  voltageForPower,
} from '../../../../src/der/source/pv/module.ts';
import type { PvModule } from '../../../../src/der/source/pv/module.ts';
import { goldenRows, needsGolden, pvFixture } from '../../golden.ts';
import { holds } from '../../../support/property.ts';

const modules: Readonly<Record<string, PvModule>> = pvModules;
const anyModule = fc.constantFrom(...Object.values(modules));
const light = fc.double({ min: 0.01, max: 1500, noNaN: true });
const cell = fc.double({ min: -50, max: 90, noNaN: true });
const part = fc.double({ min: 0, max: 1, noNaN: true });

function module(name: string | undefined): PvModule {
  const found = modules[name ?? ''];
  if (found === undefined) throw new Error(`no module ${name ?? ''}`);
  return found;
}

function expectClose(value: number, expected: number, tolerance: number): void {
  expect(value).to.be.closeTo(expected, Math.abs(expected) * tolerance);
}

describe('De Soto single-diode module', () => {
  it('matches the pinned maximum power points', () => {
    for (const [name, g, t, iscA, vocV, imp, vmp, pmp] of pvFixture.mpp.rows) {
      const mpp = maximumPowerPoint(parametersAt(module(name), g, t));
      expectClose(mpp.isc, iscA, 1e-4);
      expectClose(mpp.voc, vocV, 1e-4);
      expectClose(mpp.i, imp, 1e-3);
      expectClose(mpp.v, vmp, 1e-3);
      expectClose(mpp.p, pmp, 1e-4);
    }
  });

  it('matches the pinned curve points', () => {
    for (const [name, g, t, v, i] of pvFixture.iv.rows) {
      const p = parametersAt(module(name), g, t);
      expect(currentAt(p, v)).to.be.closeTo(i, 1e-4 * isc(p));
    }
  });

  it(`matches pvlib in parameters and maximum power point ${needsGolden}`, function () {
    for (const row of goldenRows(this, 'pv_mpp.csv')) {
      const p = parametersAt(module(row.module), Number(row.poa_w_m2), Number(row.t_cell_c));
      expectClose(p.iL, Number(row.I_L_a), 1e-6);
      expectClose(p.i0, Number(row.I_0_a), 1e-5);
      expectClose(1 / p.gSh, Number(row.R_sh_ohm), 1e-6);
      expectClose(p.a, Number(row.nNsVth_v), 1e-6);
      const mpp = maximumPowerPoint(p);
      expectClose(mpp.isc, Number(row.i_sc_a), 1e-4);
      expectClose(mpp.voc, Number(row.v_oc_v), 1e-4);
      expectClose(mpp.i, Number(row.i_mp_a), 1e-3);
      expectClose(mpp.v, Number(row.v_mp_v), 1e-3);
      expectClose(mpp.p, Number(row.p_mp_w), 1e-4);
    }
  });

  it(`matches pvlib along the curve ${needsGolden}`, function () {
    for (const row of goldenRows(this, 'pv_iv_curves.csv')) {
      const p = parametersAt(module(row.module), Number(row.poa_w_m2), Number(row.t_cell_c));
      expect(currentAt(p, Number(row.v_v))).to.be.closeTo(Number(row.i_a), 1e-4 * isc(p));
    }
  });

  it('doubles the short-circuit current with the light', () => {
    const at = (g: number): number => isc(parametersAt(pvModules['CS5P-220M'], g, 25));
    expectClose(at(1000) / at(500), 2, 0.005);
  });

  it('satisfies the diode equation', () => {
    holds('the diode equation', [anyModule, light, cell, part], (m, g, t, share) => {
      const p = parametersAt(m, g, t);
      const v = share * voc(p);
      const i = currentAt(p, v);
      const vd = v + i * p.rS;
      expect(p.iL - p.i0 * Math.expm1(vd / p.a) - vd * p.gSh - i).to.be.closeTo(0, 1e-10 * p.iL);
    });
  });

  it('has no point on the curve above the maximum', () => {
    holds(
      'no point above the maximum',
      [anyModule, light, cell, part],
      (m, g, t, share) => {
        const p = parametersAt(m, g, t);
        const mpp = maximumPowerPoint(p);
        const v = share * mpp.voc;
        expect(v * currentAt(p, v)).to.be.at.most(mpp.p * (1 + 1e-12));
      },
      { runs: 1000 },
    );
  });

  it('finds the voltage of every power from none to the maximum, on the side of open circuit', () => {
    const shares = fc.oneof(part, fc.constantFrom(0, 1e-9, 1 - 1e-12, 1 - 1e-7, 1, 1.1));
    holds(
      'the voltage of every power',
      [anyModule, light, cell, shares],
      (m, g, t, share) => {
        const p = parametersAt(m, g, t);
        const mpp = maximumPowerPoint(p);
        const expected = share * mpp.p;
        const v = voltageForPower(p, expected, mpp);
        expect(v).to.be.within(mpp.v, mpp.voc);
        expect(v * currentAt(p, v)).to.be.closeTo(Math.min(expected, mpp.p), 1e-7 * mpp.p);
      },
      { runs: 1000 },
    );
  });

  it('the voltage rises with curtailment', () => {
    const p = parametersAt(pvModules['DATASHEET-270'], 800, 45);
    const mpp = maximumPowerPoint(p);
    const voltages = Array.from({ length: 101 }, (_, n) => voltageForPower(p, mpp.p * (1 - n / 100), mpp));
    voltages.slice(1).forEach((v, n) => expect(v).to.be.above(voltages[n]!));
  });

  it('is dark without light: all zero', () => {
    for (const g of [0, -5, NaN, -Infinity, 1e-9]) {
      const p = parametersAt(pvModules['CS5P-220M'], g, 25);
      const mpp = maximumPowerPoint(p);
      expect(mpp).to.deep.equal({ v: 0, i: 0, p: 0, voc: 0, isc: 0 });
      expect([currentAt(p, 0), currentAt(p, 30), voc(p), isc(p), voltageForPower(p, 10, mpp)]).to.deep.equal([
        0, 0, 0, 0, 0,
      ]);
    }
  });

  it('stays finite and in order at the ends of light, temperature and voltage, and for odd modules', () => {
    const odd = fc.record({
      name: fc.constant('odd'),
      iLRef: fc.double({ min: 0.1, max: 20, noNaN: true }),
      i0Ref: fc.double({ min: 1e-14, max: 1e-6, noNaN: true }),
      rS: fc.double({ min: 0, max: 5, noNaN: true }),
      rShRef: fc.double({ min: 20, max: 1e6, noNaN: true }),
      aRef: fc.double({ min: 0.5, max: 4, noNaN: true }),
      alphaSc: fc.double({ min: -0.01, max: 0.01, noNaN: true }),
      egRef: fc.constant(1.121),
      dEgdT: fc.constant(-0.0002677),
    });
    const anyLight = fc.double({ min: 1e-6, max: 5000, noNaN: true });
    const anyCell = fc.double({ min: -300, max: 300, noNaN: true });
    holds(
      'odd modules stay finite',
      [fc.oneof(odd, anyModule), anyLight, anyCell, part],
      (m, g, t, share) => {
        const p = parametersAt(m, g, t);
        const mpp = maximumPowerPoint(p);
        expect(Object.values(mpp).every(Number.isFinite)).to.equal(true);
        expect(mpp.v).to.be.within(0, mpp.voc);
        expect(mpp.i).to.be.within(0, mpp.isc * (1 + 1e-9));
        expect(voltageForPower(p, share * mpp.p, mpp)).to.be.within(mpp.v, mpp.voc);
        for (const v of [-10, 0, mpp.voc, 2 * mpp.voc, 1e4, 1e9]) expect(currentAt(p, v)).to.satisfy(Number.isFinite);
        expect(currentAt(p, mpp.voc + 5)).to.be.at.most(0);
      },
      { runs: 1000 },
    );
  });
});
