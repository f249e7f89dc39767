import 'reflect-metadata';
import { expect } from 'chai';
import { Pkcs10CertificateRequest } from '@peculiar/x509';
import { X509Certificate } from 'node:crypto';
import { hashDataOf } from '../../../../src/ocpp/security/certificates.ts';
import { createAuthority, issue } from '../../../support/pki.ts';
import type { Authority } from '../../../support/pki.ts';
import { settled } from '../../v16/fakes.ts';
import { signRequest } from '../../v16/security/signing.ts';
import { certificatesOn } from './certificates-rig.ts';
import type { CertificateOptions } from './certificates-rig.ts';

const dayS = 86_400;
const subjectOf = (csr: string) => new Pkcs10CertificateRequest(csr).subjectName.toJSON();

async function withWaits(options: CertificateOptions = {}) {
  const s = await certificatesOn(options);
  s.variables.override('SecurityCtrlr', 'OrganizationName', 'Example CPO');
  s.variables.override('SecurityCtrlr', 'CertSigningWaitMinimum', '60');
  s.variables.override('SecurityCtrlr', 'CertSigningRepeatTimes', '2');
  return s;
}

describe('OCPP 2.x certificates of the station (A02, A03)', () => {
  let root: Authority;
  let middle: Authority;
  before(async () => {
    root = await createAuthority('CPO root');
    middle = await createAuthority('CPO middle', root);
  });

  it('SignCertificate: serial number as CN, OrganizationName as O; a requestId in 2.1 only', async () => {
    for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const) {
      const s = await withWaits({ version });
      const { csr, certificateType, requestId } = await s.trigger();
      expect(subjectOf(csr)).to.deep.equal([{ CN: ['SN1'] }, { O: ['Example CPO'] }]);
      expect(certificateType).to.equal('ChargingStationCertificate');
      expect(typeof requestId).to.equal(version === 'ocpp2.1' ? 'number' : 'undefined');
    }
  });

  it('without OrganizationName there is nothing to ask for: a trigger is refused', async () => {
    const s = await withWaits();
    expect(s.part.refuses('SignChargingStationCertificate')).to.equal(false);
    s.variables.override('SecurityCtrlr', 'OrganizationName', '');
    expect(s.part.refuses('SignChargingStationCertificate')).to.equal(true);
    expect(s.part.refuses('Heartbeat')).to.equal(false);
  });

  it('for vehicles only where the station speaks ISO 15118, and while it is enabled', async () => {
    const without = await withWaits();
    expect(Object.keys(without.part.triggers ?? {})).to.deep.equal(['SignChargingStationCertificate']);
    const s = await withWaits({ v2g: true });
    expect(s.part.refuses('SignV2GCertificate')).to.equal(false);
    await s.install(root.cert, 'V2GRootCertificate');
    const { csr, certificateType, hashRootCertificate } = await s.trigger('SignV2GCertificate');
    expect(certificateType).to.equal('V2GCertificate');
    expect(subjectOf(csr)).to.deep.equal([{ CN: ['SECC-1'] }, { O: ['Example CPO'] }, { C: ['NL'] }, { DC: ['CPO'] }]);
    const certificate = new X509Certificate(root.cert);
    expect(hashRootCertificate).to.deep.equal(hashDataOf(certificate, certificate));
    s.variables.override('ISO15118Ctrlr', 'V2GCertificateInstallationEnabled', 'false');
    expect(s.part.refuses('SignV2GCertificate')).to.equal(true);
  });

  it('2.0.1 names no root', async () => {
    const s = await withWaits({ v2g: true, version: 'ocpp2.0.1' });
    await s.install(root.cert, 'V2GRootCertificate');
    expect(await s.trigger('SignV2GCertificate')).to.have.all.keys('csr', 'certificateType');
  });

  it('a good chain is Accepted, kept, and shown by the next connection of profile 3', async () => {
    const s = await withWaits({ profile: 3 });
    const { csr, requestId } = await s.trigger();
    const chain = (await signRequest(csr, middle)) + middle.cert;
    const more = { certificateType: 'ChargingStationCertificate', requestId: requestId ?? 0 } as const;
    expect(await s.signed(chain, more)).to.deep.equal({ status: 'Accepted' });
    expect(s.connection.done).to.deep.equal(['reconnect']);
    expect(s.given.map(({ own }) => own?.cert)).to.deep.equal([chain]);
    expect(s.raised).to.deep.equal([
      ['ReconfigurationOfSecurityParameters', 'certificate of the charging station replaced'],
    ]);
    await settled();
    const again = await certificatesOn({ profile: 3, store: s.store });
    expect(again.given.at(-1)).to.deep.equal(s.given.at(-1));
    // the key was used up
    expect(again.reasonOf(await again.signed(chain))).to.equal('no certificate was requested');
  });

  it('the other profiles go on with their connection; without a type the key that waits counts', async () => {
    const s = await withWaits({ profile: 2, v2g: true });
    await s.install(root.cert, 'V2GRootCertificate');
    const { csr } = await s.trigger('SignV2GCertificate');
    expect(await s.signed(await signRequest(csr, root))).to.deep.equal({ status: 'Accepted' });
    const station = await s.trigger();
    expect(await s.signed(await signRequest(station.csr, root))).to.deep.equal({ status: 'Accepted' });
    expect(s.part.entries.map(({ use }) => use).slice(1)).to.deep.equal([
      'V2GCertificate',
      'ChargingStationCertificate',
    ]);
    // the one for vehicles is none of the connection
    expect([s.connection.done, s.given.length]).to.deep.equal([[], 1]);
  });

  it('Rejected with its reason and InvalidChargingStationCertificate: every fault of a chain', async () => {
    const s = await withWaits({ profile: 3, v2g: true });
    const nobody = await signRequest((await (await withWaits()).trigger()).csr, root);
    const why: unknown[] = [];
    const refused = async (chain: string, more: Parameters<typeof s.signed>[1] = {}) => {
      const reply = await s.signed(chain, more);
      expect([reply.status, reply.statusInfo?.reasonCode]).to.deep.equal(['Rejected', 'InvalidCertificate']);
      expect(s.raised.at(-1)).to.deep.equal(['InvalidChargingStationCertificate', s.reasonOf(reply)]);
      why.push(s.reasonOf(reply));
    };
    await refused(nobody);
    const { csr, requestId = 0 } = await s.trigger();
    await refused('nonsense');
    await refused(nobody);
    await refused(await signRequest(csr, root), { requestId: requestId + 1 });
    await refused(await signRequest(csr, root), { certificateType: 'V2G20Certificate' });
    await refused(await signRequest(csr, root), { certificateType: 'V2GCertificate' });
    await refused(await signRequest(csr, root, [-20, -10]));
    await refused((await signRequest(csr, root)) + middle.cert);
    s.variables.override('SecurityCtrlr', 'MaxCertificateChainSize', '100');
    await refused(await signRequest(csr, root));
    s.variables.override('SecurityCtrlr', 'MaxCertificateChainSize', '10000');
    const vehicles = await s.trigger('SignV2GCertificate');
    await refused(await signRequest(vehicles.csr, root), { certificateType: 'V2GCertificate' });
    expect(why).to.deep.equal([
      'no certificate was requested',
      'the chain is not in PEM form',
      'it is for another key',
      'the certificate is for another request',
      'certificates of this type are not supported',
      'no certificate was requested',
      'it has expired',
      'a certificate is not issued by the next one',
      'the chain is too long',
      'it leads to no installed root',
    ]);
    expect([s.given, s.connection.done, s.part.entries]).to.deep.equal([[], [], []]);
    expect(await s.signed(await signRequest(csr, root), { requestId })).to.deep.equal({ status: 'Accepted' });
  });

  it('A02.FR.17 to FR.19: other requests after doubled waits, each with a new key, up to their number', async () => {
    const s = await withWaits();
    await s.trigger();
    await s.pass(59);
    expect(s.asked()).to.have.lengthOf(1);
    await s.pass(1);
    await s.untilAsked(2);
    await s.pass(119);
    expect(s.asked()).to.have.lengthOf(2);
    await s.pass(1);
    const { csr } = await s.untilAsked(3);
    await s.pass(10 * dayS);
    expect(s.asked()).to.have.lengthOf(3);
    expect(new Set(s.asked().map((request) => request.csr)).size).to.equal(3);
    expect((await s.signed(await signRequest(csr, root))).status).to.equal('Accepted');
  });

  it('the certificate ends the wait; so does a refusal of the request; no answer does not', async () => {
    const s = await withWaits();
    const { csr } = await s.trigger();
    await s.signed(await signRequest(csr, root));
    await s.pass(dayS);
    expect(s.asked()).to.have.lengthOf(1);
    s.line.answers.set('SignCertificate', () => ({ kind: 'result', payload: { status: 'Rejected' }, durationMs: 0 }));
    await s.trigger();
    await s.pass(dayS);
    expect(s.asked()).to.have.lengthOf(2);
    s.line.answers.set('SignCertificate', () => ({ kind: 'timeout' }));
    await s.trigger();
    await s.pass(60);
    await s.untilAsked(4);
    s.part.stop?.();
    await s.pass(dayS);
    expect(s.asked()).to.have.lengthOf(4);
    expect(s.timers.waiting).to.equal(0);
  });

  it('A03: a new one is asked for 30 days before the end', async () => {
    const ownCert = (await issue(root, 'flag', { purpose: 'client', validDays: [-1, 40] })).cert;
    const s = await withWaits({ ownCert });
    s.registration.accept();
    await s.pass(9.9 * dayS);
    expect(s.asked()).to.have.lengthOf(0);
    await s.pass(0.2 * dayS);
    const { certificateType } = await s.untilAsked(1);
    expect(certificateType).to.equal('ChargingStationCertificate');
    s.part.stop?.();
  });

  it('A03: one that is valid for less than a month is renewed in the middle of its time, not over and over', async () => {
    const s = await withWaits();
    const { csr } = await s.trigger();
    await s.signed(await signRequest(csr, root, [-1, 21]));
    await s.pass(9 * dayS);
    expect(s.asked()).to.have.lengthOf(1);
    await s.pass(2 * dayS);
    await s.untilAsked(2);
    s.part.stop?.();
  });

  it('a certificate that opens no connection gives way to the one before; 2.1 has an event for it', async () => {
    const former = await issue(root, 'former', { purpose: 'client' });
    for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const) {
      const s = await withWaits({ version, profile: 3, ownCert: former.cert });
      const { csr } = await s.trigger();
      await s.signed(await signRequest(csr, root));
      s.raised.splice(0);
      s.part.restoreOwn(null);
      expect(s.part.entries.map(({ subject }) => subject)).to.deep.equal(['CN=former']);
      const events = version === 'ocpp2.1' ? ['DiscardedRenewedClientCertificate'] : [];
      expect(s.raised.map(([type]) => type)).to.deep.equal(events);
      // what failed was the password: the certificate is the same
      s.part.restoreOwn(null);
      expect(s.raised).to.have.lengthOf(events.length);
    }
  });

  it('AllowCSMSTLSWildcards counts from the start and after a change', async () => {
    const s = await withWaits();
    s.variables.override('SecurityCtrlr', 'AllowCSMSTLSWildcards', 'false');
    expect(s.wildcards).to.deep.equal([true, false]);
    s.part.stop?.();
    s.variables.override('SecurityCtrlr', 'AllowCSMSTLSWildcards', 'true');
    expect(s.wildcards).to.have.lengthOf(2);
  });

  it('SecurityProfile and Identity are those of the connection', async () => {
    const s = await withWaits({ profile: 2 });
    expect(s.variables.text('SecurityCtrlr', 'SecurityProfile')).to.equal('2');
    expect(s.variables.text('SecurityCtrlr', 'Identity')).to.equal('CS-1');
  });
});
