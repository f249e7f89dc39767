import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { listen } from '../../../src/core/net/listen.ts';
import type { HttpExchange } from '../../../src/csip/transport/sep-exchange.ts';
import { headEndPki } from '../../support/head-end.ts';
import type { HeadEndPki } from '../../support/head-end.ts';
import { exchangeWith, get, identityOf, PeerServer, refusalOf, serverTls } from './support.ts';

describe('exchange: TLS of IEEE 2030.5', () => {
  let pki: HeadEndPki;
  const open: (PeerServer | HttpExchange)[] = [];

  before(async () => {
    pki = await headEndPki();
  });
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });

  const server = async (more: Parameters<typeof serverTls>[0] = {}) => {
    const peer = await PeerServer.open(await serverTls(more), (_request, response) => response.end('<Time/>'));
    open.push(peer);
    return peer;
  };
  const client = (
    port: number,
    {
      own = pki.device,
      root = pki.root.cert,
      strict = false,
      checkHostname = true,
      host = '127.0.0.1',
    }: {
      own?: HeadEndPki['device'] | null;
      root?: string;
      strict?: boolean;
      checkHostname?: boolean;
      host?: string;
    } = {},
  ) => {
    const identity = identityOf(own, root, strict ? 'csip_strict' : 'csip');
    const made = exchangeWith(port, { host, tls: { identity, checkHostname } });
    open.push(made);
    return made;
  };

  it('TLS 1.2 with CCM-8 where the server has it, strict or not', async () => {
    const { port } = await server();
    for (const strict of [true, false]) {
      const exchange = client(port, { strict });
      expect(exchange.negotiated).to.equal(null);
      expect((await exchange.request(get('/tm'))).document?.name).to.equal('Time');
      expect(exchange.negotiated).to.deep.equal({ protocol: 'TLSv1.2', cipher: 'ECDHE-ECDSA-AES128-CCM8' });
    }
  });

  it('falls back to GCM unless it is strict', async () => {
    const { port } = await server({ ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' });
    const exchange = client(port);
    await exchange.request(get('/tm'));
    expect(exchange.negotiated?.cipher).to.equal('ECDHE-ECDSA-AES128-GCM-SHA256');
    const { code, message } = await refusalOf(client(port, { strict: true }).request(get('/tm')));
    expect(code).to.equal('PEER_ERROR');
    expect(message).to.match(/^cannot connect to tls:\/\/127\.0\.0\.1:\d+: it refuses every cipher suite/);
  });

  it('never speaks TLS 1.3', async () => {
    const { port } = await server({ minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' });
    const { code, message } = await refusalOf(client(port).request(get('/tm')));
    expect(code).to.equal('PEER_ERROR');
    expect(message).to.contain('none of the TLS versions');
  });

  it('judges learn of an expired certificate, and of no other failure', async () => {
    for (const [which, times] of [
      ['expired', 1],
      ['foreign', 0],
      ['bare', 0],
    ] as const) {
      let expirations = 0;
      const witness = {
        answered: () => undefined,
        refused: () => undefined,
        certificateExpired: () => (expirations += 1),
      };
      const identity = identityOf(pki.device, pki.root.cert, 'csip');
      const exchange = exchangeWith((await server(pki[which])).port, {
        tls: { identity, checkHostname: true },
        witness,
      });
      open.push(exchange);
      await refusalOf(exchange.request(get('/tm')));
      expect(expirations, which).to.equal(times);
    }
  });

  it('servers that cannot be trusted are refused with the reason', async () => {
    const cases = [
      ['foreign', 'it leaves an intermediate certificate out: CN=Another root'],
      ['selfSigned', 'self-signed'],
      ['expired', 'has expired'],
      ['bare', 'leaves an intermediate certificate out: CN=Head-end intermediate'],
      ['elsewhere', 'is not of this host'],
    ] as const;
    for (const [which, words] of cases) {
      const peer = await server(pki[which]);
      const { code, message } = await refusalOf(client(peer.port).request(get('/tm')));
      expect(code, which).to.equal('PEER_ERROR');
      expect(message, which).to.contain(words);
      expect(peer.requests, which).to.have.lengthOf(0);
    }
  });

  it('of a whole chain the issuer of its last certificate is named', async () => {
    const { port } = await server(pki.server);
    const { message } = await refusalOf(client(port, { root: pki.foreignDevice.cert }).request(get('/tm')));
    expect(message).to.contain('or it leaves an intermediate certificate out: CN=Head-end root');
  });

  it('without the check of the name the chain is verified all the same', async () => {
    const elsewhere = await server(pki.elsewhere);
    expect((await client(elsewhere.port, { checkHostname: false }).request(get('/tm'))).status).to.equal(200);
    const foreign = await server(pki.foreign);
    expect((await refusalOf(client(foreign.port, { checkHostname: false }).request(get('/tm')))).code).to.equal(
      'PEER_ERROR',
    );
    const named = await server();
    expect((await client(named.port, { host: 'localhost' }).request(get('/tm'))).status).to.equal(200);
  });

  it('a client certificate that the server refuses: the reason names it', async () => {
    const { port } = await server();
    for (const own of [pki.foreignDevice, null]) {
      const { code, message } = await refusalOf(client(port, { own }).request(get('/tm')));
      expect(code).to.equal('PEER_ERROR');
      expect(message).to.match(/the certificate of this (?:client|end)/);
    }
    const leafAlone = { cert: pki.device.cert.slice(0, pki.device.cert.indexOf('-----BEGIN', 5)), key: pki.device.key };
    expect((await refusalOf(client(port, { own: leafAlone }).request(get('/tm')))).message).to.match(
      /the certificate of this (?:client|end)/,
    );
  });

  it('a certificate that is replaced counts for connections from then on', async () => {
    const peer = await server();
    const identity = { ...identityOf(pki.foreignDevice, pki.root.cert) };
    const exchange = exchangeWith(peer.port, { tls: { identity, checkHostname: true } });
    open.push(exchange);
    expect((await refusalOf(exchange.request(get('/tm')))).code).to.equal('PEER_ERROR');
    identity.context = identityOf(pki.device, pki.root.cert).context;
    expect((await exchange.request(get('/tm'))).status).to.equal(200);
    const before = peer.connections;
    await exchange.request(get('/tm'));
    expect(peer.connections).to.equal(before);
    identity.context = identityOf(pki.device, pki.root.cert).context;
    await exchange.request(get('/tm'));
    expect(peer.connections).to.equal(before + 1);
  });

  it('what does not speak TLS, does not listen or never answers', async () => {
    const plain = await PeerServer.open(null, (_request, response) => response.end('<Time/>'));
    open.push(plain);
    expect((await refusalOf(client(plain.port).request(get('/tm')))).message).to.contain('does not speak TLS');
    await plain.close();
    expect((await refusalOf(client(plain.port).request(get('/tm')))).message).to.contain('the connection was refused');
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket));
    const { port } = await listen(silent, '127.0.0.1', 0);
    const identity = identityOf(pki.device, pki.root.cert);
    const exchange = exchangeWith(port, { tls: { identity, checkHostname: true }, limits: { connectMs: 100 } });
    open.push(exchange);
    expect(await refusalOf(exchange.request(get('/tm')))).to.deep.equal({
      code: 'PEER_TIMEOUT',
      message: `no connection to tls://127.0.0.1:${port} within 0.1 s`,
    });
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});
