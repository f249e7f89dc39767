import { expect } from 'chai';
import { CsipPage, Shell } from '../../../src/ui/shell/shell';
import { entries } from '../../../src/ui/shell/views';
import { tickEveryMs } from '../../../src/ui/store/stream';
import { pass, wall } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import { address, all, button, leave, one, press, show, showCalls, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { nonValues } from '../support/shown.ts';
import { answerForSite, telemetryOf } from '../support/site.ts';
import { accept, end, send, startPage } from '../support/stream.ts';
import { variants } from '../support/variants.ts';

const key = async (name: string) => {
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
  // the window announces another address some time after the click on a link
  dispatchEvent(new Event('hashchange'));
  await settle();
};

describe('page around the views', () => {
  let daemon: Daemon;
  const alerts = () => all('[role=alert]').map((each) => each.textContent.replace(/\s+/g, ' '));

  before(startPage);

  beforeEach(async () => {
    daemon = new Daemon().on('GET scenarios', () => ({ ...daemon.exampleOf('GET', 'scenarios'), clock_owner: null }));
    answerForSite(daemon);
    await accept();
    await address('#/events/log');
  });

  afterEach(async () => {
    await leave();
    tickEveryMs.value = null;
    await pass(3000);
  });

  for (const variant of variants)
    it(`shows clock, protocols and views: ${variant}`, async () => {
      daemon.variant = variant;
      const root = await show(<Shell />);
      expect(textOf('[data-test=clock]')).to.equal('12:00:01');
      expect(all('.side .word').map(({ textContent }) => textContent)).to.deep.equal([
        ...entries.map(({ title }) => title),
        'More',
      ]);
      expect(document.title).to.equal('Events · derbench');
      expect(nonValues(root)).to.deep.equal([]);
      expect(alerts()).to.deep.equal([]);
    });

  it('says since when the connection is lost, and when the page tries again', async () => {
    await show(<Shell />);
    await send(telemetryOf(daemon, 1)[0]);
    const lostAt = new Date(wall.nowMs()).toISOString().slice(11, 19);
    const { random } = Math;
    Math.random = () => 1;
    await end();
    Math.random = random;
    expect(alerts()).to.deep.equal([`No connection since ${lostAt} UTC. Next try in 1 s. Try now`]);
    await press('Try now');
    await accept();
    expect(alerts()).to.deep.equal([]);
  });

  it('is grey when telemetry does not come while the clock runs', async () => {
    await show(<Shell />);
    await send(telemetryOf(daemon, 2)[0]);
    await pass(8000);
    expect(one('.shell').className).to.match(/\bold\b/);
    expect(alerts()[0]).to.match(/^Values are from \d\d:\d\d:\d\d UTC, [78].s old$/);
  });

  it('moves the clock with the ticks of the stream, between its readings', async () => {
    await show(<Shell />);
    const tick = Number(daemon.exampleOf('GET', 'controls/time').tick);
    await send({ ...telemetryOf(daemon, tick)[0], clock_time: '12:59:58' });
    expect(textOf('[data-test=clock]')).to.equal('12:00:01');
    await send({ ...telemetryOf(daemon, tick + 1)[0], clock_time: '12:59:59' });
    expect(textOf('[data-test=clock]')).to.equal('12:59:59');
  });

  it('names what it cannot read in no panel', async () => {
    await show(<Shell />);
    daemon.on('GET controls/time', () => refusal(500, 'The clock is busy.'));
    for (const snapshot of telemetryOf(daemon, 3)) await send(snapshot);
    await pass(2000);
    expect(alerts()[0]).to.match(/^controls\/time: not read since .* UTC: The clock is busy\.$/);
    expect(one('.shell').className).to.match(/\bold-controls-time\b/);
  });

  it('says that the device of the address is not there', async () => {
    await address('#/events/log?device=42');
    await show(<Shell />);
    expect(alerts()[0]).to.match(/^There is no device 42\./);
  });

  it('shows the overview where the address names no view, and goes where keys lead', async () => {
    await address('#/nothing');
    await show(<Shell />);
    expect(textOf('.side [aria-current=page]')).to.equal('Overview');
    await key('g');
    await key('e');
    expect(location.hash).to.equal('#/events');
  });

  it('pauses, runs and steps the clock by keys', async () => {
    daemon.on('POST controls/time', () => ({})).on('POST controls/time/step', () => ({}));
    await show(<Shell />);
    await key(' ');
    expect(daemon.to('POST controls/time').map(({ body }) => body)).to.deep.equal([{ mode: 'paused' }]);
    daemon.on('GET controls/time', () => ({ ...daemon.exampleOf('GET', 'controls/time'), mode: 'paused' }));
    await pass(6000);
    await key(' ');
    await key('.');
    expect(daemon.to('POST controls/time').at(-1)?.body).to.deep.equal({ mode: 'accelerated' });
    expect(daemon.to('POST controls/time/step').map(({ body }) => body)).to.deep.equal([{ ticks: 1 }]);
  });

  it('leaves keys to a field', async () => {
    await show(<Shell />);
    const field = one('main input');
    field.dispatchEvent(new KeyboardEvent('keydown', { key: ' ', bubbles: true }));
    await settle();
    expect(daemon.to('POST controls/time')).to.deep.equal([]);
  });

  it('runs until a time of day, that of the next day if it has passed', async () => {
    daemon.on('GET controls/time', () => ({
      ...daemon.exampleOf('GET', 'controls/time'),
      mode: 'paused',
      sim_time: '2026-06-21T12:00:01.500Z',
      clock_time: '14:00:01',
    }));
    await show(<Shell />);
    await showCalls();
    await press('Rate of the clock: ×1');
    const field = one('[aria-label="Run until"]');
    const untils: unknown[] = [];
    for (const time of ['15:00', '13:59:59', '25:00']) {
      field.value = time;
      field.dispatchEvent(new Event('input', { bubbles: true }));
      await settle();
      const title = field.parentElement?.querySelector('.call-line')?.getAttribute('title') ?? '';
      untils.push(/"until":"([^"]*)"/.exec(title)?.[1]);
    }
    expect(untils).to.deep.equal(['2026-06-21T13:00:00.000Z', '2026-06-22T11:59:59.000Z', undefined]);
    expect(button('Run until').disabled).to.equal(true);
  });

  it('leaves the clock to a scenario that has it', async () => {
    const example = daemon.exampleOf('GET', 'scenarios');
    const [scenario] = example.scenarios;
    const scenarios = [{ ...scenario, id: '4', run: { ...scenario.run, state: 'running' } }];
    daemon
      .on('GET scenarios', () => ({ ...example, scenarios, clock_owner: 'High voltage' }))
      .on('POST scenarios/4/stop', () => ({}));
    await show(<Shell />);
    expect(all('.clock-keys')).to.deep.equal([]);
    expect(textOf('[data-test=clock-owner]')).to.equal('scenario High voltage');
    await press('Stop scenario');
    expect(daemon.to('POST scenarios/4/stop')).to.have.lengthOf(1);
  });

  it('counts the violations of all peers, but not their risks, and is silent without any', async () => {
    const { peers, ...rest } = daemon.exampleOf('GET', 'findings/peers');
    const peer = (violations: number, risks: number) => ({
      ...peers[0],
      summary: { ...peers[0].summary, violation: { broken: violations }, risk: { broken: risks } },
    });
    daemon.on('GET findings/peers', () => ({ ...rest, peers: [peer(2, 5), peer(1, 0)] }));
    await show(<Shell />);
    expect(textOf('.side [href="#/compare"]')).to.equal('Compare3 violations');
    daemon.on('GET findings/peers', () => ({ ...rest, peers: [peer(0, 5)] }));
    await pass(10_500);
    expect(all('.side .badge')).to.deep.equal([]);
  });

  it('finds devices, views, models and points', async () => {
    await show(<Shell />);
    await key('/');
    const field = one('dialog input');
    const find = async (text: string) => {
      field.value = text;
      field.dispatchEvent(new Event('input', { bubbles: true }));
      await settle();
      return all('dialog li').map((each) => each.textContent);
    };
    expect(await find('WIND')).to.deep.equal(['2 Device wind PV-3Phase']);
    expect(await find('inputs')).to.deep.equal(['Inputs view']);
    expect(await find('704')).to.deep.equal(['704 DERCtlAC Direct controls']);
    await find('704.WMaxLimPct');
    one('dialog form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
    await settle();
    expect(location.hash).to.equal('#/devices/0/registers?model=704&point=WMaxLimPct');
    expect(all('dialog')).to.deep.equal([]);
  });

  it('says what it does not find', async () => {
    await show(<Shell />);
    await key('/');
    const field = one('dialog input');
    field.value = 'no such thing';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await settle();
    expect(textOf('dialog .empty')).to.equal('Nothing found for "no such thing".');
    await press('Close');
  });

  it('counts what needs attention, and goes to the worst of it', async () => {
    const [example] = daemon.exampleOf('GET', 'attention').items;
    const trip = {
      ...example,
      id: 'trip/lv_trip',
      level: 'bad',
      title: 'Tripped',
      text: 'Turbine: tripped.',
      device_index: 4,
      ref: { type: 'device', id: '4' },
    };
    const fault = { ...example, id: 'fault/x', level: 'warn', title: 'Fault', text: 'In force.', device_index: null };
    let items = [trip, fault];
    daemon.on('GET attention', () => ({ tick: 1, sim_time: '2026-06-21T12:00:00.000Z', items, count: items.length }));
    await show(<Shell />);
    expect(textOf('.pill')).to.equal('2 to look at');
    expect(one('.pill').title).to.equal('Tripped: Turbine: tripped.\nFault: In force.');
    expect(one('.pill').className).to.equal('pill bad');
    await pass(10);
    expect(textOf('.top [role=status]')).to.equal('Tripped. Turbine: tripped.');
    await key('x');
    expect(location.hash).to.equal('#/devices/4/picture');
    items = [];
    await pass(16_000);
    expect(all('.pill')).to.deep.equal([]);
  });

  it('has how long a peer is silent at the lamp of its protocol', async () => {
    const [example] = daemon.exampleOf('GET', 'attention').items;
    const silent = (name: string, ageS: number) => ({
      ...example,
      id: `silent/${name}`,
      text: `${name} has sent nothing for three of its usual intervals of 10 s.`,
      since: new Date(Date.now() - ageS * 1000).toISOString(),
    });
    const items = [silent('Modbus 10.0.0.21', 40), silent('Modbus 10.0.0.22', 95), silent('OCPP 10.0.0.23', 300)];
    daemon.on('GET attention', () => ({ tick: 1, sim_time: '2026-06-21T12:00:00.000Z', items, count: 3 }));
    const overview = daemon.exampleOf('GET', 'overview');
    const { comm_status: comms } = overview;
    const on = { ...comms.modbus_tcp, enabled: true, state: 'listening' };
    daemon.on('GET overview', () => ({
      ...overview,
      comm_status: { ...comms, modbus_tcp: on, ocpp: { ...on, state: 'error' }, dnp3: { ...on, peers: 2 } },
    }));
    await show(<Shell />);
    const lamps = all('.lamps a').map(({ textContent }) => textContent);
    expect(lamps).to.include.members(['Modbus silent 95\u00a0s', 'OCPP error', 'DNP3 2']);
  });

  it('goes from device to device by keys, and stays on the tab', async () => {
    await address('#/devices/1/registers');
    await show(<Shell />);
    await key(']');
    expect(location.hash).to.equal('#/devices/2/registers');
    await key('[');
    await key('[');
    await key('[');
    expect(location.hash).to.equal('#/devices/0/registers');
  });

  it('sets the rate of the clock, and shows the rate that is reached', async () => {
    daemon
      .on('POST controls/time', () => ({}))
      .on('GET controls/time', () => ({
        ...daemon.exampleOf('GET', 'controls/time'),
        mode: 'accelerated',
        rate: 60,
        rate_effective: 41.2,
      }));
    await show(<Shell />);
    await press('Rate of the clock: ×60, reaches ×41');
    await press('×600');
    expect(daemon.to('POST controls/time').map(({ body }) => body)).to.deep.equal([{ mode: 'accelerated', rate: 600 }]);
    expect(all('.menu-box')).to.deep.equal([]);
  });

  it('keeps the switch of the calls in the address', async () => {
    await show(<Shell />);
    await key('a');
    expect(location.hash).to.equal('#/events/log?api=1');
    expect(button('API').getAttribute('aria-pressed')).to.equal('true');
    await press('API');
    expect(location.hash).to.equal('#/events/log');
  });

  it('has the switch of the calls in the menu too, for a top bar without room', async () => {
    await show(<Shell />);
    await press('derbench Site');
    await press('Calls of this page (API)');
    expect(location.hash).to.equal('#/events/log?api=1');
    expect(all('.menu-box')).to.deep.equal([]);
    await press('API');
  });

  it('lists its keys', async () => {
    await show(<Shell />);
    await key('?');
    expect(all('dialog dt').map((each) => each.textContent)).to.include.members(['space', '/', 'g o', 'g m', 'x']);
    await press('Close');
    expect(all('dialog')).to.deep.equal([]);
  });

  it('changes its colours, and keeps the choice', async () => {
    await show(<Shell />);
    await press('derbench Site');
    const name = button('Dark').textContent;
    await press('Dark');
    expect(name).to.equal('Dark');
    expect(document.documentElement.dataset['theme']).to.equal('dark');
    expect(localStorage.getItem('theme')).to.equal('dark');
    await press('Light');
    expect(document.documentElement.dataset['theme']).to.equal('light');
  });

  it('has a page for the CSIP client alone', async () => {
    await show(<CsipPage />);
    expect(textOf('h1')).to.equal('IEEE 2030.5 client');
    expect(all('.side')).to.deep.equal([]);
  });
});
