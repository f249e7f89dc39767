import { expect } from 'chai';
import { createServer as createPlainServer } from 'node:net';
import type { Socket } from 'node:net';
import { createServer } from 'node:tls';
import { listen } from '../../../src/core/net/listen.ts';
import type { ClientTls } from '../../../src/contract/sunspec-client.ts';
import { createSunSpecClient } from '../../../src/sunspec/client/client.ts';
import type { SunSpecClientAdapter } from '../../../src/sunspec/client/client.ts';

import { createModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import type { ModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import { failureOf, pointsOf } from '../../support/client.ts';
import { testPki } from '../../support/pki.ts';
import type { Identity, TestPki } from '../../support/pki.ts';
import { testPlant } from '../../support/plant.ts';
import { serverFiles, tlsOver } from '../../support/tls.ts';

describe('SunSpec client over TLS (Modbus/TCP Security)', () => {
  let pki: TestPki;
  let device: ModbusAdapter;
  let port: number;
  let client: SunSpecClientAdapter;

  before(async () => {
    pki = await testPki();
    device = createModbusAdapter({
      devices: testPlant().devices,
      host: '127.0.0.1',
      port: 0,
      sharedPort: false,
      tlsFiles: tlsOver(serverFiles(pki)),
    });
    await device.start();
    port = device.endpointOf(0)!.port;
  });
  after(() => device.stop());
  beforeEach(() => {
    client = createSunSpecClient();
  });
  afterEach(() => client.stop());

  const tlsOf = ({ cert, key }: Identity, changes: Partial<ClientTls> = {}): ClientTls => ({
    cert,
    key,
    rootCert: pki.ca.cert,
    checkHostname: true,
    ...changes,
  });
  const connect = (tls: ClientTls, host = '127.0.0.1', at = port) =>
    client.connect({
      transport: 'tls',
      host,
      port: at,
      tls,
      unitId: 1,
      timeoutMs: 1000,
      baseAddress: null,
      transactionIds: 'strict',
    });

  it('reads and writes with a role that permits it', async () => {
    const status = await connect(tlsOf(pki.clients.GridServiceSunSpec));
    expect([status.state, status.endpoint]).to.deep.equal(['connected', `tls://127.0.0.1:${port}`]);
    expect(pointsOf(await client.readModel(701, 0, true)).get('ConnSt')!.symbol).to.equal('CONNECTED');
    expect((await client.writePoints(704, 0, { WMaxLimPct: 70 })).match).to.equal(true);
  });

  it('is refused a write by exception 1 with a role that only reads', async () => {
    await connect(tlsOf(pki.clients.ReadOnlySunSpec));
    const failure = await failureOf(client.writePoints(704, 0, { WMaxLimPct: 70 }));
    expect([failure.protocolCode, failure.message]).to.deep.equal([
      1,
      'exception 1 (illegal function) for WMaxLimPct; nothing was written before',
    ]);
  });

  it('says with which exception a device without rights for it keeps the scale factor back', async () => {
    await connect(tlsOf(pki.roleless.none));
    const failure = await failureOf(client.writePoints(704, 0, { WMaxLimPct: 70 }));
    expect([failure.code, failure.protocolCode, failure.message]).to.deep.equal([
      'PEER_ERROR',
      1,
      'exception 1 (illegal function) while reading the scale factor of WMaxLimPct; nothing was written',
    ]);
  });

  it('is not let in with a certificate that has expired', async () => {
    const failure = await failureOf(connect(tlsOf(pki.refused.expired)));
    expect(failure.code).to.equal('PEER_ERROR');
  });

  it('lets no device be taken for another: chain and name are checked', async () => {
    const ours = pki.clients.GridServiceSunSpec;
    expect((await failureOf(connect(tlsOf(ours, { rootCert: pki.foreignCa.cert })))).message).to.match(
      /^cannot connect to tls:\/\/127\.0\.0\.1:\d+: its certificate /,
    );
    const other = createServer({ cert: pki.clients.ReadOnlySunSpec.cert, key: pki.clients.ReadOnlySunSpec.key });
    const at = (await listen(other, '127.0.0.1', 0)).port;
    expect((await failureOf(connect(tlsOf(ours), '127.0.0.1', at))).message).to.match(
      /its certificate is not of this host|unsupported certificate purpose|certificate/,
    );
    await new Promise<void>((resolve) => {
      other.close(() => {
        resolve();
      });
    });
  });

  it('says in words what went wrong, without the insides of a library', async () => {
    const plain = createPlainServer((socket) => {
      socket.on('error', () => undefined).resume();
      socket.write('220 ready\r\n');
    });
    const at = (await listen(plain, '127.0.0.1', 0)).port;
    const { message } = await failureOf(connect(tlsOf(pki.clients.GridServiceSunSpec), '127.0.0.1', at));
    await new Promise<void>((resolve) => {
      plain.close(() => {
        resolve();
      });
    });
    expect(message).to.equal(
      `cannot connect to tls://127.0.0.1:${at}: it does not speak TLS, or no version of it that is in use`,
    );
  });

  it('refuses texts that are no certificate or key, or do not belong together, without repeating them', async () => {
    const good = tlsOf(pki.clients.GridServiceSunSpec);
    const secret = 'S3CR3T-marker';
    for (const [tls, name] of [
      [{ ...good, cert: secret }, '/tls/cert'],
      [{ ...good, rootCert: secret }, '/tls/root_cert'],
      [{ ...good, key: secret }, '/tls/key'],
      [{ ...good, key: pki.clients.ReadOnlySunSpec.key }, '/tls/key'],
    ] as const) {
      const failure = await failureOf(connect(tls));
      expect(failure.code).to.equal('COMMAND_BAD_VALUE');
      expect(failure.message.replace('.', '/')).to.contain(name.slice(1));
      expect(failure.message).not.to.contain(secret);
    }
  });

  it('gives a handshake up at once when the client stops, and else at the time-out', async () => {
    const sockets: Socket[] = [];
    const silent = createPlainServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
    });
    const { port: at } = await listen(silent, '127.0.0.1', 0);
    const target = {
      transport: 'tls',
      host: '127.0.0.1',
      port: at,
      tls: tlsOf(pki.clients.GridServiceSunSpec),
      unitId: 1,
      baseAddress: null,
      transactionIds: 'strict',
    } as const;
    const late = await failureOf(client.connect({ ...target, timeoutMs: 100 }));
    expect([late.code, late.message]).to.deep.equal([
      'PEER_TIMEOUT',
      `no connection to tls://127.0.0.1:${at} within 0.1 s`,
    ]);
    expect(late.ms).to.be.below(1000);
    const pending = failureOf(client.connect({ ...target, timeoutMs: 20_000 }));
    while (sockets.length < 2)
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    await client.stop();
    const stopped = await pending;
    expect(stopped.code, 'no time-out').to.equal('COMMAND_CONFLICT');
    expect(stopped.ms).to.be.below(1000);
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      silent.close(() => {
        resolve();
      });
    });
  });

  it('shows neither certificates nor keys', async () => {
    const { key, cert } = pki.clients.GridServiceSunSpec;
    const text = JSON.stringify([await connect(tlsOf({ key, cert })), client.status()]);
    expect(text).not.to.contain('BEGIN');
    expect(text).not.to.contain(key.split('\n')[1]);
  });
});
