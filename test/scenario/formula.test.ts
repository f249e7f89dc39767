import { expect } from 'chai';
import { withParameters } from '../../src/scenario/file/parameters.ts';

const parameters = { limit_pct: 40, rating_w: 10_000, name: 'roof', on: true, none: null };
const value = (text: string) => withParameters({ text }, parameters);
const words = (text: string) => {
  try {
    value(text);
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
};

describe('parameters of scenarios', () => {
  it('keep their type alone, and are characters in a longer text', () => {
    expect(value('${limit_pct}')).to.deep.equal({ text: 40 });
    expect(value('${ on }')).to.deep.equal({ text: true });
    expect(value('${none}')).to.deep.equal({ text: null });
    expect(value('${name}: ${limit_pct} %')).to.deep.equal({ text: 'roof: 40 %' });
  });

  it('are computed with', () => {
    expect(value('${limit_pct / 100 * rating_w}')).to.deep.equal({ text: 4000 });
    expect(value('${-(limit_pct + 2) % 5}')).to.deep.equal({ text: -2 });
    expect(value('${0.1 * 3}')).to.deep.equal({ text: 0.3 });
    expect(value('${max(limit_pct, 50) - min(3, 2, 1)}')).to.deep.equal({ text: 49 });
    expect(value('at ${round(limit_pct / 3)} s')).to.deep.equal({ text: 'at 13 s' });
  });

  it('are refused with the reason', () => {
    expect(words('${limit}')).to.equal(
      'no parameter is named "limit"; did you mean limit_pct?; known: limit_pct, rating_w, name, on, none',
    );
    expect(words('${limit_pc * 2}')).to.contain('no parameter is named "limit_pc"; did you mean limit_pct?');
    expect(words('${name * 2}')).to.equal('${name * 2}: the parameter name is "roof", which is not a number');
    expect(words('${limit_pct / 0}')).to.equal('${limit_pct / 0}: has no finite value');
    expect(words('${limit_pct ** 2}')).to.contain('allowed: + - * / %');
    expect(words('${pow(2)}')).to.contain('allowed: min, max, round');
    expect(words('${constructor.constructor(1)}')).to.contain('allowed: min, max, round');
    expect(words('${limit_pct.x}')).to.contain('is not arithmetic');
    expect(words('${}')).to.contain('is not arithmetic');
    expect(words('${limit_pct *}')).to.match(/^\$\{limit_pct \*\}: /);
    expect(words(`\${${'('.repeat(1000)}}`)).to.contain('is longer than 500 characters');
  });
});
