import type { Socket } from 'node:net';
import { expect } from 'chai';
import type { App } from '../../../src/app/start-stop.ts';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import { route } from '../../../src/api/http/route.ts';
import { z } from '../../../src/api/description/zod.ts';
import type { Plant } from '../../../src/contract/plant.ts';
import { apiContext } from '../../support/api-context.ts';
import type { ContextOptions } from '../../support/api-context.ts';
import { cutAnswers, expectSound, only, open, talk, wire } from '../../support/hostile.ts';
import { ask } from '../../support/http.ts';
import { startApp } from '../../support/running-app.ts';
import { spentMs } from '../../support/spent.ts';

const base = { tag: 'Core', summary: '', examples: { reply: {} }, reply: z.looseObject({}) } as const;
const longText = 'x'.repeat(4 * 1024 * 1024);
let held: (() => void)[] = [];
let begun = 0;
let posted = 0;
const routes = [
  route({ ...base, method: 'get', path: '/thing', operationId: 'get_thing', handle: () => ({}) }),
  route({ ...base, method: 'get', path: '/long', operationId: 'get_long', handle: () => ({ longText }) }),
  route({
    ...base,
    method: 'get',
    path: '/held',
    operationId: 'get_held',
    handle: () => {
      begun += 1;
      return new Promise<Record<string, unknown>>((resolve) => {
        held.push(() => {
          resolve({});
        });
      });
    },
  }),
  route({
    ...base,
    method: 'post',
    path: '/thing',
    operationId: 'set_thing',
    handle: () => ({ posted: (posted += 1) }),
  }),
];
const opened: Api[] = [];

async function serve(limits: NonNullable<ContextOptions['limits']> = {}): Promise<number> {
  const api = createApi(apiContext({ plant: { devices: [] } as unknown as Plant, limits }), { routes });
  opened.push(api);
  return (await api.start()).port;
}

/** All that a connection receives until it is closed. */
function rest(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    socket.once('close', () => {
      resolve(Buffer.concat(chunks));
    });
  });
}

/** Until the server has so many connections. */
async function connections({ server }: Api, wanted: number): Promise<void> {
  for (;;) {
    const count = await new Promise<number>((resolve) => {
      server.getConnections((_, open) => {
        resolve(open);
      });
    });
    if (count === wanted) return;
    await new Promise(setImmediate);
  }
}

const post = (more: string) =>
  `POST /api/sim/thing HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}`;

