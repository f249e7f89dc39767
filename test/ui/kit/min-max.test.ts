import { expect } from 'chai';
import fc from 'fast-check';
import { minMaxRows } from '../../../src/ui/kit/min-max';
import type { Zoom } from '../../../src/ui/kit/uplot-chart';

/** One sample a second. */
const timesOf = (count: number) => Array.from({ length: count }, (_none, index) => index);

describe('rows of a chart with more samples than pixels', () => {
  it('keep a dip of one sample at every zoom, at about its time', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 5000 }),
        fc.nat(),
        fc.integer({ min: 20, max: 400 }),
        fc.nat({ max: 400 }),
        (count, place, pixels, half) => {
          const at = place % count;
          const values = timesOf(count).map((row) => (row === at ? -7 : 5));
          const zoom: Zoom = half === 0 ? null : [at - half, at + half];
          const [times = [], drawn = []] = minMaxRows([timesOf(count), values], zoom, pixels);
          const row = drawn.indexOf(-7);
          const span = half === 0 ? count : 2 * half + 2;
          expect(row).to.be.at.least(0);
          expect(Math.abs((times[row] ?? NaN) - at)).to.be.at.most(span / Math.floor(pixels) + 1);
        },
      ),
    );
  });

  it('are two per pixel at most, ascend, and reach from the first sample to the last', () => {
    const values = timesOf(10_000).map((row) => Math.sin(row));
    const [times = [], drawn = []] = minMaxRows([timesOf(10_000), values], null, 300);
    expect(times.length).to.be.at.most(600);
    expect(drawn).to.have.lengthOf(times.length);
    expect([times[0], times.at(-1)]).to.deep.equal([0, 9999]);
    expect(times.every((time, row) => row === 0 || (time ?? 0) > (times[row - 1] ?? 0))).to.equal(true);
  });

  it('have a gap where a bucket has no value, and all rows while there are few', () => {
    const values = timesOf(1000).map((row) => (row >= 400 && row < 600 ? null : row));
    const [times = [], drawn = []] = minMaxRows([timesOf(1000), values], null, 100);
    const empty = times.filter((_time, row) => drawn[row] === null).map((time) => time ?? 0);
    expect(Math.min(...empty)).to.be.closeTo(400, 10);
    expect(Math.max(...empty)).to.be.closeTo(599, 10);
    const few = [timesOf(200), values.slice(0, 200)];
    expect(minMaxRows(few, null, 100)).to.equal(few);
  });
});
