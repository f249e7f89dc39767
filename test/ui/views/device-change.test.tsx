import { expect } from 'chai';
import DevicesView from '../../../src/ui/views/devices/devices';
import Simulator from '../../../src/ui/views/simulator/simulator';
import { ConnectCentralSystem } from '../../../src/ui/views/protocols/ocpp/connect';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import type { Json } from '../support/description.ts';
import { address, all, button, leave, one, press, show, showCalls, textOf, tick, type } from '../support/page.tsx';
import { accept, startPage } from '../support/stream.ts';

const [battery, station] = [1, 5];

describe('devices that change', () => {
  let daemon: Daemon;
  let questions: string[];
  let confirms: boolean;

  /** A device as the daemon shows it. */
  const detailOf = (index: number): Json => ({
    ...daemon.exampleOf('GET', `devices/${index}`),
    device_index: index,
    name: index === battery ? 'Device battery' : 'Device evse',
    device_profile_name: index === battery ? 'Batt-10kW-3Phase' : 'EVSE-AC-22kW-1port',
    asset_type: index === battery ? 'battery' : 'evse',
    ocpp:
      index === battery
        ? null
        : { id: 'CP-5', version: ['ocpp1.6j', 'ocpp2.0.1j'], url: 'ws://127.0.0.1/ocpp', auto_authorize: null },
    csip: { nmi: 'NMI-1', lfdi: null, pin_set: true },
    dnp3: { address: 10, port: 20_000, profile: 'an2018' },
    modbus: { host: '127.0.0.1', port: 8502, unit_id: 1, tls: false },
  });
  const open = async (index: number) => {
    await address(`#/devices/${index}`);
    await show(<DevicesView />);
    await press('Device menu');
    await press('Change device');
  };
  const answerChange = (index: number, members: Json) =>
    daemon.on(`PATCH devices/${index}`, () => ({
      ...detailOf(index),
      device_restarted: false,
      restarted: [],
      ...members,
    }));
  const bodies = (index: number): readonly Json[] => daemon.to(`PATCH devices/${index}`).map(({ body }) => body);
  const legends = () => all('dialog legend').map(({ textContent }) => textContent);
  const optionsOf = (name: string) =>
    [...one(`[name="${name}"]`).querySelectorAll('option')].map(({ value, textContent }) => [value, textContent]);
  /** A battery and a station. @param off names of protocols that are switched off */
  const answerForDevices = (...off: readonly string[]) => {
    const overview = daemon.exampleOf('GET', 'overview');
    const states = Object.entries<Json>(overview.comm_status).map(([name, state]) => [
      name,
      { ...state, enabled: !off.includes(name) },
    ]);
    const devices = [battery, station].map((index) => ({
      ...overview.devices[0],
      ...detailOf(index),
      charge_point_id: index === station ? 'CP-5' : null,
    }));
    daemon.on('GET overview', () => ({ ...overview, devices, comm_status: Object.fromEntries(states) }));
  };

  before(startPage);
  beforeEach(async () => {
    await accept();
    daemon = new Daemon();
    answerForDevices();
    for (const index of [battery, station]) daemon.on(`GET devices/${index}`, () => detailOf(index));
    [questions, confirms] = [[], true];
    globalThis.confirm = (question) => {
      questions.push(question ?? '');
      return confirms;
    };
  });
  afterEach(async () => {
    await leave();
    await pass(4000);
  });

  it('only edited members are sent, and the answer says what has restarted', async () => {
    answerChange(battery, { name: 'Cellar', restarted: ['modbus_tcp', 'dnp3'] });
    await open(battery);
    expect(button('Change').disabled).to.equal(true);
    await type('/name', 'Cellar');
    await type('/dnp3/address', '12');
    await type('/csip/nmi', 'NMI-2');
    await type('/csip/nmi', 'NMI-1');
    await press('Change');
    expect(bodies(battery)).to.deep.equal([{ name: 'Cellar', dnp3: { address: 12 } }]);
    expect(textOf('dialog [role=status]')).to.equal('Changed device 1 Cellar. Restarted: modbus tcp, dnp3.');
    expect(questions).to.deep.equal([]);
    expect(button('Change').disabled).to.equal(true);
  });

  it('an emptied field and an emptied choice go back to their defaults', async () => {
    answerChange(battery, {});
    await open(battery);
    await type('/csip/nmi', '');
    await type('/modbus/port', '');
    await type('/dnp3/profile', '');
    await type('/csip/lfdi', '');
    await press('Change');
    expect(bodies(battery)).to.deep.equal([{ csip: { nmi: null }, dnp3: { profile: null }, modbus: { port: null } }]);
  });

  it('a PIN is masked, kept out of the call that is shown, and can be taken back', async () => {
    answerChange(battery, {});
    await open(battery);
    expect([one('[name="/csip/pin"]').type, one('[name="/csip/pin"]').value]).to.deep.equal(['password', '']);
    await showCalls();
    await type('/csip/pin', '111115');
    expect(
      all('dialog .call-line')
        .map(({ title }) => title)
        .join(''),
    ).to.include('"pin":"..."');
    await press('Change');
    await tick('/csip/pin/none', true);
    await press('Change');
    expect(bodies(battery)).to.deep.equal([{ csip: { pin: 111_115 } }, { csip: { pin: null } }]);
  });

  it('another profile: asks first, and sends nothing without the consent', async () => {
    answerChange(battery, { device_restarted: true, restarted: ['modbus_tcp'] });
    await open(battery);
    await type('/profile', 'Batt-LFP-100kW-3Phase');
    confirms = false;
    await press('Change');
    expect(bodies(battery)).to.deep.equal([]);
    expect(questions[0]).to.match(
      /^Change the profile of device 1 Device battery\?.* energies, history, .* begin anew/,
    );
    confirms = true;
    await press('Change');
    expect(bodies(battery)).to.deep.equal([{ profile: 'Batt-LFP-100kW-3Phase' }]);
    expect(textOf('dialog [role=status]')).to.include('Another device has taken its place.');
  });

  it('a refusal stands at its field, and a conflict above the form', async () => {
    const issue = { in: 'body', name: '/csip/lfdi', detail: '40 hexadecimal digits' };
    daemon.on(`PATCH devices/${battery}`, () => refusal(422, 'invalid', [issue]));
    await open(battery);
    await type('/csip/lfdi', 'F0');
    await press('Change');
    const label = one('[name="/csip/lfdi"]').closest('label');
    expect(label?.querySelector('.issue')?.textContent).to.equal('40 hexadecimal digits');
    daemon.on(`PATCH devices/${battery}`, () => refusal(409, 'another device has the LFDI', [], 'conflict'));
    await press('Change');
    const form = one('dialog form');
    expect(form.firstElementChild?.textContent).to.equal('another device has the LFDI');
    expect(one('[name="/csip/lfdi"]').value).to.equal('F0');
  });

  it('blocks and profiles fit the kind of the device', async () => {
    await open(battery);
    expect(legends()).to.deep.equal(['IEEE 2030.5', 'DNP3', 'Modbus TCP']);
    const profiles = optionsOf('/profile').map(([value]) => value);
    expect(profiles[0]).to.equal('');
    expect(profiles.filter((name) => name?.startsWith('EVSE'))).to.deep.equal([]);
    await leave();
    await open(station);
    expect(legends()).to.deep.equal(['OCPP', 'IEEE 2030.5', 'DNP3', 'Modbus TCP']);
    expect(optionsOf('/profile').every(([value]) => value === '' || value?.startsWith('EVSE'))).to.equal(true);
    // several versions, as a start may offer them, are a value of their own
    expect(one('[name="/ocpp/version"]').value).to.equal('ocpp1.6j, ocpp2.0.1j');
  });

  it('protocols that are off say so, and OCPP then has an identity alone', async () => {
    answerForDevices('ocpp', 'dnp3');
    await open(station);
    expect(legends()).to.deep.equal(['OCPP (switched off)', 'IEEE 2030.5', 'DNP3 (switched off)', 'Modbus TCP']);
    expect(all('dialog [name^="/ocpp/"]').map(({ name }) => name)).to.deep.equal(['/ocpp/id']);
  });

  it('every control of the form has a name', async () => {
    await open(station);
    const unnamed = all('dialog input, dialog select').filter(
      (control) => !control.labels?.[0]?.textContent.trim() && !control.getAttribute('aria-label'),
    );
    expect(unnamed).to.deep.equal([]);
    expect(one('dialog').getAttribute('aria-label')).to.equal('Change device 5 Device evse');
  });

  it('the way to a central system changes the identity of a station, and follows it', async () => {
    answerChange(station, { charge_point_id: 'CP-LAB', restarted: ['ocpp'] });
    await address('#/protocols/ocpp');
    await show(<ConnectCentralSystem />);
    await press('Change identity');
    expect(all('dialog input').map(({ name }) => name)).to.deep.equal(['/ocpp/id']);
    await type('/ocpp/id', 'CP-LAB');
    await press('Change');
    expect(bodies(station)).to.deep.equal([{ ocpp: { id: 'CP-LAB' } }]);
    expect(location.hash).to.include('station=CP-LAB');
    expect(textOf('dialog [role=status]')).to.include('Restarted: ocpp.');
  });

  it('a new device takes the same blocks, OCPP only as a charging station', async () => {
    await show(<Simulator />);
    await press('Add a device');
    expect(legends()).to.deep.equal(['IEEE 2030.5', 'DNP3', 'Modbus TCP']);
    await type('/device_type', 'EVSE');
    await type('/ocpp/id', 'CP-9');
    await type('/csip/pin', '111115');
    await showCalls();
    const calls = all('dialog .call-line').map(({ title }) => title);
    expect(calls.join('')).to.include('"id":"CP-9"').and.to.not.include('111115');
    await press('Add');
    expect(daemon.to('POST devices').map(({ body }) => body)).to.deep.equal([
      { device_type: 'EVSE', ocpp: { id: 'CP-9' }, csip: { pin: 111_115 } },
    ]);
  });
});
