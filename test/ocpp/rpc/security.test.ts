import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { ocppPasswordOctets } from '../../../src/contract/ocpp-settings.ts';
import { contextMaker, passwordOf } from '../../../src/ocpp/rpc/credentials.ts';
import type { Credentials } from '../../../src/ocpp/rpc/credentials.ts';
import { failureOf } from '../../../src/ocpp/rpc/socket.ts';
import { createAuthority, issue } from '../../support/pki.ts';
import type { Authority, Identity } from '../../support/pki.ts';
import type { Central, CentralOptions } from '../central/central.ts';
import { noCredentials, openCentral, TransportRig } from './rig.ts';
import type { RigOptions } from './rig.ts';

const hexKey = '00ff3a0d0a7f80c1e5f60123456789abcdef0123';
const octets = Buffer.from(hexKey, 'hex');
const other = Buffer.from('another-password-of-24-b');

const peerOf = ({ socket }: IncomingMessage) => (socket instanceof TLSSocket ? socket.getPeerCertificate() : null);

describe('security profiles of a charge point (white paper of 1.6, 2.x A00)', () => {
  let ca: Authority;
  let foreign: Authority;
  let server: Identity;
  let elsewhere: Identity;
  let own: Identity;
  let central: Central;
  let rigs: TransportRig[] = [];
  before(async () => {
    [ca, foreign] = await Promise.all([createAuthority('Test CA'), createAuthority('Foreign CA')]);
    [server, elsewhere, own] = await Promise.all([
      issue(ca, 'csms', { purpose: 'server' }),
      issue(ca, 'elsewhere', { purpose: 'server', hosts: ['csms.example'] }),
      issue(ca, 'SN-0001', { purpose: 'client' }),
    ]);
  });
  afterEach(async () => {
    await Promise.all(rigs.map(({ transport }) => transport.stop()));
    rigs = [];
    await central.close();
  });
  const rigOn = (credentials: Partial<Credentials>, options: RigOptions = {}) => {
    const rig = new TransportRig(central.url, { credentials, ...options });
    rigs.push(rig);
    return rig;
  };
  const connection = (identity = 'CP-1') => central.station(identity).nextConnection();
  const tlsCentral = async (tls: Partial<NonNullable<CentralOptions['tls']>> = {}, identity = server) => {
    central = await openCentral({ tls: { ...identity, ...tls } });
  };
  const failing = async (credentials: Partial<Credentials>) => {
    const rig = rigOn(credentials);
    rig.link.connect();
    return rig.failed.take();
  };

  describe('basic authentication', () => {
    beforeEach(async () => {
      central = await openCentral();
    });

    it('profile 1 sends the octets of the hexadecimal key (1.6)', async () => {
      expect(ocppPasswordOctets(hexKey, ['ocpp1.6j'])).to.deep.equal(octets);
      const rig = rigOn({ securityProfile: 1, password: octets });
      await rig.connect();
      expect((await connection()).password).to.deep.equal(octets);
      expect(central.requests[0]?.headers.authorization).to.equal(
        `Basic ${Buffer.concat([Buffer.from('CP-1:'), octets]).toString('base64')}`,
      );
      expect(rig.link.tls).to.equal(null);
    });

    it('an identity may have colons', async () => {
      const rig = rigOn({ securityProfile: 1, password: octets }, { identity: 'CP:1:2' });
      await rig.connect();
      expect((await connection('CP:1:2')).password).to.deep.equal(octets);
    });

    it('profiles 0 and 3 send none', async () => {
      expect(passwordOf({ ...noCredentials, password: octets })).to.equal(null);
      expect(passwordOf({ ...noCredentials, securityProfile: 3, password: octets })).to.equal(null);
      await rigOn({ securityProfile: 0, password: octets }).connect();
      expect((await connection()).password).to.equal(null);
    });
  });

  describe('profile 2', () => {
    it('connects in TLS with a password, also where the address says ws', async () => {
      await tlsCentral();
      const rig = rigOn({ securityProfile: 2, password: octets, rootCert: ca.cert });
      rig.link.setTarget({ ...rig.link.target, url: central.url.replace('wss:', 'ws:') });
      await rig.connect();
      const { password, request } = await connection();
      expect(password).to.deep.equal(octets);
      expect(rig.link.tls).to.deep.equal({ version: 'TLSv1.3', suite: 'TLS_AES_256_GCM_SHA384' });
      expect(peerOf(request)).to.deep.equal({});
    });

    it('uses the suites of the standard with TLS 1.2', async () => {
      await tlsCentral({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384' });
      const rig = rigOn({ securityProfile: 2, password: octets, rootCert: ca.cert });
      await rig.connect();
      expect(rig.link.tls).to.deep.equal({ version: 'TLSv1.2', suite: 'ECDHE-ECDSA-AES256-GCM-SHA384' });
    });

    it('does not accept a certificate of another authority, and none of the system without its own', async () => {
      await tlsCentral();
      const unknown = await failing({ securityProfile: 2, password: octets, rootCert: foreign.cert });
      expect(unknown).to.include({ kind: 'certificate', status: null });
      expect(unknown.text).to.match(/^no connection: /);
      expect(await failing({ securityProfile: 2, password: octets })).to.include({ kind: 'certificate' });
      expect(central.requests).to.have.length(0);
    });

    it('does not accept a certificate of another host', async () => {
      await tlsCentral({}, elsewhere);
      const failure = await failing({ securityProfile: 2, password: octets, rootCert: ca.cert });
      expect(failure.kind).to.equal('certificate');
      expect(central.requests).to.have.length(0);
    });

    it('does not use TLS 1.1', async () => {
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
      await tlsCentral(old);
      const failure = await failing({ securityProfile: 2, password: octets, rootCert: ca.cert });
      expect(failure).to.deep.equal({
        kind: 'tls_version',
        status: null,
        text: 'no connection: it accepts none of the TLS versions that are offered',
      });
    });

    it('does not use suites that the standard does not have', async () => {
      await tlsCentral({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' });
      const failure = await failing({ securityProfile: 2, password: octets, rootCert: ca.cert });
      expect(failure.kind).to.equal('cipher_suite');
    });

    it('a central system in clear is a failure of TLS', async () => {
      central = await openCentral();
      const failure = await failing({ securityProfile: 2, password: octets, rootCert: ca.cert });
      expect(failure.kind).to.equal('tls');
    });
  });

  describe('profile 3', () => {
    it('shows its certificate when it is asked, and no password', async () => {
      await tlsCentral({ clientCa: ca.cert });
      const rig = rigOn({ securityProfile: 3, password: octets, rootCert: ca.cert, own });
      await rig.connect();
      const { password, request } = await connection();
      expect(password).to.equal(null);
      expect(peerOf(request)?.subject.CN).to.equal('SN-0001');
    });

    it('profile 2 shows none, even where it has one', async () => {
      await tlsCentral({ clientCa: ca.cert, maxVersion: 'TLSv1.2' });
      const failure = await failing({ securityProfile: 2, password: octets, rootCert: ca.cert, own });
      expect(failure.kind).to.be.oneOf(['tls', 'cipher_suite', 'network']);
      expect(central.requests).to.have.length(0);
    });

    it('a key of another certificate is told, without a text of it', async () => {
      await tlsCentral();
      const rig = rigOn({ securityProfile: 3, rootCert: ca.cert, own: { cert: own.cert, key: server.key } });
      rig.link.connect();
      const failure = await rig.failed.take();
      expect(failure).to.deep.equal({
        kind: 'material',
        status: null,
        text: 'no connection can be made: its key does not belong to the certificate',
      });
      expect(rig.link.reconnectInS).to.equal(1.5);
    });
  });

  describe('other credentials', () => {
    const admitting = (password: Buffer) => {
      central.admit = (_, given) => (given?.equals(password) === true ? null : 401);
    };
    beforeEach(async () => {
      central = await openCentral();
      admitting(octets);
    });

    it('a new password that opens a connection is proven, and used from then on', async () => {
      const rig = rigOn({ securityProfile: 1, password: octets });
      await rig.connect();
      await connection();
      admitting(other);
      rig.link.setCredentials({ password: other });
      rig.link.reconnect('another password');
      expect(await rig.credentials.take()).to.deep.equal([
        'proven',
        { ...noCredentials, securityProfile: 1, password: other },
      ]);
      expect((await connection()).password).to.deep.equal(other);
      expect(rig.link.credentials.password).to.deep.equal(other);
    });

    it('a new password that is refused gives way to the old one at once', async () => {
      const rig = rigOn({ securityProfile: 1, password: octets });
      await rig.connect();
      await connection();
      rig.link.setCredentials({ password: other });
      expect(rig.link.credentials.password).to.equal(other);
      rig.link.reconnect('another password');
      expect((await rig.failed.take()).status).to.equal(401);
      expect((await rig.credentials.take())[0]).to.equal('reverted');
      expect((await connection()).password).to.deep.equal(octets);
      await rig.opened.take();
      expect(rig.timers.waiting).to.equal(0);
      expect(rig.lines).to.include('CP-1: the new credentials failed, the former ones are used again');
    });

    it('a central system that is away for a moment does not cost the new password', async () => {
      const rig = rigOn({ securityProfile: 1, password: octets });
      await rig.connect();
      await connection();
      const answers = [503, 404, null];
      central.admit = (_, given) => (given?.equals(other) === true ? (answers.shift() ?? null) : 401);
      rig.link.setCredentials({ password: other });
      rig.link.reconnect('another password');
      for (const status of [503, 404]) {
        expect((await rig.failed.take()).status).to.equal(status);
        rig.passWait();
      }
      expect((await rig.credentials.take())[0]).to.equal('proven');
    });

    it('three failures of any kind bring the old ones back', async () => {
      const rig = rigOn({ securityProfile: 1, password: octets });
      await rig.connect();
      await connection();
      central.admit = (_, given) => (given?.equals(other) === true ? 503 : null);
      rig.link.setCredentials({ password: other });
      rig.link.reconnect('another password');
      for (let n = 0; n < 3; n += 1) {
        await rig.failed.take();
        if (n < 2) rig.passWait();
      }
      expect((await rig.credentials.take())[0]).to.equal('reverted');
      expect((await connection()).password).to.deep.equal(octets);
    });

    it('a higher security profile that does not work falls back', async () => {
      const rig = rigOn({ securityProfile: 1, password: octets, rootCert: ca.cert });
      await rig.connect();
      await connection();
      rig.link.setCredentials({ securityProfile: 2 });
      rig.link.reconnect('another security profile');
      expect((await rig.failed.take()).kind).to.equal('tls');
      const [outcome, inForce] = await rig.credentials.take();
      expect([outcome, inForce.securityProfile]).to.deep.equal(['reverted', 1]);
      await connection();
      expect(rig.link.credentials.securityProfile).to.equal(1);
    });

    it('a client certificate that cannot be used falls back', async () => {
      const rig = rigOn({ securityProfile: 1, password: octets, rootCert: ca.cert });
      await rig.connect();
      await connection();
      rig.link.setCredentials({ securityProfile: 3, own: { cert: own.cert, key: server.key } });
      rig.link.reconnect('another security profile');
      expect((await rig.failed.take()).kind).to.equal('material');
      expect((await rig.credentials.take())[0]).to.equal('reverted');
      await connection();
    });

    it('those of the user are for good', async () => {
      const rig = rigOn({ securityProfile: 1, password: octets });
      await rig.connect();
      await connection();
      rig.link.setCredentials({ password: Buffer.from('yet-another-password') });
      rig.link.adoptCredentials({ password: other });
      rig.link.reconnect('by the user');
      expect((await rig.failed.take()).status).to.equal(401);
      expect(rig.link.credentials.password).to.equal(other);
      expect(rig.link.reconnectInS).to.equal(1.5);
      admitting(other);
      rig.passWait();
      expect((await connection()).password).to.deep.equal(other);
    });

    it('profile 2 to 3 goes on with a certificate', async () => {
      await central.close();
      await tlsCentral({ clientCa: ca.cert });
      const rig = rigOn({ securityProfile: 2, password: octets, rootCert: ca.cert });
      rig.link.setCredentials({ securityProfile: 3, own });
      rig.link.connect();
      const [outcome, inForce] = await rig.credentials.take();
      expect([outcome, inForce.securityProfile]).to.deep.equal(['proven', 3]);
      expect(peerOf((await connection()).request)?.subject.CN).to.equal('SN-0001');
    });
  });

  describe('contexts', () => {
    beforeEach(async () => {
      central = await openCentral();
    });

    it('are shared by stations with the same material, and at most 32 are kept', () => {
      const contexts = contextMaker();
      const of = (root: string | null, more: Partial<Credentials> = {}) =>
        contexts({ ...noCredentials, securityProfile: 2, rootCert: root, ...more });
      const first = of(ca.cert);
      expect(of(ca.cert, { password: other })).to.equal(first);
      expect(of(ca.cert, { own })).to.equal(first);
      expect(of(ca.cert, { own, securityProfile: 3 })).not.to.equal(first);
      expect(of(null)).not.to.equal(first);
      for (let n = 0; n < 32; n += 1) of(`${ca.cert}${'\n'.repeat(n + 1)}`);
      expect(of(ca.cert)).not.to.equal(first);
    });

    it('failures without a code of their own are those of the network', () => {
      expect(failureOf('no error')).to.deep.equal({
        kind: 'network',
        status: null,
        text: 'no connection: the connection could not be opened',
      });
    });
  });
});
