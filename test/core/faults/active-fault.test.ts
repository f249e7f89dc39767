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

  it('tells whether it would strike without counting an occasion', () => {
    const facts = { probability: 0.4, every: 3, count: 20, seed: 11 };
    const [looked, other] = [bench.inject(dropFault, {}, facts), bench.inject(dropFault, {}, facts)];
    const told: boolean[] = [];
    const struck: boolean[] = [];
    for (let occasion = 0; occasion < 100; occasion += 1) {
      const device = occasion % 2;
      told.push(looked.wouldStrike(device) && looked.wouldStrike(device));
      struck.push(looked.strikes(device));
      expect(other.strikes(device)).to.equal(struck.at(-1));
    }
    expect(told).to.deep.equal(struck);
    expect(struck.filter(Boolean).length).to.be.within(5, 20);
    expect(looked.occasions).to.equal(other.occasions);
    registry.clear();
    expect(looked.wouldStrike(0)).to.equal(false);
  });
});
