import { expect } from 'chai';
import { notice } from '../../../src/ui/kit/notice';
import { hitsOf, Search } from '../../../src/ui/shell/search';
import { searchOpen } from '../../../src/ui/shell/shortcuts';
import { Daemon, refusal } from '../support/daemon.ts';
import { address, all, leave, one, press, show, showCalls, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { answerForSite } from '../support/site.ts';

const seek = async (text: string) => {
  const field = one('input[type=search]');
  field.value = text;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  await settle();
};
const labels = () => all('.search-hits li > :is(a, button)').map(({ textContent }) => textContent);

describe('search', () => {
  let daemon: Daemon;

  beforeEach(async () => {
    daemon = new Daemon();
    answerForSite(daemon);
    const { evses } = daemon.exampleOf('GET', 'evse');
    const [station] = evses;
    const [connector] = station.connectors;
    const free = { ...connector, connector_id: 2, cable: { ev_plugged: false, evse_plugged: true, locked: false } };
    daemon.on('GET evse', () => ({ evses: [{ ...station, device_index: 5, connectors: [connector, free] }] }));
    await address('#/events');
    await show(<Search />);
  });
  afterEach(async () => {
    await leave();
    await address('#/events');
  });

  it('is closed by one Escape, whatever was typed', async () => {
    searchOpen.value = true;
    await seek('sag');
    const escape = new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true });
    one('input[type=search]').dispatchEvent(escape);
    expect(searchOpen.value).to.equal(false);
    expect(escape.defaultPrevented).to.equal(true);
  });

  it('has hits with all words, those with whole words first, and actions by their verbs', () => {
    const hits = ['Plug in at 15', 'Plug in at 5', 'Unplug at 5', 'Stop 5'].map((label) => ({ label, note: '' }));
    expect(hitsOf(hits, 'PLUG  5').map(({ label }) => label)).to.deep.equal([
      'Plug in at 5',
      'Plug in at 15',
      'Unplug at 5',
    ]);
    const stop = { label: 'Stop device 5', verb: 'Stop', note: '5 Roof' };
    expect(['roof', 'device roof', 'st roof 5'].map((text) => hitsOf([stop], text).length)).to.deep.equal([0, 0, 1]);
  });

  it('finds captures by their disturbance', async () => {
    await seek('sag to 42');
    expect(labels()).to.deep.equal(['Capture 1: Sag to 42 % for 1.20 s']);
    expect(one('.search-hits a').getAttribute('href')).to.equal('#/events/captures/1');
  });

  it('makes the call of an action, and says so, or why not', async () => {
    await seek('start sag');
    await press('Start a sag');
    expect(daemon.to('POST controls/grid/event').map(({ body }) => body)).to.deep.equal([
      { event: 'sag', parameters: { residual_pu: 0.5, duration_s: 0.5 } },
    ]);
    expect(notice.value?.text).to.equal('Start a sag: done');
    daemon.on('POST controls/grid/event', () => refusal(409, 'a scenario has the grid'));
    await press('Start a sag');
    expect(notice.value?.text).to.equal('a scenario has the grid');
  });

  it('offers of plug and unplug the one that applies, and Enter takes the first hit', async () => {
    await seek('unplug 5');
    expect(labels()).to.deep.equal(['Unplug at device 5']);
    await seek('plug 5');
    expect(labels().slice(0, 2)).to.deep.equal(['Plug in at device 5', 'Unplug at device 5']);
    one('form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
    await settle();
    expect(daemon.to('POST evse/SIM-CP-1/connectors/2/plug').map(({ body }) => body)).to.deep.equal([{}]);
  });

  it('shows the calls of actions while the API switch is on', async () => {
    await showCalls();
    await seek('local device 3');
    expect(textOf('.search-hits li')).to.contain('POST /api/sim/controls/local?device=3 {"local":true}');
  });

  it('says that nothing was found', async () => {
    await seek('gibberish');
    expect(textOf('.empty')).to.equal('Nothing found for "gibberish".');
  });
});
