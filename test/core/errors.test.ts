import { expect } from 'chai';
import { badValue, givenAllowed, noSuchDevice } from '../../src/core/errors.ts';

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

  it('names the devices as ranges of their indexes, gaps left out', () => {
    const every2nd = Array.from({ length: 100 }, (_, n) => 2 * n);
    expect([[], [0], [0, 1, 2, 4, 5, 9], every2nd].map((indexes) => noSuchDevice(3, indexes))).to.deep.equal([
      'there is no device 3; there are none',
      'there is no device 3; devices: 0',
      'there is no device 3; devices: 0-2, 4-5, 9',
      'there is no device 3; devices: 0, 2, 4, 6, 8, 10, 12, 14 and 92 more',
    ]);
  });
});
