import { expect } from 'chai';
import { powerText, varText } from '../../src/contract/power-text.ts';

describe('powers in sentences', () => {
  it('have the unit and the decimals of their size after rounding', () => {
    expect([0, 5000, 999_994, 999_996, 9_999_940, 9_999_960].map(powerText)).to.deep.equal([
      '0.00 kW',
      '5.00 kW',
      '999.99 kW',
      '1000.0 kW',
      '9999.9 kW',
      '10.00 MW',
    ]);
    expect(varText(12_500_000)).to.equal('12.50 Mvar');
  });
});
