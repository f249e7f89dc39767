import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { createRandom } from '../../src/core/random.ts';
import type { RandomStream } from '../../src/core/random.ts';

function take(count: number, stream: RandomStream): number[] {
  return Array.from({ length: count }, () => stream.next());
}

describe('core/random', () => {
  it('gives the same 10,000 numbers for the same seed and names', () => {
    const hash = (): string =>
      createHash('sha256')
        .update(Float64Array.from(take(10_000, createRandom(7, 3, 'clouds'))))
        .digest('hex');
    expect(hash()).to.equal(hash());
  });

  it('keeps its sequence from release to release', () => {
    expect(take(3, createRandom(1, 0, 'clouds'))).to.deep.equal([
      0.9511105448473245, 0.1409524802584201, 0.6215968506876379,
    ]);
    const stream = createRandom(1, 0, 'clouds');
    expect([stream.normal(), stream.normal(), stream.normal()].map((value) => value.toFixed(12))).to.deep.equal([
      '1.554733510452',
      '1.902417095457',
      '0.536889128706',
    ]);
  });

  it('takes seeds and names apart', () => {
    const streams = [
      createRandom(1),
      createRandom(2),
      createRandom(-1),
      createRandom(0.5),
      createRandom(2 ** 32 + 1),
      createRandom(2 ** 52),
      createRandom(1, 1),
      createRandom(1, '1'),
      createRandom(1, 1, 2),
      createRandom(1, 12),
      createRandom(1, 2, 1),
      createRandom(1, 'ab'),
      createRandom(1, 'a', 'b'),
      createRandom(1, ''),
    ];
    const starts = streams.map((stream) => take(4, stream).join());
    expect(new Set(starts).size).to.equal(starts.length);
  });

  it('gives no two of 20,000 devices the same stream', () => {
    const starts = new Set(
      Array.from({ length: 20_000 }, (_, index) => take(2, createRandom(42, index, 'wind')).join()),
    );
    expect(starts.size).to.equal(20_000);
  });

  it('draws evenly from [0, 1)', () => {
    const bins = new Array<number>(20).fill(0);
    const values = take(200_000, createRandom(5));
    expect(values.every((value) => value >= 0 && value < 1)).to.equal(true);
    for (const value of values) bins[Math.floor(value * 20)]! += 1;
    const chiSquare = bins.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
    // 19 degrees of freedom: 43.8 is passed once in a thousand seeds.
    expect(chiSquare).to.be.below(43.8);
  });

  it('draws normals of mean 0, deviation 1 and the right tails', () => {
    const stream = createRandom(9, 'normal');
    const values = Array.from({ length: 200_000 }, () => stream.normal());
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    const inside = (limit: number): number => values.filter((value) => Math.abs(value) < limit).length / values.length;
    expect(mean).to.be.closeTo(0, 0.01);
    expect(variance).to.be.closeTo(1, 0.02);
    expect(inside(1)).to.be.closeTo(0.6827, 0.005);
    expect(inside(2)).to.be.closeTo(0.9545, 0.003);
  });

  it('leaves streams of neighbouring names uncorrelated', () => {
    const one = take(50_000, createRandom(1, 0));
    const other = take(50_000, createRandom(1, 1));
    const product = one.reduce((sum, value, at) => sum + (value - 0.5) * (other[at]! - 0.5), 0) / one.length;
    expect(product * 12).to.be.closeTo(0, 0.02);
  });

  it('takes any seed without failing', () => {
    for (const seed of [NaN, Infinity, -Infinity, Number.MAX_VALUE, -0]) {
      expect(take(5, createRandom(seed)).every((value) => value >= 0 && value < 1)).to.equal(true);
    }
  });
});
