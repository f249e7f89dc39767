import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Json } from '../support/http.ts';
import { PythonCentral } from './support/ocpp-central.ts';
import type { StationAtCentral } from './support/ocpp-central.ts';
import { hashDataOf, signedBy, verifiedSubject } from './support/ocpp-pki.ts';
import { expectExchanged } from './support/ocpp-rows.ts';
import { describeWith } from './support/peers.ts';
import { PkiOnDisk } from './support/pki-on-disk.ts';

const openLimitMs = 60_000;
const passwords = { first: '11'.repeat(16), second: '22'.repeat(20), wrong: '33'.repeat(16) };

describeWith(['ocpp', 'openssl'], 'certificates and credentials of OCPP 1.6 at the package ocpp', () => {
  let pki: PkiOnDisk;
  let central: PythonCentral;
  let station: StationAtCentral;

  before(async function () {
    this.timeout(openLimitMs);
    pki = new PkiOnDisk();
    writeFileSync(pki.path('password'), passwords.first, { mode: 0o600 });
    central = await PythonCentral.open('CP-1', {
      options: {
        cert: pki.path('server.pem'),
        key: pki.path('server.key'),
        ca: pki.path('ca.pem'),
        any_client: true,
        user: 'CP-1',
        password: passwords.first,
      },
      flags: [
        ...['--ocpp_security_profile', '2', '--ocpp_password_file', pki.path('password')],
        ...['--ocpp_root_cert', pki.path('ca.pem')],
      ],
    });
    ({ station } = central);
    await station.status('Available');
  });
  after(async () => {
    pki.remove();
    await central.close([
      'ocpp.certificate_bad: InstallCertificate: the text has no certificate in PEM form',
      'ocpp.security_downgrade: ChangeConfiguration: the security profile in force is 3, and a lower one is asked for',
    ]);
  });

  const pem = (name: string) => readFileSync(pki.path(`${name}.pem`), 'utf8');
  const eventOf = (type: string) => station.ever('SecurityEventNotification', { type });
  const expectInstall = (status: string, certificateType: string, certificate: string) =>
    station.expectStatus(status, 'InstallCertificate', { certificateType, certificate });
  const installed = async (certificateType: string): Promise<readonly Json[]> =>
    (await station.call('GetInstalledCertificateIds', { certificateType })).certificateHashData ?? [];
  const expectRemoval = (status: string, certificateHashData: Json) =>
    station.expectStatus(status, 'DeleteCertificate', { certificateHashData });

  describe('root certificates', () => {
    it('the one of the settings is told with the hashes of OpenSSL', async () => {
      expect(await installed('CentralSystemRootCertificate')).to.deep.equal([hashDataOf(pki.path('ca.pem'))]);
    });

    it('InstallCertificate, GetInstalledCertificateIds, DeleteCertificate', async () => {
      const root = hashDataOf(pki.path('foreign-ca.pem'));
      await station.expectStatus('NotFound', 'GetInstalledCertificateIds', {
        certificateType: 'ManufacturerRootCertificate',
      });
      await expectInstall('Accepted', 'ManufacturerRootCertificate', pem('foreign-ca'));
      expect(await installed('ManufacturerRootCertificate')).to.deep.equal([root]);
      const { certificates } = await station.get('ocpp/CP-1/certificates');
      expect(certificates.map(({ use }: Json) => use)).to.include('ManufacturerRootCertificate');
      await expectRemoval('Accepted', root);
      await expectRemoval('NotFound', root);
      expect(await installed('ManufacturerRootCertificate')).to.deep.equal([]);
    });

    it('what is no root is Rejected, with an event', async () => {
      for (const text of [pem('gridservice'), 'no certificate'])
        await expectInstall('Rejected', 'CentralSystemRootCertificate', text);
      await eventOf('InvalidCentralSystemCertificate');
    });

    it('the last root for the central system stays', async () => {
      await expectRemoval('Failed', hashDataOf(pki.path('ca.pem')));
    });
  });

  describe('AuthorizationKey', () => {
    it('a new password is used at once for a new connection', async () => {
      await central.rule({ password: passwords.second });
      await station.configure('AuthorizationKey', passwords.second);
      await station.next('(connected)');
      await station.expectStatus('Accepted', 'TriggerMessage', { requestedMessage: 'Heartbeat' });
      await station.next('Heartbeat');
    });

    it('a central system that takes its time for a request of the station has the answer first', async () => {
      await central.rule({ slow: { Heartbeat: 0.3 } });
      await station.expectStatus('Accepted', 'TriggerMessage', { requestedMessage: 'Heartbeat' });
      await station.next('Heartbeat');
      await station.configure('AuthorizationKey', passwords.second);
      await station.next('(connected)');
    });

    it('the one before returns when the central system refuses the new one', async () => {
      await station.configure('AuthorizationKey', passwords.wrong);
      await station.next('(refused)');
      await station.next('(connected)');
      await station.expectStatus('Accepted', 'TriggerMessage', { requestedMessage: 'Heartbeat' });
      await station.next('Heartbeat');
    });

    it('cannot be read', async () => {
      const answer = await station.call('GetConfiguration', {});
      expect(JSON.stringify(answer)).not.to.match(/2{32}|3{32}|1{32}/);
    });
  });

  describe('certificate of the charge point', () => {
    const request = async () => {
      await station.expectStatus('Accepted', 'ExtendedTriggerMessage', {
        requestedMessage: 'SignChargePointCertificate',
      });
      return (await station.next('SignCertificate')).payload.csr as string;
    };

    it('SignCertificate is a request with its name and the operator', async () => {
      await station.configure('CpoName', 'Operator, "quoted"');
      const subject = verifiedSubject(await request());
      expect(subject).to.match(/CN ?= ?/);
      expect(subject).to.include('Operator\\, \\"quoted\\"');
    });

    it('a certificate for another key is Rejected, with an event', async () => {
      await station.expectStatus('Rejected', 'CertificateSigned', { certificateChain: pem('gridservice') });
      await eventOf('InvalidChargePointCertificate');
    });

    it('with a signed one the security profile can be raised to 3', async () => {
      await station.expectStatus('Rejected', 'ChangeConfiguration', { key: 'SecurityProfile', value: '3' });
      const chain = signedBy(pki.path('ca'), await request());
      await station.expectStatus('Accepted', 'CertificateSigned', { certificateChain: chain });
      await central.rule({ password: null });
      await station.configure('SecurityProfile', '3');
      const { payload } = await station.next('(connected)');
      expect(payload.serial).to.equal(new X509Certificate(chain).serialNumber);
      expect(payload.basic).to.equal(false);
      await station.until('it is accepted', async () => {
        const { security_profile: profile, boot_status: boot } = await station.get('ocpp/CP-1');
        return (profile === 3 && boot === 'accepted') || undefined;
      });
    });

    it('a renewed one is shown after a new connection', async () => {
      const chain = signedBy(pki.path('ca'), await request());
      await station.expectStatus('Accepted', 'CertificateSigned', { certificateChain: chain });
      const { payload } = await station.next('(connected)');
      expect(payload.serial).to.equal(new X509Certificate(chain).serialNumber);
    });

    it('the profile cannot be lowered', async () => {
      await station.expectStatus('Rejected', 'ChangeConfiguration', { key: 'SecurityProfile', value: '2' });
    });

    it('exchanges the messages of certificates', () => expectExchanged(central, 'certificates'));
  });
});
