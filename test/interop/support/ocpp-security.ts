/** The security profiles of a station at a central system of other people. */
import { expect } from 'chai';
import { freePorts } from '../../support/ports.ts';
import { StationAtCentral } from './ocpp-central.ts';
import type { CentralOptions } from './ocpp-central.ts';
import { serverOf } from './ocpp-pki.ts';
import type { LinePeer } from './peers.ts';
import { PkiOnDisk } from './pki-on-disk.ts';

const openLimitMs = 60_000;
const user = 'CP-1';

/** What differs between the versions. */
export interface ProfilesCase {
  /** starts the central system */
  readonly open: (port: number, options: CentralOptions) => LinePeer;
  /** of the station, besides those of the connection */
  readonly flags?: readonly string[];
  /** as the station takes it */
  readonly password: string;
  /** what the station makes of it */
  readonly octets: Buffer;
  /** Calls in both directions and a transaction, as a sign that the station is at work. */
  readonly atWork: (station: StationAtCentral, profile: 1 | 2 | 3) => Promise<void>;
}

/** Each security profile at a central system of other people, and what is refused. */
export function profilesOf({ open, flags = [], password, octets, atWork }: ProfilesCase): void {
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
      ...['--ocpp_cert', pki.path('gridservice.pem'), '--ocpp_key', pki.path('gridservice.key'), ...flags],
    ]);
    await central.stop();
  });
  afterEach(async () => {
    expect(await central.ask('refused')).to.deep.equal([]);
    await central.stop();
  });
  after(async () => {
    pki.remove();
    expect(await first.close()).to.equal(0);
  });

  const server = (name = 'server') => ({ cert: pki.path(`${name}.pem`), key: pki.path(`${name}.key`) });
  const basic = { user, password: octets.toString('hex') };

  async function connect(profile: 1 | 2 | 3, options: CentralOptions, more: object = {}): Promise<void> {
    const port = await freePorts(1);
    central = open(port, options);
    await central.ask('ready');
    station = first.at(central);
    const url = `${profile === 1 ? 'ws' : 'wss'}://127.0.0.1:${port}`;
    await station.post(`ocpp/${user}/connect`, { url, security_profile: profile, ...more });
  }
  async function expectAtWork(profile: 1 | 2 | 3): Promise<void> {
    await station.until('it is accepted', async () => {
      const { connection_state: state, boot_status: boot, security_profile } = await station.get(`ocpp/${user}`);
      return (state === 'connected' && boot === 'accepted' && security_profile === profile) || undefined;
    });
    await atWork(station, profile);
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

  it('profile 1: basic authentication', async () => {
    await connect(1, basic, { password });
    await expectAtWork(1);
  });

  it('profile 1: the central system refuses another password', async () => {
    await connect(1, basic, { password: 'a-wrong-password' });
    await central.ask('wait', { station: user, action: '(refused)' });
    await expectRefused(/401/);
  });

  it('profile 2: TLS with basic authentication', async () => {
    await connect(2, { ...server(), ...basic }, { password });
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
