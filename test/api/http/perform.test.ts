import { expect } from 'chai';
import { z } from '../../../src/api/description/zod.ts';
import { defaultApiLimits } from '../../../src/api/http/context.ts';
import { createRequestCheck } from '../../../src/api/http/perform.ts';
import type { InProcessRequest, Performed } from '../../../src/api/http/perform.ts';
import { Answer, hasBody, JsonText, route, StreamedReply, TextReply } from '../../../src/api/http/route.ts';
import type { Route } from '../../../src/api/http/route.ts';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import { allRoutes } from '../../../src/api/routes.ts';
import { SimError } from '../../../src/core/errors.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import type { Plant } from '../../../src/contract/plant.ts';
import { apiContext } from '../../support/api-context.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';
import { examplesOf } from '../../../src/api/description/openapi.ts';

const base = { tag: 'Core', summary: '', examples: { reply: {} } } as const;
const by = { source: 'scenario', peer: 'night' } as const;
const anything = z.any();

const seen: { bodies: unknown[]; afterwards: number } = { bodies: [], afterwards: 0 };
let pieces: Iterable<string> = [];

const routes: readonly Route[] = [
  route({
    ...base,
    method: 'get',
    path: '/thing/{name}',
    operationId: 'get_thing',
    params: z.strictObject({ name: z.string() }),
    query: z.strictObject({ a: z.string().optional(), b: z.string().optional() }),
    reply: anything,
    handle: (_ctx, { params, query, by: origin }) => ({ params, query, by: origin, left: undefined }),
  }),
  route({
    ...base,
    method: 'post',
    path: '/thing',
    operationId: 'set_thing',
    maxTextLength: 20,
    body: z.looseObject({ n: z.number().max(5).optional() }),
    reply: anything,
    handle(_ctx, { body }) {
      seen.bodies.push(body);
      return new Answer({ body }, { status: 202, afterwards: () => (seen.afterwards += 1) });
    },
  }),
  route({
    ...base,
    method: 'get',
    path: '/text',
    operationId: 'text',
    reply: anything,
    handle: () => new TextReply('text/csv', 'a,b'),
  }),
  route({
    ...base,
    method: 'get',
    path: '/json',
    operationId: 'json',
    reply: anything,
    handle: () => new JsonText(Buffer.from('{"a":1}')),
  }),
  route({
    ...base,
    method: 'get',
    path: '/long',
    operationId: 'long',
    query: z.strictObject({ as: z.enum(['application/json', 'text/csv']) }),
    reply: anything,
    handle: (_ctx, { query }) => new StreamedReply(query.as, pieces),
  }),
  route({
    ...base,
    method: 'get',
    path: '/fails/{how}',
    operationId: 'fails',
    params: z.strictObject({ how: z.string() }),
    reply: anything,
    handle(_ctx, { params: { how } }) {
      if (how === 'peer') throw new SimError('PEER_ERROR', 'exception 2', [], 2);
      if (how === 'later') return Promise.reject(new SimError('NOT_CONNECTED', 'not yet'));
      throw new TypeError('at /secret/path.js');
    },
  }),
];

