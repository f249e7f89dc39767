import { expect } from 'chai';
import fc from 'fast-check';
import { BackOff, doubling, fullJitter, halfJitter, ocppBackOff } from '../../../src/core/net/back-off.ts';
import type { Jitter } from '../../../src/core/net/back-off.ts';
import { createRandom } from '../../../src/core/random.ts';
import { holds } from '../../support/property.ts';

const waits = (backOff: BackOff, count: number) => Array.from({ length: count }, () => backOff.nextMs());

/** Gives these numbers over and over. */
function drawing(...numbers: readonly number[]): Jitter & { readonly drawn: () => number } {
  let drawn = 0;
  return {
    next() {
      drawn += 1;
      return numbers[(drawn - 1) % numbers.length]!;
    },
    drawn: () => drawn,
  };
}

describe('back-off', () => {
  it('doubles up to its maximum, and starts again after a success', () => {
    const backOff = new BackOff(doubling({ firstMs: 1000, maxMs: 30_000 }));
    expect(waits(backOff, 7)).to.deep.equal([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    backOff.reset();
    expect(waits(backOff, 2)).to.deep.equal([1000, 2000]);
  });

  it('with half jitter draws the second half of each wait', () => {
    const form = halfJitter({ firstMs: 1000, maxMs: 3000 }, drawing(0, 0.5, 1));
    expect(waits(new BackOff(form), 4)).to.deep.equal([500, 1500, 3000, 1500]);
  });

  it('with full jitter draws the whole wait', () => {
    const form = fullJitter({ firstMs: 1000, maxMs: 300_000 }, drawing(0, 0.5, 0.25, 0.75));
    expect(waits(new BackOff(form), 4)).to.deep.equal([0, 1000, 1000, 6000]);
  });

  it('stays at its maximum for ever: no wait becomes infinite', () => {
    for (const form of [
      doubling({ firstMs: 1, maxMs: 60_000 }),
      halfJitter({ firstMs: 1, maxMs: 60_000 }, drawing(1)),
      fullJitter({ firstMs: 1, maxMs: 60_000 }, drawing(1)),
    ])
      expect(waits(new BackOff(form), 3000).at(-1)).to.equal(60_000);
    expect(waits(new BackOff(doubling({ firstMs: 0, maxMs: 60_000 })), 3000).at(-1)).to.equal(0);
  });

  describe('of OCPP (OCPP-J 5.4, 8.1 to 8.3)', () => {
    it('is the minimum and a random part, then twice the wait before and a new random part, then stays', () => {
      const jitter = drawing(0.5, 0.1, 0.9);
      const form = ocppBackOff({ waitMinimumMs: 3000, randomRangeMs: 2000, repeatTimes: 2 }, jitter);
      const backOff = new BackOff(form);
      // 3 + 1; 2 x 4 + 0.2; 2 x 8.2 + 1.8
      expect(waits(backOff, 5)).to.deep.equal([4000, 8200, 18_200, 18_200, 18_200]);
      expect(jitter.drawn()).to.equal(3);
      backOff.reset();
      expect(backOff.nextMs()).to.equal(4000);
    });

    it('goes on growing in another form, as if the waits before had been of it', () => {
      const form = (waitMinimumMs: number, repeatTimes: number) =>
        ocppBackOff({ waitMinimumMs, randomRangeMs: 0, repeatTimes }, drawing(0));
      const backOff = new BackOff(form(60_000, 8));
      expect(waits(backOff, 2)).to.deep.equal([60_000, 120_000]);
      backOff.change(form(1000, 3));
      expect(waits(backOff, 3)).to.deep.equal([4000, 8000, 8000]);
      backOff.change(form(500, 8));
      backOff.reset();
      expect(waits(backOff, 2)).to.deep.equal([500, 1000]);
    });

    it('without a random part and doublings is one wait', () => {
      const form = ocppBackOff({ waitMinimumMs: 10_000, randomRangeMs: 0, repeatTimes: 0 }, drawing(0.7));
      expect(waits(new BackOff(form), 3)).to.deep.equal([10_000, 10_000, 10_000]);
    });

    it('never exceeds what a timer can wait, with any settings', () => {
      const form = ocppBackOff({ waitMinimumMs: 60_000, randomRangeMs: 60_000, repeatTimes: 1000 }, drawing(0.5));
      expect(waits(new BackOff(form), 2000).at(-1)).to.equal(2 ** 31 - 1);
    });

    it('lies within the bounds that the specification gives', () => {
      holds(
        'waits within the bounds of OCPP',
        [
          fc.integer({ min: 0, max: 100_000 }),
          fc.integer({ min: 0, max: 100_000 }),
          fc.integer({ min: 0, max: 8 }),
          fc.integer(),
        ],
        (waitMinimumMs, randomRangeMs, repeatTimes, seed) => {
          const random = createRandom(seed, 'test', 'back-off');
          const given = waits(
            new BackOff(ocppBackOff({ waitMinimumMs, randomRangeMs, repeatTimes }, random)),
            repeatTimes + 3,
          );
          for (const [n, wait] of given.entries()) {
            const least = n === 0 ? waitMinimumMs : n > repeatTimes ? given[n - 1]! : 2 * given[n - 1]!;
            expect(wait).to.be.within(least, n > repeatTimes ? least : least + randomRangeMs);
          }
        },
      );
    });
  });

  it('waits at least as long as the other end asks, and later waits do not depend on it', () => {
    const backOff = new BackOff(doubling({ firstMs: 1000, maxMs: 8000 }));
    expect([backOff.nextMs(120_000), backOff.nextMs(500), backOff.nextMs(), backOff.nextMs(1e15)]).to.deep.equal([
      120_000,
      2000,
      4000,
      2 ** 31 - 1,
    ]);
  });
});
