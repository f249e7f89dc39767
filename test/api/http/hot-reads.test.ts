import { expect } from 'chai';
import { allRoutes } from '../../../src/api/routes.ts';
import type { Route } from '../../../src/api/http/route.ts';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { apiContext } from '../../support/api-context.ts';
import { ask, rawBytes } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { HandWall } from '../../support/wall.ts';

const prefix = '/api/sim';
let apis: Api[] = [];

interface Served {
  readonly port: number;
  readonly plant: SimPlant;
  readonly wall: HandWall;
  readonly handled: readonly string[];
}

/** Routes that note each call of their handlers. */
function noting(routes: readonly Route[], handled: string[]): Route[] {
  return routes.map((route) => ({
    ...route,
    answer(ctx, raw) {
      handled.push(route.path);
      return route.answer(ctx, raw);
    },
  }));
}

const cold = (routes: readonly Route[]) =>
  routes.map(({ hot, ...route }): Route => (hot === undefined ? route : { ...route }));

async function serve(plant: SimPlant, wall: HandWall, routes: readonly Route[] = allRoutes): Promise<Served> {
  const handled: string[] = [];
  const context = apiContext({ plant, config: { corsOrigins: ['https://tool.example'] } });
  const api = createApi({ ...context, clock: wall }, { checkReplies: true, routes: noting(routes, handled) });
  apis.push(api);
  const { port } = await api.start();
  return { port, plant, wall, handled };
}

async function hotServer(types = ['PV-3Phase', 'Batt-3Phase']): Promise<Served> {
  const wall = new HandWall();
  return serve(testPlant({ types, wall }), wall);
}

const read = (server: Served, path: string) => ask(server.port, prefix + path);
const count = (server: Served, path: string) => server.handled.filter((handled) => handled === path).length;

/** Without what differs between any two answers. */
const normalized = (text: string) =>
  text.replaceAll(/^Date: .*$/gm, 'Date').replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID');

/** All that comes back, status line and headers as they are. */
function wholeAnswer(port: number, requests: string): Promise<string> {
  return rawBytes(port, requests).then((bytes) => normalized(bytes.toString('latin1')));
}

const targets = [
  '/overview',
  '/devices',
  '/health',
  '/overview?device=0',
  '/overview?device=1',
  '/devices?device=1',
  '/overview?device=01',
  '/overview?',
  '/overview?device=',
  '/overview?device=2',
  '/overview?device=-1',
  '/overview?device=1.0',
  '/overview?device=x',
  '/overview?device=0&device=1',
  '/overview?device=0&x=1',
  '/overview?x=1',
  '/overview?device=1234567890',
  '/overview?DEVICE=0',
  '/overview?device=%30',
  '/health?device=0',
  '/health?',
  '/overview/',
  '/Overview',
  '//overview',
  '/overview#x',
  '/overview?device=0#',
  '/overview%3Fdevice=0',
  '/devices;x=1',
  '/devices?device=9',
  '/nothing',
];
const heads: readonly (readonly string[])[] = [
  [],
  ['Connection: close'],
  ['Accept: text/html'],
  ['Host: evil.example'],
  ['Host: localhost', 'Host: localhost'],
  ['Host: LOCALHOST:80'],
  ['Origin: https://tool.example'],
  ['Origin: https://evil.example'],
  ['Origin: null'],
  ['Sec-Fetch-Site: same-origin'],
  ['Sec-Fetch-Site: none'],
  ['Sec-Fetch-Site: cross-site'],
  ['Sec-Fetch-Site: SAME-ORIGIN'],
  ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'],
  ['Sec-Fetch-Site: cross-site', 'Origin: https://tool.example'],
  ['Content-Length: 0'],
  ['Content-Length: 2', 'Content-Type: application/json'],
  ['Transfer-Encoding: chunked'],
  ['Expect: 100-continue'],
  ['Expect: something'],
  ['Connection: close, Upgrade', 'Upgrade: h2c'],
  ['If-None-Match: *'],
  ['Range: bytes=0-1'],
  ['Accept-Encoding: gzip'],
];

function requestText(method: string, target: string, lines: readonly string[]): string {
  const host = lines.some((line) => line.startsWith('Host')) ? [] : ['Host: localhost'];
  const body = lines.includes('Transfer-Encoding: chunked')
    ? '0\r\n\r\n'
    : lines.includes('Content-Length: 2')
      ? '{}'
      : '';
  return `${[`${method} ${prefix}${target} HTTP/1.1`, ...host, ...lines].join('\r\n')}\r\n\r\n${body}`;
}

