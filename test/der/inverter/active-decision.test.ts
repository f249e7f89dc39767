import { expect } from 'chai';
import { ActiveDecision } from '../../../src/der/inverter/active-power.ts';

describe('Decision about active power (IEEE 1547-2018 4.7)', () => {
  it('the lowest ceiling counts, on a tie the first', () => {
    const decision = new ActiveDecision();
    decision.start(10_000, 'source');
    decision.cap(8000, 'max_power');
    decision.cap(9000, 'freq_droop');
    decision.cap(8000, 'volt_watt');
    expect(decision).to.include({ ceilingW: 8000, ceilingBy: 'max_power', functionCeilingW: 8000 });
  });

  it('a ceiling above that of the source is a ceiling of a function all the same', () => {
    const decision = new ActiveDecision();
    decision.start(3000, 'source');
    decision.cap(8000, 'max_power');
    expect(decision).to.include({ ceilingW: 3000, ceilingBy: 'source', functionCeilingW: 8000 });
  });

  it('a floor above the ceiling raises it, and decides where it is below zero', () => {
    const decision = new ActiveDecision();
    decision.start(10_000, 'source');
    decision.cap(-5000, 'freq_droop');
    decision.raiseTo(-4000, 'charge_limit');
    expect(decision).to.include({ floorW: -4000, ceilingW: -4000, ceilingBy: 'charge_limit' });
  });

  it('a device that only delivers is at zero because of the ceiling', () => {
    const decision = new ActiveDecision();
    decision.start(10_000, 'source');
    decision.cap(-5000, 'freq_droop');
    decision.raiseTo(0, 'charge_limit');
    expect(decision).to.include({ floorW: 0, ceilingW: 0, ceilingBy: 'freq_droop' });
  });

  it('a new start forgets the ceilings of the last sub-step', () => {
    const decision = new ActiveDecision();
    decision.start(10_000, 'source');
    decision.cap(2000, 'volt_watt');
    decision.start(9000, 'w_max');
    expect(decision).to.include({ ceilingW: 9000, ceilingBy: 'w_max', functionCeilingW: Infinity });
  });
});
