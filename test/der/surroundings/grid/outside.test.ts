import { expect } from 'chai';
import { simTimeFromMs } from '../../../../src/core/time/clock.ts';
import { measuredQuantities } from '../../../../src/der/surroundings/grid/layers.ts';
import { GridScope } from '../../../../src/der/surroundings/grid/grid-scope.ts';
import { AttachedGrids } from '../../../../src/der/surroundings/grid/attached.ts';
import { EndedOutsideGrid, OutsideGrid } from '../../../../src/der/surroundings/grid/outside.ts';

const nominal = { aPu: 1, bPu: 1, cPu: 1, hz: 60, angleDeg: 0, island: false, outage: false };
const at = simTimeFromMs;
const site = { nominalHz: 60, gridProfile: null, seriesTime: () => 0 };
const inside = GridScope.initial(site, at(0)).patched({ voltagePu: 0.8 }, at(50));

describe('the grid of an attached device', () => {
  const attached = () => new OutsideGrid(nominal, at(100), inside);
  const put = (grid: OutsideGrid, changes: Partial<typeof nominal>, ms: number, rampS = 0) => {
    const quantities = measuredQuantities.filter((name) => name in changes);
    grid.set({ ...grid.values, ...changes }, { from: at(ms), rampS, quantities });
  };
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
      put(grid, { aPu }, ms);
    expect(voltages(grid, 40, 50, 99, 100, 499, 500, 699, 700, 799, 800)).to.deep.equal([
      1, 0.8, 0.8, 1, 1, 0.9, 0.9, 0.6, 0.6, 0.9,
    ]);
    expect(breaks(grid, 0, 50, 100, 500, 799, 800)).to.deep.equal([50, 100, 500, 700, 800, Infinity]);
  });

  it('forgets the values before those that the device has reached', () => {
    const grid = attached();
    put(grid, { aPu: 0.9 }, 500);
    put(grid, { aPu: 0.7 }, 700);
    grid.forgetBefore(at(600));
    expect(voltages(grid, 500, 700)).to.deep.equal([0.9, 0.7]);
    expect(breaks(grid, 500)).to.deep.equal([700]);
    expect(voltages(grid, 100, 499), 'of instants that nobody asks for').to.deep.equal([0.8, 0.8]);
  });

  it('forgets them at the end of a tick, without other values', () => {
    const grids = new AttachedGrids({ nominalHz: 60, of: () => inside });
    grids.attach(3, 'solver', at(100));
    for (const [aPu, ms] of [
      [0.9, 500],
      [0.7, 700],
    ] as const)
      grids.gridOf(3)!.set({ ...nominal, aPu }, { from: at(ms), rampS: 0, quantities: ['aPu'] });
    const present = () => [100, 500, 700].map((ms) => grids.courseOf(3)?.at(at(ms)).aPu);
    expect(present()).to.deep.equal([0.8, 0.9, 0.7]);
    grids.forgetBefore(at(600));
    expect(present()).to.deep.equal([0.8, 0.9, 0.7]);
    grids.forgetBefore(at(800));
    expect(present()).to.deep.equal([0.8, 0.8, 0.7]);
  });

  it('takes values at an earlier instant, to which a pause has put the clock back', () => {
    const grid = attached();
    put(grid, { aPu: 0.9 }, 500);
    put(grid, { aPu: 0.9 }, 300);
    expect(voltages(grid, 299, 300, 500)).to.deep.equal([1, 0.9, 0.9]);
    put(grid, { aPu: 0.7 }, 300);
    expect(voltages(grid, 300, 500)).to.deep.equal([0.7, 0.7]);
    expect(breaks(grid, 300)).to.deep.equal([Infinity]);
  });

  it('is that of the simulator from the instant of its end on', () => {
    const grid = attached();
    put(grid, { aPu: 0.9 }, 500);
    const ended = new EndedOutsideGrid(grid, at(700), () => inside);
    expect(voltages(ended, 499, 500, 699, 700)).to.deep.equal([1, 0.9, 0.9, 0.8]);
    expect(breaks(ended, 100, 500, 700)).to.deep.equal([500, 700, Infinity]);
  });

  it('reaches values by a ramp, each quantity on its way', () => {
    const grid = attached();
    put(grid, { aPu: 0.9 }, 200, 0.2);
    put(grid, { hz: 61 }, 300, 0.4);
    expect(voltages(grid, 200, 250, 300, 350, 400, 900)).to.deep.equal([1, 0.975, 0.95, 0.925, 0.9, 0.9]);
    expect([300, 500, 700].map((ms) => grid.at(at(ms)).hz)).to.deep.equal([60, 60.5, 61]);
    expect(breaks(grid, 100, 200, 300, 400, 700)).to.deep.equal([200, 300, 400, 700, Infinity]);
    expect([150, 250, 650, 700].map((ms) => grid.motion(at(ms)))).to.deep.equal(['still', 'fast', 'fast', 'still']);
    expect(grid.now(at(350))).to.include({ voltageAPu: 0.925, frequencyHz: 60.125, rampRemainingS: 0.35 });
    expect(grid.at(at(800)), 'the same object').to.equal(grid.at(at(700)));
  });

  it('ends a ramp with values that come at once, from where it is with values that come by another', () => {
    const [once, again] = [attached(), attached()];
    for (const grid of [once, again]) put(grid, { aPu: 0.9 }, 200, 0.2);
    put(once, { aPu: 0.9 }, 300);
    expect(voltages(once, 299, 300)).to.deep.equal([0.9505, 0.9]);
    put(again, { aPu: 1.05 }, 300, 0.1);
    expect(voltages(again, 300, 350, 400)).to.deep.equal([0.95, 1, 1.05]);
  });

  it('keeps its ramp through an outage', () => {
    const grid = attached();
    put(grid, { aPu: 0.9 }, 200, 0.2);
    put(grid, { outage: true }, 250);
    put(grid, { outage: false }, 300);
    expect(voltages(grid, 249, 250, 299, 300, 400)).to.deep.equal([0.9755, 0, 0, 0.95, 0.9]);
  });

  it('stands still on a ramp that an outage hides, not on one that begins or ends without voltage', () => {
    const [hidden, rising] = [attached(), attached()];
    put(hidden, { aPu: 0.9 }, 200, 0.2);
    put(hidden, { outage: true }, 250);
    expect([240, 250, 399].map((ms) => hidden.motion(at(ms)))).to.deep.equal(['fast', 'still', 'still']);
    const dead = { aPu: 0, bPu: 0, cPu: 0 };
    put(rising, dead, 200, 0.1);
    put(rising, { aPu: 1, bPu: 1, cPu: 1 }, 400, 0.1);
    expect([200, 299, 300, 400, 499, 500].map((ms) => rising.motion(at(ms)))).to.deep.equal([
      'fast',
      'fast',
      'still',
      'fast',
      'fast',
      'still',
    ]);
  });
});
