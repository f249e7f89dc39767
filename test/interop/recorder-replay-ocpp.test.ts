import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { replayCommand } from '../../src/recorder/replay/command.ts';
import { ask } from '../support/http.ts';
import { freePorts } from '../support/ports.ts';
import { startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';
import { inSeconds } from './support/ocpp-central.ts';
import { PythonPeer, describeWith } from './support/peers.ts';

const password = 'recorded-password-1234';
const flags = (port: number) => [
  ...['--ocpp_enable', 'yes', '--ocpp_csms_url', `ws://127.0.0.1:${port}`],
  ...['--ocpp_security_profile', '1', '--ocpp_password', password],
];

describeWith(['ocpp'], 'replays the central system of a recorded OCPP 1.6 session', function () {
  this.timeout(120_000);
  let folder: string;
  let file: string;

  async function post({ port }: RunningApp, path: string, body: unknown): Promise<void> {
    const { status, text } = await ask(port, `/api/sim/${path}`, { method: 'POST', body });
    expect(status, text).to.be.within(200, 299);
  }

  /** Replays to a new simulator. */
  async function replayed(...more: readonly string[]) {
    const port = await freePorts(1);
    const lines: string[] = [];
    const write = (line: string) => {
      lines.push(line);
    };
    const ended = replayCommand([file, '--ocpp', String(port), '--timeout', '4'], { out: write, error: write });
    const running = await startApp(['EVSE'], [...flags(port), ...more], { paused: false });
    try {
      return { code: await ended, lines };
    } finally {
      await running.app.stop();
    }
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-replay-'));
    file = join(folder, 'recording.jsonl');
    const port = await freePorts(1);
    // the station finds no central system until the recorder is on
    const running = await startApp(['EVSE'], flags(port), { paused: false });
    await post(running, 'recorder', { enabled: true, protocols: ['ocpp'] });
    const user = Buffer.from(password).toString('hex');
    const central = new PythonPeer('central_system', port, JSON.stringify({ user: 'SIM-CP-1', password: user }));
    try {
      await central.ask('ready');
      await central.ask('wait', { station: 'SIM-CP-1', action: 'StatusNotification', where: { connectorId: 1 } });
      const call = (action: string, payload: object) =>
        central.ask('call', { station: 'SIM-CP-1', action, payload, timeout: 20 });
      await call('GetConfiguration', { key: ['HeartbeatInterval', 'NoSuchKey'] });
      await call('ChangeConfiguration', { key: 'MeterValueSampleInterval', value: '7' });
      await call('ReserveNow', { connectorId: 1, expiryDate: inSeconds(3600), idTag: 'T', reservationId: 42 });
      await call('CancelReservation', { reservationId: 42 });
      await call('CancelReservation', { reservationId: 42 });
    } finally {
      await central.stop();
    }
    const { text } = await ask(running.port, '/api/sim/recorder/download');
    expect(text).not.to.include(password);
    await writeFile(file, text);
    await running.app.stop();
  });
  after(() => rm(folder, { recursive: true }));

  it('without a difference', async () => {
    const { code, lines } = await replayed();
    expect(lines.at(-1), lines.join('\n')).to.match(/^ocpp: \d+ requests replayed, 0 differences/);
    expect(code).to.equal(0);
  });

  it('and shows what another build says, by its place in the payload', async () => {
    const recorded = await readFile(file, 'utf8');
    const older = (text: string) =>
      text.replace(/("chargePointModel":)"[^"]*"/, '$1"Older"').replace(/"status":"Rejected"/, '"status":"Accepted"');
    const lines = recorded.split('\n').map((line) => {
      if (!line.includes('"protocol":"ocpp"')) return line;
      const entry = JSON.parse(line);
      return JSON.stringify({ ...entry, raw: older(entry.raw) });
    });
    await writeFile(file, lines.join('\n'));
    const { code, lines: found } = await replayed();
    await writeFile(file, recorded);
    expect(found.slice(1).map((line) => line.replace(/is ".*"$/, 'is ...'))).to.deep.include.members([
      'station SIM-CP-1, call 1 of the station (BootNotification): /chargePointModel was "Older", is ...',
      'station SIM-CP-1, call 5 of the central system (CancelReservation): the answer: /status was "Accepted", is ...',
    ]);
    expect(found.at(-1)).to.match(/replayed, 2 differences/);
    expect(code).to.equal(4);
  });

  it('and shows a call that does not come', async () => {
    const recorded = await readFile(file, 'utf8');
    const lines = recorded.split('\n');
    const boot = lines.find((line) => line.includes('BootNotification') && line.includes('"direction":"out"')) ?? '';
    const entry = JSON.parse(boot);
    const raw = entry.raw.replace('BootNotification', 'SecurityEventNotification');
    await writeFile(file, [...lines.slice(0, -1), JSON.stringify({ ...entry, raw })].join('\n'));
    const { code, lines: found } = await replayed();
    await writeFile(file, recorded);
    expect(found.slice(1, -1)).to.have.length(1);
    expect(found[1]).to.match(/call \d+ of the station \(SecurityEventNotification\): is missing$/);
    expect(code).to.equal(4);
  });
});

describeWith(['ocpp'], 'replays the central system of a recorded OCPP 2.1 session', function () {
  this.timeout(120_000);

  it('without a difference', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'derbench-replay-'));
    const file = join(folder, 'recording.jsonl');
    const version = ['--ocpp_version', 'ocpp2.1'];
    const port = await freePorts(1);
    const recorded = await startApp(['EVSE'], [...flags(port), ...version], { paused: false });
    const post = (path: string, body: unknown) => ask(recorded.port, `/api/sim/${path}`, { method: 'POST', body });
    await post('recorder', { enabled: true });
    const options = { version: '2.1', user: 'SIM-CP-1', password: Buffer.from(password).toString('hex') };
    const central = new PythonPeer('central_system', port, JSON.stringify(options));
    try {
      await central.ask('ready');
      await central.ask('wait', { station: 'SIM-CP-1', action: 'StatusNotification', where: {} });
      const call = (action: string, payload: object) =>
        central.ask('call', { station: 'SIM-CP-1', action, payload, timeout: 20 });
      const interval = { component: { name: 'OCPPCommCtrlr' }, variable: { name: 'HeartbeatInterval' } };
      await call('GetVariables', { getVariableData: [interval] });
      await call('SetVariables', { setVariableData: [{ ...interval, attributeValue: '77' }] });
      await call('GetBaseReport', { requestId: 5, reportBase: 'SummaryInventory' });
      await central.ask('wait', { station: 'SIM-CP-1', action: 'NotifyReport', where: { tbc: false } });
    } finally {
      await central.stop();
      await writeFile(file, (await ask(recorded.port, '/api/sim/recorder/download')).text);
      await recorded.app.stop();
    }
    const lines: string[] = [];
    const write = (line: string) => {
      lines.push(line);
    };
    const replayPort = await freePorts(1);
    const ended = replayCommand([file, '--ocpp', String(replayPort)], { out: write, error: write });
    const running = await startApp(['EVSE'], [...flags(replayPort), ...version], { paused: false });
    const code = await ended;
    await running.app.stop();
    await rm(folder, { recursive: true });
    expect(lines.at(-1), lines.join('\n')).to.match(/^ocpp: \d+ requests replayed, 0 differences/);
    expect(code).to.equal(0);
  });
});
