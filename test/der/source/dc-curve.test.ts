import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { checkCurvePort, lastSample } from '../../../src/der/source/dc-curve.ts';

describe('requests for a DC curve', () => {
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
});
