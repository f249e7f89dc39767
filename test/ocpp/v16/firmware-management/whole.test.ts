import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import type { App } from '../../../../src/app/start-stop.ts';
import { ask } from '../../../support/http.ts';
import { createAuthority, issue } from '../../../support/pki.ts';
import { startApp } from '../../../support/running-app.ts';
import { HandTimers } from '../../../support/timers.ts';
import { HandWall } from '../../../support/wall.ts';
import { Central } from '../../central/central.ts';
import type { CentralStation } from '../../central/station.ts';
import { fileServer } from '../../files/servers.ts';
import type { FileServer } from '../../files/servers.ts';
import { signRequest } from '../security/signing.ts';

const id = 'CP-1';
const secret = 'S3CR3T-marker-of-20+';
type Json = Record<string, unknown>;

const accepted = async (station: CentralStation, action: string, payload: Json = {}) => {
  const reply = await station.call(action, payload);
  expect(reply.kind, JSON.stringify(reply)).to.equal('result');
  return reply.kind === 'result' ? reply.payload : {};
};

/** Lets the line and the files move; the clock stands still. */
async function turnsUntil(done: () => boolean): Promise<void> {
  for (let turns = 0; !done() && turns < 20_000; turns += 1) await nextTurn();
  expect(done()).to.equal(true);
}

describe('the whole simulator: firmware and logs of a charge point of OCPP 1.6', () => {
  let central: Central;
  let station: CentralStation;
  let files: FileServer;
  let app: App;
  let port: number;
  const wall = new HandWall();
  const timers = new HandTimers(wall);

  before(async () => {
    files = await fileServer((request, response) => {
      if (request.url === '/fw-2.5.0.bin') response.end('octets of a firmware');
      else response.writeHead(request.method === 'PUT' ? 201 : 404).end();
    });
    central = await Central.open({ nowMs: () => wall.nowMs() });
    station = central.station(id);
    ({ app, port } = await startApp(
      ['EVSE'],
      [
        ...['--ocpp_enable', 'yes', '--ocpp_csms_url', central.url, '--ocpp_csid', id],
        ...['--ocpp_security_profile', '1', '--ocpp_password', secret],
      ],
      { wall, later: timers.later },
    ));
    await station.next('StatusNotification', ({ connectorId }) => connectorId === 1);
  });
  after(async () => {
    await app.stop();
    await central.close();
    await files.close();
  });

  const told = (action: string) =>
    station.callsOf(action).map(({ payload }) => [payload.status, payload.requestId].join(' ').trim());

  it('A04: the start is told after the boot', async () => {
    expect((await station.next('SecurityEventNotification')).payload.type).to.equal('StartupOfTheDevice');
  });

  it('GetDiagnostics and GetLog deliver real lines of the log, without the password', async () => {
    const { fileName } = await accepted(station, 'GetDiagnostics', { location: `${files.base}/diagnostics/` });
    await station.next('DiagnosticsStatusNotification', ({ status }) => status === 'Uploaded');
    const log = { remoteLocation: `${files.base}/logs/` };
    const reply = await accepted(station, 'GetLog', { requestId: 5, logType: 'SecurityLog', log });
    await station.next('LogStatusNotification', ({ status }) => status === 'Uploaded');
    expect(told('DiagnosticsStatusNotification')).to.deep.equal(['Uploading', 'Uploaded']);
    expect(told('LogStatusNotification')).to.deep.equal(['Uploading 5', 'Uploaded 5']);
    const [diagnostics, security] = files.received;
    expect([diagnostics?.url, security?.url]).to.deep.equal([`/diagnostics/${fileName}`, `/logs/${reply.filename}`]);
    expect(diagnostics?.body).to.match(/^\S+Z INFO \[OCPP\] CP-1: connected to the central system, ocpp1\.6$/m);
    expect(security?.body).to.match(/^\S+Z StartupOfTheDevice$/m);
    for (const text of [diagnostics?.body, security?.body]) {
      expect(text).to.not.include('S3CR3T');
      expect(text).to.not.include(Buffer.from(secret).toString('hex'));
      expect(text).to.not.include(Buffer.from(secret).toString('base64'));
    }
  });

  it('the answer is on the wire before the first report', () => {
    const words = station.frames.map(
      ({ direction, frame }) => `${direction} ${frame?.[0] === 3 ? 'answer' : String(frame?.[2])}`,
    );
    for (const [call, report] of [
      ['GetDiagnostics', 'DiagnosticsStatusNotification'],
      ['GetLog', 'LogStatusNotification'],
    ]) {
      const asked = words.indexOf(`out ${call}`);
      expect(words.indexOf('in answer', asked)).to.be.lessThan(words.indexOf(`in ${report}`));
    }
  });

  it('UpdateFirmware: download, restart, BootNotification with the new version, Installed', async () => {
    const location = `${files.base}/fw-2.5.0.bin`;
    const retrieveDate = new Date(wall.nowMs() + 60_000).toISOString();
    expect(await accepted(station, 'UpdateFirmware', { location, retrieveDate })).to.deep.equal({});
    timers.pass(60_000);
    await station.next('FirmwareStatusNotification', ({ status }) => status === 'Installing');
    await station.next('StatusNotification', ({ status }) => status === 'Unavailable');
    const evse = await ask(port, '/api/sim/evse');
    expect(evse.text).to.include('unavailable');
    await station.next('BootNotification');
    timers.pass(10_000);
    await turnsUntil(() => timers.nextMs <= 1000);
    timers.pass(1_000);
    await turnsUntil(() => !station.connected);
    timers.pass(2_500);
    const boot = await station.next('BootNotification');
    expect(boot.payload.firmwareVersion).to.equal('2.5.0');
    await station.next('FirmwareStatusNotification', ({ status }) => status === 'Installed');
    expect(told('FirmwareStatusNotification')).to.deep.equal(['Downloading', 'Downloaded', 'Installing', 'Installed']);
    const types = async () => (await station.next('SecurityEventNotification')).payload.type;
    expect([await types(), await types()].sort()).to.deep.equal(['FirmwareUpdated', 'ResetOrReboot']);
    await station.next('StatusNotification', ({ connectorId, status }) => connectorId === 1 && status === 'Available');
  });
});

