import fc from 'fast-check';

const steps = 2 ** 30;

/**
 * Numbers between two bounds, half of them spread evenly. Doubles as fast-check spreads them have any exponent: most are
 * near 0 where the bounds have different signs, and next to the bounds otherwise.
 */
export const real = (min: number, max: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.double({ min, max, noNaN: true }),
    fc.integer({ min: 0, max: steps }).map((step) => Math.min(max, min + (step / steps) * (max - min))),
  );
