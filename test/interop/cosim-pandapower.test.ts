/** Devices in the CIGRE low-voltage grid of pandapower: the example judges itself, and says by how much. */
import { expect } from 'chai';
import { differenceOf, runExample } from './support/cosim.ts';
import type { Table } from './support/cosim.ts';
import { describeWith } from './support/peers.ts';

describeWith(['pandapower', 'pysunspec2'], 'devices in a grid of pandapower', function () {
  this.timeout(120_000);
  let table: Table;
  before(async () => {
    table = await runExample('pandapower_loop');
  });

  it('have the voltages and the reactive power of DERController, and those of the volt-watt curve', () => {
    expect(differenceOf(table, 'voltage, pu')).to.be.below(1e-6);
    expect(differenceOf(table, 'reactive power, var')).to.be.below(1);
    expect(differenceOf(table, 'active power, W')).to.be.below(1);
  });

  it('move the voltages when a master commands them over Modbus, and when vehicles arrive', () => {
    const statements = table.rows.filter(({ name }) => name.includes('lower their voltage'));
    expect(statements.map(({ holds }) => holds)).to.deep.equal([true, true]);
  });
});
