import { expect } from 'chai';
import { alongPolyline, cellSpecs, meanOcvV, ocvAt, ocvTable } from '../../../../src/der/source/battery/cell-spec.ts';
import { goldenRows, needsGolden } from '../../golden.ts';

describe('open-circuit voltage of a cell', () => {
  for (const chemistry of ['nmc', 'lfp'] as const) {
    const table = ocvTable(cellSpecs[chemistry]);

    it(`${chemistry}: agrees with the reference table ${needsGolden}`, function () {
      const rows = goldenRows(this, `battery_ocv_${chemistry}.csv`);
      expect(rows).to.have.length(101);
      for (const row of rows) expect(ocvAt(table, Number(row.soc_pu))).to.be.closeTo(Number(row.ocv_v), 6e-6);
    });

    it(`${chemistry}: rises from empty to full`, () => {
      for (let at = 1; at < table.length; at += 1) expect(table[at]).to.be.greaterThan(table[at - 1]!);
    });
  }

  it('has the anchors of both chemistries', () => {
    const nmc = ocvTable(cellSpecs.nmc);
    const lfp = ocvTable(cellSpecs.lfp);
    expect([ocvAt(nmc, 0), ocvAt(nmc, 0.5), ocvAt(nmc, 1)]).to.deep.equal([2.5, 3.75087, 4.2]);
    expect([ocvAt(lfp, 0), ocvAt(lfp, 0.5), ocvAt(lfp, 0.9), ocvAt(lfp, 1)]).to.deep.equal([2, 3.26603, 3.31417, 3.6]);
    // flat: 20 to 90 % within 0.146 V
    expect(ocvAt(lfp, 0.9) - ocvAt(lfp, 0.2)).to.be.closeTo(0.1457, 1e-4);
  });

  it('is linear between entries and goes on straight beyond the ends', () => {
    const nmc = ocvTable(cellSpecs.nmc);
    expect(ocvAt(nmc, 0.505)).to.be.closeTo((ocvAt(nmc, 0.5) + ocvAt(nmc, 0.51)) / 2, 1e-12);
    expect(ocvAt(nmc, 1.01)).to.be.closeTo(2 * ocvAt(nmc, 1) - ocvAt(nmc, 0.99), 1e-12);
    expect(ocvAt(nmc, -0.01)).to.be.closeTo(2 * ocvAt(nmc, 0) - ocvAt(nmc, 0.01), 1e-12);
  });

  it('has the mean that its table has by sums of trapezoids', () => {
    const { ocvV } = cellSpecs.nmc;
    let sum = 0;
    for (let at = 1; at < ocvV.length; at += 1) sum += (ocvV[at]! + ocvV[at - 1]!) / 2;
    expect(meanOcvV(ocvV)).to.be.closeTo(sum / 100, 1e-12);
    expect(meanOcvV(ocvV)).to.be.within(3.6, 3.8);
  });

  it('lines between points are held at their ends', () => {
    const line = [
      [0, 1],
      [10, 3],
      [20, 0],
    ] as const;
    expect([-5, 0, 5, 10, 15, 20, 30].map((x) => alongPolyline(line, x))).to.deep.equal([1, 1, 2, 3, 1.5, 0, 0]);
  });
});
