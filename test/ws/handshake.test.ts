import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { App } from '../../src/app/start-stop.ts';
import { SimError } from '../../src/core/errors.ts';
import { createHttpGuard } from '../../src/core/http/http-guard.ts';
import { guardUpgrades } from '../../src/ws/handshake.ts';
import { cutAnswers, expectSound, only, open, talk, wire } from '../support/hostile.ts';
import type { Wire } from '../support/hostile.ts';
import { ask } from '../support/http.ts';
import { casesOf } from '../support/random.ts';
import { startApp } from '../support/running-app.ts';

const path = '/api/sim/ws/telemetry';
const handshake = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
const upgrade = (target: string, headers: Wire['headers'] = {}, method = 'GET') =>
  wire(target, { method, headers: { ...handshake, ...headers } });

/** A frame of a client, masked with zeros. */
function frame(first: number, payload: Buffer | string, masked = true): Buffer {
  const bytes = Buffer.from(payload);
  const size = bytes.length < 126 ? [bytes.length] : [126, bytes.length >> 8, bytes.length & 255];
  return Buffer.concat([
    Buffer.from([first, size[0]! | (masked ? 0x80 : 0), ...size.slice(1)]),
    Buffer.alloc(masked ? 4 : 0),
    bytes,
  ]);
}

