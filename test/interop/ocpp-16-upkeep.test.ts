import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { inSeconds, PythonCentral } from './support/ocpp-central.ts';
import type { StationAtCentral } from './support/ocpp-central.ts';
import { FileServer } from './support/ocpp-files.ts';
import { signatureOf } from './support/ocpp-pki.ts';
import { expectExchanged } from './support/ocpp-rows.ts';
import { describeWith } from './support/peers.ts';
import { PkiOnDisk } from './support/pki-on-disk.ts';

const openLimitMs = 60_000;

describeWith(['ocpp', 'openssl'], 'files of OCPP 1.6 at the package ocpp', () => {
  const files = new FileServer();
  let pki: PkiOnDisk;
  let central: PythonCentral;
  let station: StationAtCentral;

  before(async function () {
    this.timeout(openLimitMs);
    pki = new PkiOnDisk();
    await files.open();
    central = await PythonCentral.open('CP-1');
    ({ station } = central);
    await station.status('Available');
  });
  after(async () => {
    await files.close();
    pki.remove();
    await central.close();
  });

  const pem = (name: string) => readFileSync(pki.path(`${name}.pem`), 'utf8');
  /** The next statuses that the station reports. */
  const expectStatuses = async (action: string, statuses: readonly string[], where: object = {}) => {
    for (const status of statuses)
      expect((await station.next(action, { ...where })).payload.status, `${action} of ${statuses.join()}`).to.equal(
        status,
      );
  };
  const eventOf = (type: string) => station.ever('SecurityEventNotification', { type });
  const bootVersion = async () => (await station.next('BootNotification')).payload.firmwareVersion as string;

  describe('logs', () => {
    const getLog = (status: string, requestId: number, more: object = {}) =>
      station.expectStatus(status, 'GetLog', {
        logType: 'DiagnosticsLog',
        requestId,
        retries: 0,
        log: { remoteLocation: files.url() },
        ...more,
      });

    it('GetDiagnostics delivers a file', async () => {
      const { fileName } = await station.call('GetDiagnostics', { location: files.url() });
      await expectStatuses('DiagnosticsStatusNotification', ['Uploading', 'Uploaded']);
      expect(files.uploads.get(fileName)).to.include('BootNotification');
    });

    it('GetDiagnostics tries again, and gives up', async () => {
      files.failures.push(503);
      await station.call('GetDiagnostics', { location: files.url(), retries: 1, retryInterval: 1 });
      await expectStatuses('DiagnosticsStatusNotification', ['Uploading', 'Uploaded']);
      files.failures.push(503);
      await station.call('GetDiagnostics', { location: files.url(), retries: 0 });
      await expectStatuses('DiagnosticsStatusNotification', ['Uploading', 'UploadFailed']);
    });

    it('without anything in the time asked for there is no file', async () => {
      const past = { startTime: '2020-01-01T00:00:00Z', stopTime: '2020-01-02T00:00:00Z' };
      expect(await station.call('GetDiagnostics', { location: files.url(), ...past })).to.deep.equal({});
    });

    it('GetLog delivers the diagnostics log and the security log', async () => {
      const { filename } = await getLog('Accepted', 1);
      await expectStatuses('LogStatusNotification', ['Uploading', 'Uploaded'], { requestId: 1 });
      expect(files.uploads.get(filename)).to.include('BootNotification');
      const { filename: security } = await getLog('Accepted', 2, { logType: 'SecurityLog' });
      await expectStatuses('LogStatusNotification', ['Uploading', 'Uploaded'], { requestId: 2 });
      expect(files.uploads.get(security)).to.include('StartupOfTheDevice');
    });

    it('GetLog tells why a delivery failed', async () => {
      files.failures.push(403);
      await getLog('Accepted', 3);
      await expectStatuses('LogStatusNotification', ['Uploading', 'PermissionDenied'], { requestId: 3 });
      await getLog('Accepted', 4, { log: { remoteLocation: 'gopher://127.0.0.1/logs' } });
      await expectStatuses('LogStatusNotification', ['Uploading', 'NotSupportedOperation'], { requestId: 4 });
    });

    it('a second GetLog takes the place of the first', async () => {
      // the first one waits for its second attempt
      files.failures.push(503);
      await getLog('Accepted', 5, { retries: 1, retryInterval: 600 });
      await station.until('the first attempt', () => Promise.resolve(files.failures.length === 0 || undefined));
      await getLog('AcceptedCanceled', 6);
      await expectStatuses('LogStatusNotification', ['Uploading', 'Uploaded'], { requestId: 6 });
    });

    it('TriggerMessage and ExtendedTriggerMessage tell that nothing is under way', async () => {
      for (const [call, requestedMessage] of [
        ['TriggerMessage', 'DiagnosticsStatusNotification'],
        ['TriggerMessage', 'FirmwareStatusNotification'],
        ['ExtendedTriggerMessage', 'LogStatusNotification'],
        ['ExtendedTriggerMessage', 'FirmwareStatusNotification'],
      ] as const) {
        await station.expectStatus('Accepted', call, { requestedMessage });
        const told = requestedMessage === 'FirmwareStatusNotification' && call === 'ExtendedTriggerMessage';
        await expectStatuses(told ? 'SignedFirmwareStatusNotification' : requestedMessage, ['Idle']);
      }
      for (const requestedMessage of ['BootNotification', 'Heartbeat', 'MeterValues', 'StatusNotification']) {
        await station.expectStatus('Accepted', 'ExtendedTriggerMessage', { requestedMessage });
        await station.next(requestedMessage);
      }
    });
  });

  describe('firmware', () => {
    const update = (status: string, requestId: number, name: string, more: object = {}) =>
      station.expectStatus(status, 'SignedUpdateFirmware', {
        requestId,
        retries: 0,
        firmware: {
          location: files.url(name),
          retrieveDateTime: inSeconds(-1),
          signingCertificate: pem('bad-foreign'),
          signature: signatureOf(pki.path('bad-foreign.key'), files.files.get(name) ?? ''),
          ...more,
        },
      });

    before(async () => {
      files.files.set('evse-2.4.1.bin', 'octets of a firmware');
      files.files.set('signed.bin', 'derbench-firmware 3.0.0\noctets of a signed firmware');
      await station.expectStatus('Accepted', 'InstallCertificate', {
        certificateType: 'ManufacturerRootCertificate',
        certificate: pem('foreign-ca'),
      });
    });

    it('UpdateFirmware of a file that is not there', async () => {
      await station.call('UpdateFirmware', { location: files.url('none'), retrieveDate: inSeconds(-1), retries: 0 });
      await expectStatuses('FirmwareStatusNotification', ['Downloading', 'DownloadFailed']);
    });

    it('UpdateFirmware fetches at its time, installs out of operation, and boots with the new version', async () => {
      const retrieveDate = inSeconds(2);
      const location = files.url('evse-2.4.1.bin');
      expect(await station.call('UpdateFirmware', { location, retrieveDate })).to.deep.equal({});
      await expectStatuses('FirmwareStatusNotification', ['Downloading', 'Downloaded']);
      const fetched = files.requests.find(({ method, name }) => method === 'GET' && name === 'evse-2.4.1.bin');
      expect(fetched?.atMs).to.be.at.least(Date.parse(retrieveDate) - 1000);
      await expectStatuses('FirmwareStatusNotification', ['Installing']);
      await station.ever('StatusNotification', { connectorId: 1, status: 'Unavailable' });
      expect(await bootVersion()).to.equal('2.4.1');
      await station.status('Available');
      await station.ever('FirmwareStatusNotification', { status: 'Installed' });
    });

    it('SignedUpdateFirmware with a certificate of another root, and with a signature of other octets', async () => {
      await update('InvalidCertificate', 10, 'signed.bin', { signingCertificate: pem('gridservice') });
      await eventOf('InvalidFirmwareSigningCertificate');
      await update('Accepted', 11, 'signed.bin', { signature: signatureOf(pki.path('bad-foreign.key'), 'others') });
      await expectStatuses('SignedFirmwareStatusNotification', ['Downloading', 'Downloaded', 'InvalidSignature'], {
        requestId: 11,
      });
      await eventOf('InvalidFirmwareSignature');
    });

    it('SignedUpdateFirmware waits for its times, verifies and installs', async () => {
      const [retrieveDateTime, installDateTime] = [inSeconds(2), inSeconds(4)];
      await update('Accepted', 12, 'signed.bin', { retrieveDateTime, installDateTime });
      const steps = ['DownloadScheduled', 'Downloading', 'Downloaded', 'SignatureVerified', 'InstallScheduled'];
      await expectStatuses('SignedFirmwareStatusNotification', [...steps, 'Installing', 'InstallRebooting'], {
        requestId: 12,
      });
      expect(await bootVersion()).to.equal('3.0.0');
      await eventOf('FirmwareUpdated');
      await station.ever('SignedFirmwareStatusNotification', { status: 'Installed', requestId: 12 });
    });

    it('exchanges the messages of files, logs and security events', () => expectExchanged(central, 'upkeep'));
  });
});
