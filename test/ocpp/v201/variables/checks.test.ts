import { expect } from 'chai';
import { generalChecks } from '../../../../src/ocpp/v201/variables/handlers.ts';
import type { PlacedVariable } from '../../../../src/ocpp/v201/variables/model.ts';

describe('OCPP 2.x: checks of variables that their rows cannot say', () => {
  for (const [name, right, wrong] of [
    ['ISO15118Ctrlr.CountryName', ['DE', 'NL'], ['', 'de', 'D1', '😀', 'DEU']],
    ['TariffCostCtrlr.Currency', ['EUR', 'USD'], ['', 'eur', 'EU', ' 7 ', '😀']],
  ] as const)
    it(`${name} is a code of capital letters`, () => {
      const check = (value: string) => generalChecks[name]?.(value, {} as PlacedVariable) ?? null;
      for (const value of right) expect(check(value), value).to.equal(null);
      for (const value of wrong) expect(check(value)?.reasonCode, value).to.equal('InvalidValue');
    });
});
