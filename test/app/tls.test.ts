import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLogBook } from '../../src/core/log/log.ts';
import { ask } from '../support/http.ts';
import { openHandles, settled } from '../support/handles.ts';
import { adu, RawClient, readRequest } from '../support/modbus-client.ts';
import { testPki } from '../support/pki.ts';
import type { TestPki } from '../support/pki.ts';
import { startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';
import { openTls } from '../support/tls.ts';

describe('Modbus over TLS of the whole simulator', () => {
  let pki: TestPki;
  let directory: string;
  let flags: readonly string[];
  let running: RunningApp | undefined;
  const clients: RawClient[] = [];

  before(async () => {
    pki = await testPki();
    directory = mkdtempSync(join(tmpdir(), 'derbench-app-tls-'));
    const file = (name: string, text: string) => {
      writeFileSync(join(directory, name), text, { mode: 0o600 });
      return join(directory, name);
    };
    flags = [
      '-e',
      'yes',
      '-mbc',
      file('server.pem', pki.server.cert),
      '-mbk',
      file('server.key', pki.server.key),
      '-mbr',
      file('ca.pem', pki.ca.cert),
    ];
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await running?.app.stop();
    running = undefined;
  });

  async function open(port: number, role: keyof TestPki['clients']): Promise<RawClient> {
    const client = await openTls(port, pki, pki.clients[role]);
    clients.push(client);
    return client;
  }

  it('REST shows it: devices, status, clients with their roles, the last writer', async () => {
    running = await startApp(['PV-3Phase', 'Batt-3Phase'], flags);
    const { port } = running;
    const [first, second] = (await ask(port, '/api/sim/devices')).json.devices;
    expect([first.modbus.tls, second.modbus.tls]).to.deep.equal([true, true]);
    expect((await ask(port, '/api/sim/overview')).json.comm_status.modbus_tcp).to.include({
      state: 'listening',
      endpoint: `tls://127.0.0.1:${first.modbus.port as number}`,
    });
    const grid = await open(second.modbus.port, 'GridServiceSunSpec');
    const limit = running.app.plant.devices[1]?.bank.layout.slot(704, 'WMaxLimPct')?.address ?? 0;
    const request = adu(1, 1, `06${limit.toString(16)}${(5000).toString(16).padStart(4, '0')}`);
    expect(await grid.request(request)).to.equal(request.toString('hex'));
    await (await open(first.modbus.port, 'ReadOnlySunSpec')).request(readRequest(1, 40_000, 2));
    const reply = (await ask(port, '/api/sim/modbus')).json;
    const [{ listeners, counters }] = reply.interfaces;
    expect(
      listeners.map(({ transport, clients: [client] }: { transport: string; clients: { role: string }[] }) => [
        transport,
        client?.role,
      ]),
    ).to.deep.equal([
      ['tls', 'ReadOnlySunSpec'],
      ['tls', 'GridServiceSunSpec'],
    ]);
    expect(counters).to.include({ accepted_connections: 2, handshake_failures: 0 });
    const { points } = (await ask(port, '/api/sim/registers/704?device=1')).json;
    const written = points.find(({ name }: { name: string }) => name === 'WMaxLimPct');
    expect(JSON.stringify(written)).to.match(/127\.0\.0\.1:\d+ \(GridServiceSunSpec\)/);
  });

  it('a file that is missing for a moment is an issue of changes that restart its adapter alone', async () => {
    running = await startApp(['PV-3Phase'], flags);
    const { port } = running;
    const patch = async (body: object) => (await ask(port, '/api/sim/settings', { method: 'PATCH', body })).status;
    const path = join(directory, 'server.key');
    renameSync(path, `${path}.away`);
    try {
      expect(await patch({ log_level: 'error' })).to.equal(200);
      expect(await patch({ mb_shared_port: true })).to.equal(422);
      expect(await patch({ mb_shared_port: false })).to.equal(200);
    } finally {
      renameSync(`${path}.away`, path);
    }
    expect(await patch({ mb_shared_port: true })).to.equal(200);
  });

  it('a device that is added while it runs is served inside TLS too', async () => {
    running = await startApp(['PV-3Phase'], flags);
    const added = (await ask(running.port, '/api/sim/devices', { method: 'POST', body: { device_type: 'PV-1Phase' } }))
      .json;
    expect(added.modbus.tls).to.equal(true);
    const client = await open(added.modbus.port, 'ReadOnlySunSpec');
    expect(await client.request(readRequest(1, 40_000, 2))).to.match(/53756e53$/);
  });

  it('rights belong to points, also where a fault has moved them', async () => {
    running = await startApp(['PV-3Phase'], flags);
    const { app, port } = running;
    const device = app.plant.devices[0];
    const modbusPort = (await ask(port, '/api/sim/devices')).json.devices[0].modbus.port as number;
    const limit = device?.bank.layout.slot(704, 'WMaxLimPct')?.address ?? 0;
    const injected = await ask(port, '/api/sim/faults', {
      method: 'POST',
      body: { inject: [{ protocol: 'modbus', kind: 'base', address: 50_000 }] },
    });
    expect(injected.status, injected.text).to.equal(200);
    const write = (address: number) => adu(1, 1, `06${address.toString(16)}1388`);
    const [network, grid] = [
      await open(modbusPort, 'NetworkAdministratorSunSpec'),
      await open(modbusPort, 'GridServiceSunSpec'),
    ];
    expect(await network.request(write(limit + 10_000))).to.match(/8601$/);
    expect(await grid.request(write(limit))).to.match(/8602$/);
    expect(await grid.request(write(limit + 10_000))).to.equal(write(limit + 10_000).toString('hex'));
  });

  it('the warning about a public address does not name Modbus, which requires certificates', async () => {
    const logBook = createLogBook({ write: () => undefined });
    running = await startApp(['PV-3Phase'], [...flags, '--mb_host', '0.0.0.0'], { logBook });
    const { port } = running;
    const warnings = await ask(port, '/api/sim/logs?levels=warning');
    expect(warnings.status).to.equal(200);
    expect(warnings.text).to.not.match(/without authentication/);
  });

  it('ends with nothing left open, a half-open handshake included', async () => {
    await settled();
    const before = openHandles();
    const { app, port } = await startApp(['PV-3Phase'], flags);
    const modbusPort = (await ask(port, '/api/sim/devices')).json.devices[0].modbus.port as number;
    const [silent, session] = [await RawClient.open(modbusPort), await open(modbusPort, 'ReadOnlySunSpec')];
    expect(await session.request(readRequest(1, 40_000, 2))).to.match(/53756e53$/);
    silent.socket.resume();
    await app.stop();
    await Promise.all([silent.untilClosed(), session.untilClosed()]);
    await settled();
    expect(openHandles()).to.deep.equal(before);
  });
});
