import { expect } from 'chai';
import { Events } from '../../../src/ui/views/protocols/csip/events';
import { Settings } from '../../../src/ui/views/protocols/csip/settings';
import { Daemon } from '../support/daemon.ts';
import { button, leave, one, press, show, textOf, type } from '../support/page.tsx';
import { accept, startPage } from '../support/stream.ts';

const lfdi = 'AB'.repeat(20);

describe('events of the client of IEEE 2030.5', () => {
  before(startPage);
  afterEach(leave);

  it('are bars that the keyboard reaches, with times in words', async () => {
    const daemon = new Daemon();
    await accept();
    const status = daemon.exampleOf('GET', 'csip/status') as Parameters<typeof Settings>[0]['status'];
    const example = daemon.exampleOf('GET', 'csip/controls');
    const start = '2026-06-21T12:30:00.000Z';
    const control = { ...example.controls[0], mrid: 'A1', description: 'Evening', state: 'active', responses: [] };
    const controls = [{ ...control, effective_start: start, effective_duration_s: 600 }];
    daemon.on('GET csip/controls', () => ({ ...example, controls }));
    await show(<Events device={0} status={status} />);
    const bar = one('svg [role="button"]');
    expect(bar.getAttribute('aria-label')).to.equal('Evening: active, 2026-06-21 12:30:00 UTC, 10\u00a0min');
    bar.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    expect(location.hash).to.contain('A1');
  });
});

describe('settings of the client of IEEE 2030.5', () => {
  let daemon: Daemon;
  before(startPage);
  beforeEach(async () => {
    daemon = new Daemon();
    const config = { ...(daemon.exampleOf('GET', 'csip/config') as object), identity: 'aggregator', lfdi: null };
    const certificates = daemon.exampleOf('GET', 'csip/certificates') as object;
    const all = [0, 1].map((device) => ({ device_indices: [device], lfdi: `${device}${lfdi.slice(1)}`, sfdi: '1' }));
    daemon.on('GET csip/config', () => config);
    daemon.on('GET csip/certificates', () => ({ ...certificates, end_devices: all }));
    await accept();
  });
  afterEach(leave);

  it('show the LFDI of each device behind an aggregator, and change that of one', async () => {
    const status = daemon.exampleOf('GET', 'csip/status') as Parameters<typeof Settings>[0]['status'];
    await show(<Settings device={1} status={status} />);
    for (const start of ['0', '1']) expect(textOf()).to.contain(start + lfdi.slice(1));
    await type('lfdi', lfdi);
    expect(button('Change settings')).to.include({ disabled: false });
    await press('Change settings');
    expect(daemon.to('POST csip/config').map(({ query, body }) => [query, body])).to.deep.equal([
      [{ device: '1' }, { lfdi }],
    ]);
    expect(daemon.strange).to.deep.equal([]);
  });
});
