/** Comparisons for loops of many rounds: chai, which takes its time, is called on a difference alone. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';

/** As `expect(actual, text()).to.deep.equal(expected)`. */
export function same(actual: unknown, expected: unknown, text: () => string): void {
  if (Object.is(actual, expected) || isDeepStrictEqual(actual, expected)) return;
  expect(actual, text()).to.deep.equal(expected);
}

/** As `expect(actual, text()).to.be.within(min, max)`; a value that is not a number lies nowhere. */
export function expectWithin(actual: number, min: number, max: number, text: () => string): void {
  if (actual >= min && actual <= max) return;
  expect(actual, text()).to.be.within(min, max);
}
