import { expect } from 'chai';
import { BackOff } from '../../../src/core/net/back-off.ts';

const waits = (backOff: BackOff, count: number) => Array.from({ length: count }, () => backOff.nextMs());

describe('back-off', () => {
  it('doubles up to the maximum and begins again after a success', () => {
    const backOff = new BackOff({ firstMs: 1000, maxMs: 30_000 });
    expect(waits(backOff, 7)).to.deep.equal([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    backOff.reset();
    expect(waits(backOff, 2)).to.deep.equal([1000, 2000]);
  });

  it('with jitter keeps half of each wait and draws the other half', () => {
    const drawn = [0, 0.5, 1, 0];
    const jitter = { next: () => drawn.shift() ?? 0 };
    expect(waits(new BackOff({ firstMs: 1000, maxMs: 3000, jitter }), 4)).to.deep.equal([500, 1500, 3000, 1500]);
  });
});
