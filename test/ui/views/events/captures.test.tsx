import { expect } from 'chai';
import { notice } from '../../../../src/ui/kit/notice';
import { announceCaptures, captureNow } from '../../../../src/ui/views/events/captures/announce';
import { powerText } from '../../../../src/ui/views/events/captures/verdicts';
import { backText, marginText, VerdictChips } from '../../../../src/ui/views/events/captures/verdict-words';
import type { Verdict } from '../../../../src/ui/views/events/captures/verdict-words';
import { LastVerdict, useLastVerdict } from '../../../../src/ui/views/events/captures/last-verdict';
import { lanesOf, maxLines } from '../../../../src/ui/views/events/captures/lanes';
import type { DeviceRows } from '../../../../src/ui/views/events/captures/lanes';
import Events from '../../../../src/ui/views/events/events';
import { pass } from '../../support/clock.ts';
import { Daemon, refusal } from '../../support/daemon.ts';
import type { Json } from '../../support/description.ts';
import { address, all, leave, one, press, show, textOf, type } from '../../support/page.tsx';
import { settle } from '../../support/settle.ts';
import { answerForSite } from '../../support/site.ts';
import { accept, sendEntry, startPage } from '../../support/stream.ts';

const example = new Daemon();
const capture: Json = example.exampleOf('GET', 'captures/1');
const rows: Json = example.exampleOf('GET', 'captures/1/rows');
const [verdict]: readonly Verdict[] = capture.verdicts;
if (verdict === undefined) throw new Error('the example of a capture has no verdict');

describe('verdicts of a capture', () => {
  afterEach(leave);

  it('are counted by their words, the worst first, without those that are not concerned', async () => {
    const words = [
      'rode_through',
      'not_concerned',
      'tripped',
      'interrupted',
      'rode_through',
      'against_the_rule',
    ] as const;
    await show(<VerdictChips verdicts={words.map((word) => ({ ...verdict, verdict: word }))} />);
    expect(all('.chip').map(({ className, textContent }) => `${className}: ${textContent}`)).to.deep.equal([
      'chip bad: 1 against the rule',
      'chip bad: 1 tripped',
      'chip warn: 1 interrupted',
      'chip good: 2 rode through',
    ]);
    await show(<VerdictChips verdicts={[{ ...verdict, verdict: 'not_concerned' }]} />);
    expect(textOf()).to.equal('1 not concerned');
  });

  it('say by how much a trip was missed or exceeded, and when the power was back', () => {
    expect([null, 0.8, -1.04].map(marginText)).to.deep.equal(['–', '0.80\u00a0s\u00a0left', 'over by 1.04\u00a0s']);
    const back = (members: Partial<Verdict>, isRecording = false) => backText({ ...verdict, ...members }, isRecording);
    const away = { verdict: 'tripped', back_after_s: null } as const;
    expect([back({ back_after_s: 0 }), back({ back_after_s: 0.42 }), back(away), back(away, true)]).to.deep.equal([
      'at\u00a0once',
      '0.42\u00a0s',
      'not\u00a0back',
      'not\u00a0yet',
    ]);
    expect(back({ verdict: 'not_concerned', back_after_s: null })).to.equal('–');
    expect(powerText({ before_kw: 63, during_kw: 0, after_kw: -0.001 })).to.equal('63.00 → 0.00 → 0.00 kW');
    expect(powerText({ before_kw: 0, during_kw: 0, after_kw: 0 })).to.equal('0.00 kW');
  });
});