describe('bounds of a connection', () => {
  afterEach(async () => {
    for (const release of held) release();
    held = [];
    begun = 0;
    posted = 0;
    await Promise.all(opened.splice(0).map((api) => api.stop()));
  });

  it('headers byte by byte are answered 408 when their time is over, however busy the sender is', async () => {
    const port = await serve({ headersTimeoutMs: 200, requestTimeoutMs: 400 });
    const socket = await open(port);
    const request = wire('/api/sim/thing', { headers: { 'X-Long': 'x'.repeat(5000) } });
    let at = 0;
    const dripping = setInterval(() => {
      socket.write(request.subarray(at, (at += 1)));
    }, 1);
    const answers = cutAnswers(await rest(socket));
    clearInterval(dripping);
    expect(at).to.be.within(2, request.length - 1);
    expect(answers.map(({ status }) => status)).to.deep.equal([408]);
    expect(expectSound(answers[0]!).code).to.equal('request-timeout');
  });

  it('a connection that sends nothing at all ends like that', async () => {
    const port = await serve({ headersTimeoutMs: 50, requestTimeoutMs: 50 });
    expect(cutAnswers(await rest(await open(port))).map(({ status }) => status)).to.deep.equal([408]);
  });

  it('a body that stalls is answered 408 once, and ends the connection', async () => {
    const port = await serve({ headersTimeoutMs: 50, requestTimeoutMs: 100 });
    for (const more of ['Content-Length: 10\r\n\r\n{', 'Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n']) {
      const answers = cutAnswers(await talk(port, post(more)));
      expect(answers.map(({ status }) => status)).to.deep.equal([408]);
      expectSound(answers[0]!);
    }
  });

  it('a body behind a refusal is not waited for longer either', async () => {
    const port = await serve({ headersTimeoutMs: 50, requestTimeoutMs: 100 });
    const answers = cutAnswers(await talk(port, post('Content-Length: 1000\r\n\r\n{').replace('/thing', '/nothing')));
    expect(answers[0]?.status).to.equal(404);
  });

  it('an idle connection is closed after its keep-alive time', async () => {
    const port = await serve({ keepAliveTimeoutMs: 50 });
    const socket = await open(port);
    socket.write(wire('/api/sim/thing', { headers: { Connection: 'keep-alive' } }));
    const [answer] = cutAnswers(await rest(socket));
    expect([answer?.status, answer?.headers['connection']]).to.deep.equal([200, 'keep-alive']);
  });

  it('a client that does not read its answer is cut off, an operation at work is not', async () => {
    const port = await serve({ unreadTimeoutMs: 100 });
    const waiting = ask(port, '/api/sim/held');
    const stuck = await open(port);
    stuck.pause();
    await connections(opened[0]!, 2);
    while (begun < 1) await new Promise(setImmediate);
    // more than the kernel buffers of both ends
    stuck.write(
      Buffer.concat(Array.from({ length: 10 }, () => wire('/api/sim/long', { headers: { Connection: 'keep-alive' } }))),
    );
    await connections(opened[0]!, 1);
    stuck.destroy();
    for (const release of held) release();
    expect((await waiting).status).to.equal(200);
  });

  it('32 requests of one connection wait for answers, what is beyond is refused and ends it', async () => {
    const port = await serve();
    const socket = await open(port);
    const one = wire('/api/sim/held', { headers: { Connection: 'keep-alive' } });
    socket.write(Buffer.concat(Array.from({ length: 1000 }, () => one)));
    while (begun < 1) await new Promise(setImmediate);
    expect((await ask(port, '/api/sim/thing')).status).to.equal(200);
    expect(begun, 'one after the other').to.equal(1);
    const ended = rest(socket);
    const releasing = setInterval(() => {
      for (const release of held.splice(0)) release();
    }, 1);
    const answers = cutAnswers(await ended);
    clearInterval(releasing);
    expect(begun).to.equal(32);
    expect(answers.map(({ status }) => status)).to.deep.equal([...Array.from({ length: 32 }, () => 200), 429]);
    expect(expectSound(answers[32]!).code).to.equal('too-many-requests');
  });

  it('a request that waits behind another, and whose body is faulty, is answered once and not carried out', async () => {
    const port = await serve();
    const socket = await open(port);
    socket.write(wire('/api/sim/held', { headers: { Connection: 'keep-alive' } }));
    socket.write(post('Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nnothing\r\n'));
    const ended = rest(socket);
    while (begun < 1) await new Promise(setImmediate);
    expect((await ask(port, '/api/sim/thing', { body: {} })).json.posted).to.equal(1);
    for (const release of held) release();
    expect(cutAnswers(await ended).map(({ status }) => status)).to.deep.equal([200, 400]);
    expect(posted).to.equal(1);
  });

  it('a body over the limit is answered without reading on, whole or in chunks', async () => {
    const port = await serve({ maxBodyBytes: 1000 });
    const declared = cutAnswers(await talk(port, post('Content-Length: 100000000\r\n\r\n')));
    expect([declared[0]?.status, declared[0]?.headers['connection']]).to.deep.equal([413, 'close']);
    const socket = await open(port);
    const ended = rest(socket);
    socket.write(post('Transfer-Encoding: chunked\r\n\r\n'));
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    let sent = 0;
    const feed = (): void => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
    };
    socket.on('drain', feed);
    feed();
    await ended;
    expect(sent).to.be.below(64 * 1024 * 1024);
    // the rest of a body a little over the limit is taken in, so that the client reads the answer
    const slightly = await only(port, wire('/api/sim/thing', { body: `"${'x'.repeat(2000)}"` }));
    expect(slightly.status).to.equal(413);
  });

  it('all headers count: an Origin behind thousands of others is seen', async () => {
    const port = await serve();
    const many = Object.fromEntries(Array.from({ length: 2200 }, (_, i) => [`A${i.toString(36)}`, '']));
    const { status, problem } = await only(
      port,
      wire('/api/sim/thing', { method: 'POST', headers: { ...many, Origin: 'http://evil.example' } }),
    );
    expect([status, problem.code]).to.deep.equal([403, 'cross-origin']);
  });

  it('connections beyond the cap are dropped, those within it served', async () => {
    const port = await serve({ maxConnections: 20 });
    const sockets = await Promise.all(Array.from({ length: 20 }, () => open(port)));
    const beyond = await open(port);
    expect((await rest(beyond)).length).to.equal(0);
    for (const socket of sockets) socket.write(wire('/api/sim/thing'));
    const answers = await Promise.all(sockets.map(rest));
    for (const bytes of answers) expect(cutAnswers(bytes)[0]?.status).to.equal(200);
    expect((await ask(port, '/api/sim/thing')).status).to.equal(200);
  });
});

