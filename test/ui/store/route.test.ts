import { expect } from 'chai';
import { deviceHref, go, href, param, route, setParam } from '../../../src/ui/store/route';
import { settle } from '../support/settle.ts';
import { address } from '../support/page.tsx';

describe('address of the dashboard', () => {
  beforeEach(() => address('#/inputs/grid?device=3&set=2'));

  it('names the view, its parts and its settings', () => {
    expect(route.value.path).to.deep.equal(['inputs', 'grid']);
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
    await address('#/events');
    expect(href('inputs/faults')).to.equal('#/inputs/faults');
    expect(route.value.path).to.deep.equal(['events']);
  });

  it('goes to another view, so that "back" returns', async () => {
    const before = history.length;
    go('charts', { window: 60 });
    await settle();
    expect(location.hash).to.equal('#/charts?device=3&window=60');
    expect(history.length).to.be.above(before);
  });

  it('changes a setting without a step of "back"', () => {
    const before = history.length;
    setParam('set', 4);
    expect(location.hash).to.equal('#/inputs/grid?device=3&set=4');
    expect(param('set')).to.equal('4');
    expect(history.length).to.equal(before);
  });

  it('takes a setting away for null and for an empty text', () => {
    setParam('set', null);
    expect(location.hash).to.equal('#/inputs/grid?device=3');
    setParam('device', '');
    expect(location.hash).to.equal('#/inputs/grid');
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
    await address('#//charts//');
    expect(route.value.path).to.deep.equal(['charts']);
    await address('#');
    expect(route.value.path).to.deep.equal([]);
  });
});

describe('address of a device', () => {
  beforeEach(() => address('#/devices/3/registers?model=704&api=1'));

  it('has the device in its path, and takes it along to other views', () => {
    expect(param('device')).to.equal('3');
    expect(href('charts')).to.equal('#/charts?device=3&api=1');
    expect(href('devices')).to.equal('#/devices?api=1');
  });

  it('changes the device, and stays on the page', () => {
    setParam('device', 5);
    expect(location.hash).to.equal('#/devices/5/registers?model=704&api=1');
  });

  it('leads to another page, to the meter of the site, and to the list without a device', () => {
    expect(deviceHref(5, 'grid-support/volt-var', { set: 2 })).to.equal(
      '#/devices/5/grid-support/volt-var?api=1&set=2',
    );
    expect(deviceHref('site', 'registers')).to.equal('#/devices/site/registers?api=1');
    expect(deviceHref(undefined, 'picture')).to.equal('#/devices?api=1');
  });

  it('is not that of the site meter', async () => {
    await address('#/devices/site/registers');
    expect(param('device')).to.equal(null);
  });
});

describe('earlier address of the page', () => {
  const rows: readonly (readonly [before: string, after: string])[] = [
    ['devices?device=1', 'devices/1/picture'],
    ['grid-support/volt-var?device=0', 'devices/0/grid-support/volt-var'],
    ['grid-support/hf-trip?set=3', 'devices/0/grid-support/hf-trip?set=3'],
    ['registers?device=2&model=704&point=WMaxLimPct', 'devices/2/registers?model=704&point=WMaxLimPct'],
    ['registers?of=site&model=203', 'devices/site/registers?model=203'],
    ['faults?device=1&fault=modbus.delay', 'inputs/faults?device=1&fault=modbus.delay'],
    ['peers/a%2Fb', 'compare/report-cards/a%2Fb'],
    ['logs?level=warning', 'events/log?level=warning'],
    ['events/commands?device=1', 'events/timeline?device=1&kind=command'],
    ['protocols/csip?csip-part=events&event=A1', 'protocols/csip/events?event=A1'],
    ['protocols/csip?csip-part=settings', 'protocols/csip/client'],
    [
      'protocols/ocpp?station=CP-1&ocpp-part=trace&trace-message=4',
      'protocols/ocpp/messages?station=CP-1&ocpp-message=4',
    ],
    ['?device=1&csip-part=messages', 'protocols/csip/messages?device=1'],
    ['protocols/ocpp?ocpp-part=connection', 'protocols/ocpp/state'],
    ['protocols/modbus?refused=only', 'protocols/modbus/messages?refused=only'],
    ['protocols/dnp3?dnp3-message=3', 'protocols/dnp3/messages?dnp3-message=3'],
  ];
  for (const [before, after] of rows)
    it(`${before} leads to ${after}, without a step of "back"`, async () => {
      const steps = history.length;
      await address(`#/${before}`);
      expect(location.hash).to.equal(`#/${after}`);
      expect(route.value.path.join('/')).to.equal(decodeURIComponent(after.split('?')[0] ?? ''));
      expect(history.length).to.equal(steps);
    });

  it('stays where nothing has moved', async () => {
    for (const hash of [
      '#/devices',
      '#/devices/1/picture',
      '#/inputs?on=0',
      '#/protocols/ocpp',
      '#/protocols/modbus/transactions?modbus-message=3',
      '#/charts?devices=0,5',
    ]) {
      await address(hash);
      expect(location.hash).to.equal(hash);
    }
  });
});
