import { expect } from 'chai';
import fc from 'fast-check';
import { interpolate } from '../../../src/der/inverter/settings.ts';
import { holds } from '../../support/property.ts';

const line = [
  { x: 92, y: 44 },
  { x: 98, y: 0 },
  { x: 102, y: 0 },
  { x: 108, y: -44 },
];

describe('Piecewise linear curves (IEEE 1547-2018 5.3.3, 5.3.4, 5.4.2)', () => {
  it('go straight between points and hold the end values outside', () => {
    for (const [x, y] of [
      [0, 44],
      [92, 44],
      [95, 22],
      [98, 0],
      [100, 0],
      [102, 0],
      [103.5, -11],
      [108, -44],
      [200, -44],
    ] as const) {
      expect(interpolate(line, x), `${x}`).to.be.closeTo(y, 1e-12);
    }
  });

  it('two points at one place are a step, which belongs to the later one', () => {
    const step = [
      { x: 90, y: 25 },
      { x: 100, y: 10 },
      { x: 100, y: -10 },
      { x: 110, y: -25 },
    ];
    expect(interpolate(step, 100)).to.equal(-10);
    expect(interpolate(step, 100 - 1e-9)).to.be.closeTo(10, 1e-6);
    expect(
      interpolate(
        [
          { x: 100, y: 1 },
          { x: 100, y: 2 },
        ],
        100,
      ),
    ).to.equal(2);
  });

  it('one point is a constant, none gives 0', () => {
    expect([50, 100, 150].map((x) => interpolate([{ x: 100, y: 7 }], x))).to.deep.equal([7, 7, 7]);
    expect(interpolate([], 100)).to.equal(0);
  });

  it('stay between the values of the points, are points at the points, and fall where those fall', () => {
    const value = fc.integer({ min: -1000, max: 1000 });
    holds(
      'between the points of a curve',
      [
        fc.uniqueArray(value, { minLength: 1, maxLength: 10 }),
        fc.array(value, { minLength: 10, maxLength: 10 }),
        fc.double({ min: -1200, max: 1200, noNaN: true }),
        fc.double({ min: 0, max: 500, noNaN: true }),
      ],
      (xs, ys, x, further) => {
        const falling = ys.slice(0, xs.length).sort((a, b) => b - a);
        const points = xs.sort((a, b) => a - b).map((at, i) => ({ x: at, y: falling[i]! }));
        for (const point of points) expect(interpolate(points, point.x)).to.equal(point.y);
        const y = interpolate(points, x);
        expect(y).to.be.within(falling.at(-1)! - 1e-9, falling[0]! + 1e-9);
        expect(interpolate(points, x + further)).to.be.at.most(y + 1e-9);
      },
    );
  });
});
