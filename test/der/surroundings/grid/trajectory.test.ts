import { expect } from 'chai';
import { addSeconds, simTimeFromMs } from '../../../../src/core/time/clock.ts';
import type { SimTime } from '../../../../src/core/time/clock.ts';
import {
  breaks,
  constant,
  motionAt,
  pathFrom,
  ramp,
  recorded,
  restsFrom,
  valueAt,
  wave,
} from '../../../../src/der/surroundings/grid/trajectory.ts';
import type { Trajectory } from '../../../../src/der/surroundings/grid/trajectory.ts';

const start = simTimeFromMs(Date.UTC(2026, 5, 21, 12));
const at = (seconds: number): SimTime => addSeconds(start, seconds);
const values = (trajectory: Trajectory, ...seconds: number[]) => seconds.map((s) => valueAt(trajectory, at(s)));

describe('Trajectory', () => {
  it('constant: at any time, without an event of its own that lies ahead', () => {
    expect(values(constant(0.9), -1e6, 0, 1e6)).to.deep.equal([0.9, 0.9, 0.9]);
    expect([motionAt(constant(1), at(0)), breaks(constant(1)).some((t) => t > start)]).to.deep.equal(['still', false]);
  });

  it('ramp: the first value before, linear, the exact last value from its end on', () => {
    const down = ramp(1, 0.7, at(10), 3);
    expect(values(down, 9, 10, 13, 99)).to.deep.equal([1, 1, 0.7, 0.7]);
    expect(valueAt(down, at(11))).to.be.closeTo(0.9, 1e-12);
    expect([9, 10, 12.999999, 13].map((s) => motionAt(down, at(s)))).to.deep.equal(['still', 'fast', 'fast', 'still']);
    expect([breaks(down), restsFrom(down)]).to.deep.equal([[at(10), at(13)], at(13)]);
  });

  it('a ramp of no length is a step that holds at its instant', () => {
    const step = ramp(1, 0.5, at(10), 0);
    expect(values(step, 9.999999, 10, 10.000001)).to.deep.equal([1, 0.5, 0.5]);
    expect(motionAt(step, at(10))).to.equal('still');
  });

  it('path: holds and steps between its corners', () => {
    const path = pathFrom(at(0), [
      [0, 1],
      [0, 0.3],
      [2, 0.3],
      [2, 0.6],
      [4, 1],
    ]);
    expect(values(path, -1, 0, 1.999999, 2, 4)).to.deep.equal([1, 0.3, 0.3, 0.6, 1]);
    expect(valueAt(path, at(3))).to.be.closeTo(0.8, 1e-12);
    expect([1, 3, 5].map((s) => motionAt(path, at(s)))).to.deep.equal(['still', 'fast', 'still']);
  });

  it('wave: about its centre, and there before and after', () => {
    const swing = wave(1, 0.1, 0.5, at(0), 10.5);
    expect(values(swing, -1, 0, 10.5, 20)).to.deep.equal([1, 1, 1, 1]);
    expect(valueAt(swing, at(0.5))).to.be.closeTo(1.1, 1e-12);
    expect(valueAt(swing, at(1.5))).to.be.closeTo(0.9, 1e-12);
    expect([-1, 0, 10, 10.5].map((s) => motionAt(swing, at(s)))).to.deep.equal(['still', 'fast', 'fast', 'still']);
    expect(restsFrom(swing)).to.equal(at(10.5));
  });

  it('recorded: a constant until it begins', () => {
    const series = recorded({ at: (t) => (t - start) / 1e6, nextBreak: () => Infinity }, 7, at(5));
    expect(values(series, 4, 5, 6)).to.deep.equal([7, 5, 6]);
    expect([motionAt(series, at(4)), motionAt(series, at(5)), breaks(series)]).to.deep.equal([
      'still',
      'slow',
      [at(5)],
    ]);
  });
});
