import { expect } from 'chai';
import { LivePort } from '../../../src/der/source/live-port.ts';

describe('LivePort', () => {
  it('a live port shows the values of the moment, and no conditions unless it is given some', () => {
    let powerW = 1;
    const conditions = new Set(['dc_over_volt']);
    const readings = { voltageV: () => 400, currentA: () => powerW / 400, powerW: () => powerW };
    const port = new LivePort('PV', 'PV', readings);
    powerW = 800;
    expect([port.type, port.name, port.voltageV, port.currentA, port.powerW]).to.deep.equal(['PV', 'PV', 400, 2, 800]);
    expect([...port.conditions]).to.deep.equal([]);
    expect(new LivePort('PV', 'PV', { ...readings, conditions: () => conditions }).conditions).to.equal(conditions);
  });
});
