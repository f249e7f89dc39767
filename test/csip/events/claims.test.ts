import { expect } from 'chai';
import fc from 'fast-check';
import { Claims } from '../../../src/csip/events/claims.ts';
import { overlap } from '../../../src/csip/events/state.ts';
import type { Period } from '../../../src/csip/events/state.ts';
import { holds } from '../../support/property.ts';
import { maxLim } from './scene.ts';

const [mode = 'opModMaxLimW'] = maxLim;
const anyPeriod = fc
  .tuple(fc.nat(20), fc.constantFrom(0, 0, 1, 2, 5, 12))
  .map(([startS, lengthS]): Period => ({ startS, endS: startS + lengthS }));

describe('CSIP events: claims of a mode', () => {
  it('find the last taker of a period as a search through all of them does', () => {
    holds('claims', [fc.array(anyPeriod, { maxLength: 20 })], (periods) => {
      const claims = new Claims();
      const kept: { readonly period: Period; readonly place: number }[] = [];
      for (const [place, period] of periods.entries()) {
        const takers = kept.filter((each) => overlap(each.period, period));
        expect(claims.takerOf(mode, period)).to.equal(takers.at(-1)?.place ?? null);
        if (takers.length > 0) continue;
        claims.add(mode, period, place);
        kept.push({ period, place });
      }
    });
  });

  it('of one start are in the order of their ends: one without length hides none', () => {
    const claims = new Claims();
    claims.add(mode, { startS: 5, endS: 10 }, 1);
    claims.add(mode, { startS: 5, endS: 5 }, 2);
    expect(claims.takerOf(mode, { startS: 6, endS: 7 })).to.equal(1);
  });
});
