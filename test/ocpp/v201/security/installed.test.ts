import { expect } from 'chai';
import { X509Certificate } from 'node:crypto';
import { hashDataOf } from '../../../../src/ocpp/security/certificates.ts';
import { createAuthority, expiredMs, issue } from '../../../support/pki.ts';
import type { Authority, Identity } from '../../../support/pki.ts';
import { settled } from '../../v16/fakes.ts';
import { signRequest } from '../../v16/security/signing.ts';
import { certificatesOn } from './certificates-rig.ts';

const central = 'CSMSRootCertificate';
const selfHash = (pem: string) => hashDataOf(new X509Certificate(pem), new X509Certificate(pem));
const below = (pem: string, issuer: string) => hashDataOf(new X509Certificate(pem), new X509Certificate(issuer));

describe('OCPP 2.x installed certificates (M03 to M05)', () => {
  let root: Authority;
  let other: Authority;
  let leaf: Identity;
  before(async () => {
    root = await createAuthority('Root');
    other = await createAuthority('Other');
    leaf = await issue(root, 'leaf', { purpose: 'client' });
  });

  it('M03: NotFound without any; each root with its type; the types that are asked for, or all', async () => {
    const s = await certificatesOn();
    expect(await s.ids()).to.deep.equal({ status: 'NotFound' });
    const uses = [
      central,
      'ManufacturerRootCertificate',
      'V2GRootCertificate',
      'MORootCertificate',
      'OEMRootCertificate',
    ] as const;
    for (const use of uses) expect(await s.install(root.cert, use)).to.deep.equal({ status: 'Accepted' });
    const chains = uses.map((certificateType) => ({ certificateType, certificateHashData: selfHash(root.cert) }));
    expect(await s.ids()).to.deep.equal({ status: 'Accepted', certificateHashDataChain: chains });
    expect((await s.ids('MORootCertificate', central)).certificateHashDataChain).to.deep.equal([chains[0], chains[3]]);
    expect(await s.ids('V2GCertificateChain')).to.deep.equal({ status: 'NotFound' });
    expect(s.part.roots('ManufacturerRootCertificate')).to.have.lengthOf(1);
    // only those of the central system are for the connection
    expect(s.given).to.deep.equal([{ rootCert: new X509Certificate(root.cert).toString() }]);
    expect(s.raised.map(([type]) => type)).to.deep.equal(new Array(5).fill('ReconfigurationOfSecurityParameters'));
  });

  it('OEMRootCertificate is of 2.1 only', async () => {
    const s = await certificatesOn({ version: 'ocpp2.0.1' });
    let thrown: unknown;
    await s.install(root.cert, 'OEMRootCertificate').catch((error: unknown) => (thrown = error));
    expect(String(thrown)).to.include('breaks its schema');
  });

  it('M05: Rejected for what is no root that can be used, with the reason; an event for the central system', async () => {
    const s = await certificatesOn();
    for (const [pem, why] of [
      ['nonsense', 'the text is not one certificate in PEM form'],
      [root.cert + other.cert, 'the text is not one certificate in PEM form'],
      [leaf.cert, 'it is not a certificate of an authority'],
    ] as const)
      expect(await s.install(pem)).to.deep.equal({
        status: 'Rejected',
        statusInfo: { reasonCode: 'InvalidCertificate', additionalInfo: why },
      });
    expect((await s.install('nonsense', 'MORootCertificate')).status).to.equal('Rejected');
    s.clock.sync(expiredMs, s.wall.monotonicMs());
    expect(s.reasonOf(await s.install(root.cert))).to.equal('it has expired');
    expect(s.raised.map(([type]) => type)).to.deep.equal(new Array(4).fill('InvalidCsmsCertificate'));
    expect([s.part.entries, s.given]).to.deep.equal([[], []]);
  });

  it('CertificateEntries counts all, the own certificate too, and its limit is kept', async function () {
    this.timeout(30_000);
    const s = await certificatesOn({ ownCert: leaf.cert });
    expect(s.variables.integer('SecurityCtrlr', 'CertificateEntries')).to.equal(1);
    for (let n = 0; n < 19; n += 1)
      expect((await s.install((await createAuthority(`Root ${n}`)).cert, 'V2GRootCertificate')).status).to.equal(
        'Accepted',
      );
    expect(s.variables.text('SecurityCtrlr', 'CertificateEntries')).to.equal('20');
    const reply = await s.install(other.cert);
    expect([reply.status, reply.statusInfo?.reasonCode]).to.deep.equal(['Rejected', 'OutOfStorage']);
    expect(s.variables.text('SecurityCtrlr', 'CertificateEntries')).to.equal('20');
  });

  it('the same again is Accepted and stands once', async () => {
    const s = await certificatesOn();
    expect([(await s.install(root.cert)).status, (await s.install(root.cert)).status]).to.deep.equal([
      'Accepted',
      'Accepted',
    ]);
    expect(s.part.entries).to.have.lengthOf(1);
  });

  it('AdditionalRootCertificateCheck: the root before has issued the new one, and stays as fallback', async () => {
    const s = await certificatesOn();
    s.variables.override('SecurityCtrlr', 'AdditionalRootCertificateCheck', 'true');
    const second = await createAuthority('Second', root);
    const third = await createAuthority('Third', second);
    expect((await s.install(root.cert)).status).to.equal('Accepted');
    expect(s.reasonOf(await s.install(other.cert))).to.equal('the root that it replaces has not issued it');
    expect((await s.install(second.cert)).status).to.equal('Accepted');
    expect((await s.install(third.cert)).status).to.equal('Accepted');
    expect(s.part.entries.map(({ subject }) => subject)).to.deep.equal(['CN=Second', 'CN=Third']);
    expect((await s.install(other.cert, 'MORootCertificate')).status).to.equal('Accepted');
  });

  it('M04: Accepted, NotFound, and Failed for the last root of the central system', async () => {
    const s = await certificatesOn({ rootCert: root.cert });
    expect((await s.remove(selfHash(other.cert))).status).to.equal('NotFound');
    const last = await s.remove(selfHash(root.cert));
    expect([last.status, s.reasonOf(last)]).to.deep.equal([
      'Failed',
      'the certificate is the last root of the central system',
    ]);
    await s.install(other.cert);
    expect(await s.remove(selfHash(root.cert))).to.deep.equal({ status: 'Accepted' });
    expect(s.given.at(-1)).to.deep.equal({ rootCert: new X509Certificate(other.cert).toString() });
    await s.install(root.cert, 'ManufacturerRootCertificate');
    expect(await s.remove(selfHash(root.cert))).to.deep.equal({ status: 'Accepted' });
    expect(s.part.roots('ManufacturerRootCertificate')).to.deep.equal([]);
  });

  it('M04: the certificate of the station itself is not deleted, whatever key its issuer is said to have', async () => {
    const s = await certificatesOn({ ownCert: leaf.cert });
    for (const data of [selfHash(leaf.cert), below(leaf.cert, root.cert)]) {
      const reply = await s.remove(data);
      expect([reply.status, s.reasonOf(reply)]).to.deep.equal([
        'Failed',
        'the certificate of the station itself cannot be deleted',
      ]);
    }
    expect(s.part.entries.map(({ use }) => use)).to.deep.equal(['ChargingStationCertificate']);
  });

  it('the chain for vehicles: leaf and those above it; the leaf goes with its chain, one above it stays', async () => {
    const s = await certificatesOn({ v2g: true });
    const upper = await createAuthority('Sub-CA 1', root);
    const lower = await createAuthority('Sub-CA 2', upper);
    await s.install(root.cert, 'V2GRootCertificate');
    const { csr } = await s.trigger('SignV2GCertificate');
    const own = await signRequest(csr, lower);
    const chain = own + lower.cert + upper.cert;
    expect(await s.signed(chain, { certificateType: 'V2GCertificate' })).to.deep.equal({ status: 'Accepted' });
    const children = [below(lower.cert, upper.cert), below(upper.cert, root.cert)];
    expect(await s.ids('V2GCertificateChain')).to.deep.equal({
      status: 'Accepted',
      certificateHashDataChain: [
        {
          certificateType: 'V2GCertificateChain',
          certificateHashData: below(own, lower.cert),
          childCertificateHashData: children,
        },
      ],
    });
    for (const child of children) expect((await s.remove(child)).status).to.equal('Failed');
    expect(await s.remove(below(own, lower.cert))).to.deep.equal({ status: 'Accepted' });
    expect(await s.ids('V2GCertificateChain')).to.deep.equal({ status: 'NotFound' });
    expect(s.part.entries.map(({ use }) => use)).to.deep.equal(['V2GRootCertificate']);
  });

  it('everything survives a restart of the process, keys unseen', async () => {
    const s = await certificatesOn({ v2g: true, rootCert: other.cert });
    await s.install(root.cert, 'V2GRootCertificate');
    const { csr } = await s.trigger('SignV2GCertificate');
    await s.signed(await signRequest(csr, root), { certificateType: 'V2GCertificate' });
    await settled();
    const again = await certificatesOn({ v2g: true, store: s.store });
    expect(again.part.entries).to.deep.equal(s.part.entries);
    expect(again.part.entries.map(({ use }) => use)).to.deep.equal([central, 'V2GRootCertificate', 'V2GCertificate']);
    expect(again.given).to.deep.equal([{ rootCert: new X509Certificate(other.cert).toString() }]);
    expect(JSON.stringify(again.part.entries)).to.not.include('PRIVATE');
  });
});
