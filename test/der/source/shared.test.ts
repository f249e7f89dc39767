import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { badValue, checkCurvePort, givenAllowed, lastSample, LivePort } from '../../../src/der/source/shared.ts';

describe('Parts shared by the sources', () => {
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

  it('a curve has 3 to 1000 samples', () => {
    expect([2, 3, 50.9, 1000, 5000, NaN].map(lastSample)).to.deep.equal([2, 2, 49, 999, 999, 2]);
  });

  it('port 0 and no port are those of the curve', () => {
    checkCurvePort(undefined);
    checkCurvePort(0);
    expect(() => {
      checkCurvePort(1);
    })
      .to.throw(SimError, 'port 1 has no DC curve')
      .with.property('code', 'UNKNOWN_RESOURCE');
  });

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