describe('requests without HTTP', () => {
  let api: Api;
  let port: number;
  let log: ReturnType<typeof createLogBook>;
  before(async () => {
    log = createLogBook({ write: () => undefined });
    const plant = { devices: [] } as unknown as Plant;
    api = createApi(apiContext({ plant, logBook: log }), { routes });
    ({ port } = await api.start());
  });
  after(() => api.stop());

  const perform = (method: string, path: string, more: Partial<InProcessRequest> = {}) =>
    api.perform({ method, path, by, ...more });
  const get = (path: string, query?: InProcessRequest['query']) => perform('GET', path, query && { query });
  const post = (body: unknown) => perform('POST', '/thing', { body });
  const problem = ({ status, body }: Performed): Json => ({ ...(body as object), status });

  it('take the path with or without the prefix, and a query in it or beside it', async () => {
    const expected = { status: 200, body: { params: { name: 'x y' }, query: { a: '1', b: 'ü&' }, by } };
    for (const path of ['/thing/x%20y', '/api/sim/thing/x%20y']) {
      expect(await get(`${path}?a=1&b=%C3%BC%26`)).to.deep.equal(expected);
      expect(await get(path, { a: 1, b: 'ü&' })).to.deep.equal(expected);
      expect(await get(`${path}?a=1`, { b: 'ü&', c: undefined })).to.deep.equal(expected);
    }
    expect(problem(await get('/thing/x?a=1', { a: 2 })).errors).to.deep.equal([
      { in: 'query', name: 'a', detail: 'is given more than once' },
    ]);
    expect(problem(await get('/thing/x', { a: [1, 2], c: true })).errors.map(({ name }: Json) => name)).to.deep.equal([
      'a',
      'c',
    ]);
  });

  it('are refused as over HTTP, with the address as the instance and an id of their own', async () => {
    const ids = new Set<string>();
    for (const [method, path] of [
      ['GET', '/nothing'],
      ['GET', '/Thing/x'],
      ['GET', '/thing/%ff'],
      ['DELETE', '/thing/%ff'],
      ['GET', '/thing/x?c=1'],
      ['GET', '/thing/x?%63=1&a=%ff'],
      ['POST', '/thing/x'],
      ['GET', '/thing'],
      ['PUT', '/thing'],
      ['GET', '/'],
      ['GET', '/ws/telemetry'],
      ['GET', '//thing/x'],
      ['GET', `/thing/${'x'.repeat(9000)}`],
      ['GET', `/thing/${'x'.repeat(900)}?c=1`],
      ['POST', '/thing?device=0'],
    ] as const) {
      const over = await ask(port, `/api/sim${path}`, { method });
      const { status, body } = await perform(method, path);
      const { request_id: id } = body as Json;
      const expected = { status: over.status, body: { ...over.json, request_id: id } };
      expect({ status, body }, `${method} ${path}`).to.deep.equal(expected);
      expect(id).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      ids.add(id);
    }
    expect(ids).to.have.length(15);
    // over HTTP a redirect leads there
    expect(await get('/thing/x/')).to.deep.equal(await get('/thing/x'));
    for (const path of ['', '?a=1', 'thing/x', 'http://127.0.0.1/thing', '/thing/x#a'])
      expect(problem(await get(path)), path).to.include({ status: 400, code: 'malformed-request' });
    expect(problem(await get('/api/sim?a=1'))).to.include({ code: 'not-found', instance: '/api/sim?a=1' });
    expect(problem(await perform('get', '/thing/x'))).to.include({ status: 405, code: 'method-not-allowed' });
  });

  it('have no body in the answer to HEAD', async () => {
    expect(await perform('HEAD', '/thing/x')).to.deep.equal({ status: 200, body: undefined });
    expect((await perform('HEAD', '/long?as=text/csv')).status).to.equal(200);
  });

  it('send a body as its JSON would be read, shared with nobody', async () => {
    const body = { n: 1, at: new Date(0), gone: undefined, list: [{ a: 1 }] };
    const { status, body: reply } = await post(body);
    expect([status, reply]).to.deep.equal([202, { body: { n: 1, at: '1970-01-01T00:00:00.000Z', list: [{ a: 1 }] } }]);
    body.list[0]!.a = 2;
    expect(seen.bodies.at(-1)).to.deep.include({ list: [{ a: 1 }] });
    expect((await post(undefined)).body).to.deep.equal({ body: {} });
    expect((await perform('GET', '/text', { body: { any: 1n } })).status).to.equal(200);
  });

  it('are held to the limits of bodies', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner], 1);
    const before = seen.bodies.length;
    for (const [body, status, code, name] of [
      [circle, 400, 'malformed-json'],
      [{ n: 1n }, 400, 'malformed-json'],
      [() => 1, 400, 'malformed-json'],
      [{ n: Number.NaN }, 422, 'validation', '/n'],
      [{ a: { b: Infinity } }, 422, 'validation', '/a/b'],
      [{ deep }, 422, 'validation'],
      [{ text: 'x'.repeat(21) }, 422, 'validation', '/text'],
      [JSON.parse('{"a":{"__proto__":1}}'), 422, 'validation', '/a/__proto__'],
      [{ list: Array.from({ length: 10_001 }, () => 1) }, 422, 'validation', '/list'],
      [{ list: Array.from({ length: 300_000 }, () => 1) }, 413, 'too-large'],
      [{ n: 6 }, 422, 'validation', '/n'],
      [null, 422, 'validation', ''],
      ['text', 422, 'validation', ''],
    ] as const) {
      const refused = problem(await post(body));
      expect(refused, code).to.include({ status, code });
      if (name !== undefined) expect(refused.errors[0].name).to.equal(name);
    }
    expect(seen.bodies).to.have.length(before);
  });

  it('get text as text, and prepared JSON as what it means', async () => {
    expect(await get('/text')).to.deep.equal({ status: 200, body: 'a,b' });
    expect(await get('/json')).to.deep.equal({ status: 200, body: { a: 1 } });
  });

  it('get long replies as a whole, up to a limit', async () => {
    pieces = ['{"a":[1,', '2', ']}'];
    expect(await get('/long?as=application/json')).to.deep.equal({ status: 200, body: { a: [1, 2] } });
    expect(await get('/long?as=text/csv')).to.deep.equal({ status: 200, body: '{"a":[1,2]}' });
    let made = 0;
    let ended = false;
    pieces = (function* endless() {
      try {
        for (;;) {
          made += 1;
          yield 'x'.repeat(1024 * 1024);
        }
      } finally {
        ended = true;
      }
    })();
    expect(problem(await get('/long?as=text/csv'))).to.include({ status: 413, code: 'too-large' });
    expect([made, ended]).to.deep.equal([17, true]);
  });

  it('do what is left when the caller has the answer', async () => {
    const { afterwards } = seen;
    await post({});
    expect(seen.afterwards).to.equal(afterwards);
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen.afterwards).to.equal(afterwards + 1);
  });

  it('never throw: failures are problems, and those of the simulator are logged under their id', async () => {
    expect(problem(await get('/fails/peer'))).to.include({ status: 502, modbus_exception: 2 });
    expect(problem(await get('/fails/later'))).to.include({ status: 409, code: 'not-connected' });
    const refused = problem(await get('/fails/code'));
    expect(refused).to.include({ status: 500, code: 'internal' });
    expect(JSON.stringify(refused)).not.to.include('secret');
    const line = log.entries().at(-1)!.message;
    expect(line).to.equal(`request ${refused.request_id} GET /api/sim/fails/code failed: TypeError`);
  });

  it('can be checked without being carried out', () => {
    const before = [...seen.bodies];
    const check = createRequestCheck(routes, defaultApiLimits);
    expect(check({ method: 'POST', path: '/thing', body: { n: 9 } })).to.include({ code: 'validation' });
    expect(check({ method: 'POST', path: '/thing', body: { n: 5 } })).to.equal(null);
    expect(seen.bodies).to.deep.equal(before);
  });
});

