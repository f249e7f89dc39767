import type { Socket } from 'node:net';
import { expect } from 'chai';
import { createLogBook } from '../../../src/core/log/log.ts';
import { StreamedReply, route } from '../../../src/api/http/route.ts';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import { z } from '../../../src/api/description/zod.ts';
import type { Plant } from '../../../src/contract/plant.ts';
import { apiContext } from '../../support/api-context.ts';
import type { ContextOptions } from '../../support/api-context.ts';
import { cutAnswers, expectSound, open, talk, wire } from '../../support/hostile.ts';
import { ask } from '../../support/http.ts';

const base = { tag: 'Core', summary: '', examples: { reply: {} }, reply: z.array(z.string()), method: 'get' } as const;
const long = 'x'.repeat(64 * 1024);
/** pieces made, answers begun and ended, and answers that were under way together */
let made = 0;
let begun = 0;
let ended = 0;
let most = 0;

function* texts(count: number): Generator<string> {
  begun += 1;
  most = Math.max(most, begun - ended);
  try {
    for (let i = 0; i < count; i += 1) {
      made += 1;
      yield `${i === 0 ? '[' : ','}"${long}"`;
    }
    yield ']';
  } finally {
    ended += 1;
  }
}

function* failing(): Generator<string> {
  yield `["${long}"`;
  throw new Error('no further');
}

const routes = [
  route({ ...base, path: '/four', operationId: 'four', handle: () => new StreamedReply('application/json', texts(4)) }),
  route({
    ...base,
    path: '/endless',
    operationId: 'endless',
    handle: () => new StreamedReply('application/json', texts(Infinity)),
  }),
  route({
    ...base,
    path: '/failing',
    operationId: 'failing',
    handle: () => new StreamedReply('application/json', failing()),
  }),
  route({
    ...base,
    path: '/wrong',
    operationId: 'wrong',
    handle: () => new StreamedReply('application/json', ['[1', ']']),
  }),
];
const plant = { devices: [] } as unknown as Plant;
const opened: Api[] = [];

async function serve(options: Partial<ContextOptions> = {}, checkReplies = false): Promise<number> {
  const api = createApi(apiContext({ plant, ...options }), { routes, checkReplies });
  opened.push(api);
  return (await api.start()).port;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}

async function deaf(port: number, bytes: Buffer): Promise<Socket> {
  const socket = await open(port);
  socket.pause();
  socket.write(bytes);
  return socket;
}

const keepAlive = { headers: { Connection: 'keep-alive' } };

describe('answers that are made while they are sent', () => {
  beforeEach(() => {
    [made, begun, ended, most] = [0, 0, 0, 0];
  });
  afterEach(() => Promise.all(opened.splice(0).map((api) => api.stop())));

  it('have the headers of every answer, and all pieces in their order', async () => {
    const port = await serve();
    const [answer] = cutAnswers(await talk(port, wire('/api/sim/four')));
    expectSound(answer!);
    expect(answer!.headers).to.include({ 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
    expect(JSON.parse(answer!.text)).to.deep.equal([long, long, long, long]);
  });

  it('are checked against their schema in tests', async () => {
    const port = await serve({}, true);
    expect((await ask(port, '/api/sim/four')).json).to.have.length(4);
    expect((await ask(port, '/api/sim/wrong')).status).to.equal(500);
  });

  it('to HEAD, no piece is made', async () => {
    const port = await serve();
    const { status, text, headers } = await ask(port, '/api/sim/endless', { method: 'HEAD' });
    expect([status, text, headers['content-type'], made]).to.deep.equal([200, '', 'application/json', 0]);
  });

  it('stop where a client reads nothing, until it is cut off', async () => {
    const port = await serve({ limits: { unreadTimeoutMs: 200 } });
    const socket = await deaf(port, wire('/api/sim/endless'));
    await until(() => ended === 1);
    // what both ends of a connection buffer, and no more
    expect(made * long.length).to.be.within(1, 64 * 1024 * 1024);
    socket.destroy();
  });

  it('end when the client goes away in the middle', async () => {
    const port = await serve();
    const sockets = await Promise.all(Array.from({ length: 10 }, () => open(port)));
    for (const socket of sockets) socket.resume().write(wire('/api/sim/endless'));
    await until(() => made > 50);
    for (const socket of sockets) socket.destroy();
    await until(() => ended === begun);
    const before = made;
    expect((await ask(port, '/api/sim/four')).json).to.have.length(4);
    expect(made).to.equal(before + 4);
  });

  it('of one connection are made one after the other', async () => {
    const port = await serve();
    const many = Buffer.concat([
      ...Array.from({ length: 9 }, () => wire('/api/sim/four', keepAlive)),
      wire('/api/sim/four'),
    ]);
    const answers = cutAnswers(await talk(port, many));
    expect(answers.map(({ text }) => (JSON.parse(text) as string[]).length)).to.deep.equal(
      Array.from({ length: 10 }, () => 4),
    );
    expect(most).to.equal(1);
  });

  it('take turns: however many there are, other work comes between any two pieces', async () => {
    const port = await serve();
    let [last, mostAtOnce, done] = [0, 0, false];
    const watch = () => {
      mostAtOnce = Math.max(mostAtOnce, made - last);
      last = made;
      if (!done) setImmediate(watch);
    };
    watch();
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(port, '/api/sim/four')));
    done = true;
    expect(answers.every(({ json }) => json.length === 4)).to.equal(true);
    expect(most, 'answers under way together').to.be.greaterThan(10);
    expect(mostAtOnce).to.be.within(1, 2);
  });

  it('break off, and are logged, when a piece cannot be made', async () => {
    const logBook = createLogBook({ write: () => undefined });
    const port = await serve({ logBook });
    const bytes = (await talk(port, wire('/api/sim/failing', keepAlive))).toString('latin1');
    expect(bytes).to.match(/^HTTP\/1\.1 200 /);
    expect(bytes.endsWith('0\r\n\r\n'), 'no end that looks like one').to.equal(false);
    const errors = logBook.entries({ levels: ['error'] }).map(({ message }) => message);
    expect(errors).to.have.length(1);
    expect(errors[0]).to.match(/GET \/api\/sim\/failing/);
    expect((await ask(port, '/api/sim/four')).status).to.equal(200);
  });
});
