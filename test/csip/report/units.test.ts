import { expect } from 'chai';
import fc from 'fast-check';
import { hexBits, hundredths, perCent, powerFactor, signed16, unsigned16 } from '../../../src/csip/report/units.ts';
import { holds } from '../../support/property.ts';

const valueOf = ({ multiplier, value }: { readonly multiplier: number; readonly value: number }) =>
  Number(`${value}e${multiplier}`);

describe('CSIP reports: numbers with a power of ten', () => {
  it('keeps every digit that fits, with the multiplier nearest to 0', () => {
    expect(signed16(5000)).to.deep.equal({ multiplier: 0, value: 5000 });
    expect(signed16(100_000)).to.deep.equal({ multiplier: 1, value: 10_000 });
    expect(signed16(-15_000_000)).to.deep.equal({ multiplier: 3, value: -15_000 });
    expect(signed16(0.5)).to.deep.equal({ multiplier: -1, value: 5 });
    expect(signed16(-0)).to.deep.equal({ multiplier: 0, value: 0 });
    expect(signed16(32_767)).to.deep.equal({ multiplier: 0, value: 32_767 });
    expect(signed16(32_768)).to.deep.equal({ multiplier: 1, value: 3277 });
    expect(unsigned16(65_535)).to.deep.equal({ multiplier: 0, value: 65_535 });
    expect(unsigned16(230.12)).to.deep.equal({ multiplier: -2, value: 23_012 });
    expect(unsigned16(-4)).to.deep.equal({ multiplier: 0, value: 4 });
    expect(powerFactor(-0.95)).to.deep.equal({ displacement: 95, multiplier: -2 });
  });

  it('has nothing for what is no number', () => {
    for (const nothing of [null, undefined, NaN, Infinity, -Infinity]) {
      expect(signed16(nothing)).to.equal(undefined);
      expect(unsigned16(nothing)).to.equal(undefined);
      expect(powerFactor(nothing)).to.equal(undefined);
      expect(perCent(nothing)).to.equal(undefined);
    }
  });

  it('stays in its type, and within half a digit of the value', () => {
    holds('a value keeps its type and digits', fc.double({ min: -3e13, max: 3e13, noNaN: true }), (given) => {
      const scaled = signed16(given);
      if (scaled === undefined) throw new Error('no number');
      expect(scaled.value).to.satisfy(Number.isSafeInteger).and.to.be.within(-32_767, 32_767);
      expect(scaled.multiplier).to.be.within(-9, 9);
      const digit = Math.max(1e-4, 10 ** Math.ceil(Math.log10(Math.abs(given) / 32_767)));
      expect(Math.abs(valueOf(scaled) - given)).to.be.at.most(0.5001 * digit);
    });
  });

  it('never turns a larger value into a smaller one', () => {
    const magnitude = fc.double({ min: 0, max: 1e8, noNaN: true });
    holds('larger values stay larger', [magnitude, magnitude], (a, b) => {
      const [low, high] = a < b ? [a, b] : [b, a];
      const [x, y] = [signed16(low), signed16(high)];
      if (!x || !y) throw new Error('no number');
      expect(valueOf(x)).to.be.at.most(valueOf(y));
    });
  });

  it('writes hundredths within their range, and bits as whole octets', () => {
    expect(hundredths(60.5, 0, 65_535)).to.equal(6050);
    expect(hundredths(-3, 0, 65_535)).to.equal(0);
    expect(perCent(55)).to.equal(5500);
    expect(perCent(101)).to.equal(10_000);
    expect(hexBits(0x49, 2)).to.equal('0049');
    expect(hexBits(2 ** 31, 4)).to.equal('80000000');
  });
});
