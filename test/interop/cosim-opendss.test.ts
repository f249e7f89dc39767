/** Feeders in OpenDSS with devices at their nodes: the examples judge themselves, and say by how much. */
import { expect } from 'chai';
import { differenceOf, runExample, runScript } from './support/cosim.ts';
import type { Table } from './support/cosim.ts';
import { describeWith } from './support/peers.ts';

describeWith(['opendssdirect.py'], 'devices on feeders in OpenDSS', function () {
  this.timeout(120_000);

  describe('a street', () => {
    let table: Table;
    before(async () => {
      table = await runExample('opendss_loop');
    });

    it('is where InvControl says, when its phases carry the same', () => {
      expect(differenceOf(table, 'voltage, pu')).to.be.below(1e-6);
      expect(differenceOf(table, 'reactive power, var, worst')).to.be.below(1);
    });

    it('is where equal currents put it, when its phases differ', () => {
      expect(differenceOf(table, 'voltage of each phase')).to.be.below(1e-6);
    });

    it('differs from InvControl then by the split of the phases, not by the curve', () => {
      expect(differenceOf(table, 'mean voltage, pu')).to.be.below(5e-5);
      expect(differenceOf(table, 'phase voltage, pu, balanced=no')).to.be.within(1e-4, 5e-3);
      expect(differenceOf(table, 'reactive power, var, balanced')).to.be.below(3);
    });
  });

  it('the 13-node test feeder has its published voltages, and with devices those of their curve', async () => {
    const table = await runExample('opendss_loop', '--feeder', 'ieee13');
    expect(differenceOf(table, 'published')).to.be.below(2e-4);
    expect(differenceOf(table, 'voltage of each phase')).to.be.below(1e-6);
  });

  it('a weak feeder with a steep curve swings in long steps, and finds its balance by trials', async () => {
    const table = await runExample('opendss_loop', '--feeder', 'weak');
    const { swing_var: swing, rounds } = table.figures['weak'] as { swing_var: number[]; rounds: number };
    expect(Math.max(...swing) - Math.min(...swing)).to.be.above(1000);
    expect(differenceOf(table, 'with trials: voltage')).to.be.below(1e-6);
    expect(differenceOf(table, 'with trials: reactive power')).to.be.below(1);
    expect(rounds).to.be.below(300);
  });

  it('two sessions of 1,000 steps are equal to the last character', async () => {
    const [one, other] = [await runScript('cosim_session'), await runScript('cosim_session')];
    expect(one).to.match(/^[0-9a-f]{64} 700\n$/);
    expect(other).to.equal(one);
  });
});
