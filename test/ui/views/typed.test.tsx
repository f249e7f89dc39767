import { expect } from 'chai';
import type { ComponentChild } from 'preact';
import { Settings } from '../../../src/ui/views/protocols/csip/settings';
import DevicesView from '../../../src/ui/views/devices/devices';
import { Configuration } from '../../../src/ui/views/protocols/ocpp/configuration';
import ScenariosView from '../../../src/ui/views/scenarios/scenarios';
import { ClientState } from '../../../src/ui/views/protocols/sunspec-client/sunspec-client';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import type { Json } from '../support/description.ts';
import { address, leave, one, press, show, type } from '../support/page.tsx';
import { answerForSite } from '../support/site.ts';
import { settle } from '../support/settle.ts';
import { accept, startPage } from '../support/stream.ts';

/** Time after which every answer that polls is read again, ms. */
const readAgainMs = 6000;

describe('text that is typed stays', () => {
  let daemon: Daemon;

  before(startPage);
  beforeEach(async () => {
    daemon = new Daemon();
    answerForSite(daemon);
    await accept();
  });
  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  /** Answers an operation with its example and the present `members`. */
  const answering = (name: string, members: Json) => {
    const example = daemon.exampleOf('GET', name);
    daemon.on(`GET ${name}`, () => ({ ...example, ...members }));
    return members;
  };
  /** Types into a field, changes what the daemon answers, and reads the field again. */
  const typedOver = async (what: ComponentChild, field: string, text: string, change: () => void) => {
    await show(what);
    await type(field, text);
    change();
    await pass(readAgainMs);
    return one(`[name="${field}"]`).value;
  };

  it('in the form that starts a scenario, while a script adds another one and runs it', async () => {
    const example = daemon.exampleOf('GET', 'scenarios');
    const kept = (id: string, changes = {}) => ({
      ...example.scenarios[0],
      id,
      name: id,
      run: null,
      bundled: null,
      ...changes,
    });
    const listing = answering('scenarios', {
      ...example,
      scenarios: [kept('first', { parameters: { voltage: 1.05 } })],
      clock_owner: null,
    });
    await address('#/scenarios');
    await show(<ScenariosView />);
    await press('More for first');
    await press('Run with parameters');
    await type('parameters/voltage', '1.1');
    listing['scenarios'] = [...listing['scenarios'], kept('second')];
    await pass(readAgainMs);
    expect(one('[name="parameters/voltage"]').value).to.equal('1.1');
    one('dialog form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
    await settle();
    expect(daemon.to('POST scenarios/first/start').map(({ body }) => body.parameters)).to.deep.equal([
      { voltage: 1.1 },
    ]);
  });

  it('in the settings of the IEEE 2030.5 client, while another one changes', async () => {
    const config = answering('csip/config', { poll_rate_s: 300 });
    const status = daemon.exampleOf('GET', 'csip/status') as Parameters<typeof Settings>[0]['status'];
    const value = await typedOver(<Settings device={1} status={status} />, 'server_host', 'lab.example', () => {
      config['poll_rate_s'] = 60;
    });
    expect(value).to.equal('lab.example');
    expect(one('[name="poll_rate_s"]').value).to.equal('60');
  });

  it('but a PIN leaves the page once it is set', async () => {
    const config = answering('csip/config', {});
    const status = daemon.exampleOf('GET', 'csip/status') as Parameters<typeof Settings>[0]['status'];
    await show(<Settings device={1} status={status} />);
    await type('pin', '111115');
    daemon.on('POST csip/config', () => config);
    await press('Change settings');
    expect(one('[name="pin"]').value).to.equal('');
  });

  it('in the connection and the polling of the SunSpec client, while a script connects it', async () => {
    const { target, poll } = daemon.exampleOf('GET', 'sunspec-client');
    const status = answering('sunspec-client', {});
    await show(<ClientState />);
    await type('timeout_s', '7');
    await type('models', '701');
    status['target'] = { ...target, host: '192.0.2.7' };
    status['poll'] = { ...poll, interval_s: 13 };
    await pass(readAgainMs);
    expect(['timeout_s', 'models', 'host', 'interval_s'].map((name) => one(`[name="${name}"]`).value)).to.deep.equal([
      '7',
      '701',
      '192.0.2.7',
      '13',
    ]);
  });

  it('in a change of an OCPP key, while the central system changes it', async () => {
    const status = daemon.exampleOf('GET', 'ocpp').charge_points[0];
    const example = daemon.exampleOf('GET', `ocpp/${status.id}/configuration`);
    const key = { key: 'HeartbeatInterval', value: '60', readonly: false, reboot_required: false };
    const keys = [key];
    daemon.on(`GET ocpp/${status.id}/configuration`, () => ({ ...example, keys }));
    await address('#/protocols/ocpp?key=HeartbeatInterval');
    const value = await typedOver(<Configuration status={status} />, 'value', '90', () => {
      keys[0] = { ...key, value: '30' };
    });
    expect(value).to.equal('90');
  });

  it('in the page of a device, while its value changes and the first device is removed', async () => {
    const whole = daemon.exampleOf('GET', 'overview');
    const of = (index: number) => ({ ...whole.devices[0], device_index: index, asset_type: 'battery' });
    const [full] = daemon.exampleOf('GET', 'devices').devices;
    daemon.on('GET overview', () => ({ ...whole, devices: [of(0), of(1)] }));
    await address('#/devices/1');
    const bank = answering('controls/battery', {});
    await show(<DevicesView />);
    const field = one('[aria-label="State of charge, %"]');
    field.value = '55';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await settle();
    bank['soc_pct'] = 71.5;
    daemon.on('GET devices', () => ({ devices: [{ ...full, device_index: 1 }] }));
    daemon.on('GET overview', ({ query }) =>
      query['device'] === '1' ? { ...whole, devices: [of(1)] } : refusal(404, 'There is no device 0.'),
    );
    await pass(readAgainMs);
    expect(one('[aria-label="State of charge, %"]').value).to.equal('55');
  });
});
