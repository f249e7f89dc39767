import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { expect } from 'chai';
import { adu, RawClient, readRequest } from '../../../support/modbus-client.ts';
import { answer100, infos, read100, TlsRigs, until } from '../../../support/modbus-tls.ts';
import type { TlsRig } from '../../../support/modbus-tls.ts';
import { issue, testPki, utf8String } from '../../../support/pki.ts';
import type { Identity, TestPki } from '../../../support/pki.ts';
import { connectTls } from '../../../support/tls.ts';

describe('Modbus/TCP Security', () => {
  let pki: TestPki;
  let readOnly: Identity;
  let rigs: TlsRigs;

  before(async () => {
    pki = await testPki();
    readOnly = pki.clients.ReadOnlySunSpec;
    rigs = new TlsRigs(pki);
  });
  afterEach(() => rigs.end());

  const rig: TlsRigs['rig'] = (...options) => rigs.rig(...options);
  const open: TlsRigs['open'] = (...options) => rigs.open(...options);
  const openRaw: TlsRigs['openRaw'] = (made) => rigs.openRaw(made);

  /** Tries to read a register; what a refused client gets out of it. */
  async function attempt(
    made: TlsRig,
    identity: Identity | undefined,
    options: ConnectionOptions = {},
  ): Promise<string> {
    const client = RawClient.over(rigs.connect(made, identity, options));
    client.send(adu(1, 1, '0600640001'));
    return (await client.untilClosed()).toString('hex');
  }

  describe('cipher suites and versions', () => {
    const suites = [
      ['TLSv1.2', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
      ['TLSv1.2', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
      ['TLSv1.2', 'ECDHE-ECDSA-AES128-CCM8'],
      ['TLSv1.3', 'TLS_AES_128_GCM_SHA256'],
      ['TLSv1.3', 'TLS_CHACHA20_POLY1305_SHA256'],
      ['TLSv1.3', 'TLS_AES_128_CCM_SHA256'],
    ] as const;

    for (const [version, suite] of suites) {
      it(`${version} ${suite} is negotiated, with a P-256 key exchange`, async () => {
        const made = await rig();
        const ciphers = suite.endsWith('CCM8') ? `${suite}:@SECLEVEL=0` : suite;
        const socket = await connectTls(made.port, pki, readOnly, {
          minVersion: version,
          maxVersion: version,
          ciphers,
        });
        rigs.own(socket);
        expect([socket.getProtocol(), socket.getCipher().name]).to.deep.equal([version, suite]);
        expect(socket.getEphemeralKeyInfo()).to.include({ type: 'ECDH', name: 'prime256v1', size: 256 });
        expect(await RawClient.over(socket).request(read100)).to.equal(answer100);
      });
    }

    for (const suite of [
      'ECDHE-ECDSA-AES256-GCM-SHA384',
      'ECDHE-RSA-AES128-GCM-SHA256',
      'TLS_AES_256_GCM_SHA384',
    ] as const) {
      it(`${suite} is not among those offered`, async () => {
        const made = await rig();
        const version = suite.startsWith('TLS_') ? 'TLSv1.3' : 'TLSv1.2';
        expect(await attempt(made, readOnly, { minVersion: version, maxVersion: version, ciphers: suite })).to.equal(
          '',
        );
        expect(infos(made)).to.deep.equal([
          'info PEER: no TLS session: it offers no cipher suite that is allowed here',
        ]);
      });
    }

    it('TLS 1.1 is refused, and TLS 1.2 where 1.3 is the least', async () => {
      const made = await rig();
      expect(
        await attempt(made, readOnly, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
      ).to.equal('');
      expect(infos(made)).to.deep.equal(['info PEER: no TLS session: its TLS version is too old']);
      const strict = await rig({ minVersion: '1.3' });
      expect(await attempt(strict, readOnly, { maxVersion: 'TLSv1.2' })).to.equal('');
      expect(await (await open(strict)).request(read100)).to.equal(answer100);
    });

    it('a list of the user replaces the built-in one', async () => {
      const made = await rig({ ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384' });
      const socket = await connectTls(made.port, pki, readOnly);
      rigs.own(socket);
      expect([socket.getProtocol(), socket.getCipher().name]).to.deep.equal([
        'TLSv1.2',
        'ECDHE-ECDSA-AES256-GCM-SHA384',
      ]);
    });

    for (const separator of [':', ',', ' ', ', ', ';']) {
      it(`a list of the user with "${separator}" between leaves no other suite`, async () => {
        const made = await rig({
          ciphers: ['ECDHE-ECDSA-AES128-GCM-SHA256', 'TLS_AES_128_CCM_SHA256'].join(separator),
        });
        for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
          await (
            await open(made, readOnly, {
              minVersion: version,
              maxVersion: version,
              ciphers: 'ALL:TLS_AES_128_CCM_SHA256',
            })
          ).request(read100);
        expect(await attempt(made, readOnly, { minVersion: 'TLSv1.3', ciphers: 'TLS_AES_256_GCM_SHA384' })).to.equal(
          '',
        );
        expect(infos(made)).to.deep.equal([
          'info PEER: no TLS session: it offers no cipher suite that is allowed here',
        ]);
      });
    }
  });

  describe('client certificates', () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      it(`${version}: without a good one there is no session, nothing is carried out, and the log says why`, async () => {
        const made = await rig();
        const reasons = [
          ['expired', 'its certificate has expired'],
          ['not yet valid', 'its certificate is not valid yet'],
          ['foreign CA', 'its certificate is not issued by a CA of mb_root_cert'],
          ['a server certificate', 'its certificate is not one for clients'],
        ] as const;
        for (const [which, reason] of reasons) {
          expect(await attempt(made, pki.refused[which], { minVersion: version, maxVersion: version }), which).to.equal(
            '',
          );
          expect(infos(made).splice(-1), which).to.deep.equal([`info PEER: no TLS session: ${reason}`]);
        }
        expect(await attempt(made, undefined, { minVersion: version, maxVersion: version })).to.equal('');
        expect(infos(made).splice(-1)).to.deep.equal(['info PEER: no TLS session: it has no certificate']);
        expect(
          await attempt(
            made,
            { cert: pki.foreignCa.cert, key: pki.foreignCa.key },
            { minVersion: version, maxVersion: version },
          ),
        ).to.equal('');
        expect(made.context.counters).to.include({ acceptedConnections: 6, handshakeFailures: 6, requests: 0 });
        expect(made.unit.writes).to.deep.equal([]);
        expect(made.server.connectionCount).to.equal(0);
      });
    }

    it('signed by another key than that of the CA it names gives no session', async () => {
      const made = await rig();
      const forger = {
        ...pki.ca,
        keys: { publicKey: pki.ca.keys.publicKey, privateKey: pki.foreignCa.keys.privateKey },
      };
      const forged = await issue(forger, 'forged', {
        purpose: 'client',
        roles: [utf8String('SuperAdministratorSunSpec')],
      });
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        expect(await attempt(made, forged, { minVersion: version, maxVersion: version })).to.equal('');
        expect(infos(made).splice(-1)).to.deep.equal([
          'info PEER: no TLS session: its certificate is not signed by the CA that it names',
        ]);
      }
      expect(made.unit.writes).to.deep.equal([]);
    });

    it('with a key on another curve goes with suites of the user; in TLS 1.2 not with the built-in ones', async () => {
      const [made, own] = [await rig(), await rig({ ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384' })];
      const p384 = await issue(pki.ca, 'p384', {
        purpose: 'client',
        roles: [utf8String('ReadOnlySunSpec')],
        curve: 'P-384',
      });
      expect(await attempt(made, p384, { maxVersion: 'TLSv1.2' })).to.equal('');
      expect(infos(made)).to.deep.equal(['info PEER: no TLS session: the key of its certificate is not on P-256']);
      expect(await (await open(own, p384)).request(read100)).to.equal(answer100);
    });

    it('without a usable role gives a session that is told in the log with the reason', async () => {
      const made = await rig();
      for (const identity of Object.values(pki.roleless)) {
        const client = await open(made, identity);
        expect(await client.request(read100)).to.equal(answer100);
      }
      expect(made.server.clients().map(({ role }) => role)).to.deep.equal(Object.keys(pki.roleless).map(() => null));
      expect(infos(made)[0]).to.equal('info PEER may find the models and nothing else: its certificate has no role');
      expect(infos(made)).to.have.lengthOf(Object.keys(pki.roleless).length);
    });

    it('gives its role to the session; one in clear has none at all', async () => {
      const made = await rig();
      for (const identity of Object.values(pki.clients)) await (await open(made, identity)).request(read100);
      expect(made.server.clients().map(({ role }) => role)).to.deep.equal(Object.keys(pki.clients));
    });

    it('counts anew at each connection: sessions are not resumed', async () => {
      const made = await rig();
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        const limits = { minVersion: version, maxVersion: version };
        const first = await connectTls(made.port, pki, pki.clients.SuperAdministratorSunSpec, limits);
        rigs.own(first);
        let session = first.getSession();
        first.on('session', (ticket) => {
          session = ticket;
        });
        expect(await RawClient.over(first).request(read100)).to.equal(answer100);
        expect(session).to.not.equal(undefined);
        const again = await connectTls(made.port, pki, readOnly, { ...limits, ...(session && { session }) });
        rigs.own(again);
        expect(await RawClient.over(again).request(read100)).to.equal(answer100);
        expect(again.isSessionReused(), version).to.equal(false);
        expect(made.server.clients().at(-1)?.role).to.equal('ReadOnlySunSpec');
      }
    });

    it('is not asked for a second time: renegotiation is refused', async () => {
      const made = await rig();
      const socket = await connectTls(made.port, pki, readOnly, { maxVersion: 'TLSv1.2' });
      rigs.own(socket);
      socket.resume();
      const failure = once(socket, 'error') as Promise<[Error]>;
      socket.renegotiate({ rejectUnauthorized: true }, () => undefined);
      expect((await failure)[0].message).to.match(/no renegotiation/);
    });
  });

  describe('what does not come to a session', () => {
    it('plain Modbus is closed at once, and nothing of it is carried out', async () => {
      const made = await rig();
      const client = await openRaw(made);
      client.send(adu(1, 1, '0600640001'));
      await client.untilClosed();
      await until(() => made.context.counters.handshakeFailures === 1);
      expect(infos(made)).to.deep.equal(['info PEER: no TLS session: it does not speak TLS']);
      expect(made.unit.writes).to.deep.equal([]);
    });

    it('HTTP and noise are closed as well', async () => {
      const made = await rig();
      for (const bytes of [
        Buffer.from('GET / HTTP/1.1\r\n\r\n'),
        Buffer.alloc(64, 0xff),
        Buffer.from('160301000101', 'hex'),
      ]) {
        const client = await openRaw(made);
        client.socket.end(bytes);
        await client.untilClosed();
      }
      await until(() => made.context.counters.handshakeFailures === 3);
      expect(made.server.connectionCount).to.equal(0);
    });

    it('is told at most ten times a second, then as a count', async () => {
      const made = await rig();
      for (let i = 0; i < 30; i += 1) {
        const client = await openRaw(made);
        client.send('00010000000601030064ffff');
        await client.untilClosed();
      }
      await until(() => made.context.counters.handshakeFailures === 30);
      expect(infos(made)).to.have.lengthOf(10);
      made.context.log.flush();
      expect(infos(made).at(-1)).to.equal('info 20 more lines about connections were left out');
    });
  });

  describe('requests inside a session', () => {
    it('may be cut and joined anywhere: an FC16 in single octets, 50 requests in one record', async () => {
      const made = await rig();
      const client = await open(made);
      for (const octet of adu(9, 1, '1000640002041234abcd')) client.send(Buffer.of(octet));
      expect((await client.answer()).toString('hex')).to.equal('000900000006011000640002');
      expect(made.unit.writes.map(({ words }) => words)).to.deep.equal(['1234abcd']);
      client.send(Buffer.concat(Array.from({ length: 50 }, (_, i) => readRequest(i, 100, 1))));
      for (let i = 0; i < 50; i += 1) expect((await client.answer()).readUInt16BE(0)).to.equal(i);
    });

    it('are not read on from a client that takes no answers, which is closed in the end', async () => {
      const made = await rig();
      const client = await open(made);
      client.socket.pause();
      const requests = Buffer.concat(Array.from({ length: 5000 }, (_, i) => readRequest(i, 160, 125)));
      let [requestsSeen, turns] = [-1, 0];
      // answers leave in several turns here: it is stuck when many of them bring nothing
      await until(() => {
        if (client.socket.writableLength === 0) client.send(requests);
        const [info] = made.server.clients();
        turns = info?.paused === true && info.requests === requestsSeen ? turns + 1 : 0;
        requestsSeen = info?.requests ?? -1;
        return turns > 200;
      });
      expect(made.server.clients()[0]?.heldBytes).to.be.lessThan(256 * 1024);
      const other = await open(made);
      for (let i = 0; i < 100; i += 1) expect(await other.request(read100)).to.equal(answer100);
      made.context.sweeper.sweep();
      made.clock.advance(30_000);
      made.context.sweeper.sweep();
      await until(() => made.server.connectionCount === 1);
      expect(infos(made)).to.deep.equal(['info PEER closed: it does not read its answers']);
    });

    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      it(`${version}: end at a record that cannot be read`, async () => {
        const made = await rig();
        const socket = connect(made.port, '127.0.0.1');
        const client = RawClient.over(connectSecure({ socket, ca: pki.ca.cert, ...readOnly, maxVersion: version }));
        rigs.own(client);
        expect(await client.request(read100)).to.equal(answer100);
        // beneath TLS
        socket.write(Buffer.concat([Buffer.from('1703030020', 'hex'), Buffer.alloc(32, 7)]));
        await client.untilClosed();
        await until(() => made.server.connectionCount === 0);
        expect(made.context.counters).to.include({ requests: 1, answers: 1 });
      });
    }

    it('end with the connection of a peer that resets it', async () => {
      const made = await rig();
      const socket = connect(made.port, '127.0.0.1');
      const client = RawClient.over(connectSecure({ socket, ca: pki.ca.cert, ...readOnly }));
      expect(await client.request(read100)).to.equal(answer100);
      socket.resetAndDestroy();
      await until(() => made.server.connectionCount === 0);
    });
  });

  it('closes in bounded time with sessions and half-open handshakes about', async () => {
    const made = await rig();
    const session = await open(made);
    await session.request(read100);
    const silent = connect(made.port, '127.0.0.1');
    silent.on('error', () => undefined);
    rigs.own(silent);
    await until(() => made.context.counters.acceptedConnections === 2);
    const gone = Promise.all([session.untilClosed(), once(silent, 'close')]);
    silent.resume();
    await made.server.close();
    await gone;
    expect(made.context.counters.handshakeFailures).to.equal(0);
    expect(made.server.connectionCount).to.equal(0);
  });
});
