import { expect } from 'chai';
import { render } from 'preact';
import { Notice, notice, notices } from '../../../src/ui/kit/notice';
import DevicesView from '../../../src/ui/views/devices/devices';
import { useChangesOfOthers } from '../../../src/ui/views/devices/picture/change';
import { nextSteps } from '../../../src/ui/views/devices/picture/charger';
import { flowSpeed, Power } from '../../../src/ui/views/devices/picture/wires';
import { stateOf } from '../../../src/ui/views/devices/state';
import type { Connector } from '../../../src/ui/views/devices/connector';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import type { Json } from '../support/description.ts';
import { address, all, button, leave, one, press, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { answerForSite, kinds } from '../support/site.ts';
import { accept, sendEntry, startPage } from '../support/stream.ts';

describe('picture of a device', () => {
  let daemon: Daemon;

  before(startPage);
  beforeEach(async () => {
    daemon = new Daemon();
    answerForSite(daemon);
    notices.value = [];
    await accept();
  });
  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  const open = async (kind: (typeof kinds)[number]) => {
    await address(`#/devices/${kinds.indexOf(kind)}/picture`);
    await show(
      <>
        <DevicesView />
        <Notice />
      </>,
    );
  };
  const bodies = (path: string): readonly Json[] => daemon.to(`POST ${path}`).map(({ body }) => body);

  describe('waterfall', () => {
    const rowTexts = () => all('.waterfall tr').map((row) => row.textContent.replace(/\s+/g, ' '));

    it('has the sentence of the daemon, and a row for each limit in force, in the order of the chain', async () => {
      await open('pv');
      const { sentence } = daemon.exampleOf('GET', 'controls/why');
      expect(textOf('.why')).to.equal(sentence);
      expect(all('h2').map(({ textContent }) => textContent)).to.include('Why 4.20\u00a0kW and not 7.31\u00a0kW');
      expect(rowTexts()).to.deep.equal([
        'Availableall that the sun gives7.31 kW',
        'Maximum powersetting of the device10.00',
        '▲ Active power limitModbus 127.0.0.1:50122, 12:00:004.20',
        'Deliveredafter all limits4.20 kW',
      ]);
      expect(textOf('.off-limits')).to.equal('Off: power set-point');
    });

    it('has MW in all rows where the largest power has', async () => {
      const why = daemon.exampleOf('GET', 'controls/why');
      const chain = why.chain.map((limit: Json) => ({ ...limit, kw: limit.kw === null ? null : limit.kw * 2000 }));
      daemon.on('GET controls/why', () => ({
        ...why,
        chain,
        basis: { ...why.basis, kw: 14_620 },
        delivered_kw: 8400,
      }));
      await open('pv');
      expect(all('.waterfall .num').map(({ textContent }) => textContent)).to.deep.equal([
        '14.62 MW',
        '20.00',
        '8.40',
        '8.40 MW',
      ]);
      expect(all('h2').map(({ textContent }) => textContent)).to.include('Why 8.40\u00a0MW and not 14.62\u00a0MW');
    });

    it('draws the bars on one scale: what is left and what is cut in the row that wins, else a tick', async () => {
      await open('pv');
      const widths = all('.waterfall i').map(({ style }) => [style.left, style.width]);
      expect(widths).to.deep.equal([
        ['', '73.1%'],
        ['', '42%'],
        ['42%', 'calc(73.1% - 42%)'],
        ['', '42%'],
      ]);
      expect(all('.waterfall u').map(({ style }) => style.left)).to.deep.equal(['100%']);
    });

    it('has the functions and limits of the reactive power in the same place, in the direction of flow', async () => {
      await open('pv');
      await press('Q');
      const { sentence } = daemon.exampleOf('GET', 'controls/why').reactive;
      expect(textOf('.why')).to.equal(sentence);
      expect(all('h2').map(({ textContent }) => textContent)).to.include('Why \u22122.00\u00a0kvar');
      expect(rowTexts()).to.deep.equal([
        'Asked forwhat volt-var asks for2.00 kvar',
        '▲ Volt-varModbus 127.0.0.1:50122, 12:01:002.00',
        'Reactive capabilitysetting of the device4.40',
        'Deliveredafter all limits2.00 kvar',
      ]);
      expect(textOf('.off-limits')).to.equal('Off: capability at low power');
      await press('P');
      expect(textOf('.why')).to.equal(daemon.exampleOf('GET', 'controls/why').sentence);
    });

    it('keeps the row of a limit that ends, with a dash', async () => {
      const why = structuredClone(daemon.exampleOf('GET', 'controls/why'));
      daemon.on('GET controls/why', () => why);
      await open('pv');
      why.chain[1] = { ...why.chain[1], kw: null, state: 'off', by: null };
      await pass(6000);
      expect(rowTexts()[2]).to.equal('Active power limitgrid support–');
      expect(textOf('.off-limits')).not.to.contain('power limit');
    });
  });

  describe('control', () => {
    const limit = () => one('[aria-label="Active power limit"] [type=range]');
    const release = async (value: string) => {
      limit().value = value;
      limit().dispatchEvent(new Event('input', { bubbles: true }));
      limit().dispatchEvent(new Event('change', { bubbles: true }));
      await settle();
    };
    let state: Json;

    beforeEach(() => {
      state = { ...daemon.exampleOf('GET', 'grid-support/max-power'), supported: true, enabled: true, limit_pct: 80 };
      daemon.on('GET grid-support/max-power', () => state);
    });

    it('shows the value in force and the limit that wins, and sends another one on release', async () => {
      await open('pv');
      expect(limit().value).to.equal('80');
      expect(one('[aria-label="Active power limit"] .limit').style.left).to.equal('42%');
      await release('30');
      expect(bodies('grid-support/max-power')).to.deep.equal([{ enabled: true, limit_pct: 30 }]);
    });

    it('takes a change back with Undo, which sends the earlier value', async () => {
      await open('pv');
      await release('30');
      state = { ...state, limit_pct: 30 };
      await pass(2000);
      await press('Undo');
      expect(bodies('grid-support/max-power')[1]).to.deep.equal({ enabled: true, limit_pct: 80 });
    });

    it('goes back to the value in force when the daemon refuses, in the words of the daemon', async () => {
      daemon.on('POST grid-support/max-power', () => refusal(409, 'The device is in local control.'));
      await open('pv');
      await release('30');
      expect(limit().value).to.equal('80');
      expect(textOf('[aria-label="Active power limit"] [role=alert]')).to.equal('The device is in local control.');
      expect(notice.value).to.equal(null);
    });

    it('has presets, the one in force pressed', async () => {
      state = { ...state, limit_pct: 50 };
      await open('pv');
      const presets = all('[aria-label="Active power limit"] .row > button');
      expect(presets.map((each) => each.getAttribute('aria-pressed'))).to.deep.equal(['false', 'true', 'false']);
      presets[0]?.click();
      await settle();
      expect(bodies('grid-support/max-power')).to.deep.equal([{ enabled: false }]);
    });
  });

  it('has the energy of today in its head, the usual direction first', async () => {
    await open('pv');
    expect(textOf('[data-test="energy-today"]')).to.equal('Today 31.20 kWh out, 0.40 kWh in');
    expect(daemon.to('GET energy')[0]?.query).to.deep.equal({ device: '0' });
    await open('evse');
    expect(textOf('[data-test="energy-today"]')).to.equal('Today 0.40 kWh in, 31.20 kWh out');
  });

  it('takes a change of the weather back to where each quantity came from', async () => {
    const weather = { ...daemon.exampleOf('GET', 'controls/environment'), source: 'const' };
    let [overridden, deviating]: [readonly string[], readonly number[]] = [['irradiance_w_m2'], [0]];
    daemon.on('GET controls/environment', ({ query }) =>
      query['device'] === undefined ? { ...weather, deviating_devices: deviating } : { ...weather, overridden },
    );
    const ambient = () => all('[aria-label="Ambient temperature"] .row > button');
    const warmUp = async () => {
      await open('pv');
      ambient()[2]?.click();
      await settle();
      await press('Undo');
      return bodies('controls/environment').at(-1);
    };
    // the irradiance alone was set
    expect(await warmUp()).to.deep.equal({ ambient_temperature_c: null });
    expect(ambient().at(-1)?.getAttribute('aria-pressed')).to.equal('true');
    expect(textOf('[aria-label="Ambient temperature"] .control-head')).to.contain('from data');
    await pass(3000);
    overridden = ['irradiance_w_m2', 'ambient_temperature_c'];
    expect(await warmUp()).to.deep.equal({ ambient_temperature_c: 25 });
    expect(textOf('[aria-label="Ambient temperature"] .control-head')).to.contain('set by REST, 12:00:00');
    await pass(3000);
    // the common weather was in force
    deviating = [];
    expect(await warmUp()).to.deep.equal({ source: 'csv' });
  });

  it('puts back a forced battery with its mode, power and time left', async () => {
    const bank = {
      ...daemon.exampleOf('GET', 'controls/battery'),
      requested_mode: 'discharge',
      requested_power_kw: 3,
      remaining_s: 90,
    };
    daemon.on('GET controls/battery', () => bank);
    await open('battery');
    await press('Automatic');
    await press('Undo');
    expect(bodies('controls/battery')).to.deep.equal([
      { mode: 'auto' },
      { mode: 'discharge', power_kw: 3, duration_s: 90 },
    ]);
  });

  it('has the operations on the whole device in its menu', async () => {
    await open('wind');
    await press('Device menu');
    await press('Stop device');
    await press('Local control');
    expect([bodies('commands'), bodies('controls/local')]).to.deep.equal([[{ command: 'stop' }], [{ local: true }]]);
  });

  it('says beside its state that it is under local control', async () => {
    const { items, ...attention } = daemon.exampleOf('GET', 'attention');
    const local = { ...items[0], id: 'local_control', devices: [2] };
    daemon.on('GET attention', () => ({ ...attention, items: [local] }));
    await open('wind');
    expect(textOf('[data-test="device-state"]')).to.match(/local control$/);
    await address(`#/devices/${kinds.indexOf('pv')}/picture`);
    expect(textOf('[data-test="device-state"]')).not.to.contain('local');
  });

  it('has the next vehicle of a charger also while one is plugged in', async () => {
    const station = daemon.exampleOf('GET', 'evse/CP-1');
    const plugged = { ev_plugged: true, evse_plugged: true, locked: true };
    const connectors = station.connectors.slice(0, 1).map((each: Json) => ({ ...each, cable: plugged }));
    daemon.on('GET evse/CP-5', () => ({ ...station, connectors }));
    await open('evse');
    expect(connectors[0].ev).not.to.equal(null);
    await press('City 28');
    expect(button('City 28').getAttribute('aria-pressed')).to.equal('true');
    expect(button('Own\u2026').disabled).to.equal(true);
  });

  describe('next operation of a connector', () => {
    const vehicle = { battery_capacity_kwh: 28 };
    let connector: Json;
    const titles = () => nextSteps(connector as Connector, false, vehicle).map(({ title }) => title);

    beforeEach(() => {
      connector = {
        ...daemon.exampleOf('GET', 'evse/CP-1/connectors/1'),
        status: 'available',
        error_code: 'NoError',
        operative: true,
        authorized: false,
        cable: { ev_plugged: false, evse_plugged: false, locked: false },
        ev: null,
        session: null,
      };
    });
    const plugged = { ev_plugged: true, evse_plugged: true, locked: true };

    it('is Plug in, with the vehicle that is chosen', () => {
      expect(titles()).to.deep.equal(['Plug in']);
      expect(nextSteps(connector as Connector, false, vehicle)[0]?.body).to.deep.equal({ ev: vehicle });
    });

    it('is Authorise for a vehicle without a token', () => {
      connector = { ...connector, status: 'preparing', cable: plugged };
      expect(titles()).to.deep.equal(['Authorise', 'Start', 'Unlock']);
    });

    it('is Unplug during a session, which can also be suspended and stopped', () => {
      const session = { state: 'active', charging_state: 'charging', ended_at: null };
      connector = { ...connector, status: 'charging', cable: plugged, authorized: true, session };
      expect(titles()).to.deep.equal(['Unplug', 'Suspend', 'Stop']);
    });

    it('is Clear fault where there is one', () => {
      connector = { ...connector, status: 'faulted', error_code: 'GroundFailure' };
      expect(titles()[0]).to.equal('Clear fault');
    });
  });
});

describe('a figure that others move', () => {
  before(startPage);
  afterEach(leave);

  const entry = new Daemon().exampleOf('GET', 'timeline').entries[0];
  const Figure = ({ kw }: { readonly kw: number }) => {
    useChangesOfOthers(1);
    return <Power kw={kw} />;
  };
  const flashesAfter = async (change: object) => {
    const root = await show(<Figure kw={1} />);
    await sendEntry({ ...entry, kind: 'command', ...change });
    render(<Figure kw={2} />, root);
    await settle();
    return one('.figure').classList.contains('flash');
  };

  it('flashes after a change to its device or to the whole site', async () => {
    expect(await flashesAfter({ devices: [1] })).to.equal(true);
    await leave();
    expect(await flashesAfter({ devices: [], kind: 'grid' })).to.equal(true);
  });

  it('stays calm after others', async () => {
    expect(await flashesAfter({ devices: [2] })).to.equal(false);
    await leave();
    expect(await flashesAfter({ devices: [1], kind: 'connection' })).to.equal(false);
  });
});

describe('marks on a wire', () => {
  it('stand below 0.5 % of the rating, and run at one of three speeds above', () => {
    const speeds = [0, 0.05, 0.06, 0.99, -1, 4.9, 5, null].map((kw) => flowSpeed(kw, 10));
    expect(speeds).to.deep.equal([null, null, 'slow', 'slow', 'medium', 'medium', 'fast', null]);
    expect(flowSpeed(3, 0)).to.equal(null);
  });
});

describe('state of a device in the words of its kind', () => {
  it('says that a limit holds a device at work', () => {
    expect(stateOf({ kind_state: 'charging', limited_by: 'local' })).to.deep.equal({
      word: 'charging, limited',
      tone: 'warn',
    });
    expect(stateOf({ kind_state: 'charging', limited_by: null })).to.deep.equal({ word: 'charging', tone: 'good' });
    expect(stateOf({ kind_state: 'limited', limited_by: 'volt_watt' })).to.deep.equal({
      word: 'limited',
      tone: 'warn',
    });
    expect(stateOf({ kind_state: 'tripped', limited_by: 'out_of_service' }).word).to.equal('tripped');
  });
});
