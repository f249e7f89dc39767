import { expect } from 'chai';
import { sign } from 'node:crypto';
import { createAuthority, issue } from '../../../support/pki.ts';
import type { Authority, Identity } from '../../../support/pki.ts';
import { settled } from '../../v16/fakes.ts';
import { content, firmwareOn } from './firmware-rig.ts';

const signatureOf = (text: string, { key }: Identity) => sign('sha256', Buffer.from(text), key).toString('base64');

describe('OCPP 2.x UpdateFirmware without a signature (L02)', () => {
  it('every step in its order, without SignatureVerified; the restart tells FirmwareUpdate and the new version', async () => {
    const s = await firmwareOn();
    const dates = { retrieveDateTime: s.inS(100), installDateTime: s.inS(1000) };
    expect(await s.update(7, dates, 1)).to.deep.equal({ status: 'Accepted' });
    await s.pass(100);
    await s.fail();
    await s.pass(5);
    await s.deliver(content);
    expect(s.operative()).to.deep.equal([true, true]);
    await s.pass(895);
    expect(s.operative()).to.deep.equal([false, false]);
    await s.pass(11);
    expect(s.connection.done).to.deep.equal(['restart: firmware update']);
    expect(s.stopped).to.deep.equal([{ reason: 'Reboot', trigger: 'ResetCommand' }]);
    expect([s.part.version, s.part.restarted]).to.deep.equal(['2.0.0', true]);
    s.registration.end();
    s.registration.accept({ booted: true });
    await settled();
    expect(s.statuses()).to.deep.equal([
      'DownloadScheduled 7',
      'Downloading 7',
      'DownloadPaused 7',
      'Downloading 7',
      'Downloaded 7',
      'InstallScheduled 7',
      'Installing 7',
      'InstallRebooting 7',
      'Installed 7',
    ]);
    expect([s.operative(), s.part.restarted, s.raised]).to.deep.equal([
      [true, true],
      false,
      [['FirmwareUpdated', '2.0.0']],
    ]);
  });

  it('the boot reason of the restart is FirmwareUpdate', async () => {
    const s = await firmwareOn();
    const reasons: unknown[] = [];
    Object.assign(s.connection, { restart: (...of: readonly unknown[]) => reasons.push(of) });
    await s.update(1);
    await s.deliver(content);
    await s.pass(11);
    expect(reasons).to.deep.equal([['firmware update', 'FirmwareUpdate']]);
  });

  it('L01.FR.07: transactions end first; EVSEs without one take no vehicle meanwhile', async () => {
    const s = await firmwareOn();
    s.hand.begin(1);
    await s.update(1);
    await s.deliver(content);
    expect([s.statuses().at(-1), s.operative()]).to.deep.equal(['InstallScheduled 1', [true, false]]);
    s.hand.end(1);
    await settled();
    expect([s.statuses().at(-1), s.operative()]).to.deep.equal(['Installing 1', [false, false]]);
  });

  it('AllowNewSessionsPendingFirmwareUpdate: they take vehicles until the installation begins', async () => {
    const s = await firmwareOn();
    s.variables.override('ChargingStation', 'AllowNewSessionsPendingFirmwareUpdate', 'true');
    s.hand.begin(1);
    await s.update(1);
    await s.deliver(content);
    expect([s.statuses().at(-1), s.operative()]).to.deep.equal(['InstallScheduled 1', [true, true]]);
    s.hand.begin(2);
    s.hand.end(1);
    await settled();
    expect([s.statuses().at(-1), s.operative()]).to.deep.equal(['InstallScheduled 1', [true, true]]);
    s.hand.end(2);
    await settled();
    expect([s.statuses().at(-1), s.operative()]).to.deep.equal(['Installing 1', [false, false]]);
  });

  it('what the central system has made inoperative stays so after the update', async () => {
    const s = await firmwareOn();
    s.device.port.command({ kind: 'evse.availability', connectorId: 2, operative: false });
    s.central.evses.add(2);
    await s.update(1);
    await s.deliver(content);
    await s.pass(11);
    expect(s.operative()).to.deep.equal([true, false]);
  });

  it('DownloadFailed after its retries; in 2.1 with the reason', async () => {
    for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const) {
      const s = await firmwareOn({ version });
      await s.update(3, {}, 1);
      await s.fail();
      await s.pass(5);
      await s.fail();
      expect(s.statuses()).to.deep.equal(['Downloading 3', 'DownloadPaused 3', 'Downloading 3', 'DownloadFailed 3']);
      const info = { reasonCode: 'Unspecified', additionalInfo: 'the server answers 500' };
      expect(s.told().at(-1)?.statusInfo).to.deep.equal(version === 'ocpp2.1' ? info : undefined);
    }
  });

  it('InstallVerificationFailed and InstallationFailed leave the version and the EVSEs as they were', async () => {
    const s = await firmwareOn();
    await s.update(1);
    await s.deliver('derbench-firmware 2.0.0 damaged\n');
    await s.update(2);
    await s.deliver('derbench-firmware 2.0.0 fails\n');
    await s.pass(20);
    expect(s.statuses()).to.deep.equal([
      'Downloading 1',
      'Downloaded 1',
      'InstallVerificationFailed 1',
      'Downloading 2',
      'Downloaded 2',
      'Installing 2',
      'InstallationFailed 2',
    ]);
    expect([s.part.version, s.operative(), s.connection.done]).to.deep.equal(['1.0', [true, true], []]);
  });

  it('AcceptedCanceled: a new request ends the one under way; Rejected once the installation has begun', async () => {
    const s = await firmwareOn();
    await s.update(1, { retrieveDateTime: s.inS(100) });
    expect(await s.update(2)).to.deep.equal({ status: 'AcceptedCanceled' });
    expect(await s.update(3)).to.deep.equal({ status: 'AcceptedCanceled' });
    await s.deliver(content);
    expect(await s.update(4)).to.deep.equal({
      status: 'Rejected',
      statusInfo: { reasonCode: 'FwUpdateInProgress' },
    });
    await s.pass(200);
    expect(s.statuses()).to.deep.equal([
      'DownloadScheduled 1',
      'Downloading 2',
      'Downloading 3',
      'Downloaded 3',
      'Installing 3',
      'InstallRebooting 3',
    ]);
  });

  it('Rejected for a location that is no URL, before anything changes', async () => {
    const s = await firmwareOn();
    await s.update(1, { retrieveDateTime: s.inS(100) });
    const reply = await s.update(2, { location: 'nowhere' });
    expect([reply.status, reply.statusInfo?.reasonCode]).to.deep.equal(['Rejected', 'InvalidURL']);
    expect(s.statuses()).to.deep.equal(['DownloadScheduled 1']);
  });

  it('the answer goes before the first status', async () => {
    const s = await firmwareOn();
    const acts: (() => void)[] = [];
    const firmware = { location: 'http://files.test/fw.bin', retrieveDateTime: s.inS(0) };
    await s.part.handlers.UpdateFirmware?.({ requestId: 1, firmware }, (act) => acts.push(act));
    await settled();
    expect([s.told(), s.downloads]).to.deep.equal([[], []]);
    for (const act of acts) act();
    await settled();
    expect(s.statuses()).to.deep.equal(['Downloading 1']);
  });

  it('L01.FR.25, FR.26: a trigger tells Idle without an update and after Installed, else what was told last', async () => {
    const s = await firmwareOn();
    expect(await s.triggered()).to.deep.equal({ status: 'Idle' });
    await s.update(5);
    expect(await s.triggered()).to.deep.equal({ status: 'Downloading', requestId: 5 });
    await s.deliver(content);
    await s.pass(10);
    expect(await s.triggered()).to.deep.equal({ status: 'InstallRebooting', requestId: 5 });
    await s.pass(1);
    s.registration.accept({ booted: true });
    await settled();
    expect(await s.triggered()).to.deep.equal({ status: 'Idle' });
    await s.update(6);
    await s.fail();
    expect((await s.triggered())?.status).to.equal('DownloadFailed');
  });

  it('a process that ends during the download takes the update up again; after the installation it tells Installed', async () => {
    const s = await firmwareOn();
    await s.update(1);
    await settled();
    s.part.stop?.();
    const second = await firmwareOn({ store: s.store });
    second.registration.accept();
    await settled();
    expect(second.statuses()).to.deep.equal(['Downloading 1']);
    await second.deliver(content);
    await second.pass(11);
    await settled();
    second.part.stop?.();
    const third = await firmwareOn({ store: s.store });
    expect([third.part.version, third.part.restarted]).to.deep.equal(['2.0.0', true]);
    expect(await third.triggered()).to.deep.equal({ status: 'InstallRebooting', requestId: 1 });
    third.registration.accept();
    await settled();
    expect(third.statuses().at(-1)).to.equal('Installed 1');
  });

  it('what does not fit in the store is left out', async () => {
    const s = await firmwareOn();
    await s.store.slot('firmware').replace([{ requestId: 'x', update: { requestId: 1 } }]);
    await s.store.slot('firmware-version').replace(['1.5']);
    const again = await firmwareOn({ store: s.store });
    again.registration.accept();
    await settled();
    expect([again.part.version, again.statuses()]).to.deep.equal(['1.5', []]);
  });

  it('states that the line has lost are told in order when it is back', async () => {
    const s = await firmwareOn();
    await s.update(1);
    s.registration.end();
    await s.deliver(content);
    expect(s.statuses()).to.deep.equal(['Downloading 1']);
    s.registration.accept();
    await settled();
    expect(s.statuses()).to.deep.equal(['Downloading 1', 'Downloaded 1', 'Installing 1']);
  });

  it('stop leaves no timer and gives the EVSEs back', async () => {
    const s = await firmwareOn();
    await s.update(1);
    await s.deliver(content);
    s.part.stop?.();
    await settled();
    expect([s.operative(), s.timers.waiting, s.device.listening]).to.deep.equal([[true, true], 0, 0]);
  });
});

