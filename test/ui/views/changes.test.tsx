import { expect } from 'chai';
import Changes from '../../../src/ui/views/changes/changes';
import { Daemon } from '../support/daemon.ts';
import type { Json } from '../support/description.ts';
import { all, button, leave, press, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';

const by = { source: 'modbus', source_detail: '10.0.0.21:502', changed_at: '2026-06-21T12:00:00.000Z' };

describe('changes since the start', () => {
  let daemon: Daemon;
  const answer = (name: string, more: object | ((example: Json) => object)) => {
    const [method = '', path = ''] = name.split(' ');
    const example = daemon.exampleOf(method, path);
    daemon.on(name, () => ({ ...example, ...(typeof more === 'function' ? more(example) : more) }));
  };
  const rows = () =>
    all('table tbody tr').map((row) => [...row.querySelectorAll('td')].slice(0, 4).map((cell) => cell.textContent));
  const place = (what: string) =>
    all('td a')
      .find(({ textContent }) => textContent === what)
      ?.getAttribute('href');

  beforeEach(() => {
    daemon = new Daemon();
    answer('GET overview', ({ devices: [device] }) => ({ devices: [{ ...device, name: 'Roof', last_write: null }] }));
    answer('GET settings', ({ settings }) => ({
      settings: settings.map((each: Json) => ({ ...each, origin: 'flag' })),
    }));
    answer('GET controls/grid', {});
    answer('GET controls/environment', { overridden: [] });
    answer('GET site/scopes', { scopes: [] });
    answer('GET controls/holds', { holds: [] });
    answer('GET faults', { faults: [] });
    answer('GET scenarios', { scenarios: [] });
    answer('GET attention', { items: [] });
  });
  afterEach(leave);

  it('says that nothing differs', async () => {
    await show(<Changes />);
    expect(textOf('.empty')).to.match(/^Nothing differs from the start/);
  });

  it('lists settings of requests, and takes them back', async () => {
    answer('GET settings', ({ settings: [setting] }) => ({
      locked: false,
      settings: [
        { ...setting, key: 'log_level', secret: false, value: 'debug', origin: 'rest' },
        { ...setting, key: 'csip_pin', secret: true, value: null, origin: 'rest' },
        { ...setting, key: 'website_port', origin: 'flag' },
      ],
    }));
    await show(<Changes />);
    expect(rows()).to.deep.equal([
      ['Settings', 'log_level', 'debug', 'a request'],
      ['Settings', 'csip_pin', 'set', 'a request'],
    ]);
    expect(place('log_level')).to.equal('#/settings?settings-find=log_level');
    await press('Take back log_level');
    expect(daemon.asked.filter(({ method }) => method === 'PATCH').map(({ body }) => body)).to.deep.equal([
      { log_level: null },
    ]);
  });

  it('does not offer to take settings back while they are locked', async () => {
    answer('GET settings', ({ settings: [setting] }) => ({ locked: true, settings: [{ ...setting, origin: 'rest' }] }));
    await show(<Changes />);
    expect(button('Take back csip_pin').disabled).to.equal(true);
  });

  it('lists grid and weather that somebody set, and devices that deviate', async () => {
    answer('GET controls/grid', {
      source: 'manual',
      profile_loaded: false,
      voltage_a_pu: 1.08,
      deviating_devices: [0],
      changed_by: by,
    });
    answer('GET controls/environment', { overridden: ['irradiance_w_m2'], irradiance_w_m2: 300, changed_by: by });
    await show(<Changes />);
    expect(rows()).to.deep.equal([
      ['Grid', 'Common grid', '108.0\u00a0%, 60.000\u00a0Hz', 'Modbus 10.0.0.21:502, 12:00:00'],
      ['Grid', '0 Roof', 'a grid of its own', ''],
      ['Weather & load', 'Irradiance', '300 W/m²', 'Modbus 10.0.0.21:502, 12:00:00'],
    ]);
    expect(button('Follow the profile Common grid').title).to.equal('No grid profile is loaded.');
    await press('Back to the common grid 0 Roof');
    await press('From data Irradiance');
    expect(daemon.to('POST controls/grid').map(({ query, body }) => [query, body])).to.deep.equal([
      [{ device: '0' }, { source: 'csv' }],
    ]);
    expect(daemon.to('POST controls/environment').map(({ body }) => body)).to.deep.equal([{ irradiance_w_m2: null }]);
  });

  it('lists limits of its own interface, with the owner to end them for', async () => {
    answer('GET site/scopes', ({ scopes: [site, group] }) => ({
      scopes: [
        { ...site, owners: [{ ...site.owners[0], owner: 'csip' }] },
        { ...group, devices: [0] },
      ],
    }));
    await show(<Changes />);
    expect(rows().map((row) => row.slice(0, 3))).to.deep.equal([['Site limits', 'Devices 0', 'export 1 kW']]);
    await press('End Devices 0');
    expect(daemon.to('POST site').map(({ body }) => body)).to.deep.equal([
      { devices: [0], owner: 'feeder', export_limit_kw: null },
    ]);
  });

  it('lists holds and faults in force, not those of a profile', async () => {
    answer('GET controls/holds', ({ holds: [hold] }) => ({ holds: [hold, { ...hold, id: 'over', state: 'ended' }] }));
    answer('GET faults', ({ faults: [fault] }) => ({ faults: [fault, { ...fault, id: 9, source: 'profile' }] }));
    await show(<Changes />);
    expect(rows().map((row) => row.slice(0, 2))).to.deep.equal([
      ['Holds', 'peak-1, 0 Roof'],
      ['Faults', 'modbus: delay'],
    ]);
    await press('End peak-1, 0 Roof');
    await press('Clear modbus: delay');
    expect(daemon.to('POST controls/holds/peak-1/end').map(({ query }) => query)).to.deep.equal([{ device: '0' }]);
    expect(daemon.to('POST faults').map(({ body }) => body)).to.deep.equal([{ clear: { id: 3 } }]);
  });

  it('lists local control, forced batteries, written points and added scenarios', async () => {
    answer('GET attention', ({ items }) => ({ items: [{ ...items[1], id: 'local_control', devices: [0] }] }));
    answer('GET overview', ({ devices: [device] }) => ({
      devices: [
        {
          ...device,
          name: 'Store',
          kind_state: 'charging, forced',
          last_write: { ...by, name: '704.WMaxLimPct' },
        },
      ],
    }));
    daemon.on('GET scenarios', () => daemon.exampleOf('GET', 'scenarios'));
    await show(<Changes />);
    await settle();
    expect(rows()).to.deep.equal([
      ['Local control', '0 Store', 'remote writes are refused', ''],
      ['Devices', 'Store', 'charging, forced', ''],
      ['Devices', 'Store', 'last write: 704.WMaxLimPct', 'Modbus, 12:00:00'],
      ['Scenarios', 'High voltage', 'added', ''],
    ]);
    expect(all('td:last-child a').map((link) => link.getAttribute('href'))).to.deep.equal([
      '#/devices/0/grid-support/changes',
    ]);
    await press('Remote control 0 Store');
    await press('Automatic Store');
    expect(daemon.to('POST controls/local').map(({ body }) => body)).to.deep.equal([{ local: false }]);
    expect(daemon.to('POST controls/battery').map(({ body }) => body)).to.deep.equal([{ mode: 'auto' }]);
    expect(button('Remove High voltage').title).to.equal('The scenario is running.');
  });

  it('does not list writes twice, and joins those of many devices', async () => {
    const written = (count: number, name: string) =>
      answer('GET overview', ({ devices: [device] }) => ({
        devices: Array.from({ length: count }, (_none, index) => ({
          ...device,
          device_index: index,
          last_write: { ...by, name },
        })),
      }));
    written(1, 'local_control');
    await show(<Changes />);
    expect(rows()).to.deep.equal([]);
    written(31, 'evse_limit');
    await show(<Changes />);
    expect(rows()).to.deep.equal([['Devices', '31 devices', 'written since the start', '']]);
    expect(place('31 devices')).to.equal('#/devices?form=table&sort=-written');
  });
});
