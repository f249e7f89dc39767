import { expect } from 'chai';
import fc from 'fast-check';
import {
  extremePu,
  meanPu,
  nominalLnV,
  phaseCount,
  phaseShares,
  terminalVoltages,
  wirings,
} from '../../../src/der/inverter/ac.ts';
import { scaleFor } from '../../../src/der/inverter/ratings.ts';
import { holds } from '../../support/property.ts';

const grid = (aPu: number, bPu = aPu, cPu = aPu) => ({ aPu, bPu, cPu, hz: 60, angleDeg: 0, island: false });
const pu = fc.double({ min: 0, max: 2, noNaN: true });

describe('Terminal quantities', () => {
  it('702.VNom is line to neutral on single phase, line to line otherwise', () => {
    expect(nominalLnV('single', 240)).to.equal(240);
    expect(nominalLnV('split', 240)).to.equal(120);
    expect(nominalLnV('three', 480)).to.be.closeTo(277.128, 1e-3);
    expect(wirings.map(phaseCount)).to.deep.equal([1, 2, 3]);
  });

  it('balanced voltages', () => {
    const three = terminalVoltages('three', 480, grid(1));
    for (const v of three.ll) expect(v).to.be.closeTo(480, 1e-9);
    expect(three.meanLnV).to.be.closeTo(480 / Math.sqrt(3), 1e-9);
    expect(terminalVoltages('split', 240, grid(1))).to.deep.equal({
      ln: [120, 120, 0],
      ll: [240, 0, 0],
      meanLnV: 120,
      meanLlV: 240,
    });
    expect(terminalVoltages('single', 240, grid(1.05))).to.deep.equal({
      ln: [252, 0, 0],
      ll: [0, 0, 0],
      meanLnV: 252,
      meanLlV: null,
    });
  });

  it('line-to-line voltages come from phasors, not from the mean', () => {
    const nominal = 480 / Math.sqrt(3);
    const { ll, ln, meanLlV } = terminalVoltages('three', 480, grid(1, 0.8, 0.5));
    expect(ln).to.deep.equal([nominal, 0.8 * nominal, 0.5 * nominal]);
    const chord = (a: number, b: number) => nominal * Math.sqrt(a * a + b * b + a * b);
    expect(ll[0]).to.be.closeTo(chord(1, 0.8), 1e-9);
    expect(ll[1]).to.be.closeTo(chord(0.8, 0.5), 1e-9);
    expect(ll[2]).to.be.closeTo(chord(0.5, 1), 1e-9);
    expect(meanLlV).to.be.closeTo((ll[0] + ll[1] + ll[2]) / 3, 1e-9);
    // one phase gone leaves two phase voltages of the other line-to-line voltages
    expect(terminalVoltages('three', 480, grid(1, 1, 0)).ll[1]).to.be.closeTo(nominal, 1e-9);
  });

  it('mean and extremes look at the phases in use', () => {
    const values = grid(0.9, 1, 1.2);
    expect(wirings.map((wiring) => meanPu(wiring, values))).to.deep.equal([0.9, 0.95, (0.9 + 1 + 1.2) / 3]);
    expect(wirings.map((wiring) => extremePu(wiring, values))).to.deep.equal([
      [0.9, 0.9],
      [0.9, 1],
      [0.9, 1.2],
    ]);
  });

  it('shares add up to one, also without voltage', () => {
    holds(
      'shares add up to one',
      [fc.constantFrom(...wirings), pu, pu, pu],
      (wiring, a, b, c) => {
        const shares = phaseShares(wiring, grid(a, b, c));
        expect(shares.reduce((sum, share) => sum + share, 0)).to.be.closeTo(1, 1e-12);
        for (const share of shares) expect(share).to.be.within(0, 1);
        expect(shares.slice(phaseCount(wiring)).every((share) => share === 0)).to.equal(true);
      },
      {
        examples: [
          ['three', 0, 0, 0],
          ['split', 0, 0, 0],
          ['single', 0, 0, 0],
        ],
      },
    );
  });

  it('swapping phases swaps values and leaves totals', () => {
    holds('swapped phases', [pu, pu, pu], (a, b, c) => {
      const one = terminalVoltages('three', 480, grid(a, b, c));
      const other = terminalVoltages('three', 480, grid(b, c, a));
      expect(other.meanLnV).to.be.closeTo(one.meanLnV, 1e-9);
      expect(other.meanLlV).to.be.closeTo(one.meanLlV!, 1e-9);
      expect(other.ll[0]).to.be.closeTo(one.ll[1], 1e-9);
    });
  });
});

describe('Scale factors', () => {
  it('are as fine as the largest value allows, and no finer than requested', () => {
    expect(scaleFor(12_000, 32767, -2)).to.equal(0);
    expect(scaleFor(600_000, 32767, -2)).to.equal(2);
    expect(scaleFor(6000, 32767, -2)).to.equal(0);
    expect(scaleFor(3000, 32767, -2)).to.equal(-1);
    expect(scaleFor(1, 32767, -2)).to.equal(-2);
    expect(scaleFor(32767, 32767, -2)).to.equal(0);
    expect(scaleFor(32768, 32767, -2)).to.equal(1);
  });
});
