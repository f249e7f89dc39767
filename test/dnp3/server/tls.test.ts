import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { once } from 'node:events';
import { expect } from 'chai';
import type { Dnp3Endpoint } from '../../../src/core/adapter.ts';
import { createAuthority, issue, testPki } from '../../support/pki.ts';
import type { Identity } from '../../support/pki.ts';
import { startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';
import { TestMaster } from '../rig/master.ts';

describe('outstations over TLS', function () {
  this.timeout(10_000);
  let folder: string;
  let running: RunningApp;
  let ca: string;
  let one: Identity;
  let two: Identity;
  let foreign: Identity;
  let listless: Identity;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-dnp3-tls-'));
    const pki = await testPki();
    const authority = await createAuthority('masters');
    ca = pki.ca.cert;
    const client = { purpose: 'client' } as const;
    [one, two] = [await issue(authority, 'scada-1', client), await issue(authority, 'scada-2', client)];
    listless = await issue(authority, 'scada-3', client);
    foreign = await issue(await createAuthority('other'), 'scada-1', client);
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    const fingerprint = new X509Certificate(two.cert).fingerprint256;
    running = await startApp(
      ['PV-3Phase'],
      [
        ...['--dnp3_enable', 'yes', '--dnp3_port', '0', '--dnp3_remote_addr', '4,5', '--dnp3_enc', 'yes'],
        ...['--dnp3_unsolicited', 'yes'],
        ...['--dnp3_cert', file('s.pem', pki.server.cert), '--dnp3_key', file('s.key', pki.server.key)],
        ...['--dnp3_root_cert', file('ca.pem', authority.cert)],
        ...['--dnp3_allowed_peers', `scada-1@4;sha256:${fingerprint}@5`],
      ],
    );
  });
  after(async () => {
    await running.app.stop();
    rmSync(folder, { recursive: true });
  });

  function endpoint(): Dnp3Endpoint {
    for (const adapter of running.app.adapters) {
      const found = adapter.comm === 'dnp3' ? adapter.endpointOf?.(0) : null;
      if (found?.protocol === 'dnp3') return found;
    }
    throw new Error('there is no outstation');
  }

  async function secured(identity: Identity | null): Promise<TLSSocket> {
    const socket = connect({
      host: '127.0.0.1',
      port: endpoint().port,
      ca,
      ...identity,
      checkServerIdentity: () => undefined,
    });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    return socket;
  }

  async function master(identity: Identity, address: number): Promise<TestMaster> {
    return TestMaster.connect({ port: 0, socket: await secured(identity), address, timeoutMs: 2000 });
  }

  it('serve a master whose certificate is allowed, by name or fingerprint', async () => {
    expect(endpoint().tls).to.equal(true);
    for (const [identity, address] of [
      [one, 4],
      [two, 5],
    ] as const) {
      const peer = await master(identity, address);
      expect((await peer.ask(23)).functionCode).to.equal(129);
      await peer.close();
    }
  });

  it('bind a certificate to its link address', async () => {
    const peer = await master(one, 5);
    peer.send(23);
    const right = await master(one, 4);
    await right.ask(23);
    expect(peer.frames.filter(({ to }) => to === 5)).to.deep.equal([]);
    await peer.close();
    await right.close();
  });

  it('8.11 send to the one master that a certificate can mean before it speaks', async () => {
    for (const [identity, address] of [
      [one, 4],
      [two, 5],
    ] as const) {
      const peer = await master(identity, address);
      expect(await peer.next(({ uns }) => uns, 0)).to.deep.include({ functionCode: 130, con: true });
      expect(peer.frames.map(({ to }) => to)).to.deep.equal([address]);
      await peer.close();
    }
  });

  it('end a connection with a certificate of another CA, or without one', async () => {
    for (const identity of [foreign, null]) {
      const socket = connect({
        host: '127.0.0.1',
        port: endpoint().port,
        ca,
        ...identity,
        checkServerIdentity: () => undefined,
      });
      socket.on('error', () => undefined);
      // `once` of node:events would reject with the alert
      await new Promise((resolve) => socket.once('close', resolve));
      expect(socket.destroyed).to.equal(true);
    }
  });

  it('serve a master beside a crowd that begins no handshake', async () => {
    const silent: Socket[] = [];
    for (let n = 0; n < 40; n += 1) {
      const socket = connectTcp(endpoint().port, '127.0.0.1');
      socket.on('error', () => undefined);
      silent.push(socket);
      await once(socket, 'connect');
    }
    const peer = await master(one, 4);
    expect((await peer.ask(23)).functionCode).to.equal(129);
    await peer.close();
    for (const socket of silent) socket.destroy();
  });

  it('refuse a certificate of the CA that is not in the list', async () => {
    const socket = await secured(listless);
    if (!socket.destroyed) await once(socket, 'close');
    expect(socket.destroyed).to.equal(true);
  });
});