describe('lanes of a capture', () => {
  const [first]: readonly DeviceRows[] = rows.devices;
  if (first === undefined) throw new Error('the example has no rows');
  const devices = (count: number) =>
    Array.from({ length: count }, (_none, index) => ({ ...first, device_index: index }));
  const verdicts = (count: number): readonly Verdict[] =>
    devices(count).map(({ device_index }) => ({ ...verdict, device_index, name: `Device ${device_index}` }));
  const lanes = (count: number, members: object = {}) =>
    lanesOf({ ...capture, verdicts: verdicts(count), ...members }, devices(count), null);

  it('draw powers in percent of the rating, and leave out what is zero', () => {
    const [voltage, , power, reactive] = lanes(1);
    const [line] = power?.lines ?? [];
    expect(line?.steps.values[0]).to.be.closeTo((100 * 9.931) / verdict.rating_kw, 1e-6);
    expect(line?.label).to.equal('Device 0');
    expect(reactive?.lines).to.deep.equal([]);
    expect(voltage?.lines.map(({ form }) => form)).to.deep.equal(['thick', 'thin']);
    expect(voltage?.lines[0]?.steps.values).to.deep.equal([1, 0.42, 0.42, 0.42]);
    expect(voltage?.thresholds.map(({ value, text }) => [value, text])).to.deep.equal([
      [0.88, '0.88 trips after 21 s'],
    ]);
  });

  it('draw envelopes of kinds above eight devices, and lines of those that tripped', () => {
    expect(lanes(maxLines)[2]?.lines).to.have.length(maxLines);
    const many = verdicts(maxLines + 1).map((each, n) => (n === 3 ? { ...each, verdict: 'tripped' } : each));
    const power = lanes(maxLines + 1, { verdicts: many })[2];
    expect(power?.lines.map(({ label }) => label)).to.deep.equal(['Device 3']);
    expect(power?.envelopes.map(({ label }) => label)).to.deep.equal(['9 Solar']);
  });

  it('draw no thresholds of a quantity that was not disturbed, and keep a least span', () => {
    const calm = {
      ...first,
      grid_v_pct: first.t_s.map(() => 100),
      v_low_pct: first.t_s.map(() => 100),
      v_high_pct: first.t_s.map(() => 100),
    };
    const [voltage] = lanesOf(capture, [calm], null);
    expect(voltage?.thresholds).to.deep.equal([]);
    expect((voltage?.range.to ?? 0) - (voltage?.range.from ?? 0)).to.be.at.least(0.04);
  });

  it('shade the time beyond the threshold that tripped a device', () => {
    const threshold = { ...capture.thresholds[0], value: 45, time_s: 0.16, devices: [0] };
    const tripped = { ...verdict, verdict: 'tripped', function: 'lv_trip' };
    const [voltage] = lanes(1, { verdicts: [tripped], thresholds: [...capture.thresholds, threshold] });
    expect(voltage?.zones).to.deep.equal([
      { key: '0', time: { from: 0, to: 1.183 }, values: { from: -Infinity, to: 0.45 } },
    ]);
    expect(lanes(1)[0]?.zones).to.deep.equal([]);
  });
});