describe('the whole simulator: certificates of a charge point of OCPP 1.6', () => {
  it('security profile 3: a certificate that CertificateSigned brings is shown at the next connection', async () => {
    const root = await createAuthority('CPO root');
    const [server, first] = [
      await issue(root, 'central', { purpose: 'server' }),
      await issue(root, 'first', { purpose: 'client' }),
    ];
    const folder = mkdtempSync(join(tmpdir(), 'derbench-'));
    const path = (name: string, text: string) => {
      const file = join(folder, name);
      writeFileSync(file, text);
      return file;
    };
    const central = await Central.open({ tls: { cert: server.cert, key: server.key, clientCa: root.cert } });
    const timers = new HandTimers(new HandWall());
    const shown: unknown[] = [];
    central.admit = (_, __, { socket }) => {
      if (socket instanceof TLSSocket) shown.push(socket.getPeerCertificate().subject.CN);
      return null;
    };
    const station = central.station(id);
    const { app, port } = await startApp(
      ['EVSE'],
      [
        ...['--ocpp_enable', 'yes', '--ocpp_csms_url', central.url, '--ocpp_csid', id],
        ...['--ocpp_security_profile', '3', '--ocpp_root_cert', path('root.pem', root.cert)],
        ...['--ocpp_cert', path('cert.pem', first.cert), '--ocpp_key', path('key.pem', first.key)],
      ],
      { later: timers.later },
    );
    try {
      const boot = await station.next('BootNotification');
      await station.nextConnection();
      const sign = { requestedMessage: 'SignChargePointCertificate' };
      expect(await accepted(station, 'ExtendedTriggerMessage', sign)).to.deep.equal({ status: 'Rejected' });
      await accepted(station, 'ChangeConfiguration', { key: 'CpoName', value: 'Example CPO' });
      expect(await accepted(station, 'ExtendedTriggerMessage', sign)).to.deep.equal({ status: 'Accepted' });
      const { csr } = (await station.next('SignCertificate')).payload as { csr: string };
      const { status } = await accepted(station, 'CertificateSigned', {
        certificateChain: await signRequest(csr, root),
      });
      expect(status).to.equal('Accepted');
      await station.nextConnection();
      expect(shown).to.deep.equal(['first', boot.payload.chargePointSerialNumber]);
      const { json } = await ask(port, `/api/sim/ocpp/${id}/certificates`);
      expect(JSON.stringify(json)).to.include('Example CPO').and.not.include('PRIVATE');
      // the last root stays
      const ids = await accepted(station, 'GetInstalledCertificateIds', {
        certificateType: 'CentralSystemRootCertificate',
      });
      const [certificateHashData] = ids.certificateHashData as Json[];
      expect(await accepted(station, 'DeleteCertificate', { certificateHashData })).to.deep.equal({ status: 'Failed' });
    } finally {
      await app.stop();
      await central.close();
      rmSync(folder, { recursive: true });
    }
  });
});
