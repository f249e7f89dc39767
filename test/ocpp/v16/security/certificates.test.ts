import 'reflect-metadata';
import { expect } from 'chai';
import { X509Certificate } from 'node:crypto';
import { Pkcs10CertificateRequest } from '@peculiar/x509';
import { hashDataOf } from '../../../../src/ocpp/security/certificates.ts';
import type { Action, Connection, Requests } from '../../../../src/ocpp/v16/parts.ts';
import { createCertificates } from '../../../../src/ocpp/v16/security.ts';
import type { CertificateFiles } from '../../../../src/ocpp/v16/security.ts';
import { createAuthority, expiredMs, issue } from '../../../support/pki.ts';
import type { Authority, Identity } from '../../../support/pki.ts';
import { settled } from '../fakes.ts';
import type { Rig } from '../fakes.ts';
import { expectFits, upkeepRig } from '../firmware-management/rig.ts';
import { signRequest } from './signing.ts';

const dayS = 86_400;
const central = 'CentralSystemRootCertificate';
const manufacturer = 'ManufacturerRootCertificate';
type Use = Requests['InstallCertificate']['certificateType'];
type HashData = Requests['DeleteCertificate']['certificateHashData'];

interface Options extends Partial<CertificateFiles> {
  readonly before?: Rig;
  readonly profile?: 0 | 1 | 2 | 3;
}

async function certificatesOn({ before, profile = 1, rootCert = null, ownCert = null }: Options = {}) {
  const s = upkeepRig(before);
  const given: Parameters<Connection['setCertificates']>[0][] = [];
  const connection: Connection = {
    ...s.connection,
    securityProfile: profile,
    setCertificates: (pem) => given.push(pem),
  };
  s.clock.sync(Math.max(Date.now(), s.clock.nowMs()), s.wall.monotonicMs());
  const part = createCertificates({ ...s.parts, connection }, { rootCert, ownCert });
  await part.load?.();
  const handle = async (action: Action, request: object) => {
    expectFits(action, 'request', request);
    const reply = await part.handlers[action]?.(request as never, s.after);
    expectFits(action, 'reply', reply);
    return reply;
  };
  return {
    ...s,
    part,
    given,
    handle,
    install: async (certificate: string, certificateType: Use = central) => {
      const reply = await handle('InstallCertificate', { certificateType, certificate });
      return (reply as { status: string }).status;
    },
    ids: async (certificateType: Use = central) =>
      (await handle('GetInstalledCertificateIds', { certificateType })) as {
        readonly status: string;
        readonly certificateHashData?: readonly HashData[];
      },
    remove: async (certificateHashData: HashData) =>
      ((await handle('DeleteCertificate', { certificateHashData })) as { status: string }).status,
    signed: async (certificateChain: string) => {
      const reply = await handle('CertificateSigned', { certificateChain });
      return (reply as { status: string }).status;
    },
    /** Asks for a certificate, and returns the request. */
    async asked(): Promise<string> {
      await part.sign({ triggered: true });
      return String(s.told('SignCertificate').at(-1)?.csr);
    },
  };
}

const selfHash = (pem: string) => hashDataOf(new X509Certificate(pem), new X509Certificate(pem));