describe('OCPP 2.x UpdateFirmware with a signature (L01)', () => {
  let root: Authority;
  let signer: Identity;
  let stranger: Identity;
  before(async () => {
    root = await createAuthority('Manufacturer');
    signer = await issue(root, 'signer', { purpose: 'client' });
    stranger = await issue(await createAuthority('Other'), 'stranger', { purpose: 'client' });
  });
  const signedBy = (by: Identity, text = content) => ({
    signingCertificate: signer.cert,
    signature: signatureOf(text, by),
  });

  it('SignatureVerified stands between Downloaded and Installing', async () => {
    const s = await firmwareOn({ root });
    expect(await s.update(1, signedBy(signer))).to.deep.equal({ status: 'Accepted' });
    await s.deliver(content);
    expect(s.statuses()).to.deep.equal(['Downloading 1', 'Downloaded 1', 'SignatureVerified 1', 'Installing 1']);
  });

  it('InvalidCertificate before any download: other roots, expired, no PEM; each a critical event', async () => {
    const s = await firmwareOn({ root });
    const expired = await issue(root, 'expired', { purpose: 'client', validDays: [-20, -10] });
    for (const signingCertificate of [stranger.cert, expired.cert, 'no certificate']) {
      const reply = await s.update(1, { signingCertificate, signature: 'AA==' });
      expect([reply.status, reply.statusInfo?.reasonCode]).to.deep.equal(['InvalidCertificate', 'InvalidCertificate']);
    }
    expect(s.raised.map(([type]) => type)).to.deep.equal(new Array(3).fill('InvalidFirmwareSigningCertificate'));
    expect([s.downloads, s.line.calls]).to.deep.equal([[], []]);
  });

  it('Rejected: one of certificate and signature without the other', async () => {
    const s = await firmwareOn({ root });
    for (const firmware of [{ signingCertificate: signer.cert }, { signature: 'AA==' }]) {
      const reply = await s.update(1, firmware);
      expect([reply.status, reply.statusInfo?.reasonCode]).to.deep.equal(['Rejected', 'MissingParam']);
    }
    expect(s.downloads).to.deep.equal([]);
  });

  it('InvalidSignature and its event for another file and another signer', async () => {
    const s = await firmwareOn({ root });
    for (const [requestId, firmware] of [
      [1, signedBy(signer, 'other octets')],
      [2, signedBy(stranger)],
    ] as const) {
      expect((await s.update(requestId, firmware)).status).to.equal('Accepted');
      await s.deliver(content);
      expect(s.statuses().slice(-2)).to.deep.equal([`Downloaded ${requestId}`, `InvalidSignature ${requestId}`]);
    }
    await s.pass(100);
    expect(s.raised.map(([type]) => type)).to.deep.equal(new Array(2).fill('InvalidFirmwareSignature'));
    expect(s.part.version).to.equal('1.0');
  });
});