describe('captures in the page', () => {
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

  const open = async (path = 'events/captures/1') => {
    await address(`#/${path}`);
    await show(<Events />);
    await settle();
  };
  const key = async (name: string) => {
    one('.drawing-box').dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
    await settle();
  };
  const bodies = (name: string) => daemon.to(name).map(({ body }) => body);

  it('has one capture with its sentence, verdicts, numbered marks and thresholds in words', async () => {
    await open();
    expect(textOf('h1')).to.equal('Capture 1: Sag to 42 % for 1.20 s');
    expect(textOf('[data-test=summary]')).to.equal(capture.summary);
    expect(all('.verdicts tbody tr:first-child > *').map(({ textContent }) => textContent)).to.deep.equal([
      'PV-3Phase 0 0',
      'rode through',
      '0.80\u00a0s\u00a0left',
      'at\u00a0once',
    ]);
    expect(textOf('.verdicts tbody tr:last-child')).to.equal(
      'Ceased below 50 % (Category III), came back (6.4.2, Table 16)9.93 → 0.00 → 9.93 kW',
    );
    expect(all('.capture-marks li').map(({ textContent }) => textContent)).to.deep.equal([
      '1 Sag to 42 % for 1.20 s',
      '2 grid back, +1.200 s',
      '3 PV-3Phase 0 0 at its power before, +1.200 s',
    ]);
    expect(all('svg.capture text.bad').map(({ textContent }) => textContent)).to.deep.equal(['0.88 trips after 21 s']);
    expect(all('[data-curve="V grid"]')[0]?.getAttribute('d')).to.match(/^M.+L/);
  });

  it('finds captures by device, kind, verdict and text, which the address keeps', async () => {
    await open('events/captures');
    expect(textOf('h2')).to.equal('1 capture');
    await type('on', '1');
    await type('kind', 'trip');
    await type('verdict', 'tripped');
    expect(location.hash).to.equal('#/events/captures?on=1&kind=trip&verdict=tripped');
    expect(daemon.to('GET captures').at(-1)?.query).to.deep.equal({ device: '1', kind: 'trip', verdict: 'tripped' });
    await type('find', 'sag TO 42');
    expect(all('table[aria-label=Captures] tbody tr')).to.have.length(1);
    await type('find', 'swell');
    expect(textOf('.empty')).to.equal('No capture matches. Show all');
    await press('Show all');
    expect(location.hash).to.equal('#/events/captures');
    expect(all('table[aria-label=Captures] tbody tr')).to.have.length(1);
  });

  it('has one cursor that keys move from row to row, with the values of all lines', async () => {
    await open();
    expect(all('[data-test=cursor]')).to.have.length(0);
    await key('ArrowRight');
    await key('ArrowRight');
    expect(textOf('[data-test=instant]')).to.equal('+0.183 s, 12:00:30.183');
    expect(all('[data-test=cursor]')).to.have.length(1);
    expect(all('svg.capture .value').map(({ textContent }) => textContent.trim())).to.include.members([
      '0.420',
      '60.000 Hz',
    ]);
    const before = one('svg.capture').getAttribute('aria-label');
    await key('+');
    const zoomed = one('svg.capture').getAttribute('aria-label');
    expect(zoomed).to.not.equal(before);
    await key('Escape');
    expect([one('svg.capture').getAttribute('aria-label'), all('[data-test=cursor]').length]).to.deep.equal([
      before,
      0,
    ]);
    await press('2 grid back, +1.200 s');
    expect(textOf('[data-test=instant]')).to.contain('+1.200 s');
  });

  it('repeats the disturbance, as it was and with other values', async () => {
    daemon.on('GET grid-events', () => ({
      ...daemon.exampleOf('GET', 'grid-events'),
      events: [
        {
          name: 'sag',
          description: 'A dip.',
          parameters: [{ name: 'edge_s', default: 0, unit: 's', minimum: 0, maximum: 1, allowed: null }],
        },
      ],
    }));
    await open();
    await press('Repeat');
    await press('More actions');
    await press('Repeat with…');
    expect(all('dialog input').map(({ name }) => name)).to.have.members(['edge_s', 'residual_pu', 'duration_s']);
    expect(all('dialog input').map(({ value }) => value)).to.deep.equal(['0', '0.42', '1.2']);
    await type('residual_pu', '0.6');
    await press('Start');
    expect(bodies('POST controls/grid/event')).to.deep.equal([
      { event: 'sag', parameters: { residual_pu: 0.42, duration_s: 1.2 } },
      { event: 'sag', parameters: { edge_s: 0, residual_pu: 0.6, duration_s: 1.2 } },
    ]);
  });

  it('pins, deletes, compares, and offers the rows as a table and as CSV', async () => {
    globalThis.confirm = () => true;
    daemon.on('GET captures', () => {
      const list = daemon.exampleOf('GET', 'captures');
      return { ...list, captures: [{ ...list.captures[0], id: 2 }, ...list.captures] };
    });
    await open();
    expect(all('a[download]').map((link) => link.getAttribute('href'))).to.deep.equal([
      '/api/sim/captures/1/rows?format=csv',
    ]);
    expect(all('a[rel=next]').map((link) => link.getAttribute('href'))).to.deep.equal(['#/events/captures/2']);
    await type('with', '2');
    await settle();
    expect(all('path.ghost').length).to.be.greaterThan(0);
    expect(location.hash).to.contain('with=2');
    await press('Pin');
    expect(bodies('POST captures/1')).to.deep.equal([{ pinned: true }]);
    expect(all('table[aria-label=Rows] tbody tr')).to.have.length(4);
    expect(textOf('table[aria-label=Rows] tbody tr:nth-child(3)')).to.contain('momentary cessation');
    await press('More actions');
    await press('Delete');
    expect(daemon.to('DELETE captures/1')).to.have.length(1);
    expect(location.hash).to.equal('#/events/captures');
  });

  it('becomes a scenario in the editor, once it has ended', async () => {
    const links = () => all('a[href="#/scenarios/editor?capture=1"]').length;
    await open();
    await press('More actions');
    expect(links()).to.equal(1);
    await leave();
    daemon.on('GET captures/1', () => ({ ...capture, state: 'recording' }));
    await open();
    await press('More actions');
    expect(links()).to.equal(0);
  });

  it('tells a device what the newest one did to it, in its words, unless it was not concerned', async () => {
    function Device({ index }: { readonly index: number }) {
      const last = useLastVerdict(index);
      return last && <LastVerdict last={last} />;
    }
    await show(<Device index={0} />);
    await settle();
    expect(textOf()).to.equal('Sag to 42 % for 1.20 s: rode through Ceased below 50 % (Category III), came back');
    expect(one('a').getAttribute('href')).to.equal('#/events/captures/1');
    await show(<Device index={7} />);
    await settle();
    expect(textOf()).to.equal('');
    await leave();
    daemon.on('GET captures/1', () => ({ ...capture, verdicts: [{ ...verdict, verdict: 'not_concerned' }] }));
    await show(<Device index={0} />);
    await settle();
    expect(textOf()).to.equal('');
  });

  it('starts a sag where there is no capture yet', async () => {
    daemon.variant = 'empty';
    await open('events/captures');
    await press('Start a sag');
    expect(bodies('POST controls/grid/event')).to.deep.equal([
      { event: 'sag', parameters: { residual_pu: 0.5, duration_s: 0.5 } },
    ]);
  });

  it('says when a capture is complete, and that one by hand records, or why not', async () => {
    announceCaptures();
    const [entry] = daemon.exampleOf('GET', 'timeline').entries;
    const text = 'Capture 4, sag to 42 %: 1 of 7 tripped.';
    await sendEntry({ ...entry, kind: 'capture', text, ref: { type: 'capture', id: '4' } });
    expect(notice.value).to.include({ text, to: '#/events/captures/4' });
    await captureNow();
    expect(notice.value).to.include({ text: 'Capture 2 records', to: '#/events/captures/2' });
    daemon.on('POST captures', () => refusal(409, 'captures are off'));
    await captureNow();
    expect(notice.value).to.include({ text: 'captures are off', to: null });
  });
});
