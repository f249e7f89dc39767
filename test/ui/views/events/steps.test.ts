import { expect } from 'chai';
import * as fc from 'fast-check';
import { rangeAround, scaleOf, spread, ticksOf, tickStep } from '../../../../src/ui/views/events/captures/axes';
import { bandOf, bandPath, cornersOf, pathOf, valueAt } from '../../../../src/ui/views/events/captures/steps';
import type { Steps } from '../../../../src/ui/views/events/captures/steps';
import { rowAway, showing, zoomed } from '../../../../src/ui/views/events/captures/window';

const stepped = (t: readonly number[], values: readonly number[], ramp = t.map(() => 0)): Steps => ({
  t,
  values,
  ramp,
});

/** Points of a path. */
const pointsIn = (path: string) =>
  path
    .replace(/[MZ]/g, '')
    .split('L')
    .map((pair) => pair.split(' ').map(Number) as [number, number]);

const same = (value: number) => value;
const all = { from: -Infinity, to: Infinity };

describe('curves of a capture', () => {
  it('hold backwards from their row, and slope only to a row of a ramp', () => {
    const curve = stepped([0, 1, 2, 3], [10, 4, 4, 8], [0, 0, 0, 1]);
    expect([...cornersOf(curve, all)]).to.deep.equal([
      [0, 10],
      [0, 10],
      [0, 4],
      [1, 4],
      [1, 4],
      [2, 4],
      [2, 4],
      [3, 8],
    ]);
    expect([0, 0.5, 1, 2.5, 3].map((at) => valueAt(curve, at))).to.deep.equal([10, 4, 4, 6, 8]);
    expect([valueAt(curve, -0.1), valueAt(curve, 3.1)]).to.deep.equal([null, null]);
  });

  it('have a dip of one sub-step in the drawn path at every zoom', () => {
    const rows = 800;
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: rows - 1 }),
        fc.integer({ min: 40, max: 2000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.boolean(),
        (dip, width, zoom, isLow) => {
          const t = Array.from({ length: rows }, (_none, row) => row * 0.01);
          const extreme = isLow ? -5 : 5;
          const curve = stepped(
            t,
            t.map((_at, row) => (row === dip ? extreme : Math.sin(row))),
          );
          const at = t[dip] ?? 0;
          const half = 0.02 + 8 * zoom;
          const span = { from: at - half, to: at + half };
          const path = pathOf(curve, span, scaleOf(span, 0, width), same);
          expect(pointsIn(path).map(([, y]) => y)).to.include(extreme);
        },
      ),
    );
  });

  it('are drawn with few points for each pixel, in the order of time', () => {
    const t = Array.from({ length: 5000 }, (_none, row) => row * 0.001);
    const curve = stepped(
      t,
      t.map((_at, row) => row % 7),
    );
    const span = { from: 0, to: 5 };
    const points = pointsIn(pathOf(curve, span, scaleOf(span, 0, 200), same));
    expect(points.length).to.be.below(201 * 4 + 1);
    expect(points.every(([x], n) => n === 0 || x >= (points[n - 1]?.[0] ?? 0))).to.equal(true);
  });

  it('leave out rows beyond the span, but for those that reach into it', () => {
    const curve = stepped([0, 1, 2, 3, 4], [1, 2, 3, 4, 5]);
    const values = (from: number, to: number) => new Set([...cornersOf(curve, { from, to })].map(([, value]) => value));
    expect([...values(1.5, 2.5)]).to.deep.equal([3, 4]);
  });

  it('of a kind fill a band with the extremes of all, at the instants of each', () => {
    const { low, high } = bandOf([stepped([0, 2], [1, 3]), stepped([0, 1, 2], [5, -1, 2], [0, 0, 1])]);
    expect(low).to.deep.include({ t: [0, 1, 2], values: [1, -1, -1] });
    expect(high.values).to.deep.equal([5, 3, 3]);
    const path = bandPath({ low, high }, all, same, same);
    expect(path.startsWith('M') && path.endsWith('Z')).to.equal(true);
    expect(pointsIn(path).map(([, y]) => y)).to.include.members([5, -1]);
    expect(bandPath({ low: stepped([], []), high: stepped([], []) }, all, same, same)).to.equal('');
  });
});

describe('axes of a capture', () => {
  it('have round ticks that leave room', () => {
    expect([0.07, 0.5, 1.1, 3, 6].map(tickStep)).to.deep.equal([0.1, 0.5, 2, 5, 10]);
    expect(ticksOf(-0.9, 1.1, 0.5)).to.deep.equal([-0.5, 0, 0.5, 1]);
  });

  it('have a least span, around the values', () => {
    const { from, to } = rangeAround(60, 60, 0.1);
    expect([from < 59.95, to > 60.05, Math.abs((from + to) / 2 - 60) < 1e-9]).to.deep.equal([true, true, true]);
  });

  it('keep labels apart, in the order of their lines', () => {
    expect(spread([50, 51, 20], 14, 0, 100)).to.deep.equal([50, 64, 20]);
    expect(spread([98, 99, 97], 14, 0, 100)).to.deep.equal([86, 100, 72]);
  });
});

describe('zoom and cursor of a capture', () => {
  const whole = { from: -1, to: 9 };

  it('zooms around the pointer, and never beyond the capture', () => {
    const { from, to } = zoomed(whole, 4, true, whole);
    expect([from > -1, to < 9]).to.deep.equal([true, true]);
    expect((4 - from) / (to - from)).to.be.closeTo(0.5, 1e-9);
    expect(zoomed({ from: 0, to: 8 }, 0, false, whole)).to.deep.equal(whole);
    let span: { from: number; to: number } = whole;
    for (let n = 0; n < 60; n += 1) span = zoomed(span, 9, true, whole);
    expect([span.to, span.to - span.from >= 0.0199]).to.deep.equal([9, true]);
  });

  it('moves from row to row, and takes the view along', () => {
    const rows = [0, 1, 2, 3];
    expect([rowAway(rows, 1, 1), rowAway(rows, 1, -1), rowAway(rows, 3, 1), rowAway(rows, 0, -1)]).to.deep.equal([
      2, 0, 3, 0,
    ]);
    expect([rowAway(rows, 1.5, 1), rowAway(rows, 1.5, -1), rowAway(rows, null, 1), rowAway([], 1, 1)]).to.deep.equal([
      2,
      1,
      1,
      null,
    ]);
    expect(showing({ from: 0, to: 2 }, 6, whole)).to.deep.equal({ from: 5, to: 7 });
    expect(showing({ from: 0, to: 2 }, 1, whole)).to.deep.equal({ from: 0, to: 2 });
    expect(showing({ from: 0, to: 2 }, 9, whole)).to.deep.equal({ from: 7, to: 9 });
  });
});
