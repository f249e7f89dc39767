import { expect } from 'chai';
import ProtocolsView from '../../../src/ui/views/protocols/protocols';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import type { Json } from '../support/description.ts';
import { address, all, button, leave, one, press, show, textOf, type } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { answerWithCertificates, answerWithSettings } from '../support/settings.ts';
import { answerForSite } from '../support/site.ts';
import { accept, startPage } from '../support/stream.ts';

describe('protocols that are switched on and off', () => {
  let daemon: Daemon;
  let questions: string[];
  let confirms: boolean;
  const bodies = (name: string): readonly Json[] => daemon.to(name).map(({ body }) => body);
  const open = async (path: string) => {
    await address(`#/protocols/${path}`);
    return show(<ProtocolsView />);
  };
  /** A panel by its title: steps and short form have fields of the same names. */
  const panel = (title: string) => {
    const heading = all('h2').find((each) => each.textContent === title);
    if (!heading) throw new Error(`no panel ${title}`);
    return heading.closest('section');
  };

  before(startPage);
  beforeEach(async () => {
    await accept();
    daemon = new Daemon();
    answerForSite(daemon);
    answerWithSettings(daemon);
    answerWithCertificates(daemon);
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

  it('off: the changed settings of a short form go with the switch', async () => {
    answerWithSettings(daemon, { mb_enable: { value: false } });
    await open('modbus');
    await type('mb_port', '1502');
    await press('Switch on Modbus TCP');
    expect(bodies('POST modbus/enable')).to.deep.equal([{ mb_port: 1502 }]);
  });

  it('on: a form and a link to all settings in a part of its own, and a button that asks before it switches off', async () => {
    await open('modbus');
    expect(all('[name="mb_port"]')).to.deep.equal([]);
    await address('#/protocols/modbus/settings');
    expect(all('a').map((link) => link.getAttribute('href'))).to.include('#/settings?settings-group=Modbus+TCP');
    confirms = false;
    await press('Switch off Modbus TCP');
    expect(questions[0]).to.match(
      /^Switch off Modbus TCP\? Its ports close; what masters have written in registers stays/,
    );
    expect(bodies('POST modbus/disable')).to.deep.equal([]);
    confirms = true;
    await press('Switch off Modbus TCP');
    expect(bodies('POST modbus/disable')).to.deep.equal([undefined]);
  });

  it('on: settings of a start are disabled, with the reason and the command line that sets them', async () => {
    const why = 'The maps have an address.';
    answerWithSettings(daemon, {
      mb_foreign_unit: { changes: 'start', why, value: 'silent' },
      csip_notify_enc: { changes: 'start', why, value: null },
    });
    await open('modbus/settings');
    expect(all('[data-test="start-only"] [data-test]').map((row) => row.dataset['test'])).to.deep.equal([
      'mb_host',
      'mb_foreign_unit',
    ]);
    expect(textOf('[data-test="mb_foreign_unit"]')).to.include(why);
    expect(all('[data-test="start-only"] code').map(({ textContent }) => textContent)).to.deep.equal([
      'derbench start --mb_host VALUE',
      'derbench start --mb_foreign_unit gateway',
    ]);
    expect(one('[data-test="mb_foreign_unit"] fieldset').disabled).to.equal(true);
    await address('#/protocols/csip/settings');
    expect(all('[data-test="start-only"] code').map(({ textContent }) => textContent)).to.deep.equal([
      'derbench start --csip_notify_enc yes',
    ]);
  });

  it('off: OCPP names the charging stations that it is for, also beside its steps', async () => {
    const [example] = daemon.exampleOf('GET', 'overview').devices;
    const station = (index: number, id: string | null) => ({
      ...example,
      device_index: index,
      name: `Charger ${index}`,
      charge_point_id: id,
    });
    daemon.on('GET overview', () => ({
      ...daemon.exampleOf('GET', 'overview'),
      devices: [station(0, null), station(1, 'CP-1'), station(2, 'CP-2')],
    }));
    await open('ocpp/settings');
    expect(textOf('[data-test="concerned"]')).to.equal(
      'For all 2 charging stations: Charger 1 (CP-1), Charger 2 (CP-2).',
    );
    await address('#/protocols/ocpp/connect');
    expect(textOf('.steps [data-test="concerned"]')).to.include('Charger 1 (CP-1)');
  });

  it('on: changed settings of the short form are sent alone', async () => {
    await open('modbus/settings');
    expect(button('Change').disabled).to.equal(true);
    await type('mb_port', '1502');
    await press('Change');
    expect(bodies('PATCH settings')).to.deep.equal([{ mb_port: 1502 }]);
  });

  it('a simulator without settings: the page of the protocol, without a switch', async () => {
    daemon.on('GET settings', () => ({ locked: false, settings: [] }));
    await open('csip');
    expect(textOf('.tabs [aria-current]')).to.equal('CSIP');
    expect(all('[aria-label="Parts of CSIP"]')).to.have.lengthOf(1);
    expect(all('button').filter((each) => each.textContent.startsWith('Switch'))).to.deep.equal([]);
  });

  it('locked settings: neither on nor off, with the reason', async () => {
    answerWithSettings(daemon, { mb_enable: { value: false } }, true);
    await open('modbus');
    expect(button('Switch on Modbus TCP').disabled).to.equal(true);
    expect(textOf()).to.include('--settings_locked yes');
  });

  it('a certificate of the short form brings its key', async () => {
    await open('csip/settings');
    const field = panel('Switch on IEEE 2030.5')?.querySelector<HTMLSelectElement>('[name="csip_cert"]');
    if (!field) throw new Error('no field');
    field.value = 'certificate:device0';
    field.dispatchEvent(new Event('change', { bubbles: true }));
    await settle();
    await press('Switch on IEEE 2030.5');
    expect(bodies('POST csip/enable')).to.deep.equal([
      { csip_cert: 'certificate:device0', csip_key: 'certificate:device0' },
    ]);
  });

  describe('the way to a head-end', () => {
    const oneDevice = () => {
      const overview = daemon.exampleOf('GET', 'overview');
      daemon.on('GET overview', () => ({ ...overview, devices: overview.devices.slice(0, 1) }));
    };

    it('without certificates: offers to generate those of each device', async () => {
      daemon.on('GET certificates', () => ({ max_certificates: 256, certificates: [] }));
      oneDevice();
      await open('csip');
      expect(textOf('.steps')).to.include('The LFDI follows from the certificate');
      await press('Generate test certificates');
      expect(bodies('POST certificates/generate')).to.deep.equal([{ devices: 1 }]);
    });

    it('one device: its certificate, its identities, and the root that it descends from', async () => {
      oneDevice();
      await open('csip');
      expect(one('.steps [name="csip_cert"]').value).to.equal('certificate:device0');
      expect(one('.steps [name="csip_root_cert"]').value).to.equal('certificate:root');
      expect(textOf('[data-test="LFDI"]')).to.equal('3E4F45AB31EDFE5B67E343E5E4562E31984E23E5');
      expect(textOf('[data-test="SFDI"]')).to.equal('167261211391');
      expect(daemon.to('GET certificates/root')).to.have.length(1);
      await type('csip_server_ip', 'headend.example');
      await press('Connect');
      expect(bodies('POST csip/enable')).to.deep.equal([
        {
          csip_cert: 'certificate:device0',
          csip_key: 'certificate:device0',
          csip_root_cert: 'certificate:root',
          csip_server_ip: 'headend.example',
        },
      ]);
    });

    it('several devices: one certificate, that of an aggregator', async () => {
      await open('csip');
      expect(one('.steps [name="csip_identity"]').value).to.equal('aggregator');
      await press('Connect');
      expect(bodies('POST csip/enable')[0]).to.include({
        csip_identity: 'aggregator',
        csip_cert: 'certificate:aggregator',
      });
    });

    it('another root is added under a free name, and chosen', async () => {
      oneDevice();
      const reply = daemon.exampleOf('GET', 'certificates');
      const [first] = reply.certificates;
      daemon.on('GET certificates', () => ({
        ...reply,
        certificates: [{ ...first, name: 'head-end-root', kind: 'ca' }],
      }));
      await open('csip');
      await type('authority_pem', 'ROOT');
      await press('Connect');
      expect(bodies('POST certificates')).to.deep.equal([{ name: 'head-end-root-2', cert_pem: 'ROOT' }]);
      expect(bodies('POST csip/enable')[0].csip_root_cert).to.equal('certificate:head-end-root-2');
    });

    it('a root that is refused stays in its field, and nothing is switched on', async () => {
      oneDevice();
      const errors = [{ in: 'body', name: '/cert_pem', detail: 'must be PEM' }];
      daemon.on('POST certificates', () => refusal(422, 'not valid', errors));
      await open('csip');
      await type('authority_pem', 'ROOT');
      await press('Connect');
      expect(one('[name="authority_pem"]').value).to.equal('ROOT');
      expect(textOf('.issue')).to.equal('must be PEM');
      expect(bodies('POST csip/enable')).to.deep.equal([]);
    });

    it('on: shows the state of the connection with what diagnostics names', async () => {
      answerWithSettings(daemon, { csip_client_enable: { value: true } });
      await open('csip/connect');
      expect(textOf('.steps')).to.include('State');
      const { errors, warnings, info } = daemon.exampleOf('GET', 'csip/diagnostics');
      for (const { code } of [...errors, ...warnings, ...info]) expect(textOf('.steps')).to.include(code);
    });
  });

  describe('the way to a central system', () => {
    it('adds a station where there is none', async () => {
      const overview = daemon.exampleOf('GET', 'overview');
      const devices = overview.devices.map((each: Json) => ({ ...each, charge_point_id: null }));
      daemon.on('GET overview', () => ({ ...overview, devices }));
      await open('ocpp');
      await press('Add a charging station');
      await type('id', 'CP-LAB');
      await press('Add a charging station');
      expect(bodies('POST devices')).to.deep.equal([
        { device_type: 'EVSE' },
        { device_type: 'EVSE', ocpp: { id: 'CP-LAB' } },
      ]);
    });

    it('connects with URL and version, and shows an issue at its field', async () => {
      const errors = [{ in: 'body', name: '/ocpp_csms_url', detail: 'must be a URL' }];
      daemon.on('POST ocpp/enable', () => refusal(422, 'not valid', errors));
      await open('ocpp');
      expect(textOf('.steps')).to.include('CP-5');
      await type('ocpp_csms_url', 'nowhere');
      await type('ocpp_version', 'ocpp2.0.1j');
      await press('Connect');
      expect(bodies('POST ocpp/enable')).to.deep.equal([{ ocpp_csms_url: 'nowhere', ocpp_version: ['ocpp2.0.1j'] }]);
      expect(textOf('.issue')).to.equal('must be a URL');
    });

    it('plugs in and authorises at the first connector, but never twice', async () => {
      answerWithSettings(daemon, { ocpp_enable: { value: true } });
      const points = daemon.exampleOf('GET', 'ocpp');
      const [first] = points.charge_points;
      daemon.on('GET ocpp', () => ({ ...points, charge_points: [{ ...first, id: 'CP-5' }] }));
      const station = daemon.exampleOf('GET', 'evse/CP-5');
      const [connector] = station.connectors;
      const shown: Json = {
        ...connector,
        connector_id: 1,
        status: 'available',
        session: null,
        authorized: false,
        operative: true,
        error_code: 'NoError',
        cable: { ev_plugged: false, evse_plugged: false, locked: false },
      };
      daemon.on('GET evse/CP-5', () => ({ ...station, connectors: [{ ...shown }] }));
      await open('ocpp/connect');
      await press('Plug in a vehicle');
      await type('id_token', 'CARD-1');
      await press('Authorise');
      expect(bodies('POST evse/CP-5/connectors/1/plug')).to.deep.equal([{}]);
      expect(bodies('POST evse/CP-5/connectors/1/authorize')).to.deep.equal([{ id_token: 'CARD-1' }]);
      shown.authorized = true;
      await pass(2000);
      expect(button('Authorise').disabled).to.equal(true);
    });
  });
});
