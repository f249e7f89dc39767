import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Json } from '../support/http.ts';
import { charge, event, report, requestId, set } from './support/ocpp-2-station.ts';
import { inSeconds } from './support/ocpp-central.ts';
import type { StationAtCentral } from './support/ocpp-central.ts';
import { FileServer } from './support/ocpp-files.ts';
import { GoStation } from './support/ocpp-go-station.ts';
import { hashDataOf, signatureOf, signedBy, verifiedSubject } from './support/ocpp-pki.ts';
import { describeWith } from './support/peers.ts';
import { PkiOnDisk } from './support/pki-on-disk.ts';

const password = 'correct-horse-battery';

describeWith(['go', 'openssl'], 'upkeep of a charging station of OCPP 2.0.1 at the CSMS of ocpp-go', () => {
  const files = new FileServer();
  let pki: PkiOnDisk;
  let both: GoStation;
  let station: StationAtCentral;

  before(async function () {
    this.timeout(120_000);
    pki = new PkiOnDisk();
    await files.open();
    writeFileSync(pki.path('password'), password);
    both = await GoStation.open(
      'CS-1',
      {
        cert: pki.path('server.pem'),
        key: pki.path('server.key'),
        user: 'CS-1',
        password: Buffer.from(password).toString('hex'),
      },
      [
        ...['--ocpp_security_profile', '2', '--ocpp_password_file', pki.path('password')],
        ...['--ocpp_root_cert', pki.path('ca.pem')],
      ],
    );
    ({ station } = both);
    await status('Available');
  });
  after(async () => {
    await both.close();
    await files.close();
    pki.remove();
  });

  const pem = (name: string) => readFileSync(pki.path(`${name}.pem`), 'utf8');
  const status = (connectorStatus: string) =>
    station.next('StatusNotification', { connectorStatus, evseId: 1, connectorId: 1 });
  const eventOf = (type: string) => station.ever('SecurityEventNotification', { type });

  describe('operation', () => {
    it('ChangeAvailability: after the session, then out of operation and back', async () => {
      const evse = { id: 1 };
      const transactionId = await charge(station);
      await station.expectStatus('Scheduled', 'ChangeAvailability', { operationalStatus: 'Inoperative', evse });
      await station.expectStatus('Accepted', 'RequestStopTransaction', { transactionId });
      await event(station, 'Ended');
      await station.connector('unplug');
      await station.ever('StatusNotification', { connectorStatus: 'Unavailable', evseId: 1 });
      const idToken = { idToken: 'REMOTE', type: 'Central' };
      await station.expectStatus('Rejected', 'RequestStartTransaction', { idToken, remoteStartId: 1, evseId: 1 });
      await station.expectStatus('Accepted', 'ChangeAvailability', { operationalStatus: 'Operative', evse });
      await status('Available');
    });

    it('GetTransactionStatus and UnlockConnector', async () => {
      const transactionId = await charge(station);
      expect(await station.call('GetTransactionStatus', { transactionId })).to.include({ ongoingIndicator: true });
      const place = { evseId: 1, connectorId: 1 };
      await station.expectStatus('OngoingAuthorizedTransaction', 'UnlockConnector', place);
      await station.expectStatus('Accepted', 'RequestStopTransaction', { transactionId });
      await event(station, 'Ended');
      await station.connector('unplug');
      await status('Available');
      await station.expectStatus('UnknownConnector', 'UnlockConnector', { evseId: 9, connectorId: 1 });
      const after = await station.call('GetTransactionStatus', { transactionId });
      expect(after).to.deep.include({ ongoingIndicator: false, messagesInQueue: false });
    });

    it('SendLocalList, GetLocalListVersion and ClearCache', async () => {
      await set(station, 'LocalAuthListCtrlr', 'Enabled', 'true');
      const entry = (idToken: string, info: string) => ({
        idToken: { idToken, type: 'KeyCode' },
        idTokenInfo: { status: info },
      });
      await station.expectStatus('Accepted', 'SendLocalList', {
        versionNumber: 4,
        updateType: 'Full',
        localAuthorizationList: [entry('LISTED', 'Accepted'), entry('BLOCKED', 'Blocked')],
      });
      expect((await station.call('GetLocalListVersion')).versionNumber).to.equal(4);
      await station.expectStatus('VersionMismatch', 'SendLocalList', {
        versionNumber: 3,
        updateType: 'Differential',
        localAuthorizationList: [entry('OTHER', 'Accepted')],
      });
      await station.expectStatus('Accepted', 'ClearCache');
      await set(station, 'LocalAuthListCtrlr', 'Enabled', 'false');
      expect((await station.call('GetLocalListVersion')).versionNumber).to.equal(0);
    });

    it('GetReport, SetMonitoringBase and SetMonitoringLevel, DataTransfer', async () => {
      await station.expectStatus('Accepted', 'GetReport', {
        requestId,
        componentVariable: [{ component: { name: 'EVSE', evse: { id: 1 } }, variable: { name: 'Power' } }],
      });
      const [part] = await report(station, 'NotifyReport');
      expect(part?.reportData).to.have.length(1);
      expect(part?.reportData[0]).to.deep.include({ variable: { name: 'Power' } });
      await station.expectStatus('EmptyResultSet', 'GetReport', { requestId, componentCriteria: ['Problem'] });
      for (const monitoringBase of ['FactoryDefault', 'HardWiredOnly', 'All'])
        await station.expectStatus('Accepted', 'SetMonitoringBase', { monitoringBase });
      await station.expectStatus('Accepted', 'SetMonitoringLevel', { severity: 5 });
      await station.expectStatus('UnknownVendorId', 'DataTransfer', { vendorId: 'org.example', data: { a: 1 } });
    });

    it('CustomerInformation tells of the transactions of a token', async () => {
      await station.expectStatus('Accepted', 'CustomerInformation', {
        requestId,
        report: true,
        clear: false,
        idToken: { idToken: 'TAG-1', type: 'KeyCode' },
      });
      const parts = await report(station, 'NotifyCustomerInformation');
      expect(parts.map(({ data }) => data as string).join('')).to.match(/transaction .*EVSE 1, .* Wh/);
    });

    it('SetNetworkProfile', async () => {
      const connectionData = {
        ocppVersion: 'OCPP20',
        ocppTransport: 'JSON',
        ocppCsmsUrl: 'wss://127.0.0.1:9',
        messageTimeout: 30,
        securityProfile: 2,
        ocppInterface: 'Wired0',
      };
      await station.expectStatus('Accepted', 'SetNetworkProfile', { configurationSlot: 2, connectionData });
      await station.expectStatus('Rejected', 'SetNetworkProfile', {
        configurationSlot: 2,
        connectionData: { ...connectionData, ocppTransport: 'SOAP' },
      });
    });
  });

  describe('certificates', () => {
    const installed = async (use: string): Promise<readonly Json[]> =>
      (
        (await station.call('GetInstalledCertificateIds', { certificateType: [use] })).certificateHashDataChain ?? []
      ).map(({ certificateHashData }: Json) => certificateHashData);

    it('InstallCertificate, GetInstalledCertificateIds, DeleteCertificate', async () => {
      const root = hashDataOf(pki.path('foreign-ca.pem'));
      expect(await installed('CSMSRootCertificate')).to.deep.equal([hashDataOf(pki.path('ca.pem'))]);
      const certificateType = 'ManufacturerRootCertificate';
      await station.expectStatus('Accepted', 'InstallCertificate', { certificateType, certificate: pem('foreign-ca') });
      expect(await installed(certificateType)).to.deep.equal([root]);
      await station.expectStatus('Accepted', 'DeleteCertificate', { certificateHashData: root });
      await station.expectStatus('NotFound', 'DeleteCertificate', { certificateHashData: root });
      await station.expectStatus('NotFound', 'GetInstalledCertificateIds', { certificateType: [certificateType] });
      await station.expectStatus('Rejected', 'InstallCertificate', {
        certificateType,
        certificate: pem('gridservice'),
      });
    });

    it('SignCertificate on request, and CertificateSigned', async () => {
      await set(station, 'SecurityCtrlr', 'OrganizationName', 'derbench');
      const requestedMessage = 'SignChargingStationCertificate';
      await station.expectStatus('Accepted', 'TriggerMessage', { requestedMessage });
      const { csr } = (await station.next('SignCertificate')).payload;
      expect(verifiedSubject(csr)).to.include('CN=').and.include('O=derbench');
      const certificateType = 'ChargingStationCertificate';
      await station.expectStatus('Rejected', 'CertificateSigned', {
        certificateType,
        certificateChain: pem('gridservice'),
      });
      await eventOf('InvalidChargingStationCertificate');
      const certificateChain = signedBy(pki.path('ca'), csr);
      await station.expectStatus('Accepted', 'CertificateSigned', { certificateType, certificateChain });
    });
  });

  describe('firmware', () => {
    const name = 'signed.bin';
    const text = 'derbench-firmware 3.0.0\noctets of a signed firmware';
    const update = (expected: string, id: number, more: object = {}) =>
      station.expectStatus(expected, 'UpdateFirmware', {
        requestId: id,
        retries: 0,
        firmware: {
          location: files.url(name),
          retrieveDateTime: inSeconds(-1),
          signingCertificate: pem('bad-foreign'),
          signature: signatureOf(pki.path('bad-foreign.key'), text),
          ...more,
        },
      });
    const expectStatuses = async (id: number, statuses: readonly string[]) => {
      for (const one of statuses)
        expect((await station.next('FirmwareStatusNotification', { requestId: id })).payload.status).to.equal(one);
    };

    it('UpdateFirmware verifies, installs and boots with the new version', async () => {
      files.files.set(name, text);
      await station.expectStatus('Accepted', 'InstallCertificate', {
        certificateType: 'ManufacturerRootCertificate',
        certificate: pem('foreign-ca'),
      });
      await update('InvalidCertificate', 10, { signingCertificate: pem('gridservice') });
      await eventOf('InvalidFirmwareSigningCertificate');
      await update('Accepted', 11, { signature: signatureOf(pki.path('bad-foreign.key'), 'others') });
      await expectStatuses(11, ['Downloading', 'Downloaded', 'InvalidSignature']);
      await update('Accepted', 12);
      await expectStatuses(12, ['Downloading', 'Downloaded', 'SignatureVerified', 'Installing']);
      await station.ever('FirmwareStatusNotification', { requestId: 12, status: 'InstallRebooting' });
      const { payload } = await station.next('BootNotification');
      expect(payload.reason).to.equal('FirmwareUpdate');
      expect(payload.chargingStation.firmwareVersion).to.equal('3.0.0');
      await station.ever('FirmwareStatusNotification', { requestId: 12, status: 'Installed' });
    });
  });
});
