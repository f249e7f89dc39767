import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { z } from '../../../src/api/description/zod.ts';
import { createOperations } from '../../../src/api/http/operations.ts';
import { Answer, route } from '../../../src/api/http/route.ts';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import { createLogBook, silentLogger } from '../../../src/core/log/log.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createTelemetry } from '../../../src/ws/telemetry.ts';
import { apiContext } from '../../support/api-context.ts';
import { cutAnswers, talk, wire } from '../../support/hostile.ts';
import { ask, rawExchange } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';

const base = { tag: 'Core', summary: '', examples: { reply: {} }, reply: z.looseObject({}) } as const;
const origin = 'http://pages.example';

describe('operations that the first request loads', () => {
  let api: Api;
  let port: number;
  let log: ReturnType<typeof createLogBook>;
  let carriedOut: string[];
  /** loads under way, ended by hand */
  let loads: { readonly end: () => void; readonly fail: (error: Error) => void }[];

  const routes = [
    route({ ...base, method: 'get', path: '/hot', operationId: 'get_hot', hot: 'per_request', handle: () => ({}) }),
    route({
      ...base,
      method: 'post',
      path: '/thing',
      operationId: 'set_thing',
      body: z.strictObject({ name: z.string() }),
      handle(_ctx, { body: { name } }) {
        carriedOut.push(name);
        return new Answer({ name });
      },
    }),
  ];
  const removal = route({
    ...base,
    method: 'delete',
    path: '/thing',
    operationId: 'remove_thing',
    handle() {
      carriedOut.push('removal');
      return new Answer({});
    },
  });
  const thing = (name: string) => ask(port, '/api/sim/thing', { body: { name } });
  const post = (name: string) => ({ method: 'POST', path: '/thing', body: { name }, by: { source: 'rest' } }) as const;
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise(setImmediate);
  };
  const loading = (count = 1) => until(() => loads.length === count);

  beforeEach(async () => {
    carriedOut = [];
    loads = [];
    log = createLogBook({ write: () => undefined });
    const context = apiContext({
      plant: testPlant(),
      logBook: log,
      config: { corsOrigins: [origin] },
      limits: { stopTimeoutMs: 50 },
    });
    api = createApi(context, {
      routes: [...routes, removal],
      loadOperations: () =>
        new Promise((resolve, reject) => {
          loads.push({ end: () => resolve({ createOperations }), fail: reject });
        }),
    });
    ({ port } = await api.start());
  });
  afterEach(async () => {
    for (const { end } of loads) end();
    await api.stop();
  });

  it('are not loaded before it, nor by frequent reads, which are answered while others wait', async () => {
    const isAnsweredAtOnce = async () => {
      const request = once(api.server, 'request');
      void ask(port, '/api/sim/hot');
      const [, response] = await request;
      return response.writableEnded;
    };
    expect(await isAnsweredAtOnce()).to.equal(true);
    expect(loads).to.have.length(0);
    const answer = thing('first');
    await loading();
    expect(await isAnsweredAtOnce()).to.equal(true);
    expect(carriedOut).to.deep.equal([]);
    loads[0]?.end();
    expect(await answer).to.deep.include({ status: 200, json: { name: 'first' } });
  });

  it('are loaded once for several requests, which are carried out in the order of their arrival', async () => {
    const answers: Promise<{ readonly status: number }>[] = [];
    for (const name of ['a', 'b', 'c']) {
      const connection = once(api.server, 'request');
      answers.push(thing(name));
      await connection;
    }
    for (const { end } of loads) end();
    expect((await Promise.all(answers)).map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect((await thing('d')).status).to.equal(200);
    expect(carriedOut).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(loads).to.have.length(1);
  });

  it('answer requests of one connection in their order, frequent reads among them', async () => {
    const first = wire('/api/sim/nothing', { headers: { Connection: 'keep-alive' } });
    const bytes = talk(port, Buffer.concat([first, wire('/api/sim/hot')]));
    await loading();
    loads[0]?.end();
    expect(cutAnswers(await bytes).map(({ status }) => status)).to.deep.equal([404, 200]);
  });

  it('are loaded again after a failure, which is a problem with status 500 and a line of the log', async () => {
    const arrival = once(api.server, 'request');
    const answers = [thing('lost'), arrival.then(() => api.perform(post('lost')))] as const;
    await arrival;
    await loading();
    loads[0]?.fail(new TypeError('/secret/path.js'));
    const [answer, performed] = await Promise.all(answers);
    expect(answer.status).to.equal(500);
    expect(answer.json).to.include({ code: 'internal', request_id: answer.headers['x-request-id'] });
    expect(answer.text).not.to.include('secret');
    expect(performed).to.deep.include({ status: 500 });
    const lines = log.entries({ levels: ['error'] }).map(({ message }) => message);
    expect(lines).to.have.length(2);
    expect(lines).to.include(`request ${answer.json.request_id} POST /api/sim/thing failed: TypeError`);
    const again = thing('again');
    await loading(2);
    loads[1]?.end();
    expect((await again).status).to.equal(200);
    expect(carriedOut).to.deep.equal(['again']);
  });

  it('name in the log that the files of the program were replaced meanwhile', async () => {
    const answer = thing('lost');
    await loading();
    loads[0]?.fail(Object.assign(new Error('/secret/path.js'), { code: 'ERR_MODULE_NOT_FOUND' }));
    expect((await answer).json).to.include({ status: 500, code: 'internal' });
    expect(log.entries({ levels: ['error'] }).at(-1)?.message).to.match(/: files of the program were replaced/);
  });

  it('say that file descriptors are short when that is why they cannot be loaded', async () => {
    const answer = thing('lost');
    await loading();
    loads[0]?.fail(Object.assign(new Error('open'), { code: 'EMFILE' }));
    expect((await answer).json).to.include({ status: 503, code: 'shortage' });
  });

  it('refuse what waits for them when the simulator stops', async () => {
    const answer = thing('late');
    await loading();
    const stopped = api.stop();
    loads[0]?.end();
    expect((await answer).json).to.include({ status: 503, code: 'stopping' });
    await stopped;
    expect(carriedOut).to.deep.equal([]);
  });

  it('do not hold up the stop while they are being loaded', async () => {
    const answer = thing('lost').catch((error: unknown) => error);
    await loading();
    await api.stop();
    expect(await answer).to.be.instanceOf(Error);
    loads[0]?.end();
    await api.operations();
    expect(carriedOut).to.deep.equal([]);
  });

  it('carry out nothing for a client that has left', async () => {
    const connection = once(api.server, 'connection');
    const socket = connect(port, '127.0.0.1');
    socket.write(wire('/api/sim/thing', { method: 'DELETE' }));
    const [accepted] = await connection;
    await loading();
    socket.destroy();
    await once(accepted, 'close');
    loads[0]?.end();
    await thing('stays');
    expect(carriedOut).to.deep.equal(['stays']);
  });

  it('leave alone a request that the parser has refused meanwhile', async () => {
    const headers = { Origin: origin, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
    const answer = rawExchange(port, wire('/api/sim/thing', { method: 'POST', headers }), 'no length\r\n');
    expect((await answer).status).to.equal(400);
    await loading();
    loads[0]?.end();
    await thing('right');
    expect(carriedOut).to.deep.equal(['right']);
  });

  it('are carried out within the call for a caller in this process, once they are loaded', async () => {
    const first = api.perform(post('first'));
    await loading();
    loads[0]?.end();
    expect(await first).to.deep.equal({ status: 200, body: { name: 'first' } });
    const second = api.perform(post('second'));
    expect(carriedOut).to.deep.equal(['first', 'second']);
    await second;
  });

  it('are not loaded by a client of the stream', async () => {
    const { guard, plant } = { guard: { host: '127.0.0.1', allowedHosts: [], corsOrigins: [] }, plant: testPlant() };
    const stream = createTelemetry({
      source: plant,
      server: api.server,
      guard,
      clock: systemClock,
      logger: silentLogger,
    });
    await stream.start();
    const client = new WebSocket(`ws://127.0.0.1:${port}/api/sim/ws/telemetry`);
    const [message] = await once(client, 'message');
    expect(JSON.parse(String(message))).to.include({ device_index: 0 });
    expect(loads).to.have.length(0);
    await stream.stop();
  });
});
