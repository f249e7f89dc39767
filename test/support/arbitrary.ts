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

/** Any character of Unicode. The unit `binary` of fast-check has the same ones in a table of 85 MB, and takes 0.6 s to fill it. */
export const codePoint: fc.Arbitrary<string> = fc
  .nat(0x10_ffff - 0x800)
  .map((point) => String.fromCodePoint(point < 0xd800 ? point : point + 0x800));
