import { expect } from 'chai';
import {
  isEnabled,
  isSupported,
  reversionRemainingS,
  reversionTimeS,
} from '../../../../src/sunspec/map/grid-support/state.ts';
import { functionTable } from '../../../../src/sunspec/map/grid-support/functions.ts';
import { createTestBank } from '../../../support/map.ts';

const { max_power: limit, ramp, anti_islanding: island, pf_absorb: absorb, volt_var: voltVar } = functionTable;

describe('state of a function in the registers', () => {
  it('is supported with its enable point and its bit of 702.CtrlModes, where there is one', () => {
    const { bank } = createTestBank({ omit: ['704.PFWAbsEna'] });
    expect(isSupported(bank, limit)).to.equal(true);
    expect(isSupported(bank, absorb), 'no enable point').to.equal(false);
    expect(isSupported(bank, island), 'no bit').to.equal(true);
    const without = createTestBank({ start: ({ m702 }) => (m702.CtrlModes = 0) });
    expect(isSupported(without.bank, limit)).to.equal(false);
    expect(isSupported(without.bank, island)).to.equal(true);
    expect(isSupported(without.bank, { model: voltVar.model, enable: voltVar.enable })).to.equal(true);
    expect(isSupported(bank, { model: 9999, enable: 'Ena' })).to.equal(false);
  });

  it('is enabled by its switch, or by a limit above 0', () => {
    const test = createTestBank({ start: ({ m704 }) => (m704.WRmp = 0) });
    expect(isEnabled(test.bank, limit)).to.equal(false);
    test.set({ '704.WMaxLimPctEna': 'ENABLED' });
    expect(isEnabled(test.bank, limit)).to.equal(true);
    expect(isEnabled(test.bank, ramp)).to.equal(false);
    test.set({ '704.WRmp': 3 });
    expect(isEnabled(test.bank, ramp)).to.equal(true);
    expect(isEnabled(test.bank, { model: 9999, enable: 'Ena' })).to.equal(false);
  });

  it('has a remaining time while a reversion time is set', () => {
    const test = createTestBank();
    expect([reversionTimeS(test.bank, limit), reversionRemainingS(test.bank, limit)]).to.deep.equal([0, null]);
    test.set({ '704.WMaxLimPctRvrtTms': 10, '704.WMaxLimPctEna': 'ENABLED' });
    test.pass(4);
    expect([reversionTimeS(test.bank, limit), reversionRemainingS(test.bank, limit)]).to.deep.equal([10, 6]);
    test.pass(7);
    expect(reversionRemainingS(test.bank, limit)).to.equal(0);
    expect([reversionTimeS(test.bank, ramp), reversionRemainingS(test.bank, ramp)]).to.deep.equal([null, null]);
  });
});
