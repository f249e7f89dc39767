import { expect } from 'chai';
import type { Comparison } from '../../src/scenario/model.ts';
import { boundsOf, meets } from '../../src/scenario/run/compare.ts';

/** Of these values those that meet a comparison. */
const meeting = (values: readonly number[], c: Comparison) => values.filter((value) => meets(value, c));
const halves = (from: number, to: number) => Array.from({ length: 2 * (to - from) + 1 }, (_, n) => from + n / 2);

describe('comparisons of scenarios', () => {
  it('allow numbers between bounds, which a tolerance widens', () => {
    const bounds = (comparison: Comparison, since: string | null = null) => boundsOf({ since, comparison });
    expect(bounds({ above: 490 })).to.deep.equal({ low: 490, high: null });
    expect(bounds({ below: 5, atMost: 4 })).to.deep.equal({ low: null, high: 4 });
    expect(bounds({ between: [1, 9], atLeast: 2, tolerance: 0.5 })).to.deep.equal({ low: 1.5, high: 9.5 });
    expect(bounds({ equals: 3, tolerance: 1 })).to.deep.equal({ low: 2, high: 4 });
    expect([bounds({ equals: 'CONNECTED' }), bounds({ not: 3 }), bounds({ above: 1 }, 'start')]).to.deep.equal([
      null,
      null,
      null,
    ]);
  });

  it('without tolerance hold at their bounds, but for above and below', () => {
    const values = halves(9, 12);
    expect(meeting(values, { equals: 10 })).to.deep.equal([10]);
    expect(meeting(values, { not: 10 })).to.deep.equal([9, 9.5, 10.5, 11, 11.5, 12]);
    expect(meeting(values, { atLeast: 11 })).to.deep.equal([11, 11.5, 12]);
    expect(meeting(values, { above: 11 })).to.deep.equal([11.5, 12]);
    expect(meeting(values, { atMost: 10 })).to.deep.equal([9, 9.5, 10]);
    expect(meeting(values, { below: 10 })).to.deep.equal([9, 9.5]);
    expect(meeting(values, { between: [10, 11] })).to.deep.equal([10, 10.5, 11]);
  });

  it('a tolerance widens both ends of a range, and its own end counts where the bound does', () => {
    const values = halves(8, 13);
    const tolerance = 1;
    expect(meeting(values, { equals: 10, tolerance })).to.deep.equal([9, 9.5, 10, 10.5, 11]);
    expect(meeting(values, { not: 10, tolerance })).to.deep.equal([8, 8.5, 11.5, 12, 12.5, 13]);
    expect(meeting(values, { between: [10, 11], tolerance })).to.deep.equal([9, 9.5, 10, 10.5, 11, 11.5, 12]);
    expect(meeting(values, { atLeast: 13, tolerance })).to.deep.equal([12, 12.5, 13]);
    expect(meeting(values, { above: 13, tolerance })).to.deep.equal([12.5, 13]);
    expect(meeting(values, { atMost: 8, tolerance })).to.deep.equal([8, 8.5, 9]);
    expect(meeting(values, { below: 8, tolerance })).to.deep.equal([8, 8.5]);
  });

  it('of several bounds every one counts, the tighter one of two', () => {
    expect(meeting(halves(8, 13), { between: [9, 12], atLeast: 10, below: 12 })).to.deep.equal([10, 10.5, 11, 11.5]);
    expect(meeting(halves(8, 13), { between: [9, 12], atMost: 20, atLeast: 0 })).to.deep.equal(halves(9, 12));
  });

  it('nothing meets nothing but the question for nothing', () => {
    expect(meets(null, { equals: null })).to.equal(true);
    for (const c of [{ atMost: 5 }, { not: 5 }, { equals: 0 }, { equals: null, atMost: 5 }, { equals: null, not: 1 }])
      expect(meets(null, c), JSON.stringify(c)).to.equal(false);
    expect(meets(0, { equals: null })).to.equal(false);
  });

  it('a text meets no bound of order, and a number by its name', () => {
    expect(meets('5', { atLeast: 5 })).to.equal(false);
    expect(meets('on', { equals: 'on' })).to.equal(true);
    expect(meets('ON', { equals: 1 }, { OFF: 0, ON: 1 })).to.equal(true);
    expect(meets('OFF', { equals: 1 }, { OFF: 0, ON: 1 })).to.equal(false);
    expect(meets('ON', { equals: 1 })).to.equal(false);
  });
});
