/** Requests whose bytes another process has received: equal to those over HTTP. */
import { expect } from 'chai';
import { z } from '../../../src/api/description/zod.ts';
import { defaultApiLimits } from '../../../src/api/http/context.ts';
import type { BytesRequest } from '../../../src/contract/perform-bytes.ts';
import { Answer, route, StreamedReply, TextReply } from '../../../src/api/http/route.ts';
import type { Route } from '../../../src/api/http/route.ts';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import type { Plant } from '../../../src/contract/plant.ts';
import { apiContext } from '../../support/api-context.ts';

const base = { tag: 'Core', summary: '', examples: { reply: {} }, reply: z.any() } as const;
const by = { source: 'rest', peer: '10.0.0.7:4711' } as const;

let afterwards = 0;
const routes: readonly Route[] = [
  route({
    ...base,
    method: 'post',
    path: '/thing',
    operationId: 'set_thing',
    query: z.strictObject({ device: z.coerce.number().optional() }),
    body: z.looseObject({ n: z.number().max(5).optional() }),
    handle: (_ctx, { body, query, by: origin }) =>
      new Answer(
        { body, query, by: origin },
        { status: 202, headers: { 'X-Thing': '1' }, afterwards: () => (afterwards += 1) },
      ),
  }),
  route({
    ...base,
    method: 'get',
    path: '/text',
    operationId: 'text',
    handle: () => new TextReply('text/csv', 'a,b'),
  }),
  route({
    ...base,
    method: 'get',
    path: '/long',
    operationId: 'long',
    handle: () => new StreamedReply('application/octet-stream', [Buffer.from([0, 255]), 'ab']),
  }),
  route({
    ...base,
    method: 'get',
    path: '/secret',
    operationId: 'secret',
    isPrivate: true,
    handle: () => ({ secret: true }),
  }),
];

describe('requests as bytes', () => {
  let api: Api;
  let url: string;
  const log = createLogBook({ write: () => undefined });
  before(async () => {
    api = createApi(apiContext({ plant: { devices: [] } as unknown as Plant, logBook: log }), { routes });
    const { port } = await api.start();
    url = `http://127.0.0.1:${port}/api/sim`;
  });
  after(() => api.stop());

  const ask = (method: string, path: string, more: Partial<BytesRequest> = {}) =>
    api.performBytes({ method, path, by, ...more });
  const json = (value: unknown) => Buffer.from(JSON.stringify(value));
  const problemOf = async (answer: ReturnType<typeof ask>) => {
    const { status, type, headers, bytes } = await answer;
    const problem = JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>>;
    expect(type).to.equal('application/problem+json');
    expect(headers).to.deep.equal({ 'X-Request-Id': problem['request_id'] });
    return { status, code: problem['code'] };
  };

  it('carry status, headers and the writer, and run what follows the answer', async () => {
    const answer = await ask('POST', '/thing?device=3', { body: json({ n: 2 }) });
    expect(answer).to.include({ status: 202, type: 'application/json' });
    expect(answer.headers).to.deep.equal({ 'X-Thing': '1' });
    expect(JSON.parse(answer.bytes.toString())).to.deep.equal({ body: { n: 2 }, query: { device: 3 }, by });
    await new Promise(setImmediate);
    expect(afterwards).to.equal(1);
  });

  it('answer the bytes of HTTP, also of texts and of pieces', async () => {
    for (const path of ['/text', '/long']) {
      const { status, type, bytes } = await ask('GET', `/api/sim${path}`);
      const overHttp = await fetch(url + path);
      expect([status, type]).to.deep.equal([overHttp.status, overHttp.headers.get('content-type')]);
      expect(bytes).to.deep.equal(Buffer.from(await overHttp.arrayBuffer()));
    }
  });

  it('answer HEAD without a body', async () => {
    expect((await ask('HEAD', '/text')).bytes).to.have.length(0);
  });

  it('refuse as HTTP does, and log it with the writer', async () => {
    expect(await problemOf(ask('POST', '/thing', { body: Buffer.from('{') }))).to.deep.equal({
      status: 400,
      code: 'malformed-json',
    });
    expect(await problemOf(ask('POST', '/thing', { body: Buffer.from('{"n":1,"n":2}') }))).to.include({ status: 422 });
    expect(await problemOf(ask('POST', '/thing', { body: json({ n: 6 }) }))).to.include({ code: 'validation' });
    expect(await problemOf(ask('GET', '/nothing'))).to.include({ status: 404 });
    expect(
      await problemOf(ask('POST', '/thing', { body: Buffer.alloc(defaultApiLimits.maxBodyBytes + 1, ' ') })),
    ).to.include({ status: 413 });
    const lines = log.entries().map(({ message }) => message);
    expect(lines.filter((line) => line.includes(by.peer)).length).to.be.greaterThan(0);
  });

  it('refuse an answer beyond the limit, whole or in pieces', async () => {
    for (const path of ['/text', '/long'])
      expect(await problemOf(ask('GET', path, { maxBytes: 2 }))).to.include({ code: 'too-large' });
  });

  it('are private only where the client is', async () => {
    expect(await problemOf(ask('GET', '/secret'))).to.include({ status: 403 });
    expect((await ask('GET', '/secret', { isPrivate: true })).status).to.equal(200);
  });
});
