import { expect } from 'chai';
import type { TimelineEntry } from '../../../../src/ui/store/timeline';
import { merged } from '../../../../src/ui/store/timeline-entries';
import { BadCount } from '../../../../src/ui/views/events/bad-count';
import Events from '../../../../src/ui/views/events/events';
import { meets, writerText } from '../../../../src/ui/views/events/timeline/entries';
import { pass } from '../../support/clock.ts';
import { Daemon } from '../../support/daemon.ts';
import { address, all, button, leave, press, show, textOf, type } from '../../support/page.tsx';
import { settle } from '../../support/settle.ts';
import { answerForSite } from '../../support/site.ts';
import { accept, sendEntry, startPage } from '../../support/stream.ts';

const entries: readonly TimelineEntry[] = new Daemon().exampleOf('GET', 'timeline').entries;
const [grid, trip, refusal] = entries;
if (grid === undefined || trip === undefined || refusal === undefined)
  throw new Error('the example has too few entries');

describe('entries of the timeline', () => {
  const none = { kind: null, on: null, writer: null, level: null, find: null };
  const matching = (filter: object) =>
    entries.filter((entry) => meets(entry, { ...none, ...filter }, (index) => `Device ${index}`)).map(({ id }) => id);

  it('are filtered by kind, device, writer, level and text, all of which must match', () => {
    expect(matching({})).to.deep.equal([41, 42, 43]);
    expect(matching({ kind: 'service' })).to.deep.equal([42]);
    expect(matching({ on: '2' })).to.deep.equal([42]);
    expect(matching({ writer: 'simulator' })).to.deep.equal([42]);
    expect(matching({ writer: 'ocpp' })).to.deep.equal([43]);
    expect(matching({ level: 'warn' })).to.deep.equal([42, 43]);
    expect(matching({ level: 'bad' })).to.deep.equal([42]);
    expect(matching({ find: 'SETCHARGING' })).to.deep.equal([43]);
    expect(matching({ find: 'device 2' })).to.deep.equal([42]);
    expect(matching({ level: 'bad', writer: 'ocpp' })).to.deep.equal([]);
  });

  it('are one list by id, in which a grown entry takes the place of the earlier one', () => {
    const fresh = [
      { ...refusal, id: 44 },
      { ...trip, count: 7 },
    ];
    expect(merged(entries, fresh, 2).map(({ id }) => id)).to.deep.equal([43, 44]);
    const list = merged(entries, fresh, 10);
    expect(list.map(({ id, count }) => [id, count])).to.deep.equal([
      [41, 1],
      [42, 7],
      [43, 1],
      [44, 1],
    ]);
  });

  it('name their writer', () => {
    const by = (source: 'dashboard' | 'modbus' | 'rest', source_detail: string) =>
      writerText({ by: { source, source_detail } });
    expect([
      writerText({ by: null }),
      by('dashboard', '127.0.0.1:1'),
      by('modbus', '10.0.0.21:2'),
      by('rest', '10.0.0.9:3'),
    ]).to.deep.equal(['simulator', 'dashboard', 'Modbus 10.0.0.21:2', 'REST 10.0.0.9']);
  });
});

