import { expect } from 'chai';
import { simTimeFromMs } from '../../../../src/core/time/clock.ts';
import { GridScope } from '../../../../src/der/surroundings/grid/grid-scope.ts';
import { EndedOutsideGrid, OutsideGrid } from '../../../../src/der/surroundings/grid/outside.ts';

const nominal = { aPu: 1, bPu: 1, cPu: 1, hz: 60, angleDeg: 0, island: false, outage: false };
const at = simTimeFromMs;
const site = { nominalHz: 60, gridProfile: null, seriesTime: () => 0 };
const inside = GridScope.initial(site, at(0)).patched({ voltagePu: 0.8 }, at(50));

describe('the grid of an attached device', () => {
  const attached = () => new OutsideGrid(nominal, at(100), inside);
  const voltages = (grid: { at: OutsideGrid['at'] }, ...ms: readonly number[]) => ms.map((t) => grid.at(at(t)).aPu);
  const breaks = (grid: { nextBreak: OutsideGrid['nextBreak'] }, ...ms: readonly number[]) =>
    ms.map((t) => grid.nextBreak(at(t)) / 1000);

  it('has all values of a tick at their instants, and before them the grid that the device had', () => {
    const grid = attached();
    for (const [aPu, ms] of [
      [0.9, 500],
      [0.7, 700],
      [0.6, 700],
      [0.9, 800],
    ] as const)
      grid.set({ ...nominal, aPu }, at(ms), at(0));
    expect(voltages(grid, 40, 50, 99, 100, 499, 500, 699, 700, 799, 800)).to.deep.equal([
      1, 0.8, 0.8, 1, 1, 0.9, 0.9, 0.6, 0.6, 0.9,
    ]);
    expect(breaks(grid, 0, 50, 100, 500, 799, 800)).to.deep.equal([50, 100, 500, 700, 800, Infinity]);
  });

  it('forgets the values before those that the device has reached', () => {
    const grid = attached();
    grid.set({ ...nominal, aPu: 0.9 }, at(500), at(0));
    grid.set({ ...nominal, aPu: 0.7 }, at(700), at(600));
    expect(voltages(grid, 500, 700)).to.deep.equal([0.9, 0.7]);
    expect(breaks(grid, 500)).to.deep.equal([700]);
    expect(voltages(grid, 100, 499), 'of instants that nobody asks for').to.deep.equal([0.8, 0.8]);
  });

  it('takes values at an earlier instant, to which a pause has put the clock back', () => {
    const grid = attached();
    grid.set({ ...nominal, aPu: 0.9 }, at(500), at(200));
    grid.set({ ...nominal, aPu: 0.9 }, at(300), at(200));
    expect(voltages(grid, 299, 300, 500)).to.deep.equal([1, 0.9, 0.9]);
    grid.set({ ...nominal, aPu: 0.7 }, at(300), at(300));
    expect(voltages(grid, 300, 500)).to.deep.equal([0.7, 0.7]);
    expect(breaks(grid, 300)).to.deep.equal([Infinity]);
  });

  it('is that of the simulator from the instant of its end on', () => {
    const grid = attached();
    grid.set({ ...nominal, aPu: 0.9 }, at(500), at(0));
    const ended = new EndedOutsideGrid(grid, at(700), () => inside);
    expect(voltages(ended, 499, 500, 699, 700)).to.deep.equal([1, 0.9, 0.9, 0.8]);
    expect(breaks(ended, 100, 500, 700)).to.deep.equal([500, 700, Infinity]);
  });
});
