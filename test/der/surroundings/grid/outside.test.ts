import { expect } from 'chai';
import { simTimeFromMs } from '../../../../src/core/time/clock.ts';
import { OutsideGrid } from '../../../../src/der/surroundings/grid/outside.ts';

const nominal = { aPu: 1, bPu: 1, cPu: 1, hz: 60, angleDeg: 0, island: false, outage: false };

describe('the grid of an attached device', () => {
  it('breaks at the instant of new values for a device that has not reached it', () => {
    const grid = new OutsideGrid(nominal, simTimeFromMs(0));
    grid.set({ ...nominal, aPu: 0.9 }, simTimeFromMs(500));
    expect([0, 499, 500].map((ms) => grid.at(simTimeFromMs(ms)).aPu)).to.deep.equal([1, 1, 0.9]);
    expect([0, 499, 500].map((ms) => grid.nextBreak(simTimeFromMs(ms)))).to.deep.equal([
      simTimeFromMs(500),
      simTimeFromMs(500),
      Infinity,
    ]);
  });
});
