import { expect } from 'chai';
import { dropFault } from '../../../src/fault-kinds/modbus-transport.ts';
import { FaultBench } from '../../support/faults.ts';

describe('ActiveFault', () => {
  const bench = new FaultBench([0, 1]);
  const { registry } = bench;

  it('strikes no more once it is cleared, and so ends once', () => {
    const fault = bench.inject(dropFault, {}, { count: 1 });
    registry.clear();
    expect([fault.strikes(0), fault.occasions, fault.end]).to.deep.equal([false, 0, 'cleared']);
    expect(registry.ended).to.have.length(1);
  });

  it('keeps nothing of a device that is removed', () => {
    const fault = bench.inject(dropFault, {}, { every: 2 });
    expect([fault.strikes(0), fault.strikes(1)]).to.deep.equal([false, false]);
    registry.deviceRemoved(1);
    expect([fault.strikes(1), fault.strikes(0)]).to.deep.equal([false, true]);
  });
});
