import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import {
  trackAnswer,
  ConnectionCap,
  minWaitMs,
  leaveHttp,
  sampleMs,
  UnreadAnswers,
} from '../../../src/core/http/connections.ts';
import { listen, peerOf } from '../../../src/core/net/listen.ts';
import { ask } from '../../support/http.ts';
import { closed } from '../../support/ports.ts';

describe('the maximum of HTTP connections', () => {
  const clients: Socket[] = [];
  let server: Server;
  let port: number;
  let nowMs: number;
  let gone: string[];
  let pending: ServerResponse[];
  let unread: UnreadAnswers;

  /** Serves with this maximum; `/slow` is answered by the test, `/large` with more than system buffers take. */
  beforeEach(async () => {
    nowMs = 0;
    gone = [];
    pending = [];
    unread = new UnreadAnswers({
      limits: { totalBytes: 1e9, minBytesPerS: 1024, windowMs: 30_000 },
      clock: { monotonicMs: () => nowMs },
      log: { info: (line) => gone.push(line) },
      sweeper: { add: () => undefined, delete: () => undefined },
    });
    const cap = new ConnectionCap({
      max: 3,
      unread,
      monotonicMs: () => nowMs,
      onGaveWay: (socket, waitedMs) => gone.push(`${peerOf(socket)} after ${waitedMs} ms`),
    });
    server = createServer((request, response) => {
      cap.requestBegan(request.socket);
      trackAnswer(response);
      if (request.url === '/slow') pending.push(response);
      else if (request.url === '/large') {
        Readable.from(new Array<Buffer>(512).fill(Buffer.alloc(65_536))).pipe(response);
        unread.watch(request.socket);
      } else response.end('{}');
    });
    server.on('connection', (socket) => {
      cap.admit(socket);
    });
    server.on('upgrade', (_request, socket) => {
      leaveHttp(socket);
      socket.resume().on('end', () => socket.destroy());
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    });
    ({ port } = await listen(server, '127.0.0.1', 0));
  });

  afterEach(async () => {
    for (const socket of clients.splice(0)) socket.destroy();
    await closed(server);
  });

  /** A connection with the first octets that it sends, known to the server. */
  async function client(octets = ''): Promise<Socket> {
    const accepted = once(server, 'connection');
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    clients.push(socket);
    await accepted;
    if (octets !== '') socket.write(octets);
    return socket;
  }

  /** Reads at least so many octets, and no more afterwards. */
  function take(socket: Socket, octets: number): Promise<void> {
    return new Promise((resolve) => {
      let taken = 0;
      socket.on('data', (chunk: Buffer) => {
        taken += chunk.length;
        if (taken < octets) return;
        socket.pause();
        resolve();
      });
    });
  }

  const peerOfClient = (socket: Socket | undefined) => `127.0.0.1:${socket?.localPort}`;

  it('the slowest gives way to a new one: unfinished headers, nothing at all, an unfinished body', async () => {
    const slow = [
      await client('GET / HTTP/1.1\r\nHost: x\r\nA: '),
      await client(),
      await client('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{'),
    ];
    const names = slow.map(peerOfClient);
    await once(slow[2]!, 'data');
    for (const [at, name] of names.entries()) {
      nowMs += minWaitMs;
      expect((await ask(port, '/')).status).to.equal(200);
      expect(gone).to.deep.equal(names.slice(0, at + 1).map((each, i) => `${each} after ${(i + 1) * minWaitMs} ms`));
      expect(gone[at]).to.contain(name);
      // takes the place again
      await client();
    }
  });

  it('a new one is refused while the others are fresh', async () => {
    for (let i = 0; i < 3; i += 1) await client();
    nowMs += minWaitMs - 1;
    const beyond = await client();
    await once(beyond, 'close');
    expect(gone).to.deep.equal([]);
  });

  it('clients that do not read their answers give way when nothing waits, the slowest first', async () => {
    const readers: Socket[] = [];
    for (let i = 0; i < 3; i += 1) {
      const answering = once(server, 'request');
      readers.push(await client('GET /large HTTP/1.1\r\nHost: x\r\n\r\n'));
      await answering;
    }
    const [first, stalled, third] = readers.map(peerOfClient);
    const sweepAfter = (ms: number) => {
      nowMs += ms;
      unread.sweep();
    };
    sweepAfter(sampleMs - 1);
    await once(await client(), 'close');
    expect(gone, 'all fresh').to.deep.equal([]);
    sweepAfter(1);
    await take(readers[0]!, 16 * 2 ** 20);
    await take(readers[2]!, 16 * 2 ** 20);
    sweepAfter(sampleMs);
    expect((await ask(port, '/')).status).to.equal(200);
    expect(gone).to.have.length(1);
    expect(gone[0]).to.match(/: it took \d+ bytes of its answer in 2\.0 s and all 3 HTTP connections are taken$/);
    expect(gone[0]).to.contain(stalled).and.not.to.contain(first).and.not.to.contain(third);
    expect(unread.closed).to.equal(1);
  });

  it('neither a pending answer nor a connection of another protocol gives way', async () => {
    const served = await client('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(server, 'request');
    const stream = await client('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await once(stream, 'data');
    nowMs += 10 * minWaitMs;
    const idle = await client();
    const name = peerOfClient(idle);
    nowMs += minWaitMs;
    expect((await ask(port, '/')).status).to.equal(200);
    expect(gone).to.deep.equal([`${name} after ${minWaitMs} ms`]);
    for (const response of pending) response.end('done');
    const [data] = (await once(served, 'data')) as [Buffer];
    expect(data.toString()).to.contain('done');
  });
});
