import { expect } from 'chai';
import { createMemoryStore } from '../../../src/core/store.ts';
import type { Store } from '../../../src/core/store.ts';
import type { Credentials, CredentialsChange } from '../../../src/ocpp/rpc/credentials.ts';
import type { Link } from '../../../src/ocpp/rpc/link.ts';
import { connectionOf } from '../../../src/ocpp/station/connection.ts';
import type { LineState } from '../../../src/ocpp/station/line.ts';
import { issue, createAuthority } from '../../support/pki.ts';
import type { Authority } from '../../support/pki.ts';
import type { Central } from '../central/central.ts';
import { noCredentials, openCentral } from '../rpc/rig.ts';
import { StationRig } from './rig.ts';

const password = Buffer.from('password-of-the-settings');
const learnt = Buffer.from([0xff, 0x00, 0xfe, 0x80, ...Array.from({ length: 16 }, (_, at) => at)]);

describe('what a station has learnt on its line', () => {
  let central: Central;
  let rig: StationRig;
  let store: Store;
  let ca: Authority;
  /** paths of the requests to connect */
  const paths = () => central.requests.map(({ url = '' }) => url.replace(/\/\.websocket$/, ''));
  const start = async (credentials: Partial<Credentials> = {}) => {
    rig = new StationRig(central.url, { credentials: { ...noCredentials, ...credentials } }, ['ocpp1.6j'], store);
    await rig.loaded;
  };
  const open = async (credentials?: Partial<Credentials>) => {
    await start(credentials);
    rig.station.begin();
    await rig.until('opened ocpp1.6');
  };
  before(async () => {
    ca = await createAuthority('Test CA');
  });
  beforeEach(async () => {
    central = await openCentral();
    store = createMemoryStore();
  });
  afterEach(async () => {
    await rig.station.stop();
    await central.close();
  });

  it('a password of any octets is the same after a restart, and is tried first', async () => {
    await open({ securityProfile: 1, password });
    rig.parts.connection.setPassword(learnt);
    await rig.station.stop();
    const shown: (Buffer | null)[] = [];
    central.admit = (_, given) => {
      shown.push(given);
      return null;
    };
    await open({ securityProfile: 1, password });
    expect(rig.parts.connection.password).to.deep.equal(learnt);
    expect(rig.parts.network.password).to.deep.equal(learnt);
    expect(shown).to.deep.equal([learnt]);
  });

  it('a password that is refused after a restart is forgotten once that of the settings has opened a connection', async () => {
    await open({ securityProfile: 1, password });
    rig.parts.connection.setPassword(learnt);
    await rig.station.stop();
    await start({ securityProfile: 1, password });
    central.admit = (_, given) => (given?.equals(password) === true ? null : 401);
    rig.station.begin();
    await rig.until('failed rejected');
    expect(rig.parts.network.password).to.deep.equal(learnt);
    await rig.until('opened ocpp1.6');
    expect(rig.parts.network.password).to.equal(null);
  });

  it('a raised security profile is tried again after a restart, and forgotten once a lower one has opened a connection', async () => {
    await open({ securityProfile: 1, password, rootCert: ca.cert });
    rig.parts.connection.setSecurityProfile(2);
    await rig.station.stop();
    await start({ securityProfile: 1, password, rootCert: ca.cert });
    expect(rig.station.status).to.include({ securityProfile: 2, url: central.url.replace('ws:', 'wss:') });
    rig.station.begin();
    // the central system of this test has no TLS
    await rig.until('failed tls');
    await rig.until('opened ocpp1.6');
    await rig.station.stop();
    await start({ securityProfile: 1, password, rootCert: ca.cert });
    expect(rig.station.status.securityProfile).to.equal(1);
  });

  it('a security profile that the settings have raised further counts', async () => {
    await open({ securityProfile: 1, password, rootCert: ca.cert });
    rig.parts.connection.setSecurityProfile(2);
    await rig.station.stop();
    const own = await issue(ca, 'station', { purpose: 'client' });
    await start({ securityProfile: 3, password, rootCert: ca.cert, own });
    expect(rig.station.status.securityProfile).to.equal(3);
  });

  it('the network profile in use leads the first connection after a restart, whatever version begins', async () => {
    await open();
    const access = { url: `${central.url}/other`, guarded: false, securityProfile: 0, password: null } as const;
    rig.parts.network.setAccess(access, 2);
    expect(rig.parts.network).to.deep.include({ slot: 2, hasConnected: true });
    await rig.station.stop();
    await start();
    expect(rig.parts.network.slot).to.equal(2);
    expect(rig.parts.network.hasConnected).to.equal(false);
    expect(rig.parts.network.settings.url).to.equal(central.url);
    rig.station.begin();
    await rig.until('opened ocpp1.6');
    expect(paths().at(-1)).to.equal('/ocpp/other/CP-1');
    // back to the settings
    rig.parts.network.setAccess(rig.parts.network.settings, null);
    expect(rig.parts.network.slot).to.equal(null);
    await rig.station.stop();
    await open();
    expect(paths().at(-1)).to.equal('/ocpp/CP-1');
  });

  it('a password learnt at the address of a network profile is on trial there after a restart', async () => {
    await open({ securityProfile: 1, password });
    rig.parts.connection.setPassword(learnt);
    rig.parts.network.setAccess({ ...rig.parts.network.access, url: `${central.url}/other` }, 2);
    await rig.station.stop();
    await start({ securityProfile: 1, password });
    expect(rig.parts.network.access.password).to.deep.equal(learnt);
    central.admit = (_, given) => (given?.equals(password) === true ? null : 401);
    rig.station.begin();
    await rig.until('failed rejected');
    await rig.until('opened ocpp1.6');
    expect(paths().at(-1)).to.equal('/ocpp/other/CP-1');
    expect(rig.parts.network.password).to.equal(null);
  });

  describe('the address of the settings after that of a network profile', () => {
    const profile = () =>
      ({ url: `${central.url}/other`, guarded: false, securityProfile: 1, password: null }) as const;
    /** The password is proven at the address of the profile, which ends; the settings are next. */
    const leave = async () => {
      await open({ securityProfile: 1, password });
      const { network, connection } = rig.parts;
      network.setAccess(profile(), 1);
      connection.setPassword(learnt);
      connection.reconnect('the network profile');
      await rig.until('opened ocpp1.6');
      network.setAccess(network.settings, null);
      expect(network.settings).to.deep.include({ url: central.url, password });
    };

    it('has its password once it refuses the learnt one, which the profile still has', async () => {
      await leave();
      central.admit = (_, given) => (given?.equals(password) === true ? null : 401);
      const { network, connection } = rig.parts;
      connection.reconnect('the settings');
      await rig.until('failed rejected');
      await rig.until('opened ocpp1.6');
      expect(paths().slice(-2)).to.deep.equal(['/ocpp/CP-1', '/ocpp/CP-1']);
      expect(network.access.password).to.deep.equal(password);
      expect(network.password).to.deep.equal(learnt);
      // the variable shows no value that is not in force, so that the central system may set it
      expect(connection.password).to.equal(null);
    });

    it('has the learnt password where that is accepted', async () => {
      await leave();
      central.admit = (_, given) => (given?.equals(learnt) === true ? null : 401);
      const { network, connection } = rig.parts;
      connection.reconnect('the settings');
      await rig.until('opened ocpp1.6');
      expect(network.settings.password).to.deep.equal(learnt);
      expect([network.password, connection.password]).to.deep.equal([learnt, learnt]);
    });

    it('the learnt password is no longer on trial at the network profile that follows', async () => {
      await leave();
      const { network, connection } = rig.parts;
      network.setAccess({ ...profile(), password: learnt }, 1);
      central.admit = () => 401;
      connection.reconnect('the network profile');
      await rig.until('failed rejected');
      expect(network.access.password).to.deep.equal(learnt);
    });
  });

  it('another central system over REST takes the place of a network profile', async () => {
    await open();
    const access = { url: `${central.url}/other`, guarded: false, securityProfile: 0, password: null } as const;
    rig.parts.network.setAccess(access, 2);
    rig.station.connect({ url: `${central.url}/third` });
    await rig.until('opened ocpp1.6');
    expect(rig.parts.network.slot).to.equal(null);
    expect(rig.parts.network.settings.url).to.equal(`${central.url}/third`);
  });

  it('a certificate that is in force already is not tried again by a version that begins', async () => {
    await start();
    const own = { cert: 'cert', key: 'key' };
    const tried: string[] = [];
    const link = {
      credentials: { ...noCredentials, securityProfile: 3, own },
      setCredentials: ({ own: next }: CredentialsChange) => tried.push(`${next?.cert}, ${next?.key}`),
    };
    const connection = connectionOf(link as unknown as Link, {} as unknown as LineState);
    for (const next of [{ ...own }, { ...own, key: 'other' }, { ...own, cert: 'other' }])
      connection.setCertificates({ own: next });
    expect(tried).to.deep.equal(['cert, other', 'other, key']);
  });

  for (const [name, stored] of [
    ['nothing of use', 3],
    ['members of other kinds', { password: 7, securityProfile: 'one', profile: [] }],
  ] as const)
    it(`a store with ${name} is as an empty one`, async () => {
      await store.slot('station/line').replace([stored]);
      await open({ securityProfile: 1, password });
      expect(rig.station.status).to.include({ securityProfile: 1, url: central.url });
      expect(rig.parts.connection.password).to.equal(null);
    });
});
