import { expect } from 'chai';
import { firstPortOf, lastPortOf, rangesOf } from '../../../src/fleet/workers/ranges.ts';

describe('fleet/workers: devices and ports', () => {
  it('splits devices evenly, the remainder over the first workers', () => {
    const ranges = rangesOf(8, 3, 100).map(({ name, first, count }) => [name, first, count]);
    expect(ranges).to.deep.equal([
      ['w0', 100, 3],
      ['w1', 103, 3],
      ['w2', 106, 2],
    ]);
    expect(rangesOf(5, 1).map(({ first, count }) => [first, count])).to.deep.equal([[0, 5]]);
  });

  it('hands out ports that no two workers have', () => {
    const ranges = rangesOf(8, 3, 100);
    const ports = (isShared: boolean) => ranges.map((_, at) => firstPortOf({ base: 8502, isShared }, ranges, at));
    expect([ports(false), lastPortOf({ base: 8502, isShared: false }, ranges)]).to.deep.equal([
      [8502, 8505, 8508],
      8509,
    ]);
    expect([ports(true), lastPortOf({ base: 8502, isShared: true }, ranges)]).to.deep.equal([[8502, 8503, 8504], 8504]);
    expect(firstPortOf({ base: 0, isShared: false }, ranges, 2)).to.equal(0);
  });
});
