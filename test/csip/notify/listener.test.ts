import { expect } from 'chai';
import { once } from 'node:events';
import { request as plainRequest } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import type { RequestOptions } from 'node:https';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { SimError } from '../../../src/core/errors.ts';
import { clientMaterial } from '../../../src/core/tls/client-context.ts';
import { TlsGate } from '../../../src/core/tls/gate.ts';
import { NotificationListener } from '../../../src/csip/notify/listener.ts';
import type { AnsweredRequest, NotificationListenerOptions } from '../../../src/csip/notify/listener.ts';
import type { ReceivedDocument } from '../../../src/csip/xml/schema.ts';
import { headEndPki } from '../../support/head-end.ts';
import { accepts, acceptError, serverAt } from '../../support/listeners.ts';
import type { Identity } from '../../support/pki.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

const names = { cert: 'cert', key: 'key', rootCert: 'root' };

async function gate(): Promise<TlsGate<unknown>> {
  const { device, root } = await headEndPki();
  const made = clientMaterial({ ...device, rootCert: root.cert }, 'csip', names);
  if (!('material' in made)) throw new Error('no certificates');
  return new TlsGate(made.material, { identify: () => null, rootCertName: 'root' });
}

/** A body is the name of its document, and the resource that it is about. */
function parse(body: Buffer): ReceivedDocument {
  const [name, subscribedResource = ''] = body.toString().split(' ');
  if (name === 'Notification') return { name, value: { subscribedResource, status: 0, subscriptionURI: '/sub/1' } };
  if (name === 'Time') return { name, value: {} };
  throw new SimError('PEER_ERROR', 'not well-formed');
}

