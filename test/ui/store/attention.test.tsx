import { expect } from 'chai';
import { AttentionPill } from '../../../src/ui/shell/attention';
import { changes } from '../../../src/ui/store/live';
import type { AttentionItem } from '../../../src/ui/store/attention';
import { AttentionCard } from '../../../src/ui/views/overview/attention-card';
import { pass } from '../support/clock.ts';
import { Daemon } from '../support/daemon.ts';
import { all, leave, one, press, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { accept, startPage } from '../support/stream.ts';

describe('what needs attention', () => {
  let items: readonly AttentionItem[];

  const item = (id: string, level: AttentionItem['level'], title: string): AttentionItem => ({
    id,
    level,
    title,
    text: `${title}.`,
    device_index: 2,
    devices: [2],
    since: null,
    ref: { type: 'device', id: '2' },
  });

  const titles = () => all('.rows .what').map(({ textContent }) => textContent);

  before(startPage);

  beforeEach(async () => {
    items = [item('trip/lv_trip', 'bad', 'Tripped'), item('refusal/7', 'warn', 'Write refused')];
    new Daemon().on('GET attention', () => ({
      tick: 1,
      sim_time: '2026-06-21T12:00:00.000Z',
      items,
      count: items.length,
    }));
    await accept();
    await show(
      <>
        <AttentionPill />
        <AttentionCard />
      </>,
    );
  });

  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  it('is counted in the top bar, which links to the worst, and listed in the order of the daemon', () => {
    expect(textOf('.pill strong')).to.equal('2');
    expect(one('.pill').getAttribute('href')).to.equal('#/devices/2/picture');
    expect(titles()).to.deep.equal(['Tripped', 'Write refused']);
  });

  it('goes away when it was seen if it tells of the past, and stays with its condition else', async () => {
    expect(all('button.link')).to.have.lengthOf(1);
    one('.rows a').click();
    await settle();
    expect(titles()).to.deep.equal(['Tripped', 'Write refused']);
    await press('Seen: Write refused');
    expect(titles()).to.deep.equal(['Tripped']);
    expect(textOf('.pill strong')).to.equal('1');
    expect(JSON.parse(sessionStorage.getItem('derbench.seen') ?? '')).to.deep.equal(['refusal/7']);
  });

  it('comes again as another item after a further case', async () => {
    expect(titles()).to.deep.equal(['Tripped']);
    items = [item('refusal/9', 'warn', 'Write refused')];
    changes.value += 1;
    await settle();
    expect(titles()).to.deep.equal(['Write refused']);
    items = [];
    changes.value += 1;
    await settle();
    expect(textOf()).to.contain('Nothing to look at.');
    expect(all('.pill')).to.deep.equal([]);
  });
});
