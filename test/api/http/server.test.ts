import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { createApi } from '../../../src/api/http/server.ts';
import { apiContext } from '../../support/api-context.ts';
import { ask, rawExchange } from '../../support/http.ts';
import { close, expectProblem, plant, routes, serve } from './test-server.ts';

describe('headers of every answer', () => {
  afterEach(close);

  it('carries request id, no-store, nosniff, and names no software', async () => {
    const { port } = await serve();
    const answer = await ask(port, '/api/sim/thing');
    expect(answer.status).to.equal(200);
    expect(answer.headers).to.include({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json',
    });
    expect(answer.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
    expect(answer.headers).not.to.have.any.keys('x-powered-by', 'server', 'etag', 'access-control-allow-origin');
  });

  it('answers HEAD where GET is, without a body', async () => {
    const { port } = await serve();
    const get = await ask(port, '/api/sim/thing');
    const head = await ask(port, '/api/sim/thing', { method: 'HEAD' });
    expect(head.status).to.equal(200);
    expect(head.text).to.equal('');
    expect(head.headers['content-length']).to.equal(get.headers['content-length']);
  });
});

describe('paths and methods', () => {
  afterEach(close);

  it('answers 404 for what is not there', async () => {
    const { port } = await serve();
    for (const path of [
      '/nothing',
      '/api/sim',
      '/api/sim/nothing/',
      '/api/sim/THING',
      '/api/sim/../../etc/passwd',
      '/docs/package.json',
    ]) {
      const problem = expectProblem(await ask(port, path), 404, 'not-found');
      expect(problem['instance']).to.equal(path);
    }
  });

  it('answers 405 with Allow', async () => {
    const { port } = await serve();
    for (const [path, method, allow] of [
      ['/api/sim/thing', 'PUT', 'GET, HEAD, POST'],
      ['/api/sim/stop', 'GET', 'POST'],
      ['/api/sim/fail/x', 'DELETE', 'GET, HEAD'],
      ['/openapi.json', 'POST', 'GET, HEAD'],
      ['/docs/', 'POST', 'GET, HEAD'],
      ['/', 'PATCH', 'GET, HEAD'],
      ['/api/sim/thing', 'OPTIONS', 'GET, HEAD, POST'],
    ] as const) {
      const answer = await ask(port, path, { method });
      expectProblem(answer, 405, 'method-not-allowed');
      expect(answer.headers['allow']).to.equal(allow);
    }
  });

  it('answers 405 to CONNECT', async () => {
    const { port } = await serve();
    expectProblem(
      await rawExchange(port, 'CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost\r\n\r\n'),
      405,
      'method-not-allowed',
    );
  });

  it('refuses a broken escape and an absolute target', async () => {
    const { port } = await serve();
    expectProblem(await ask(port, '/api/sim/fail/%ff'), 400, 'malformed-request');
    const absolute = 'GET http://evil.example/api/sim/thing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    expectProblem(await rawExchange(port, absolute), 400, 'malformed-request');
  });
});

describe('bodies', () => {
  afterEach(close);

  const post = (port: number, body: unknown, headers: Record<string, string> = {}) =>
    ask(port, '/api/sim/thing', { method: 'POST', body, headers });

  it('takes no body and no Content-Type as {}', async () => {
    const { port } = await serve();
    const answer = await ask(port, '/api/sim/thing', { method: 'POST' });
    expect(answer.json).to.deep.equal({ body: {}, source: 'rest' });
  });

  it('takes a charset parameter and names the dashboard as source', async () => {
    const { port } = await serve();
    const answer = await post(
      port,
      { value: 1 },
      { 'Content-Type': 'application/JSON; charset="UTF-8"', 'X-Derbench-Client': 'dashboard' },
    );
    expect(answer.json).to.deep.equal({ body: { value: 1 }, source: 'dashboard' });
  });

  it('answers 415 for other types, charsets and encodings', async () => {
    const { port } = await serve();
    for (const headers of [
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      { 'Content-Type': 'application/json; charset=utf-16' },
      { 'Content-Encoding': 'gzip' },
      { 'Content-Type': '' },
    ])
      expectProblem(await post(port, '{}', headers), 415, 'unsupported-media-type');
    expectProblem(
      await ask(port, '/api/sim/thing', { method: 'POST', headers: { 'Content-Type': 'text/plain' } }),
      415,
      'unsupported-media-type',
    );
  });

  it('answers 400 for what is not JSON', async () => {
    const { port } = await serve();
    for (const body of ['{', ' ', '{"value":NaN}', "{'value':1}", '{"value":01}']) {
      expectProblem(await post(port, body), 400, 'malformed-json');
    }
    const detail = async (body: string) => expectProblem(await post(port, body), 400, 'malformed-json')['detail'];
    expect(await detail('{"value": 1,\n "kind": a}')).to.equal(
      'The body is not valid JSON: at line 2, column 10 there is "a", where a value must stand.',
    );
    expect(await detail('{"value": 1')).to.equal(
      'The body is not valid JSON: at line 1, column 12 the body ends, where a comma or } must stand.',
    );
    const bad = Buffer.from([0x22, 0xff, 0x22]);
    const head =
      'POST /api/sim/thing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: ' +
      'application/json\r\nContent-Length: 3\r\n\r\n';
    expectProblem(await rawExchange(port, head, bad), 400, 'malformed-json');
  });

  it('answers 413 with the client still able to read it', async () => {
    const { port } = await serve();
    const fitting = JSON.stringify({ tree: Array.from({ length: 260 }, () => 'x'.repeat(1000)) });
    expect((await post(port, fitting)).status).to.equal(200);
    expectProblem(await post(port, `{"tree":"${'x'.repeat(256 * 1024)}"}`), 413, 'too-large');
    const announced =
      'POST /api/sim/thing HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n';
    const answer = await rawExchange(port, announced);
    expectProblem(answer, 413, 'too-large');
    expect(answer.headers['connection']).to.equal('close');
  });

  it('answers 413 for a chunked body that never ends', async () => {
    const { port } = await serve();
    const head =
      'POST /api/sim/thing HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const answer = await rawExchange(port, head, ...Array.from({ length: 40 }, () => chunk));
    if (answer.status !== 0) expectProblem(answer, 413, 'too-large');
  });

  it('names every faulty member with 422', async () => {
    const { port } = await serve();
    const problem = expectProblem(await post(port, { value: 11, kind: 'c', valeu: 1 }), 422, 'validation');
    expect(problem['errors']).to.deep.include.members([
      { in: 'body', name: '/value', detail: 'must be from 0 to 10; given 11' },
      { in: 'body', name: '/kind', detail: 'must be one of a, b; given "c"', allowed: ['a', 'b'] },
      {
        in: 'body',
        name: '/valeu',
        detail: 'is not a member of this body; did you mean value?',
        allowed: ['value', 'kind', 'tree'],
      },
    ]);
  });

  it('refuses wrong types and roots', async () => {
    const { port } = await serve();
    for (const body of [{ value: '1' }, { value: null }, { value: true }]) {
      const problem = expectProblem(await post(port, body), 422, 'validation');
      const detail = `must be a number; given ${JSON.stringify(body.value)}`;
      expect(problem['errors'][0]).to.deep.equal({ in: 'body', name: '/value', detail });
    }
    for (const body of ['[]', '1', '"x"', 'null']) expectProblem(await post(port, body), 422, 'validation');
    expectProblem(await post(port, '{"value":1e309}'), 422, 'validation');
  });

  it('bounds nesting, items, strings and refuses prototype members', async () => {
    const { port } = await serve();
    const nested = (depth: number) => `{"tree":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect((await post(port, nested(31))).status).to.equal(200);
    for (const body of [
      nested(32),
      nested(100_000),
      `{"tree":[${'0,'.repeat(10_000)}0]}`,
      `{"tree":"${'x'.repeat(1001)}"}`,
      '{"tree":{"__proto__":{}}}',
      '{"constructor":{}}',
      '{"tree":[{"prototype":1}]}',
    ])
      expectProblem(await post(port, body), 422, 'validation');
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  it('refuses unknown and repeated parameters', async () => {
    const { port } = await serve();
    const problem = expectProblem(await ask(port, '/api/sim/thing?devcie=0'), 422, 'validation');
    expect(problem['errors'][0]).to.include({ in: 'query', name: 'devcie' });
    expectProblem(await ask(port, '/api/sim/thing?__proto__=1'), 422, 'validation');
  });
});

describe('who may ask', () => {
  afterEach(close);

  it('answers 421 for other host names, on every kind of path', async () => {
    const { port } = await serve({ config: { allowedHosts: ['sim.example'] } });
    for (const path of ['/', '/api/sim/thing', '/docs/', '/openapi.json', '/nothing']) {
      expectProblem(await ask(port, path, { headers: { Host: 'evil.example' } }), 421, 'misdirected-host');
    }
    expect((await ask(port, '/api/sim/thing', { headers: { Host: 'sim.example:1' } })).status).to.equal(200);
    expectProblem(
      await rawExchange(port, 'GET /api/sim/thing HTTP/1.1\r\nConnection: close\r\n\r\n'),
      421,
      'misdirected-host',
    );
    const twice = 'GET /api/sim/thing HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    expectProblem(await rawExchange(port, twice), 421, 'misdirected-host');
  });

  it('answers 403 for state changes of other origins only', async () => {
    const { port } = await serve();
    const from = (origin: string, method: string) =>
      ask(port, '/api/sim/thing', { method, headers: { Origin: origin } });
    expectProblem(await from('http://evil.example', 'POST'), 403, 'cross-origin');
    expectProblem(await from('null', 'POST'), 403, 'cross-origin');
    expect((await from(`http://127.0.0.1:${port}`, 'POST')).status).to.equal(200);
    const read = await from('http://evil.example', 'GET');
    expect(read.status).to.equal(200);
    expect(read.headers).not.to.have.property('access-control-allow-origin');
    expectProblem(
      await ask(port, '/api/sim/thing', { method: 'POST', headers: { 'Sec-Fetch-Site': 'cross-site' } }),
      403,
      'cross-origin',
    );
  });

  it('answers preflights of configured origins only, with exactly that origin', async () => {
    const { port } = await serve({ config: { corsOrigins: ['https://tool.example'] } });
    const preflight = (origin: string) =>
      ask(port, '/api/sim/thing', {
        method: 'OPTIONS',
        headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
      });
    const good = await preflight('https://tool.example');
    expect(good.status).to.equal(204);
    expect(good.headers['access-control-allow-origin']).to.equal('https://tool.example');
    expectProblem(await preflight('https://evil.example'), 403, 'cross-origin');
    const answer = await ask(port, '/api/sim/thing', {
      body: {},
      headers: { Origin: 'https://tool.example', 'Sec-Fetch-Site': 'cross-site' },
    });
    expect(answer.status).to.equal(200);
    expect(answer.headers['access-control-allow-origin']).to.equal('https://tool.example');
  });
});

describe('failures', () => {
  afterEach(close);

  it('maps the codes of the simulator', async () => {
    const { port } = await serve();
    expectProblem(await ask(port, '/api/sim/fail/conflict'), 409, 'conflict');
    expectProblem(await ask(port, '/api/sim/fail/unsupported'), 409, 'disabled');
    const problem = expectProblem(await ask(port, '/api/sim/fail/readOnly'), 422, 'validation');
    expect(problem.errors).to.deep.equal([{ in: 'body', name: '701.W', detail: 'read only' }]);
    expectProblem(await ask(port, '/api/sim/fail/queue'), 429, 'too-many-requests');
    expectProblem(await ask(port, '/api/sim/fail/stopping'), 503, 'stopping');
    expectProblem(await ask(port, '/api/sim/fail/upstream'), 502, 'upstream-error');
  });

  it('keeps the cause of its own failures for the log', async () => {
    const logBook = createLogBook({ write: () => undefined });
    const { port } = await serve({ logBook });
    for (const path of ['fail/unexpected', 'fail/internal', 'wrong']) {
      const problem = expectProblem(await ask(port, `/api/sim/${path}`), 500, 'internal');
      const lines = logBook.entries({ levels: ['error'] }).map(({ message }) => message);
      expect(lines.some((line) => line.includes(String(problem['request_id'])))).to.equal(true);
    }
  });

  it('prints the stack, and keeps it out of what GET logs serves', async () => {
    const printed: string[] = [];
    const logBook = createLogBook({
      level: 'error',
      write: (line) => {
        printed.push(line);
      },
    });
    const { port } = await serve({ logBook });
    for (const path of ['fail/unexpected', 'fail/internal', 'fail/nothing', 'wrong'])
      await ask(port, `/api/sim/${path}`);
    const kept = logBook.entries().map(({ message }) => message);
    expect(kept).to.have.lengthOf(4);
    for (const message of kept) expect(message).not.to.match(/\bat |node_modules|\.ts:|file:/);
    expect(kept[2]).to.match(/^request [0-9a-f-]{36} GET \/api\/sim\/fail\/nothing failed: Error$/);
    expect(printed).to.have.lengthOf(4);
    for (const [i, line] of printed.entries()) {
      expect(line).to.contain(kept[i]);
      expect(line).to.match(/\bat .*\.ts:/);
    }
  });

  it('writes ten failures in a second, and then their number', async () => {
    const logBook = createLogBook({ write: () => undefined });
    const { api, port } = await serve({ logBook });
    for (let i = 0; i < 25; i += 1) await ask(port, '/api/sim/fail/unexpected');
    await api.stop();
    const lines = logBook.entries().map(({ message }) => message);
    const counted = lines
      .flatMap((line) => /^(\d+) more lines? about failed requests/.exec(line)?.[1] ?? [])
      .map(Number);
    const written = lines.filter((line) => line.startsWith('request ')).length;
    expect(written + counted.reduce((sum, times) => sum + times, 0)).to.equal(25);
    expect(written).to.be.within(10, 20);
  });
});

describe('limits of the listener', () => {
  afterEach(close);

  it('answers 414 and 431', async () => {
    const { port } = await serve();
    expectProblem(await ask(port, `/api/sim/thing?${'x'.repeat(9000)}`), 414, 'uri-too-long');
    expectProblem(
      await ask(port, '/api/sim/thing', { headers: { 'X-Long': 'x'.repeat(17_000) } }),
      431,
      'headers-too-large',
    );
  });

  it('answers 400 to what is not HTTP', async () => {
    const { port } = await serve();
    for (const bytes of [
      '\x00\x01\x00\x00\x00\x06\x01\x03\x9c\x40\x00\x01',
      'HELO there\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      'GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n',
    ]) {
      expectProblem(await rawExchange(port, bytes), 400, 'malformed-request');
    }
  });

  it('answers 408 when a request is not complete in time', async () => {
    const { port } = await serve({ limits: { headersTimeoutMs: 50, requestTimeoutMs: 50 } });
    expectProblem(await rawExchange(port, 'GET /api/sim/thing HTTP/1.1\r\nHost: local'), 408, 'request-timeout');
  });

  it('drops connections beyond the cap and serves the others', async () => {
    const { port } = await serve({ limits: { maxConnections: 1 } });
    const held = connect(port, '127.0.0.1');
    await once(held, 'connect');
    const refused = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(refused, 'close');
    held.write('GET /api/sim/thing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    const [data] = (await once(held, 'data')) as [Buffer];
    expect(data.toString()).to.match(/^HTTP\/1\.1 200/);
  });

  it('ignores expectations that it does not know', async () => {
    const { port } = await serve();
    expect((await ask(port, '/api/sim/thing', { headers: { Expect: 'miracles' } })).status).to.equal(200);
  });
});

describe('life cycle', () => {
  afterEach(close);

  it('names address and reason when it cannot listen', async () => {
    const { port } = await serve();
    const second = createApi(apiContext({ plant, config: { port } }), { routes });
    const error = await second.start().then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(SimError);
    expect(error).to.include({
      code: 'LISTEN_FAILED',
      message: `HTTP: cannot listen on 127.0.0.1:${port}: the port is in use; --website_port takes another port, or 0 for any free one`,
    });
    await second.stop();
  });

  it('answers 503 to everything after stop was asked for, but stop itself', async () => {
    const { api, port } = await serve();
    expect((await ask(port, '/api/sim/stop', { method: 'POST' })).status).to.equal(202);
    expect(api.stopping).to.equal(true);
    expectProblem(await ask(port, '/api/sim/thing'), 503, 'stopping');
    expectProblem(await ask(port, '/'), 503, 'stopping');
    expect((await ask(port, '/api/sim/stop', { method: 'POST' })).status).to.equal(202);
  });

  it('answers a request that has arrived and is unread at the stop', async () => {
    const { api, port } = await serve();
    const client = connect(port, '127.0.0.1');
    await once(client, 'connect');
    client.write('GET /api/sim/thing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    const [[answer]] = (await Promise.all([once(client, 'data'), api.stop()])) as [[Buffer], unknown];
    expect(answer.toString('latin1')).to.match(/^HTTP\/1\.1 503 /);
  });

  it('stops in bounded time with clients that hang, and twice', async () => {
    const { api, port } = await serve({ limits: { stopTimeoutMs: 20 } });
    const hanging = connect(port, '127.0.0.1');
    await once(hanging, 'connect');
    hanging.write(
      'POST /api/sim/thing HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n',
    );
    hanging.on('error', () => undefined).resume();
    const closed = once(hanging, 'close');
    await Promise.all([api.stop(), api.stop()]);
    await closed;
    expect(api.server.listening).to.equal(false);
  });
});