describe('OCPP 1.6 certificates of the central system (white paper, M03 to M05)', () => {
  let root: Authority;
  let other: Authority;
  let leaf: Identity;
  before(async () => {
    root = await createAuthority('Root');
    other = await createAuthority('Other');
    leaf = await issue(root, 'leaf', { purpose: 'client' });
  });

  it('NotFound without any; installed ones by the hash data of their use', async () => {
    const s = await certificatesOn();
    expect(await s.ids()).to.deep.equal({ status: 'NotFound' });
    expect(await s.install(root.cert)).to.equal('Accepted');
    expect(await s.install(other.cert, manufacturer)).to.equal('Accepted');
    expect(await s.ids()).to.deep.equal({ status: 'Accepted', certificateHashData: [selfHash(root.cert)] });
    expect(await s.ids(manufacturer)).to.deep.equal({
      status: 'Accepted',
      certificateHashData: [selfHash(other.cert)],
    });
    expect([s.part.roots(central).length, s.part.roots(manufacturer).length]).to.deep.equal([1, 1]);
    expect(s.given).to.deep.equal([{ rootCert: new X509Certificate(root.cert).toString() }]);
    expect(s.events.map(([type]) => type)).to.deep.equal(new Array(2).fill('ReconfigurationOfSecurityParameters'));
  });

  it('the certificate of an authority below another one has the hash of the key above it', async () => {
    const s = await certificatesOn();
    const middle = await createAuthority('Middle', root);
    await s.install(middle.cert);
    const [alone] = (await s.ids()).certificateHashData ?? [];
    await s.install(root.cert);
    const [below] = (await s.ids()).certificateHashData ?? [];
    expect(alone).to.deep.equal(selfHash(middle.cert));
    expect(below).to.deep.equal(hashDataOf(new X509Certificate(middle.cert), new X509Certificate(root.cert)));
  });

  it('the same again is Accepted and stands once', async () => {
    const s = await certificatesOn();
    expect([await s.install(root.cert), await s.install(root.cert)]).to.deep.equal(['Accepted', 'Accepted']);
    expect((await s.ids()).certificateHashData).to.have.lengthOf(1);
  });

  it('Rejected: no PEM, two in one, a leaf, expired; an event for those of the central system', async () => {
    const s = await certificatesOn();
    for (const pem of ['nonsense', root.cert + other.cert, leaf.cert])
      expect(await s.install(pem)).to.equal('Rejected');
    expect(await s.install('nonsense', manufacturer)).to.equal('Rejected');
    s.clock.sync(expiredMs, s.wall.monotonicMs());
    expect(await s.install(root.cert)).to.equal('Rejected');
    expect(s.events).to.deep.equal([
      ['InvalidCentralSystemCertificate', 'the text is not one certificate in PEM form'],
      ['InvalidCentralSystemCertificate', 'the text is not one certificate in PEM form'],
      ['InvalidCentralSystemCertificate', 'it is not a certificate of an authority'],
      ['InvalidCentralSystemCertificate', 'it has expired'],
    ]);
    expect([s.part.entries, s.given]).to.deep.equal([[], []]);
  });

  it('CertificateStoreMaxLength: one more is Rejected', async () => {
    const s = await certificatesOn();
    s.keys.set('CertificateStoreMaxLength', '1');
    expect([await s.install(root.cert), await s.install(other.cert)]).to.deep.equal(['Accepted', 'Rejected']);
  });

  it('DeleteCertificate by any of the three hashes, NotFound otherwise', async () => {
    const s = await certificatesOn();
    const certificate = new X509Certificate(root.cert);
    for (const algorithm of ['SHA256', 'SHA384', 'SHA512'] as const) {
      await s.install(root.cert);
      const data = hashDataOf(certificate, certificate, algorithm);
      expect(await s.remove({ ...data, serialNumber: 'ABC' })).to.equal('NotFound');
      expect(await s.remove({ ...data, serialNumber: `00${data.serialNumber.toLowerCase()}` })).to.equal('Accepted');
      expect(await s.remove(data)).to.equal('NotFound');
    }
    expect(s.given.at(-1)).to.deep.equal({ rootCert: null });
  });

  it('the last root stays while connections need it: profiles 2 and 3', async () => {
    for (const [profile, status] of [
      [0, 'Accepted'],
      [1, 'Accepted'],
      [2, 'Failed'],
      [3, 'Failed'],
    ] as const) {
      const s = await certificatesOn({ profile, rootCert: root.cert });
      await s.install(other.cert, manufacturer);
      expect(await s.remove(selfHash(root.cert)), `profile ${profile}`).to.equal(status);
      if (status === 'Accepted') continue;
      expect((await s.ids()).certificateHashData).to.have.lengthOf(1);
      expect(await s.remove(selfHash(other.cert))).to.equal('Accepted');
      await s.install(other.cert);
      expect(await s.remove(selfHash(root.cert))).to.equal('Accepted');
      expect(s.given.at(-1)).to.deep.equal({ rootCert: new X509Certificate(other.cert).toString() });
    }
  });

  it('AdditionalRootCertificateCheck: the new root is issued by the one that it replaces, which stays as fallback', async () => {
    const s = await certificatesOn();
    s.keys.set('AdditionalRootCertificateCheck', 'true');
    const second = await createAuthority('Second', root);
    const third = await createAuthority('Third', second);
    const wrong = await createAuthority('Wrong', root);
    expect(await s.install(root.cert)).to.equal('Accepted');
    expect(await s.install(other.cert)).to.equal('Rejected');
    expect(await s.install(second.cert)).to.equal('Accepted');
    // the fallback issues no more
    expect(await s.install(wrong.cert)).to.equal('Rejected');
    expect(await s.install(third.cert)).to.equal('Accepted');
    const subjects = s.part.entries.map(({ subject }) => subject);
    expect(subjects).to.deep.equal(['CN=Second', 'CN=Third']);
    // others of the manufacturer are free of it
    expect(await s.install(other.cert, manufacturer)).to.equal('Accepted');
    expect(s.events.filter(([type]) => type === 'InvalidCentralSystemCertificate')).to.deep.equal(
      new Array(2).fill(['InvalidCentralSystemCertificate', 'the root that it replaces has not issued it']),
    );
  });

  it('those of the settings count from the start, and the store after a change', async () => {
    const files = { rootCert: root.cert + other.cert, ownCert: leaf.cert };
    const s = await certificatesOn(files);
    expect(s.part.entries.map(({ use, subject, issuer }) => [use, subject, issuer])).to.deep.equal([
      [central, 'CN=Root', 'CN=Root'],
      [central, 'CN=Other', 'CN=Other'],
      ['ChargePointCertificate', 'CN=leaf', 'CN=Root'],
    ]);
    expect(s.given).to.deep.equal([]);
    await s.remove(selfHash(other.cert));
    await settled();
    const again = await certificatesOn({ ...files, before: s });
    expect(again.part.entries).to.deep.equal(s.part.entries);
    expect(again.given).to.deep.equal([{ rootCert: new X509Certificate(root.cert).toString() }]);
    expect(JSON.stringify(again.part.entries)).to.not.include('PRIVATE');
  });

  it('what does not fit in the store is left out', async () => {
    const before = upkeepRig();
    await before.store
      .slot('certificates')
      .replace([
        null,
        3,
        { kind: 'root', use: 'Other', pem: root.cert },
        { kind: 'root', use: central, pem: 'nonsense' },
        { kind: 'root', use: manufacturer, pem: root.cert },
        { kind: 'own', pem: 'nonsense' },
        { kind: 'own', pem: 1 },
        { kind: 'pending' },
      ]);
    const s = await certificatesOn({ before });
    expect(s.part.entries.map(({ use }) => use)).to.deep.equal([manufacturer]);
  });
});