describe('others are served meanwhile', () => {
  let app: App;
  let port: number;
  let drip: NodeJS.Timeout | undefined;
  const sockets: Socket[] = [];

  before(async () => {
    ({ app, port } = await startApp(['PV-3Phase', 'Batt-3Phase'], [], { described: true }));
  });
  after(async () => {
    clearInterval(drip);
    for (const socket of sockets) socket.destroy();
    await app.stop();
  });

  async function slowest(asks: number): Promise<number> {
    let worst = 0;
    for (let i = 0; i < asks; i += 1) {
      const begin = spentMs();
      expect((await ask(port, i % 2 === 0 ? '/api/sim/overview' : '/api/sim/health')).status).to.equal(200);
      worst = Math.max(worst, spentMs() - begin);
    }
    return worst;
  }

  it('with 1,100 connections without an end of headers, 50 byte by byte, 20 that read nothing and 50 broken ones', async () => {
    for (let i = 0; i < 1100; i += 100) {
      const some = await Promise.all(Array.from({ length: 100 }, () => open(port)));
      for (const socket of some) socket.write('GET /api/sim/overview HTTP/1.1\r\nHost: local');
      sockets.push(...some);
    }
    const dripping = await Promise.all(Array.from({ length: 50 }, () => open(port)));
    sockets.push(...dripping);
    let drops = 0;
    drip = setInterval(() => {
      for (const socket of dripping) socket.write('GET / HTTP/1.1\r\nX: '.charAt(drops) || 'x');
      drops += 1;
    }, 20);
    const deaf = await Promise.all(Array.from({ length: 20 }, () => open(port)));
    sockets.push(...deaf);
    for (const socket of deaf) {
      socket.pause();
      socket.write(
        Buffer.concat(
          Array.from({ length: 30 }, () => wire('/openapi.json', { headers: { Connection: 'keep-alive' } })),
        ),
      );
    }
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const socket = await open(port);
        socket.write('POST /api/sim/controls/time HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n{');
        socket.resetAndDestroy();
      }),
    );
    const worst = await slowest(40);
    expect(sockets.filter((socket) => !socket.destroyed).length).to.be.greaterThan(1000);
    // the bound is that no operation takes longer than 2 s; 250 ms is what a fresh client may wait
    expect(worst).to.be.below(2000);
    const errors = app.logBook.entries({ levels: ['error'] }).map(({ message }) => message);
    // a busy machine lets the event loop stand still
    expect(errors.filter((message) => !message.startsWith('the event loop stood still'))).to.deep.equal([]);
  }).timeout(30_000);

  it('health is answered from the first connection on, when every listener is bound and tick 0 is there', async () => {
    const fresh = await startApp(['PV-3Phase'], ['--tick', '60'], { paused: false });
    const { json } = await ask(fresh.port, '/api/sim/health');
    expect(json).to.include({ status: 'ok', tick: 0 });
    const [modbus] = fresh.app.adapters.filter(({ module }) => module === 'Modbus');
    expect(modbus?.status().state).to.equal('listening');
    expect((await ask(fresh.port, '/api/sim/overview')).json.tick).to.equal(0);
    await fresh.app.stop();
  });
});