/** Also for a connection that ends with an error. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));

class Rig {
  readonly wall = new HandWall();
  readonly timers = new HandTimers(this.wall);
  readonly lines: string[] = [];
  readonly answered: AnsweredRequest[] = [];
  readonly taken: (string | undefined)[] = [];
  listener!: NotificationListener;
  cutOff: () => void = () => undefined;

  async open(over: Partial<NotificationListenerOptions> = {}): Promise<this> {
    const note = (line: string) => this.lines.push(line);
    this.listener = new NotificationListener({
      host: '127.0.0.1',
      port: 0,
      gate: null,
      uri: null,
      parse,
      clock: this.wall,
      later: this.timers.later,
      log: { info: note, warning: note },
      onAnswer: (answered) => this.answered.push(answered),
      ...over,
    });
    await this.listener.open();
    this.cutOff = this.listener.take('abc', ({ notification }) => this.taken.push(notification.subscribedResource));
    return this;
  }

  /** @returns status and headers; 0: the connection was ended */
  send(over: RequestOptions & { readonly body?: string; readonly tls?: object } = {}): Promise<[number, object]> {
    const { body = 'Notification /derc', tls, headers, path = '/notify/abc', ...rest } = over;
    const options = {
      host: '127.0.0.1',
      port: this.listener.port,
      method: 'POST',
      agent: false,
      path,
      headers: { 'Content-Type': 'application/sep+xml', ...(headers as OutgoingHttpHeaders | undefined) },
      ...rest,
    } as const;
    const sending = tls === undefined ? plainRequest(options) : request({ ...options, ...tls });
    return new Promise((resolve) => {
      sending.on('response', (response) => {
        response.resume();
        resolve([response.statusCode ?? 0, response.headers]);
      });
      sending.on('error', () => resolve([0, {}]));
      sending.end(options.method === 'POST' ? body : undefined);
    });
  }

  async status(over: Parameters<Rig['send']>[0] = {}): Promise<number> {
    const [status] = await this.send(over);
    return status;
  }

  /** A connection in clear. */
  async raw(text = ''): Promise<Socket> {
    const socket = connect(this.listener.port ?? 0, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    if (text !== '') socket.write(text);
    return socket;
  }

  /** Waits until the listener has so many connections. */
  async until(connections: number): Promise<void> {
    while (this.listener.openConnections !== connections) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A request that waits for 100 before its body of 15 octets. */
const askingHead =
  'POST /notify/abc HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\nContent-Length: 15\r\nExpect: 100-continue\r\n\r\n';

describe('CSIP: listener for notifications', () => {
  let rig: Rig;
  const opened = async (over: Partial<NotificationListenerOptions> = {}) => (rig = await new Rig().open(over));
  afterEach(() => rig.listener.close());

  it('takes a notification at the path that was given out, and answers 204', async () => {
    await opened();
    expect(rig.listener.uriOf('abc')).to.equal(`http://127.0.0.1:${rig.listener.port}/notify/abc`);
    expect(await rig.status()).to.equal(204);
    expect(rig.taken).to.deep.equal(['/derc']);
    expect(rig.answered).to.have.length(1);
    expect(rig.answered[0]).to.deep.include({ method: 'POST', url: '/notify/abc', status: 204 });
    expect(rig.answered[0]?.body?.toString()).to.equal('Notification /derc');
  });

  it('is reached under the URI of the settings, with and without its path', async () => {
    await opened({ uri: 'https://gateway.example/site7/' });
    expect(rig.listener.uriOf('abc')).to.equal('https://gateway.example/site7/notify/abc');
    const headers = { Host: 'gateway.example' };
    expect(await rig.status({ path: '/site7/notify/abc', headers })).to.equal(204);
    expect(await rig.status({ headers })).to.equal(204);
  });

  it('refuses what is no notification for it', async () => {
    await opened();
    expect(await rig.status({ path: '/notify/other' }), 'unknown subscription').to.equal(404);
    expect(await rig.status({ path: '/' })).to.equal(404);
    expect(await rig.status({ headers: { Host: 'evil.example' } })).to.equal(421);
    expect(await rig.status({ headers: { Origin: 'http://evil.example' } })).to.equal(403);
    expect(await rig.status({ headers: { 'Sec-Fetch-Site': 'cross-site' } })).to.equal(403);
    expect(await rig.status({ headers: { 'Content-Type': 'application/sep-exi' } })).to.equal(415);
    expect(await rig.status({ headers: { 'Content-Encoding': 'gzip' } })).to.equal(415);
    expect(await rig.status({ body: 'rubbish' })).to.equal(400);
    expect(await rig.status({ body: 'Time' })).to.equal(400);
    const [status, headers] = await rig.send({ method: 'GET' });
    expect([status, (headers as Record<string, string>)['allow']]).to.deep.equal([405, 'POST']);
    rig.cutOff();
    expect(await rig.status(), 'a subscription that was ended').to.equal(404);
    expect(rig.taken).to.deep.equal([]);
  });

  it('takes the media types of XML', async () => {
    await opened();
    for (const type of ['application/sep+xml; level=+S1', 'text/xml', 'APPLICATION/XML'])
      expect(await rig.status({ headers: { 'Content-Type': type } }), type).to.equal(204);
  });

  it('refuses a body that is too long, by its length and as it comes', async () => {
    await opened({ limits: { bodyBytes: 1_000 } });
    const body = 'x'.repeat(1_001);
    expect(await rig.status({ body })).to.equal(413);
    const socket = await rig.raw(
      `POST /notify/abc HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    socket.write(`3e9\r\n${body}\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1.1 413 /);
    await closed(socket);
  });

  it('a failure of the client is 500, and the next notification is taken', async () => {
    await opened();
    rig.listener.take('bad', () => {
      throw new TypeError('a mistake');
    });
    expect(await rig.status({ path: '/notify/bad' })).to.equal(500);
    expect(await rig.status()).to.equal(204);
  });

  it('a failure behind the answer ends that connection alone', async () => {
    let fails = true;
    await opened({
      onAnswer() {
        if (fails) throw new Error('a fault of the program');
      },
    });
    await rig.send();
    await rig.until(0);
    expect(rig.lines).to.have.length(1);
    expect(rig.lines[0]).to.match(/^127\.0\.0\.1:\d+: a notification failed: a fault of the program$/);
    fails = false;
    expect(await rig.status()).to.equal(204);
  });

  it('keeps a connection for further notifications', async () => {
    await opened();
    const body = 'Notification /a';
    const text = `POST /notify/abc HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const socket = await rig.raw();
    for (let i = 0; i < 3; i++) {
      socket.write(text);
      expect(String((await once(socket, 'data'))[0])).to.match(/^HTTP\/1.1 204 /);
    }
    expect(rig.listener.openConnections).to.equal(1);
    socket.destroy();
    await rig.until(0);
  });

  it('ends a client that is slow: without a request, within its headers, within its body', async () => {
    await opened();
    const head = 'POST /notify/abc HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\nContent-Length: 9\r\n\r\n';
    const sockets = [await rig.raw(), await rig.raw('POST /notify/abc HT'), await rig.raw(`${head}Not`)];
    await rig.until(3);
    rig.timers.pass(29_999);
    expect(rig.listener.openConnections).to.equal(3);
    rig.timers.pass(1);
    await Promise.all(sockets.map(closed));
    await rig.until(0);
    expect(rig.timers.waiting).to.equal(0);
  });

  it('has at most 16 connections: the one that waits for longest gives way', async () => {
    await opened({ limits: { ofOnePeer: 16 } });
    const sockets: Socket[] = [];
    for (let i = 0; i < 16; i++) {
      rig.wall.advance(1);
      sockets.push(await rig.raw());
      await rig.until(i + 1);
    }
    const gone = closed(sockets[0]!);
    expect(await rig.status()).to.equal(204);
    await gone;
    expect(rig.listener.openConnections).to.be.at.most(16);
    for (const socket of sockets) socket.destroy();
  });

  it('has at most 4 connections of one address, which leaves places for others', async () => {
    await opened();
    const sockets: Socket[] = [];
    for (let i = 0; i < 4; i++) {
      rig.wall.advance(1);
      sockets.push(await rig.raw());
      await rig.until(i + 1);
    }
    const other = connect({ port: rig.listener.port ?? 0, host: '127.0.0.1', localAddress: '127.0.0.2' });
    other.on('error', () => undefined);
    await once(other, 'connect');
    await rig.until(5);
    // the request that comes as a sixth connection waits for its answer
    const sixth = await rig.raw('POST /notify/abc HTTP/1.1\r\n');
    for (let turn = 0; turn < 100 && !sockets[0]!.closed; turn += 1) await new Promise((next) => setImmediate(next));
    const ended = sockets.map(({ closed: isClosed }) => isClosed);
    for (const socket of [...sockets, other, sixth]) socket.destroy();
    expect(ended).to.deep.equal([true, false, false, false]);
  });

  it('reads the bodies of several connections one in each turn of the event loop', async () => {
    let turns = 0;
    const at: number[] = [];
    await opened({
      parse: (body) => {
        at.push(turns);
        return parse(body);
      },
    });
    const sockets = await Promise.all([0, 1, 2, 3].map(() => rig.raw(askingHead)));
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    const answers = sockets.map((socket) => once(socket, 'data'));
    for (const socket of sockets) socket.write('Notification /a');
    while (at.length < 4) {
      await new Promise((next) => setImmediate(next));
      turns += 1;
    }
    await Promise.all(answers);
    for (const socket of sockets) socket.destroy();
    expect(new Set(at)).to.have.property('size', 4);
  });

  it('breaks off no request for a new connection', async () => {
    await opened({ limits: { connections: 2 } });
    const sockets = [await rig.raw(askingHead), await rig.raw(askingHead)];
    for (const socket of sockets) expect(String((await once(socket, 'data'))[0])).to.match(/^HTTP\/1.1 100 /);
    expect(await rig.status()).to.equal(0);
    for (const socket of sockets) {
      socket.write('Notification /a');
      expect(String((await once(socket, 'data'))[0])).to.match(/^HTTP\/1.1 204 /);
      socket.destroy();
    }
  });

  it('ends every connection when it closes, and frees its port', async () => {
    await opened();
    const { port } = rig.listener;
    const socket = await rig.raw();
    await rig.until(1);
    const gone = closed(socket);
    await rig.listener.close();
    await gone;
    expect(rig.listener.port).to.equal(null);
    const again = await new Rig().open({ port: port ?? 0 });
    expect(again.listener.port).to.equal(port);
    const busy = new NotificationListener({
      host: '127.0.0.1',
      port: port ?? 0,
      gate: null,
      uri: null,
      parse,
      clock: rig.wall,
      later: rig.timers.later,
      log: { info: () => undefined, warning: () => undefined },
    });
    const error: unknown = await busy.open().catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(SimError).with.property('code', 'LISTEN_FAILED');
    await again.listener.close();
  });

  describe('over TLS', () => {
    const as = async ({ cert, key }: Identity, ciphers: string, extra: object = {}) => {
      const { root } = await headEndPki();
      return {
        cert,
        key,
        ca: root.cert,
        ciphers: `${ciphers}:@SECLEVEL=0`,
        checkServerIdentity: () => undefined,
        minVersion: 'TLSv1.2',
        maxVersion: 'TLSv1.2',
        ...extra,
      };
    };
    const ccm8 = 'ECDHE-ECDSA-AES128-CCM8';

    it('takes a notification with any certificate of the configured chain, by CCM-8 and by GCM', async () => {
      const { device } = await headEndPki();
      await opened({ gate: await gate() });
      expect(rig.listener.base).to.match(/^https:\/\/127\.0\.0\.1:\d+$/);
      for (const suite of [ccm8, 'ECDHE-ECDSA-AES128-GCM-SHA256'])
        expect(await rig.status({ tls: await as(device, suite) }), suite).to.equal(204);
      expect(rig.taken).to.have.length(2);
    });

    it('refuses a certificate of another chain, none at all, another version, another suite and plain HTTP', async () => {
      const { device, foreignDevice } = await headEndPki();
      await opened({ gate: await gate() });
      expect(await rig.status({ tls: await as(foreignDevice, ccm8) })).to.equal(0);
      expect(await rig.status({ tls: { ...(await as(device, ccm8)), cert: undefined, key: undefined } })).to.equal(0);
      expect(
        await rig.status({ tls: await as(device, ccm8, { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' }) }),
      ).to.equal(0);
      expect(await rig.status({ tls: await as(device, 'ECDHE-ECDSA-AES256-GCM-SHA384') })).to.equal(0);
      expect(await rig.status()).to.equal(0);
      await rig.until(0);
      expect(rig.taken).to.deep.equal([]);
      expect(rig.lines.join('\n')).to.contain('no TLS session for notifications');
    });

    it('ends a handshake that is not finished in time', async () => {
      await opened({ gate: await gate() });
      const socket = await rig.raw();
      await rig.until(1);
      const gone = closed(socket);
      rig.timers.pass(10_000);
      await gone;
      await rig.until(0);
      expect(rig.taken).to.deep.equal([]);
    });

    it('is bound again when its listener fails, and says so meanwhile', async () => {
      await opened({});
      const port = rig.listener.port ?? 0;
      expect(rig.listener.trouble).to.equal(null);
      (await serverAt(port)).emit('error', acceptError('EINVAL'));
      expect(rig.listener.trouble).to.match(/has failed: accept EINVAL; tries again in 1 s$/);
      expect(await accepts(port)).to.equal(false);
      rig.timers.pass(1000);
      expect(await accepts(port)).to.equal(true);
      expect([await rig.status(), rig.listener.port, rig.listener.trouble]).to.deep.equal([204, port, null]);
      expect(rig.lines[0]).to.match(/^CSIP notifications: the listener on /);
    });

    it('keeps the connections with a session when handshakes take all places', async () => {
      const { device } = await headEndPki();
      await opened({ gate: await gate(), limits: { connections: 2 } });
      const sockets = [await rig.raw(), await rig.raw()];
      await rig.until(2);
      expect(await rig.status({ tls: await as(device, ccm8) })).to.equal(204);
      for (const socket of sockets) socket.destroy();
    });
  });
});
