import { expect } from 'chai';
import { freePorts } from '../support/ports.ts';
import { StationAtCentral } from './support/ocpp-central.ts';
import type { CentralOptions } from './support/ocpp-central.ts';
import { buildGoCentral } from './support/ocpp-go.ts';
import type { GoCentral } from './support/ocpp-go.ts';
import { serverOf } from './support/ocpp-pki.ts';
import { describeWith, PythonPeer } from './support/peers.ts';
import type { LinePeer } from './support/peers.ts';
import { PkiOnDisk } from './support/pki-on-disk.ts';

const openLimitMs = 60_000;
const buildLimitMs = 300_000;
const user = 'CP-1';
const passwords = {
  /** octets that are no text: they go through as they are */
  right: '00ff3a80c3289f7b0a0d22275c00fe01',
  wrong: '11'.repeat(16),
};

type Open = (port: number, options: CentralOptions) => LinePeer;

/** Each security profile at a central system of other people, and what is refused. */
function profilesOf(open: Open): void {
  let pki: PkiOnDisk;
  let first: StationAtCentral;
  let station: StationAtCentral;
  let central: LinePeer;

  before(async function () {
    this.timeout(openLimitMs);
    pki = new PkiOnDisk();
    serverOf(pki.path('foreign-ca'), pki.path('foreign-server'));
    // nobody is there yet: each test connects it to a central system of its own
    central = open(await freePorts(1), {});
    first = await StationAtCentral.open(user, central, `wss://127.0.0.1:${await freePorts(1)}`, [
      ...['--ocpp_security_profile', '3', '--ocpp_root_cert', pki.path('ca.pem')],
      ...['--ocpp_cert', pki.path('gridservice.pem'), '--ocpp_key', pki.path('gridservice.key')],
    ]);
    await central.stop();
  });
  afterEach(() => central.stop());
  after(async () => {
    pki.remove();
    expect(await first.close()).to.equal(0);
  });

  const server = (name = 'server') => ({ cert: pki.path(`${name}.pem`), key: pki.path(`${name}.key`) });
  const basic = { user, password: passwords.right };

  async function connect(profile: 1 | 2 | 3, options: CentralOptions, more: object = {}): Promise<void> {
    const port = await freePorts(1);
    central = open(port, options);
    await central.ask('ready');
    station = first.at(central);
    const url = `${profile === 1 ? 'ws' : 'wss'}://127.0.0.1:${port}`;
    await station.post(`ocpp/${user}/connect`, { url, security_profile: profile, ...more });
  }
  /** A transaction, as a sign that calls go both ways. */
  async function expectAtWork(profile: 1 | 2 | 3): Promise<void> {
    await station.until('it is accepted', async () => {
      const { connection_state: state, boot_status: boot, security_profile } = await station.get(`ocpp/${user}`);
      return (state === 'connected' && boot === 'accepted' && security_profile === profile) || undefined;
    });
    const { configurationKey } = await station.call('GetConfiguration', { key: ['SecurityProfile'] });
    expect(configurationKey[0].value).to.equal(String(profile));
    await station.start('TAG-1');
    await station.connector('authorize', { id_token: 'TAG-1' });
    await station.next('StopTransaction', { idTag: 'TAG-1' });
    await station.connector('unplug');
    await station.status('Available');
  }
  /** It says why it fails, and the central system has seen no request. */
  async function expectRefused(why: RegExp): Promise<void> {
    await station.until(`a reason like ${String(why)}`, async () => {
      const { last_error: error, connection_state: state } = await station.get(`ocpp/${user}`);
      return (state !== 'connected' && why.test(String(error))) || undefined;
    });
    const boot = central.ask('wait', { station: user, action: '(connected)', timeout: 0.1 });
    expect(String(await boot.catch((error: unknown) => error))).to.include('no (connected)');
  }

  it('profile 1: basic authentication with octets', async () => {
    await connect(1, basic, { password: passwords.right });
    await expectAtWork(1);
  });

  it('profile 1: the central system refuses another password', async () => {
    await connect(1, basic, { password: passwords.wrong });
    await central.ask('wait', { station: user, action: '(refused)' });
    await expectRefused(/401/);
  });

  it('profile 2: TLS with basic authentication', async () => {
    await connect(2, { ...server(), ...basic }, { password: passwords.right });
    const { payload } = await station.next('(connected)');
    expect(payload.tls).to.match(/^TLSv1\.[23]$/);
    expect(payload.client).to.equal(null);
    await expectAtWork(2);
  });

  it('profile 2: the station refuses a central system whose certificate is of another CA', async () => {
    await connect(2, { ...server('foreign-server'), ...basic });
    await expectRefused(/certificate/);
  });

  it('profile 3: TLS with a certificate of the client', async () => {
    await connect(3, { ...server(), ca: pki.path('ca.pem') });
    const { payload } = await station.next('(connected)');
    expect(payload.client).to.equal('gridservice');
    await expectAtWork(3);
  });

  it('profile 3: the central system refuses a client whose certificate is of another CA', async () => {
    await connect(3, { ...server(), ca: pki.path('foreign-ca.pem') });
    await expectRefused(/alert|certificate|closed|reset/i);
  });
}

describeWith(['ocpp', 'openssl'], 'security profiles of OCPP 1.6 at the package ocpp', () => {
  profilesOf((port, options) => new PythonPeer('central_system', port, JSON.stringify(options)));
});

describeWith(['go', 'openssl'], 'security profiles of OCPP 1.6 at ocpp-go', () => {
  let program: GoCentral;

  before(function () {
    this.timeout(buildLimitMs);
    program = buildGoCentral();
  });
  after(() => {
    program.remove();
  });

  profilesOf((port, options) => program.start(port, options));
});
