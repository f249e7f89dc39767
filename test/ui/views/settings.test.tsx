import { expect } from 'chai';
import SettingsView from '../../../src/ui/views/settings/settings';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import type { Json } from '../support/description.ts';
import { address, all, button, leave, one, press, show, showCalls, textOf, tick, type } from '../support/page.tsx';
import { answerWithCertificates, answerWithSettings } from '../support/settings.ts';
import { answerForSite } from '../support/site.ts';
import { accept, startPage } from '../support/stream.ts';

describe('settings', () => {
  let daemon: Daemon;
  const sent = (): readonly Json[] => daemon.to('PATCH settings').map(({ body }) => body);
  const open = async (query: string) => {
    await address(`#/settings?${query}`);
    return show(<SettingsView />);
  };

  before(startPage);
  beforeEach(async () => {
    await accept();
    daemon = new Daemon();
    answerForSite(daemon);
    answerWithSettings(daemon);
    answerWithCertificates(daemon);
  });
  afterEach(async () => {
    await leave();
    await pass(4000);
  });

  it('shows a group, and finds settings of all groups by name and meaning', async () => {
    await open('settings-group=Others');
    expect(all('[name="csip_server_ip"]')).to.have.length(1);
    expect(all('[name="mb_port"]')).to.have.length(0);
    await address('#/settings?settings-find=mb_');
    expect(all('[name="mb_port"], [name="mb_cert"]')).to.have.length(2);
    expect(all('[name="csip_server_ip"]')).to.have.length(0);
    await address('#/settings?settings-find=no+such');
    expect(textOf()).to.include('No setting has “no such”');
  });

  it('has a field for each type, with bounds and choices', async () => {
    await open('settings-find=_');
    expect(one('[name="mb_enable"]').checked).to.equal(true);
    const port = one('[name="mb_port"]');
    expect([port.type, port.value, port.min, port.max]).to.deep.equal(['number', '8502', '0', '65535']);
    const options = (name: string) => all(`[name="${name}"] option`).map(({ value }) => value);
    expect(options('mb_foreign_unit')).to.deep.equal(['', 'silent', 'gateway']);
    expect(options('log_level')).to.deep.equal(['debug', 'info']);
    expect(options('csip_notify_enc')).to.deep.equal(['', 'true', 'false']);
    expect(one('[name="dnp3_remote_addr"]').value).to.equal('4');
    expect([one('[name="csip_pin"]').type, one('[name="csip_pin"]').value]).to.deep.equal(['password', '']);
  });

  it('offers the certificates that fit, and keeps a file that is chosen', async () => {
    await open('settings-find=_cert');
    const options = (name: string) => all(`[name="${name}"] option`).map(({ value }) => value);
    const clients = ['aggregator', 'comm_004a', 'device0'].map((name) => `certificate:${name}`);
    expect(options('csip_cert')).to.deep.equal(['', ...clients]);
    expect(options('csip_root_cert')).to.deep.equal(['', 'certificate:mica', 'certificate:root']);
    expect(options('mb_cert')).to.deep.equal(['', '/etc/pki/mb.pem', ...clients]);
    await type('csip_cert', 'certificate:device0');
    await press('Change 1 setting');
    expect(sent()).to.deep.equal([{ csip_cert: 'certificate:device0' }]);
  });

  it('sends the changed settings of all groups in one request, in the form of a file', async () => {
    daemon.on('PATCH settings', () => ({
      settings: [{ key: 'mb_port' }, { key: 'csip_nmi' }],
      restarts: ['modbus', 'csip'],
      adapters: [
        { adapter: 'modbus', effect: 'restarted' },
        { adapter: 'csip', effect: 'switched_on' },
      ],
    }));
    await open('settings-group=Modbus TCP');
    expect(button('Change settings').disabled).to.equal(true);
    await type('mb_port', '1502');
    await tick('mb_enable', false);
    await tick('mb_enable', true);
    await address('#/settings?settings-group=Others&api=1');
    await type('csip_nmi', '4102, 4103');
    await type('dnp3_remote_addr', '4, 5');
    await type('csip_notify_enc', 'false');
    await type('csip_pin', '111115');
    await type('csip_server_ip', '127.0.0.1');
    expect(button('Change 5 settings').disabled).to.equal(false);
    expect(textOf('.bar')).to.include('mb_port, csip_pin');
    expect(one('.bar .call-line').title).not.to.include('111115');
    await press('Change 5 settings');
    expect(sent()).to.deep.equal([
      {
        mb_port: 1502,
        csip_pin: '111115',
        csip_notify_enc: false,
        dnp3_remote_addr: [4, 5],
        csip_nmi: ['4102', '4103'],
      },
    ]);
    expect(textOf('[role=status]')).to.equal('Changed mb_port, csip_nmi; modbus restarted; csip switched on.');
    expect(one('[name="csip_pin"]').value).to.equal('');
  });

  it('takes back what a request has set, and only that', async () => {
    await open('settings-find=_');
    expect(all('button').filter((each) => each.textContent.startsWith('Take back'))).to.have.length(2);
    await press('Take back log_level');
    expect(textOf('[data-test="log_level"]')).to.equal('as at the start');
    await type('mb_port', '');
    await press('Change 1 setting');
    expect(sent()).to.deep.equal([{ log_level: null }]);
  });

  it('keeps a secret whose field is left empty', async () => {
    await open('settings-find=csip_pin');
    await type('csip_pin', '1');
    await type('csip_pin', '');
    expect(button('Change settings').disabled).to.equal(true);
  });

  it('drops what is typed', async () => {
    await open('settings-find=mb_port');
    await type('mb_port', '1502');
    await press('Discard');
    expect(one('[name="mb_port"]').value).to.equal('8502');
    expect(button('Change settings').disabled).to.equal(true);
  });

  it('shows an issue at its field, also one of a setting that is not shown', async () => {
    const errors = [
      { in: 'body', name: '/mb_port', detail: 'must be free' },
      { in: 'body', name: '/csip_server_ip', detail: 'must be given' },
    ];
    daemon.on('PATCH settings', () => refusal(422, 'two settings are not valid', errors));
    await open('settings-find=mb_port');
    await type('mb_port', '1502');
    await press('Change 1 setting');
    expect(textOf('[role=alert].problem')).to.equal('two settings are not valid');
    const issues = all('.issue').map((each) => [each.closest('label')?.querySelector('input')?.name, each.textContent]);
    expect(issues).to.deep.equal([
      ['mb_port', 'must be free'],
      ['csip_server_ip', 'must be given'],
    ]);
    expect(one('[name="mb_port"]').value).to.equal('1502');
  });

  it('shows a conflict above the form', async () => {
    daemon.on('PATCH settings', () =>
      refusal(409, 'the former settings are in force again: port 1502 is in use', [], 'conflict'),
    );
    await open('settings-find=mb_port');
    await type('mb_port', '1502');
    await press('Change 1 setting');
    const [problem] = all('.settings [role=alert].problem');
    expect(problem?.textContent).to.include('port 1502 is in use');
    expect(problem?.compareDocumentPosition(one('[name="mb_port"]'))).to.equal(Node.DOCUMENT_POSITION_FOLLOWING);
  });

  it('shows a setting of the start with its reason, and no field', async () => {
    await open('settings-find=mb_host');
    expect(all('[name="mb_host"]')).to.have.length(0);
    expect(textOf('[data-test="mb_host"]')).to.equal('127.0.0.1');
    expect(textOf()).to.include('Changes at a start only: It decides who may reach it.');
  });

  it('has no field where the settings are locked', async () => {
    answerWithSettings(daemon, {}, true);
    await open('settings-find=_');
    expect(all('.setting input, .setting select, .setting button')).to.deep.equal([]);
    expect(textOf()).to.include('--settings_locked yes');
    expect(textOf('[data-test="csip_pin"]')).to.equal('set');
    expect(textOf('[data-test="mb_enable"]')).to.equal('yes');
  });

  it('offers the lab as a file', async () => {
    await open('settings-part=file');
    expect(all('a[download]').map((link) => link.getAttribute('href'))).to.deep.equal([
      '/api/sim/config?format=yaml',
      '/api/sim/config?format=json',
    ]);
  });

  describe('certificates', () => {
    beforeEach(() => {
      globalThis.confirm = () => true;
    });

    it('are listed with kind, identities and users', async () => {
      await open('settings-part=certificates&certificate=device0');
      const row = all('tbody tr').find((each) => each.textContent.includes('device0'))?.textContent ?? '';
      for (const part of ['client', '3E4F45AB31EDFE5B67E343E5E4562E31984E23E5', '167261211391', 'kept'])
        expect(row).to.include(part);
      expect(textOf('[aria-label="Certificate with its chain"]')).to.include('BEGIN CERTIFICATE');
    });

    it('are generated, added and deleted', async () => {
      await open('settings-part=certificates');
      await type('devices', '2');
      await type('hosts', 'headend.example, 192.0.2.7');
      await press('Generate');
      expect(daemon.to('POST certificates/generate').map(({ body }) => body)).to.deep.equal([
        { devices: 2, hosts: ['headend.example', '192.0.2.7'] },
      ]);
      await showCalls();
      await type('name', 'mine');
      await type('cert_pem', 'CERT');
      await type('key_pem', 'KEY');
      expect(
        all('form .call-line')
          .map(({ title }) => title)
          .join(' '),
      ).not.to.include('KEY');
      await press('Add');
      expect(daemon.to('POST certificates').map(({ body }) => body)).to.deep.equal([
        { name: 'mine', cert_pem: 'CERT', key_pem: 'KEY' },
      ]);
      expect(one('[name="key_pem"]').value).to.equal('');
      await press('Delete root');
      expect(daemon.to('DELETE certificates/root')).to.have.length(1);
      expect(daemon.strange).to.deep.equal([]);
    });

    it('in use cannot be deleted', async () => {
      const reply = daemon.exampleOf('GET', 'certificates');
      daemon.on('GET certificates', () => ({
        ...reply,
        certificates: [{ ...reply.certificates[0], name: 'mine', used_by: ['csip_cert'] }],
      }));
      await open('settings-part=certificates');
      expect([button('Delete mine').disabled, button('Delete mine').title]).to.deep.equal([
        true,
        'In use by csip_cert',
      ]);
    });
  });
});