describe('stream: handshakes and frames, by raw socket to the whole simulator', () => {
  let app: App;
  let port: number;
  let good: WebSocket;

  before(async () => {
    ({ app, port } = await startApp(['PV-3Phase', 'PV-3Phase']));
    good = new WebSocket(`ws://127.0.0.1:${port}${path}`);
    await once(good, 'message');
  });
  after(async () => {
    good.terminate();
    await app.stop();
  });

  // whatever a client does, the others go on
  afterEach(async () => {
    const message = once(good, 'message');
    await app.plant.step(1);
    await message;
    expect(good.readyState).to.equal(WebSocket.OPEN);
    expect(app.logBook.entries({ levels: ['error'] }).map(({ message: text }) => text)).to.deep.equal([]);
  });

  for (const [name, bytes, status, code] of [
    ['a device that is no integer', upgrade(`${path}?device=x`), 422, 'validation'],
    ['a device with more behind it', upgrade(`${path}?device=0?device=1`), 422, 'validation'],
    ['two devices', upgrade(`${path}?device=0&device=0`), 422, 'validation'],
    ['a device that is not there', upgrade(`${path}?device=2`), 404, 'unknown-device'],
    ['a range that descends', upgrade(`${path}?devices=1-0`), 422, 'validation'],
    ['a range with one end', upgrade(`${path}?devices=1`), 422, 'validation'],
    ['a range and a device', upgrade(`${path}?devices=0-1&device=0`), 422, 'validation'],
    ['a range in columns', upgrade(`${path}?devices=0-1&form=fleet`), 422, 'validation'],
    ['a shard where there are none', upgrade(`${path}?shard=a`), 422, 'validation'],
    ['an unknown parameter', upgrade(`${path}?token=1`), 422, 'validation'],
    ['another path', upgrade('/api/sim/overview'), 404, 'not-found'],
    ['a long path', upgrade(`/${'x'.repeat(12_000)}`), 404, 'not-found'],
    ['an absolute target', upgrade(`http://localhost${path}`), 400, 'malformed-request'],
    ['a fragment', upgrade(`${path}#x`), 400, 'malformed-request'],
    ['another version', upgrade(path, { 'Sec-WebSocket-Version': '8' }), 400, 'malformed-request'],
    ['no version', upgrade(path, { 'Sec-WebSocket-Version': undefined }), 400, 'malformed-request'],
    ['no key', upgrade(path, { 'Sec-WebSocket-Key': undefined }), 400, 'malformed-request'],
    ['a broken list of protocols', upgrade(path, { 'Sec-WebSocket-Protocol': 'a,,b' }), 400, 'malformed-request'],
    ['a short key', upgrade(path, { 'Sec-WebSocket-Key': 'abc=' }), 400, 'malformed-request'],
    [
      'two keys',
      upgrade(path, { 'Sec-WebSocket-Key': [handshake['Sec-WebSocket-Key'], handshake['Sec-WebSocket-Key']] }),
      400,
      'malformed-request',
    ],
    ['POST', upgrade(path, {}, 'POST'), 405, 'method-not-allowed'],
    ['HTTP/1.0 without an offer', `GET ${path} HTTP/1.0\r\nHost: localhost\r\n\r\n`, 404, 'not-found'],
    ['a plain GET of the stream', wire(path), 404, 'not-found'],
    ['a device of 20 digits', upgrade(`${path}?device=99999999999999999999`), 422, 'validation'],
    ['headers over 16 KiB', upgrade(path, { X: 'x'.repeat(17_000) }), 431, 'headers-too-large'],
  ] as const) {
    it(`${name} is refused before the upgrade with ${status} ${code}`, async () => {
      const { problem, ...answer } = await only(port, bytes);
      expect([answer.status, problem.code]).to.deep.equal([status, code]);
    });
  }

  for (const [name, offer] of Object.entries({
    'HTTP/2': { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABkAAQAAP__' },
    'several protocols': { Connection: 'Upgrade', Upgrade: 'h2c, websocket' },
    anything: { Connection: 'Upgrade', Upgrade: 'x' },
  })) {
    it(`an offer of ${name} is passed over, with a body and without; the connection ends with the answer`, async () => {
      const time = '/api/sim/controls/time';
      for (const bytes of [
        wire('/api/sim/health', { headers: offer }),
        wire(time, { headers: offer }),
        wire(time, { body: '{"timezone":"UTC"}', headers: offer }),
      ]) {
        const { status, headers } = await only(port, bytes);
        expect([status, headers['connection']]).to.deep.equal([200, 'close']);
      }
    });
  }

  for (const [name, first, status] of [
    ['a read', wire('/api/sim/overview', { headers: { Connection: 'keep-alive' } }), 200],
    ['a read through Express', wire('/api/sim/nothing', { headers: { Connection: 'keep-alive' } }), 404],
    [
      'a write',
      wire('/api/sim/controls/time', { body: '{"timezone":"UTC"}', headers: { Connection: 'keep-alive' } }),
      200,
    ],
  ] as const) {
    it(`behind ${name} in one segment, every offer has its answer in its turn and none is accepted`, async () => {
      for (const [second, refusal] of [
        [upgrade(path), 400],
        [upgrade('/nothing'), 400],
        [upgrade(path, { Host: 'evil.example' }), 421],
        ['CONNECT x:1 HTTP/1.1\r\n\r\n', 405],
        [wire('/api/sim/health', { headers: { Connection: 'Upgrade', Upgrade: 'x' } }), 200],
      ] as const) {
        const answers = cutAnswers(await talk(port, Buffer.concat([first, Buffer.from(second)])));
        expect(answers.map((answer) => answer.status)).to.deep.equal([status, refusal]);
        answers.forEach((answer) => {
          expectSound(answer);
        });
      }
    });
  }

  it('after an answer that has been read, the connection can be upgraded', async () => {
    const socket = await open(port);
    socket.write(wire('/api/sim/nothing', { headers: { Connection: 'keep-alive' } }));
    await once(socket, 'data');
    socket.write(upgrade(path));
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(data.toString('latin1')).to.match(/^HTTP\/1\.1 101 /);
    socket.destroy();
  });

  it('an odd protocol, extension or cookie is passed over', async () => {
    for (const headers of [
      { 'Sec-WebSocket-Extensions': 'permessage-deflate; client_max_window_bits' },
      { Cookie: 'a=b' },
    ]) {
      const socket = await open(port);
      socket.write(upgrade(path, headers));
      const [data] = (await once(socket, 'data')) as [Buffer];
      expect(data.toString('latin1'))
        .to.match(/^HTTP\/1\.1 101 /)
        .and.not.match(/Sec-WebSocket-Extensions/i);
      socket.destroy();
    }
  });

  it('the first messages come with the answer, no tick is needed', async () => {
    const client = new WebSocket(`ws://127.0.0.1:${port}${path}?device=1`);
    const [message] = (await once(client, 'message')) as [Buffer];
    expect(JSON.parse(message.toString())).to.include({ device_index: 1, tick: app.plant.latest.tick });
    client.terminate();
  });

  async function connected(): Promise<Socket> {
    const socket = await open(port);
    socket.write(upgrade(path));
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(data.toString('latin1')).to.match(/^HTTP\/1\.1 101 /);
    return socket;
  }

  /** The code in the close frame of the server, which is the last that comes. */
  async function closeCode(...frames: Buffer[]): Promise<number> {
    const socket = await connected();
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const closed = new Promise((resolve) => {
      socket.once('close', resolve);
    });
    socket.write(Buffer.concat(frames));
    // the server waits for our close frame after its own
    socket.write(frame(0x88, Buffer.from([3, 232])));
    await closed;
    const bytes = Buffer.concat(chunks);
    const at = bytes.lastIndexOf(Buffer.from([0x88]));
    return bytes[at + 1] === 0 ? 1005 : bytes.readUInt16BE(at + 2);
  }

  for (const [name, code, ...frames] of [
    ['an unmasked frame', 1002, frame(0x81, 'x', false)],
    ['a reserved opcode', 1002, frame(0x83, 'x')],
    ['a reserved bit', 1002, frame(0xc1, 'x')],
    ['a continuation of nothing', 1002, frame(0x80, 'x')],
    ['a message inside another', 1002, frame(0x01, 'x'), frame(0x81, 'y')],
    ['a control frame in pieces', 1002, frame(0x09, 'x')],
    ['a control frame over 125 bytes', 1002, frame(0x89, 'x'.repeat(126))],
    ['a close code that there is not', 1002, frame(0x88, Buffer.from([0, 1]))],
    ['text that is no UTF-8', 1007, frame(0x81, Buffer.from([0xff, 0xfe]))],
    ['over 4 KiB', 1009, frame(0x82, 'x'.repeat(4097))],
    ['over 4 KiB in pieces', 1009, frame(0x02, 'x'.repeat(3000)), frame(0x80, 'x'.repeat(3000))],
    ['a length of 2^63', 1009, Buffer.from([0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
    ['17 pieces of one message', 1008, frame(0x01, ''), ...Array.from({ length: 16 }, () => frame(0x00, ''))],
    [
      'messages of any kind up to the limit',
      1000,
      frame(0x81, 'hello'),
      frame(0x82, Buffer.alloc(4096)),
      frame(0x01, 'x'),
      frame(0x80, 'y'),
      frame(0x89, 'ping'),
      frame(0x8a, 'pong'),
    ],
  ] as const) {
    it(`${name} closes with ${code}, that client only`, async () => {
      expect(await closeCode(...frames)).to.equal(code);
    });
  }

  it('a client that pings and takes no pong is cut off with bounded memory', async () => {
    const socket = await connected();
    socket.pause();
    const flood = Buffer.concat(Array.from({ length: 2000 }, () => frame(0x89, 'x'.repeat(125))));
    const ended = new Promise<void>((resolve) => {
      socket.once('close', () => {
        resolve();
      });
    });
    const feed = (): void => {
      while (!socket.destroyed && socket.write(flood)) continue;
    };
    socket.on('drain', feed);
    feed();
    await ended;
    const peers = () => app.adapters.find(({ comm }) => comm === 'websocket')?.status().peers;
    // the client may see the end first
    while (peers() !== 1) await new Promise((resolve) => setImmediate(resolve));
  });

  it('clients that reset the connection at any point hurt nobody', async () => {
    const whole = Buffer.concat([upgrade(path), frame(0x81, 'x')]);
    for (const cut of [10, whole.length - 20, whole.length - 3, whole.length]) {
      const socket = await open(port);
      socket.write(whole.subarray(0, cut), () => {
        socket.resetAndDestroy();
      });
      await new Promise((resolve) => {
        socket.once('close', resolve);
      });
    }
    for (const request of [
      upgrade('/nothing'),
      upgrade(path, { Host: 'evil.example' }),
      'CONNECT x:1 HTTP/1.1\r\n\r\n',
      wire('/', { headers: { Connection: 'Upgrade', Upgrade: 'h2c' } }),
    ]) {
      const sockets = await Promise.all(Array.from({ length: 20 }, () => open(port)));
      await Promise.all(
        sockets.map(
          (socket) =>
            new Promise((resolve) => {
              socket.once('close', resolve);
              socket.write(request, () => {
                socket.resetAndDestroy();
              });
            }),
        ),
      );
    }
    expect((await ask(port, '/api/sim/health')).status).to.equal(200);
  });

  it('300 damaged handshakes and frames are refused in form or closed', async () => {
    const random = casesOf('damaged handshakes');
    const below = (n: number) => Math.floor(random.next() * n);
    const whole = Buffer.concat([
      upgrade(path),
      frame(0x81, 'hello'),
      frame(0x89, 'ping'),
      frame(0x88, Buffer.from([3, 232])),
    ]);
    app.api.server.headersTimeout = 200;
    app.api.server.requestTimeout = 200;
    let refusals = 0;
    async function one(): Promise<void> {
      const copy = [...whole];
      for (let i = 0; i <= below(3); i += 1)
        copy.splice(below(copy.length), below(2), ...(below(3) > 0 ? [below(256)] : []));
      // a close frame behind it all, twice, so that both ends come to an end whatever the damage has left of the first
      const bytes = await talk(
        port,
        Buffer.concat([
          Buffer.from(copy),
          frame(0x88, Buffer.from([3, 232])),
          frame(0x8f, ''),
          Buffer.alloc(5000, 0xff),
        ]),
      );
      const text = bytes.toString('latin1');
      if (text.startsWith('HTTP/1.1 101 ')) return;
      refusals += 1;
      const answers = cutAnswers(bytes);
      expect(answers.length, JSON.stringify(Buffer.from(copy).toString('latin1'))).to.be.greaterThan(0);
      for (const answer of answers) {
        expectSound(answer);
        expect(answer.status).to.be.within(400, 499);
      }
    }
    for (let i = 0; i < 300; i += 20) await Promise.all(Array.from({ length: 20 }, one));
    expect(refusals).to.be.within(50, 290);
  }).timeout(30_000);
});

describe('stream: handshakes while the library cannot be loaded', () => {
  const rules = {
    guard: createHttpGuard({ host: '127.0.0.1', allowedHosts: [], corsOrigins: [] }),
    deviceExists: () => true,
    clients: () => 0,
    maxClients: () => 1,
    stopping: () => false,
  };

  async function served(prepare: () => void): Promise<string> {
    const server = createServer();
    guardUpgrades(server, { ...rules, prepare }, ({ socket }) => socket.end('accepted'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const bytes = await talk((server.address() as AddressInfo).port, upgrade(path));
    await once(server.close(), 'close');
    return bytes.toString();
  }

  it('are refused, for want of file descriptors or for any other reason', async () => {
    const refusedFor = async (error: Error) => {
      const bytes = await served(() => {
        throw error;
      });
      return expectSound(cutAnswers(Buffer.from(bytes))[0]!);
    };
    const short = { status: 503, code: 'shortage', detail: 'too many open files' };
    expect(await refusedFor(new SimError('SHORTAGE', 'too many open files'))).to.include(short);
    expect(await refusedFor(new Error('/secret/ws.cjs'))).to.include({ status: 500, code: 'internal' });
    expect(await served(() => undefined)).to.equal('accepted');
  });
});
