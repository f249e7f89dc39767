import { expect } from 'chai';
import fc from 'fast-check';
import { acFromDc, dcFromAc } from '../../../src/der/inverter/dc-link.ts';
import { goldenRows, needsGolden, pvFixture } from '../golden.ts';
import { real } from '../../support/arbitrary.ts';
import { holds } from '../../support/property.ts';

const dc0 = real(1, 1e7);
// the curve of a nominal efficiency above 0.997 would pass 100 %
const nominal = fc.oneof(real(0.5, 1), real(0.997, 1));
const part = real(0, 1);

describe('PVWatts inverter efficiency', () => {
  const { ac_w: acW, efficiency } = pvFixture.pvwatts.nominal;

  it('matches the pinned rows', () => {
    for (const [dcW, wanted] of pvFixture.pvwatts.rows) {
      expect(acFromDc(dcW, acW / efficiency, efficiency)).to.be.closeTo(wanted, Math.max(1e-4 * wanted, 1e-6));
    }
  });

  it(`matches pvlib ${needsGolden}`, function () {
    for (const row of goldenRows(this, 'pv_inverter_pvwatts.csv')) {
      const wanted = Number(row.p_ac_w);
      expect(acFromDc(Number(row.p_dc_w), acW / efficiency, efficiency)).to.be.closeTo(
        wanted,
        Math.max(1e-4 * wanted, 1e-6),
      );
    }
  });

  it('gives the nominal power at the nominal point and no more', () => {
    expect(acFromDc(1000, 1000, 0.96)).to.be.closeTo(960, 1e-9);
    expect(acFromDc(1500, 1000, 0.96)).to.be.closeTo(960, 1e-9);
    expect(dcFromAc(2000, 1000, 0.96)).to.equal(1000);
  });

  it('inverts: the AC power of the DC power of x is x', () => {
    holds('AC power of DC power', [dc0, nominal, part], (dc0W, eta, share) => {
      const x = share * eta * dc0W;
      expect(acFromDc(dcFromAc(x, dc0W, eta), dc0W, eta)).to.be.closeTo(x, 1e-12 * dc0W);
    });
  });

  it('never makes power: losses are zero or more both ways', () => {
    holds(
      'losses are never negative',
      [dc0, nominal, real(0, 2)],
      (dc0W, eta, share) => {
        const dcW = share * dc0W;
        expect(acFromDc(dcW, dc0W, eta)).to.be.within(0, dcW);
        const x = Math.min(share, 1) * eta * dc0W;
        expect(dcFromAc(x, dc0W, eta)).to.be.at.least(x);
      },
      { runs: 200 },
    );
  });

  it('rises with power both ways', () => {
    holds('output rises with input', [dc0, nominal, part, part], (dc0W, eta, one, other) => {
      const [low, high] = one < other ? [one, other] : [other, one];
      expect(acFromDc(low * dc0W, dc0W, eta)).to.be.at.most(acFromDc(high * dc0W, dc0W, eta));
      expect(dcFromAc(low * dc0W, dc0W, eta)).to.be.at.most(dcFromAc(high * dc0W, dc0W, eta));
    });
  });

  it('gives zero for no power, for less than the converter needs, and for NaN', () => {
    expect(acFromDc(5, 1000, 0.96)).to.equal(0);
    for (const value of [0, -1, NaN, -Infinity]) {
      expect(acFromDc(value, 1000, 0.96)).to.equal(0);
      expect(dcFromAc(value, 1000, 0.96)).to.equal(0);
      expect(acFromDc(10, value, 0.96)).to.equal(0);
      expect(dcFromAc(10, value, 0.96)).to.equal(0);
      expect(acFromDc(10, 1000, value)).to.equal(0);
      expect(dcFromAc(10, 1000, value)).to.equal(0);
    }
    expect(acFromDc(Infinity, 1000, 0.96)).to.be.closeTo(960, 1e-9);
  });
});
