import { expect } from 'chai';
import { go, href, param, route, setParam } from '../../../src/ui/store/route';
import { settle } from '../support/settle.ts';
import { address } from '../support/page.tsx';

describe('address of the dashboard', () => {
  beforeEach(() => address('#/grid-support/volt-var?device=3&set=2'));

  it('names the view, its parts and its settings', () => {
    expect(route.value.path).to.deep.equal(['grid-support', 'volt-var']);
    expect(param('set')).to.equal('2');
    expect(param('absent')).to.equal(null);
  });

  it('takes the device along to another view, and nothing else', () => {
    expect(href('charts')).to.equal('#/charts?device=3');
    expect(href('charts', { window: 60 })).to.equal('#/charts?device=3&window=60');
    expect(href('charts', { device: 5 })).to.equal('#/charts?device=5');
    expect(href('charts', { device: null })).to.equal('#/charts');
  });

  it('has no question mark without settings', async () => {
    await address('#/logs');
    expect(href('faults')).to.equal('#/faults');
    expect(route.value.path).to.deep.equal(['logs']);
  });

  it('goes to another view, so that "back" returns', async () => {
    const before = history.length;
    go('registers', { model: 704 });
    await settle();
    expect(location.hash).to.equal('#/registers?device=3&model=704');
    expect(history.length).to.be.above(before);
  });

  it('changes a setting without a step of "back"', () => {
    const before = history.length;
    setParam('set', 4);
    expect(location.hash).to.equal('#/grid-support/volt-var?device=3&set=4');
    expect(param('set')).to.equal('4');
    expect(history.length).to.equal(before);
  });

  it('takes a setting away for null and for an empty text', () => {
    setParam('set', null);
    expect(location.hash).to.equal('#/grid-support/volt-var?device=3');
    setParam('device', '');
    expect(location.hash).to.equal('#/grid-support/volt-var');
  });

  it('escapes names in both directions', async () => {
    const odd = 'a/b ?&=%#é';
    expect(href('ocpp', { station: odd })).to.equal(
      `#/ocpp?device=3&${new URLSearchParams({ station: odd }).toString()}`,
    );
    await address(href('ocpp', { station: odd }));
    expect(param('station')).to.equal(odd);
    await address('#/a%2Fb/c');
    expect(route.value.path).to.deep.equal(['a/b', 'c']);
  });

  it('bears a lone percent sign, slashes and nothing', async () => {
    await address('#/100%/x');
    expect(route.value.path).to.deep.equal(['100%', 'x']);
    await address('#//logs//');
    expect(route.value.path).to.deep.equal(['logs']);
    await address('#');
    expect(route.value.path).to.deep.equal([]);
  });
});