describe('requests without HTTP to a plant', () => {
  let rest: Rest;
  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'Batt-3Phase'] }));
  });
  afterEach(() => rest.api.stop());

  const perform = (method: string, path: string, body?: unknown) => rest.api.perform({ method, path, body, by });

  it('record who asked', async () => {
    await perform('POST', '/registers/704', { points: { WMaxLimPct: 40 } });
    const { points } = await rest.get('/registers/704');
    expect(points.find(({ name }: Json) => name === 'WMaxLimPct')).to.include({
      value: 40,
      source: 'scenario',
      source_detail: 'night',
    });
  });

  it('read what clients poll without the bytes that these share, and make these anew after a change', async () => {
    const loose = await rest.get('/overview?device=1');
    expect((await perform('GET', '/overview?device=1')).body).to.deep.equal(loose);
    await perform('POST', '/faults', { inject: [{ protocol: 'device', kind: 'alarm', codes: ['over_temp'] }] });
    await perform('POST', '/controls/time/step', { ticks: 1 });
    const { alarms, tick } = await rest.get('/overview');
    expect((await perform('GET', '/overview')).body).to.deep.include({ alarms, tick });
    expect((await perform('GET', '/health')).body).to.include({ status: 'ok', tick: 1 });
  });

  it('are not counted among the requests answered over HTTP', async () => {
    await perform('GET', '/site');
    const { text } = await rest.call('/metrics');
    expect(text).not.to.include('route="/api/sim/site"');
  });

  it('apply to the device that is asked for, or to none', async () => {
    expect((await perform('GET', '/battery?device=1')).status).to.equal(200);
    expect((await perform('GET', '/battery')).body).to.include({ code: 'not-applicable' });
    expect((await perform('GET', '/battery?device=7')).body).to.include({ code: 'unknown-device' });
  });

  it('get long histories whole', async () => {
    await rest.plant.step(50);
    const { body } = await perform('GET', '/history?metrics=power_kw');
    expect(body).to.deep.equal(await rest.get('/history?metrics=power_kw'));
    expect((body as Json).samples).to.have.length.above(49);
    const csv = await perform('GET', '/history?metrics=power_kw&format=csv');
    expect(csv.body).to.equal((await rest.call('/history?metrics=power_kw&format=csv')).text);
  });

  it('are refused while the simulator stops, except stop and health', async () => {
    expect(await perform('POST', '/stop', { delay_s: 60 })).to.deep.equal({
      status: 202,
      body: { state: 'stopping', delay_s: 60 },
    });
    expect((await perform('GET', '/overview')).body).to.include({ code: 'stopping', status: 503 });
    expect((await perform('GET', '/nothing')).body).to.include({ code: 'stopping' });
    expect((await perform('GET', '/health')).body).to.include({ status: 'stopping' });
    expect((await perform('POST', '/stop')).status).to.equal(202);
  });
});