const last = `GET ${prefix}/nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;

describe('hot reads: the same answers as by Express', () => {
  let hot: Served;
  let plain: Served;
  before(async () => {
    const wall = new HandWall();
    const plant = testPlant({ types: ['PV-3Phase', 'Batt-3Phase'], wall });
    hot = await serve(plant, wall);
    plain = await serve(plant, wall, cold(allRoutes));
  });
  after(stopAll);

  async function expectSame(requests: string): Promise<void> {
    const [ours, theirs] = await Promise.all([wholeAnswer(hot.port, requests), wholeAnswer(plain.port, requests)]);
    expect(ours, requests).to.equal(theirs);
    expect(ours).to.match(/^HTTP\/1\.1 \d{3} /);
  }

  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'get']) {
    it(`${method}: every target`, async () => {
      for (const target of targets) await expectSame(requestText(method, target, []) + last);
    });
  }

  for (const target of ['/overview', '/devices?device=1', '/health']) {
    it(`${target}: every kind of header`, async () => {
      for (const lines of heads)
        for (const method of ['GET', 'HEAD']) {
          // nothing may follow a request that ends the connection
          await expectSame(
            requestText(method, target, lines) +
              (lines.some((line) => line.startsWith('Connection: close')) ? '' : last),
          );
        }
    });
  }

  it('HTTP/1.0', async () => {
    await expectSame(`GET ${prefix}/overview HTTP/1.0\r\nHost: localhost\r\n\r\n`);
    await expectSame(`GET ${prefix}/overview HTTP/1.0\r\n\r\n`);
  });

  it('many requests in one segment, in their order', async () => {
    const requests = [
      '/overview',
      '/server-info',
      '/health',
      '/devices?device=0',
      '/devices?device=7',
      '/overview?device=1',
    ]
      .map((target) => requestText('GET', target, []))
      .join('');
    const answer = await wholeAnswer(hot.port, requests + last);
    expect(answer.match(/HTTP\/1\.1 \d{3}/g)).to.deep.equal(
      [...Array.from({ length: 4 }, () => 200), 404, 200, 404].map((status) => `HTTP/1.1 ${status}`),
    );
    const withoutUptime = (text: string) => text.replace(/"started_at".*?"pid"/, '"pid"');
    expect(withoutUptime(answer)).to.equal(withoutUptime(await wholeAnswer(plain.port, requests + last)));
  });

  it('gives each answer an id of its own', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => read(hot, '/overview').then(({ headers }) => headers['x-request-id'])),
    );
    expect(new Set(ids).size).to.equal(20);
    expect(ids.every((id) => /^[0-9a-f-]{36}$/.test(id ?? ''))).to.equal(true);
  });
});

async function stopAll(): Promise<void> {
  await Promise.all(apis.splice(0).map((api) => api.stop()));
  apis = [];
}

describe('hot reads: how fresh they are', () => {
  afterEach(stopAll);

  it('are made once per tick, however many ask', async () => {
    const server = await hotServer();
    for (let i = 0; i < 5; i += 1) {
      await Promise.all(
        ['/overview', '/overview?device=1', '/devices', '/devices?device=0'].map((path) => read(server, path)),
      );
    }
    expect([count(server, '/overview'), count(server, '/devices')]).to.deep.equal([2, 2]);
    await server.plant.step(1);
    expect((await read(server, '/overview')).json.tick).to.equal(1);
    expect((await read(server, '/devices')).json.devices[1].tick).to.equal(1);
    expect([count(server, '/overview'), count(server, '/devices')]).to.deep.equal([3, 3]);
  });

  it('show what a request has changed at once', async () => {
    const server = await hotServer(['Batt-3Phase']);
    const alarms = async () => (await read(server, '/overview')).json.alarms.active.length;
    const before = await alarms();
    await ask(server.port, `${prefix}/controls/battery`, { body: { soc_pct: 0 } });
    await server.plant.step(2);
    expect(await alarms()).to.be.greaterThan(before);
    const made = count(server, '/overview');
    await read(server, '/overview');
    expect(count(server, '/overview')).to.equal(made);
    await ask(server.port, `${prefix}/commands`, { body: { command: 'reset' } });
    await read(server, '/overview');
    expect(count(server, '/overview')).to.equal(made + 1);
  });

  it('are not older than 0.1 s while the clock stands', async () => {
    const server = await hotServer();
    await read(server, '/overview');
    server.wall.advance(99);
    await read(server, '/overview');
    expect(count(server, '/overview')).to.equal(1);
    server.wall.advance(1);
    await read(server, '/overview');
    expect(count(server, '/overview')).to.equal(2);
  });

  it('tell the age of the tick at the instant of the request', async () => {
    const server = await hotServer();
    const age = async (): Promise<number> => (await read(server, '/health')).json.tick_age_s;
    const first = await age();
    server.wall.advance(40);
    expect(await age()).to.be.closeTo(first + 0.04, 1e-9);
  });

  it('end with everything else when the simulator stops', async () => {
    const server = await hotServer();
    await read(server, '/overview');
    await ask(server.port, `${prefix}/stop`, { body: { delay_s: 60 } });
    const answers = await Promise.all(['/overview', '/devices', '/health'].map((path) => read(server, path)));
    expect(answers.map(({ status, json }) => [status, json.code ?? json.status])).to.deep.equal([
      [503, 'stopping'],
      [503, 'stopping'],
      [503, 'stopping'],
    ]);
  });

  it('count among the answers', async () => {
    const server = await hotServer();
    await read(server, '/overview');
    await read(server, '/overview?device=1');
    const { text } = await read(server, '/metrics');
    expect(text).to.match(/route="\/api\/sim\/overview"[^\n]* 2$/m);
  });

  it('are checked like all others', async () => {
    const wall = new HandWall();
    const [overview] = allRoutes.filter(({ path }) => path === '/overview');
    const [health] = allRoutes.filter(({ path }) => path === '/health');
    if (!overview || !health) throw new Error('no such operation');
    const server = await serve(testPlant({ wall }), wall, [{ ...overview, reply: health.reply }]);
    expect((await read(server, '/overview')).status).to.equal(500);
  });
});
