import { expect } from 'chai';
import fc from 'fast-check';
import { rampTowards, respond } from '../../../src/der/inverter/ramp.ts';
import { goldenRows, needsGolden } from '../golden.ts';
import { real } from '../../support/arbitrary.ts';
import { holds } from '../../support/property.ts';

const responseS = real(0.2, 1000);
const level = real(-1e5, 1e5);
const parts = fc.array(real(0, 100), { minLength: 1, maxLength: 30 });

describe('Open-loop response (IEEE 1547-2018 5.3.3.2, 5.4.2.2, 6.5.2.7.2)', () => {
  it('has done 90 % of a step after the response time', () => {
    for (const seconds of [0.2, 0.5, 1, 5, 10, 90]) {
      expect(respond(0, 1, seconds, seconds, 0)).to.be.closeTo(0.9, 1e-3);
      expect(respond(100, -100, seconds, seconds, 0)).to.be.closeTo(-80, 0.2);
    }
  });

  it(`is the first-order lag of the golden data ${needsGolden}`, function () {
    const rows = goldenRows(this, 'olrt_first_order.csv');
    expect(rows).to.have.length.above(20);
    for (const row of rows) {
      expect(respond(0, 1, Number(row.olrt_s), Number(row.t_s), 0)).to.be.closeTo(Number(row.fraction_of_step), 1e-6);
    }
  });

  it('gives the same result however the time is split', () => {
    holds('a response however time is split', [responseS, level, level, parts], (seconds, from, to, steps) => {
      const whole = respond(
        from,
        to,
        seconds,
        steps.reduce((sum, dt) => sum + dt, 0),
        0,
      );
      const split = steps.reduce((value, dt) => respond(value, to, seconds, dt, 0), from);
      expect(split).to.be.closeTo(whole, 1e-9 * Math.max(1, Math.abs(from), Math.abs(to)));
    });
  });

  it('never overshoots, and ends where it is close enough', () => {
    holds(
      'a response never overshoots',
      [responseS, level, level, real(0, 1e4), real(0, 1e4)],
      (seconds, from, to, dt, settledAt) => {
        const value = respond(from, to, seconds, dt, 0);
        expect(value).to.be.within(Math.min(from, to) - 1e-9, Math.max(from, to) + 1e-9);
        expect(respond(from, to, seconds, dt, settledAt)).to.equal(Math.abs(to - value) <= settledAt ? to : value);
      },
    );
    expect(respond(0, 1, 1, 3.1, 1e-3)).to.equal(1);
    expect(respond(0, 1, 1, 2.9, 1e-3)).to.be.below(1);
  });

  it('a response time of 0 and an infinite step arrive at once', () => {
    expect(respond(0, 7, 0, 0, 0)).to.equal(7);
    expect(respond(0, 7, 10, Infinity, 0)).to.equal(7);
  });
});

describe('Straight ramps (704.WRmp, VarRmp)', () => {
  it('give the same result however the time is split', () => {
    holds('a ramp however time is split', [real(0, 1e4), level, level, parts], (rate, from, to, steps) => {
      const whole = rampTowards(
        from,
        to,
        rate,
        steps.reduce((sum, dt) => sum + dt, 0),
      );
      expect(steps.reduce((value, dt) => rampTowards(value, to, rate, dt), from)).to.be.closeTo(whole, 1e-6);
    });
  });

  it('an infinite step arrives even at rate 0', () => {
    expect(rampTowards(0, 5, 0, Infinity)).to.equal(5);
    expect(rampTowards(0, 5, 0, 1e9)).to.equal(0);
  });
});
