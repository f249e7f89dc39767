import type { Socket } from 'node:net';
import { expect } from 'chai';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import { route } from '../../../src/api/http/route.ts';
import { z } from '../../../src/api/description/zod.ts';
import type { Plant } from '../../../src/contract/plant.ts';
import { apiContext } from '../../support/api-context.ts';
import type { ContextOptions } from '../../support/api-context.ts';
import { pick } from '../../support/depth.ts';
import { cutAnswers, expectSound, open, talk, wire } from '../../support/hostile.ts';
import { ask } from '../../support/http.ts';

const base = { tag: 'Core', summary: '', examples: { reply: {} }, reply: z.looseObject({}) } as const;
const longText = 'x'.repeat(4 * 1024 * 1024);
let done: string[] = [];
const routes = [
  route({ ...base, method: 'get', path: '/thing', operationId: 'get_thing', handle: () => ({}) }),
  route({ ...base, method: 'get', path: '/long', operationId: 'get_long', handle: () => ({ longText }) }),
  route({
    ...base,
    method: 'post',
    path: '/slow',
    operationId: 'set_slow',
    async handle() {
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      done.push('slow');
      return {};
    },
  }),
];

const keep = { Connection: 'keep-alive' };
const slow = wire('/api/sim/slow', { body: '{}', headers: keep });
const long = wire('/api/sim/long', { headers: keep });
const offer = (protocol: string) => wire('/api/sim/thing', { headers: { Connection: 'Upgrade', Upgrade: protocol } });
const chunked = (target: string, ...chunks: string[]) =>
  `POST ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join('')}`;

describe('answers of one connection', () => {
  let api: Api;

  async function serve(limits: NonNullable<ContextOptions['limits']> = {}): Promise<number> {
    done = [];
    api = createApi(apiContext({ plant: { devices: [] } as unknown as Plant, limits }), { routes });
    const { port } = await api.start();
    // a request that waits for them may be refused meanwhile
    await api.operations();
    return port;
  }
  afterEach(() => api.stop());

  async function answers(port: number, ...parts: (string | Buffer)[]): Promise<number[]> {
    const given = cutAnswers(await talk(port, Buffer.concat(parts.map((part) => Buffer.from(part)))));
    given.forEach((answer) => {
      expectSound(answer);
    });
    return given.map(({ status }) => status);
  }

  for (const [name, bytes, status] of [
    ['what is not HTTP', 'GARBAGE\r\n\r\n', 400],
    ['headers that are too large', wire('/', { headers: { X: 'x'.repeat(20_000) } }), 431],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\n\r\n', 405],
    ['an offer of another protocol', offer('x'), 200],
    ['a body that breaks', chunked('/api/sim/slow', '2\r\n{}\r\n', 'ZZ\r\n'), 400],
    ['much that is not HTTP', 'GARBAGE\r\n\r\n'.repeat(10_000), 400],
  ] as const) {
    it(`${name} does not get its answer before the requests in front of it`, async () => {
      const port = await serve();
      expect(await answers(port, slow, slow, bytes)).to.deep.equal([200, 200, status]);
      expect(done).to.deep.equal(['slow', 'slow']);
      expect((await ask(port, '/api/sim/thing')).status).to.equal(200);
    });
  }

  it('headers that stall behind a request at work are answered 408, after it', async () => {
    const port = await serve({ headersTimeoutMs: 50, requestTimeoutMs: 50 });
    expect(await answers(port, slow, 'GET / HTTP/1.1\r\nX:')).to.deep.equal([200, 408]);
  });

  it('one request has one answer: a body that breaks after it has none of its own', async () => {
    const port = await serve({ headersTimeoutMs: 50, requestTimeoutMs: 50 });
    for (const bytes of [
      chunked('/api/sim/nothing', 'ZZ\r\n'),
      chunked('/api/sim/nothing', '2\r\n{'),
      'POST /api/sim/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{',
    ])
      expect(await answers(port, bytes)).to.deep.equal([404]);
  });

  /** Until the server has closed so many connections. */
  function closed(count: number): Promise<void> {
    return new Promise((resolve) => {
      let left = count;
      api.server.on('connection', (socket) => {
        socket.once('close', () => {
          left -= 1;
          if (left === 0) resolve();
        });
      });
    });
  }

  // as many as the server takes: one that were held would keep the next client out
  const clients = pick({ quick: 2, ci: 10 });
  for (const [name, bytes] of [
    ['an offer of another protocol', [offer('x')]],
    ['such an offer for a long answer', [wire('/api/sim/long', { headers: { Connection: 'Upgrade', Upgrade: 'x' } })]],
    ['long answers and such an offer', [long, long, long, offer('x')]],
    ['long answers and CONNECT', [long, long, long, 'CONNECT x:1 HTTP/1.1\r\n\r\n']],
    ['long answers and what is not HTTP', [long, long, long, 'GARBAGE\r\n\r\n']],
    ['CONNECT', ['CONNECT x:1 HTTP/1.1\r\n\r\n']],
    ['what is not HTTP', ['GARBAGE\r\n\r\n']],
  ] as const) {
    it(`clients that send ${name}, read nothing and never close hold no connection`, async () => {
      const port = await serve({ unreadTimeoutMs: 100, maxConnections: clients });
      const deserted = closed(clients);
      const sockets: Socket[] = [];
      for (let i = 0; i < clients; i += 1) {
        const socket = await open(port);
        socket.allowHalfOpen = true;
        socket.pause();
        socket.write(Buffer.concat(bytes.map((part) => Buffer.from(part))));
        sockets.push(socket);
      }
      await deserted;
      expect((await ask(port, '/api/sim/thing')).status).to.equal(200);
      for (const socket of sockets) socket.destroy();
    });
  }
});

describe('parameters of an address', () => {
  it('are all seen, however many separators stand before them', async () => {
    const api = createApi(apiContext({ plant: { devices: [] } as unknown as Plant }), { routes });
    const { port } = await api.start();
    const { status, json } = await ask(port, `/api/sim/thing?${'&'.repeat(1500)}x=1`);
    expect([status, json.code, json.errors?.[0].name]).to.deep.equal([422, 'validation', 'x']);
    await api.stop();
  });
});
