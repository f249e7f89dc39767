import { expect } from 'chai';
import { constants, generateKeyPairSync, sign } from 'node:crypto';
import type { Requests } from '../../../../src/ocpp/v16/parts.ts';
import { firmwareSignature } from '../../../../src/ocpp/firmware-management/updater.ts';
import { createAuthority, issue } from '../../../support/pki.ts';
import type { Authority, Identity } from '../../../support/pki.ts';
import { settled } from '../fakes.ts';
import { accepted, content } from './firmware-rig.ts';
import type { FirmwareOptions } from './firmware-rig.ts';
import { expectFits } from './rig.ts';

const unsigned = 'FirmwareStatusNotification';
const signedAction = 'SignedFirmwareStatusNotification';

describe('OCPP 1.6 SignedUpdateFirmware (white paper, L01)', () => {
  let root: Authority;
  let signer: Identity;
  let stranger: Identity;
  before(async () => {
    root = await createAuthority('Manufacturer');
    signer = await issue(root, 'signer', { purpose: 'client' });
    stranger = await issue(await createAuthority('Other'), 'stranger', { purpose: 'client' });
  });

  const signatureOf = (text: string, { key }: Identity) => sign('sha256', Buffer.from(text), key).toString('base64');

  async function signedOn(options: FirmwareOptions = {}) {
    const s = await accepted({ root, ...options });
    return {
      ...s,
      async signed(requestId: number, more: Partial<Requests['SignedUpdateFirmware']['firmware']> = {}, retries = 0) {
        const firmware = {
          location: 'http://files.test/fw.bin',
          retrieveDateTime: s.inS(0),
          signingCertificate: signer.cert,
          signature: signatureOf(content, signer),
          ...more,
        };
        const request = { requestId, firmware, retries, retryInterval: 5 };
        expectFits('SignedUpdateFirmware', 'request', request);
        const reply = await s.part.handlers.SignedUpdateFirmware?.(request, s.after);
        expectFits('SignedUpdateFirmware', 'reply', reply);
        await s.answered();
        return reply?.status;
      },
    };
  }

  it('every step in its order, with the requestId', async () => {
    const s = await signedOn();
    const dates = { retrieveDateTime: s.inS(100), installDateTime: s.inS(1000) };
    expect(await s.signed(7, dates, 1)).to.equal('Accepted');
    await s.pass(100);
    await s.fail();
    await s.pass(5);
    await s.deliver(content);
    expect(s.operative()).to.deep.equal([true, true]);
    await s.pass(895);
    expect(s.operative()).to.deep.equal([false, false]);
    await s.pass(11);
    await s.accept();
    expect(s.statuses(signedAction)).to.deep.equal([
      'DownloadScheduled 7',
      'Downloading 7',
      'DownloadPaused 7',
      'Downloading 7',
      'Downloaded 7',
      'SignatureVerified 7',
      'InstallScheduled 7',
      'Installing 7',
      'InstallRebooting 7',
      'Installed 7',
    ]);
    expect([s.part.version, s.told(unsigned)]).to.deep.equal(['2.0.0', []]);
    expect(s.events).to.deep.equal([['FirmwareUpdated', '2.0.0']]);
  });

  it('InstallScheduled while a transaction runs', async () => {
    const s = await signedOn();
    s.transactions.begin(1);
    await s.signed(1);
    await s.deliver(content);
    expect(s.statuses(signedAction).slice(-1)).to.deep.equal(['InstallScheduled 1']);
    s.transactions.end(1);
    await settled();
    expect(s.statuses(signedAction).slice(-1)).to.deep.equal(['Installing 1']);
  });

  it('InvalidCertificate before any download: other roots, none, expired, no PEM; each an event', async () => {
    const s = await signedOn();
    const expired = await issue(root, 'expired', { purpose: 'client', validDays: [-20, -10] });
    for (const signingCertificate of [stranger.cert, expired.cert, 'no certificate'])
      expect(await s.signed(1, { signingCertificate })).to.equal('InvalidCertificate');
    expect(s.events.map(([type]) => type)).to.deep.equal(new Array(3).fill('InvalidFirmwareSigningCertificate'));
    expect([s.downloads, s.line.calls]).to.deep.equal([[], []]);
    const without = await accepted();
    const request = {
      requestId: 1,
      firmware: { location: 'http://h/f', retrieveDateTime: s.inS(0), signingCertificate: signer.cert, signature: '' },
    };
    expect(await without.part.handlers.SignedUpdateFirmware?.(request, without.after)).to.deep.equal({
      status: 'InvalidCertificate',
    });
  });

  it('InvalidSignature and its event for another file, another signer, and no signature at all', async () => {
    const s = await signedOn();
    for (const [requestId, signature] of [
      [1, signatureOf('other octets', signer)],
      [2, signatureOf(content, stranger)],
      [3, 'no base64 !'],
    ] as const) {
      expect(await s.signed(requestId, { signature })).to.equal('Accepted');
      await s.deliver(content);
      expect(s.statuses(signedAction).slice(-2)).to.deep.equal([
        `Downloaded ${requestId}`,
        `InvalidSignature ${requestId}`,
      ]);
    }
    await s.pass(100);
    expect(s.events.map(([type]) => type)).to.deep.equal(new Array(3).fill('InvalidFirmwareSignature'));
    expect(s.part.version).to.equal('1.0');
  });

  it('InstallVerificationFailed and InstallationFailed', async () => {
    const s = await signedOn();
    const damaged = 'derbench-firmware 2.0.0 damaged\n';
    await s.signed(1, { signature: signatureOf(damaged, signer) });
    await s.deliver(damaged);
    const fails = 'derbench-firmware 2.0.0 fails\n';
    await s.signed(2, { signature: signatureOf(fails, signer) });
    await s.deliver(fails);
    await s.pass(20);
    expect(s.statuses(signedAction)).to.deep.equal([
      'Downloading 1',
      'Downloaded 1',
      'SignatureVerified 1',
      'InstallVerificationFailed 1',
      'Downloading 2',
      'Downloaded 2',
      'SignatureVerified 2',
      'Installing 2',
      'InstallationFailed 2',
    ]);
  });

  it('AcceptedCanceled takes the place of one under way, Rejected while one is installed', async () => {
    const s = await signedOn();
    await s.signed(1);
    expect(await s.signed(2)).to.equal('AcceptedCanceled');
    expect(s.downloads).to.have.lengthOf(1);
    await s.deliver(content);
    expect(await s.signed(3)).to.equal('Rejected');
    await s.pass(11);
    expect(await s.signed(4)).to.equal('Rejected');
    await s.accept();
    expect(s.statuses(signedAction)).to.deep.equal([
      'Downloading 1',
      'Downloading 2',
      'Downloaded 2',
      'SignatureVerified 2',
      'Installing 2',
      'InstallRebooting 2',
      'Installed 2',
    ]);
  });

  it('DownloadFailed', async () => {
    const s = await signedOn();
    await s.signed(5);
    await s.fail();
    expect(s.statuses(signedAction)).to.deep.equal(['Downloading 5', 'DownloadFailed 5']);
  });

  it('a trigger: requestId in all but Idle; TriggerMessage has the words of an unsigned update', async () => {
    const s = await signedOn();
    await s.signed(9, { retrieveDateTime: s.inS(100) });
    s.part.report(true);
    s.part.report(false);
    expect([s.statuses(signedAction).at(-1), s.statuses(unsigned)]).to.deep.equal(['DownloadScheduled 9', ['Idle']]);
    await s.pass(100);
    await s.fail();
    s.part.report(true);
    expect(s.told(signedAction).at(-1)).to.deep.equal({ status: 'Idle' });
  });

  it('over a restart of the process: the download begins again, its signature is checked, Installed has its requestId', async () => {
    const s = await signedOn();
    await s.signed(8);
    s.part.stop?.();
    const again = await signedOn({ before: s });
    await again.deliver(content);
    await again.pass(11);
    again.part.stop?.();
    await settled();
    const third = await signedOn({ before: again });
    expect(third.statuses(signedAction)).to.deep.equal(['Installed 8']);
    expect(again.statuses(signedAction)).to.include('SignatureVerified 8');
  });

  it('A00.FR.604: SHA-256 with ECDSA, with RSA in both paddings; nothing else', () => {
    const octets = Buffer.from(content);
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const fits = (key: typeof publicKey, signature: Buffer) => {
      const check = firmwareSignature({ publicKey: key } as never, signature.toString('base64')).begin();
      check.update(octets.subarray(0, 5));
      check.update(octets.subarray(5));
      return check.fits();
    };
    const pss = { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING };
    expect(fits(publicKey, sign('sha256', octets, privateKey))).to.equal(true);
    expect(fits(publicKey, sign('sha256', octets, pss))).to.equal(true);
    expect(fits(publicKey, sign('sha512', octets, privateKey))).to.equal(false);
    const ed = generateKeyPairSync('ed25519');
    expect(fits(ed.publicKey, sign(null, octets, ed.privateKey))).to.equal(false);
  });
});