describe('OCPP 1.6 certificate of the charge point (white paper, A02, A03)', () => {
  let root: Authority;
  let middle: Authority;
  before(async () => {
    root = await createAuthority('CPO root');
    middle = await createAuthority('CPO middle', root);
  });

  const connected = async (options: Options = {}) => {
    const s = await certificatesOn(options);
    s.keys.set('CpoName', 'Example CPO');
    await s.accept();
    return s;
  };

  it('SignCertificate: serial number as CN, CpoName as O', async () => {
    const s = await connected();
    expect(s.part.canSign).to.equal(true);
    const csr = await s.asked();
    expect(new Pkcs10CertificateRequest(csr).subjectName.toJSON()).to.deep.equal([
      { CN: ['SN1'] },
      { O: ['Example CPO'] },
    ]);
  });

  it('without serial number the identity is CN; a long one as BootNotification tells it', async () => {
    for (const [serialNumber, name] of [
      [null, 'CP-1'],
      ['S'.repeat(32), 'S'.repeat(25)],
    ] as const) {
      const s = await connected();
      Object.assign(s.device.port.nameplate, { serialNumber });
      expect(new Pkcs10CertificateRequest(await s.asked()).subjectName.getField('CN')).to.deep.equal([name]);
    }
  });

  it('a chain for the key of the request is Accepted, used by the next connection, and kept', async () => {
    const s = await connected({ profile: 3 });
    const certificate = await signRequest(await s.asked(), middle);
    const chain = certificate + middle.cert;
    expect(await s.signed(chain)).to.equal('Accepted');
    expect(s.connection.done).to.deep.equal([]);
    await s.answered();
    expect(s.connection.done).to.deep.equal(['reconnect']);
    const [{ own } = { own: undefined }] = s.given;
    expect(own?.cert).to.equal(chain);
    expect(s.part.entries.map(({ use, subject }) => [use, subject])).to.deep.equal([
      ['ChargePointCertificate', 'CN=SN1, O=Example CPO'],
    ]);
    expect(s.events).to.deep.equal([
      ['ReconfigurationOfSecurityParameters', 'certificate of the charge point replaced'],
    ]);
    await settled();
    const again = await certificatesOn({ before: s });
    expect(again.given.at(-1)).to.deep.equal({ own });
    // the key was used up
    expect(await again.signed(chain)).to.equal('Rejected');
  });

  it('profiles 0 to 2 go on with their connection', async () => {
    const s = await connected({ profile: 2 });
    expect(await s.signed(await signRequest(await s.asked(), root))).to.equal('Accepted');
    await s.answered();
    expect([s.connection.done, s.given.length]).to.deep.equal([[], 1]);
  });

  it('the key of a request waits over a restart of the process', async () => {
    const s = await connected();
    const csr = await s.asked();
    await settled();
    const again = await certificatesOn({ before: s });
    expect(await again.signed(await signRequest(csr, root))).to.equal('Accepted');
  });

  it('Rejected with InvalidChargePointCertificate: what was not asked for, and every fault of a chain', async () => {
    const s = await connected({ profile: 3 });
    const nobody = await signRequest(await (await connected()).asked(), root);
    const why: unknown[] = [];
    const refused = async (chain: string) => {
      expect(await s.signed(chain)).to.equal('Rejected');
      why.push(s.events.at(-1));
    };
    await refused(nobody);
    const csr = await s.asked();
    await refused('nonsense');
    await refused(nobody);
    await refused(await signRequest(csr, root, [-20, -10]));
    await refused(await signRequest(csr, root, [10, 20]));
    await refused((await signRequest(csr, root)) + middle.cert);
    s.keys.set('CertificateSignedMaxChainSize', '100');
    await refused(await signRequest(csr, root));
    const event = (text: string) => ['InvalidChargePointCertificate', text];
    expect(why).to.deep.equal([
      event('no certificate was requested'),
      event('the chain is not in PEM form'),
      event('it is for another key'),
      event('it has expired'),
      event('it is not valid yet'),
      event('a certificate is not issued by the next one'),
      event('the chain is too long'),
    ]);
    await s.answered();
    expect([s.given, s.connection.done, s.part.entries]).to.deep.equal([[], [], []]);
    // a good one still comes
    s.keys.set('CertificateSignedMaxChainSize', '10000');
    expect(await s.signed(await signRequest(csr, root))).to.equal('Accepted');
  });

  it('A03: a new one is asked for 30 days before the end, also of a certificate that came meanwhile', async () => {
    const ownCert = (await issue(root, 'flag', { purpose: 'client', validDays: [-1, 40] })).cert;
    const s = await connected({ ownCert });
    await s.pass(9.9 * dayS);
    expect(s.told('SignCertificate')).to.have.lengthOf(0);
    await s.pass(0.2 * dayS);
    await untilTold(s, 1);
    const csr = String(s.told('SignCertificate')[0]?.csr);
    await s.signed(await signRequest(csr, root, [-1, 70]));
    await s.pass(29.8 * dayS);
    expect(s.told('SignCertificate')).to.have.lengthOf(1);
    await s.pass(0.2 * dayS);
    await untilTold(s, 2);
    s.part.stop?.();
    expect(s.timers.waiting).to.equal(0);
  });

  it('A03: not without CpoName', async () => {
    const ownCert = (await issue(root, 'flag', { purpose: 'client', validDays: [-1, 10] })).cert;
    const s = await certificatesOn({ ownCert });
    await s.accept();
    await s.pass(dayS);
    expect([s.part.canSign, s.told('SignCertificate')]).to.deep.equal([false, []]);
  });

  it('a refusal, no answer, and a key that cannot be made are logged', async () => {
    const s = await connected();
    s.line.answers.set('SignCertificate', () => ({ kind: 'result', payload: { status: 'Rejected' }, durationMs: 0 }));
    await s.asked();
    s.line.answers.set('SignCertificate', () => ({ kind: 'timeout' }));
    await s.asked();
    s.keys.text = () => {
      throw new Error('no keys');
    };
    await s.part.sign();
    expect(s.logged).to.deep.equal([
      'the central system rejects the request to sign a certificate',
      'the request to sign a certificate failed',
      'no request to sign a certificate could be made: no keys',
    ]);
  });
});

/** The key of a request is made outside of the clock of the test. */
async function untilTold(s: Pick<Awaited<ReturnType<typeof certificatesOn>>, 'told'>, count: number): Promise<void> {
  while (s.told('SignCertificate').length < count) await new Promise(setImmediate);
}
