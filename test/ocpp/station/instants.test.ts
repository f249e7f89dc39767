import { expect } from 'chai';
import { instantOf } from '../../../src/ocpp/station/stack.ts';

const iso = (text: string) => new Date(instantOf(text)).toISOString();

describe('OCPP 1.6 instants (OCPP-J 3.4)', () => {
  it('zones, small letters, fractions and leap seconds', () => {
    expect(iso('2026-06-21T14:00:00+02:00')).to.equal('2026-06-21T12:00:00.000Z');
    expect(iso('2026-06-21t12:00:00.25z')).to.equal('2026-06-21T12:00:00.250Z');
    expect(iso('2016-12-31T23:59:60Z')).to.equal('2016-12-31T23:59:59.000Z');
    expect(iso('2017-01-01T00:59:60.5+01:00')).to.equal('2016-12-31T23:59:59.500Z');
  });

  it('never beyond the year 9999, and NaN for what is no date', () => {
    expect(iso('9999-12-31T23:59:59-14:00')).to.equal('9999-12-31T23:59:59.999Z');
    expect(instantOf('2026-13-45T00:00:00Z')).to.be.NaN;
    expect(instantOf('yesterday')).to.be.NaN;
  });
});
