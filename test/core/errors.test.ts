import { expect } from 'chai';
import { badValue, givenAllowed } from '../../src/core/errors.ts';

describe('errors', () => {
  it('a refused value is named as it was given', () => {
    const texts = [undefined, NaN, 5, 'x', null].map((given) => givenAllowed(given, 'y'));
    expect(texts.map((text) => text.replace('; allowed: y', ''))).to.deep.equal([
      'given nothing',
      'given NaN',
      'given 5',
      'given "x"',
      'given null',
    ]);
    expect(badValue('tank level', 120, '0 to 100 %'))
      .to.include({ code: 'COMMAND_BAD_VALUE' })
      .and.have.property('message', 'tank level: given 120; allowed: 0 to 100 %');
  });
});