describe('the check of requests', () => {
  const check = createRequestCheck(allRoutes, defaultApiLimits);

  it('needs no simulator', () => {
    expect(check({ method: 'POST', path: '/controls/grid', body: { voltage_pu: 0.9 } })).to.equal(null);
    expect(check({ method: 'GET', path: '/overview', query: { device: 3 } })).to.equal(null);
    expect(check({ method: 'POST', path: '/controls/time/step', body: { ticks: 0 } })).to.include({
      code: 'validation',
      status: 422,
      instance: '/api/sim/controls/time/step',
    });
    expect(check({ method: 'GET', path: '/overview?device=a' })).to.include({ code: 'validation' });
    expect(check({ method: 'POST', path: '/evse/x/connectors/0/start' })).to.include({ code: 'validation' });
    expect(check({ method: 'POST', path: '/overview' })).to.include({ code: 'method-not-allowed' });
    expect(check({ method: 'GET', path: '/nowhere' })).to.include({ code: 'not-found' });
  });

  it('takes the example of every operation', () => {
    for (const route of allRoutes) {
      const { method, path } = route;
      const filled = path.replaceAll(/\{\w+\}/g, '1');
      const body = hasBody({ method }) ? examplesOf(route).body : undefined;
      const query = path === '/scenarios/text' ? '?bundled=freq-droop' : '';
      expect(check({ method: method.toUpperCase(), path: filled + query, body }), path).to.equal(null);
    }
  });
});