describe('timeline in the page', () => {
  let daemon: Daemon;

  before(startPage);
  beforeEach(async () => {
    await accept();
    daemon = new Daemon();
    answerForSite(daemon);
  });
  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  const open = async (path = 'events/timeline') => {
    await address(`#/${path}`);
    await show(<Events />);
    await settle();
  };
  const sentences = () =>
    all('table[aria-label=Timeline] tbody tr td:nth-last-child(2)').map(({ textContent }) => textContent);

  it('lists what has happened, adds what happens, and waits while it is paused', async () => {
    await open();
    expect(sentences()).to.deep.equal([grid.text, `2 × ${trip.text}`, refusal.text]);
    await sendEntry({ ...grid, id: 44, text: 'Sets the grid again.' });
    expect(sentences().at(-1)).to.equal('Sets the grid again.');
    await press('Pause list');
    await sendEntry({ ...grid, id: 45, text: 'While paused.' });
    expect(sentences()).to.not.include('While paused.');
    await press('Pause list');
    await pass(300);
    expect(sentences().at(-1)).to.equal('While paused.');
  });

  it('has number, sentence and, where it is asked for, wall time on a narrow screen', async () => {
    const widthPx = innerWidth;
    Object.assign(globalThis, { innerWidth: 390 });
    try {
      await open('events/timeline?wall=1');
      const heads = all('table[aria-label=Timeline] .sort').map(({ textContent }) => textContent.trim());
      expect(heads).to.deep.equal(['Time', 'Wall time', 'What']);
      const texts = all('table[aria-label=Timeline] tbody tr td:last-child').map(({ textContent }) => textContent);
      expect(texts[1]).to.contain('2 × ').and.to.contain(trip.text);
      expect(texts[0]).not.to.contain('×');
    } finally {
      Object.assign(globalThis, { innerWidth: widthPx });
    }
  });

  it('keeps its filters in the address, and says how many entries match', async () => {
    await open();
    await type('level', 'bad');
    await type('find', 'trip');
    expect(location.hash).to.equal('#/events/timeline?level=bad&find=trip');
    expect(textOf('.timeline h2')).to.equal('1 of 3 entries');
    await type('find', 'nothing like it');
    expect(textOf('.timeline .empty')).to.contain('No entry matches.');
    await press('Show all');
    expect(sentences()).to.have.length(3);
  });

  it('opens an entry with its cause beside it, by Enter', async () => {
    await open();
    const message = { messages: [{ id: 17, action: 'SetChargingProfile' }] };
    daemon.on('GET ocpp/SIM-CP-1/messages', () => ({ ...daemon.exampleOf('GET', 'ocpp/CP-1/messages'), ...message }));
    const row = all('table[aria-label=Timeline] tbody tr').at(-1);
    row?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    await settle();
    expect(location.hash).to.contain('entry=43');
    expect(textOf('.beside pre')).to.contain('"action": "SetChargingProfile"');
    expect(daemon.to('GET ocpp/SIM-CP-1/messages').map(({ query }) => query)).to.deep.equal([
      { after_id: '16', to_id: '17', limit: '1' },
    ]);
    expect(all('.beside a.button').map((link) => link.getAttribute('href'))).to.deep.equal([
      '#/protocols/ocpp/messages?ocpp-message=17&station=SIM-CP-1',
    ]);
    await press('Close');
    expect(all('.beside')).to.have.length(0);
  });

  it('shows the message of a write beside its register', async () => {
    const write = { ...grid, id: 44, kind: 'peer' as const, device_index: 0, message: 'modbus/17' };
    daemon.on('GET modbus/messages', ({ query }) => ({
      ...daemon.exampleOf('GET', 'modbus/messages'),
      messages: query['to_id'] === '17' ? [{ id: 17, raw: 'ff00' }] : [],
    }));
    await open('events/timeline?entry=44');
    await sendEntry({ ...write, ref: { type: 'point', id: '704.WMaxLimPct' } });
    await settle();
    expect(textOf('.beside details pre')).to.contain('"raw": "ff00"');
    expect(all('.beside a').map((link) => link.getAttribute('href'))).to.include.members([
      '#/protocols/modbus/messages?modbus-message=17',
      '#/devices/0/registers?model=704&point=WMaxLimPct',
    ]);
  });

  it('picks entries for a scenario, without opening them', async () => {
    await open();
    const boxes = () => all('table[aria-label=Timeline] [type=checkbox]');
    expect(all('.timeline a.button')).to.have.length(0);
    for (const at of [2, 0, 1, 1]) boxes()[at]?.click();
    await settle();
    expect(boxes().map(({ checked }) => checked)).to.deep.equal([true, false, true]);
    expect(all('.beside')).to.have.length(0);
    expect(all('.timeline a.button').map((link) => [link.textContent, link.getAttribute('href')])).to.deep.equal([
      ['Make a scenario', '#/scenarios/editor?entries=41%2C43'],
    ]);
    await press('None');
    expect(boxes().some(({ checked }) => checked)).to.equal(false);
  });

  it('has the commands of the operator with the filter of that kind', async () => {
    await open('events/timeline?kind=command');
    expect(button('Reset device')).to.not.equal(undefined);
  });

  it('counts bad entries in the list of views until Events is visited', async () => {
    // a daemon whose ids begin anew: none was seen by tests before
    daemon.on('GET timeline', () => ({ ...daemon.exampleOf('GET', 'timeline'), entries: [], last_id: 0 }));
    await address('#/overview');
    await show(<BadCount />);
    await leave();
    daemon.on('GET timeline', ({ query }) => ({
      ...daemon.exampleOf('GET', 'timeline'),
      entries: Number(query['after_id']) < 42 ? [trip] : [],
    }));
    await address('#/overview');
    await show(<BadCount />);
    expect(textOf()).to.equal('1 bad event since the last visit');
    await address('#/events/timeline');
    await settle();
    expect(textOf()).to.equal('');
    await address('#/overview');
    expect(textOf()).to.equal('');
    // a daemon without state begins its ids anew
    daemon.on('GET timeline', ({ query }) => ({
      ...daemon.exampleOf('GET', 'timeline'),
      last_id: 3,
      entries: Number(query['after_id']) < 3 ? [{ ...trip, id: 3 }] : [],
    }));
    await pass(16_000);
    await settle();
    expect(textOf()).to.equal('1 bad event since the last visit');
  });

  it('counts bad entries of a fleet by their times, since ids count in each shard', async () => {
    daemon.on('GET server-info', () => ({ ...daemon.exampleOf('GET', 'server-info'), role: 'gateway' }));
    const at = (wallTime: string, shard: string) => ({ ...trip, id: 1, wall_time: wallTime, shard });
    let entries = [at('2026-06-21T10:00:00.000Z', 'a'), at('2026-06-21T10:00:01.000Z', 'b')];
    daemon.on('GET timeline', ({ query }) => {
      if (query['after_id'] !== undefined) throw new Error('a gateway refuses it');
      return { ...daemon.exampleOf('GET', 'timeline'), entries };
    });
    await address('#/overview');
    await show(<BadCount />);
    expect(textOf()).to.equal('2 bad events since the last visit');
    await address('#/events/timeline');
    await settle();
    await address('#/overview');
    expect(textOf()).to.equal('');
    entries = [...entries, at('2026-06-21T10:00:02.000Z', 'a')];
    await pass(16_000);
    await settle();
    expect(textOf()).to.equal('1 bad event since the last visit');
  });
});
