import { expect } from 'chai';
import type { App } from '../../../src/app/start-stop.ts';
import { dealt } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import { cutAnswers, expectSound, only, talk, wire } from '../../support/hostile.ts';
import type { Wire } from '../../support/hostile.ts';
import { startApp, stateOf } from '../../support/running-app.ts';

const stream = '/api/sim/ws/telemetry';
const handshake = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
/** one of each kind of thing that is served */
const reads = [
  '/',
  '/docs/',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui-init.js',
  '/redoc',
  '/openapi.json',
  '/api/sim/overview',
  '/api/sim/health',
  '/api/sim/server-info',
  '/nothing',
];
let turns = 0;
/** In `quick` each test has others. */
const someReads = (): readonly string[] => pick({ quick: dealt(reads, 3, (turns += 1)), ci: reads });

describe('who may reach the simulator, by raw socket', () => {
  let app: App;
  let port: number;
  let untouched: string;

  beforeEach(() => {
    untouched = stateOf(app);
  });
  afterEach(() => {
    expect(stateOf(app)).to.equal(untouched);
  });

  const change = (headers: NonNullable<Wire['headers']>) =>
    wire('/api/sim/controls/time', { body: '{"rate":7}', headers });
  const upgrade = (headers: NonNullable<Wire['headers']>) => wire(stream, { headers: { ...handshake, ...headers } });

  async function refused(bytes: Buffer, status: number, code: string): Promise<void> {
    const { problem, ...answer } = await only(port, bytes);
    expect([answer.status, problem.code]).to.deep.equal([status, code]);
  }

  describe('with the defaults', () => {
    before(async () => {
      ({ app, port } = await startApp());
    });
    after(() => app.stop());

    for (const host of [
      'evil.example',
      'evil.example:8111',
      'localhost.evil.example',
      'localhost.',
      '127.0.0.1.',
      '127.0.0.1.nip.example',
      '2130706433',
      '0x7f.1',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      '10.0.0.1',
      '',
      ' ',
      'localhost, evil.example',
      'a@localhost',
      undefined,
      ['localhost', 'localhost'],
      ['localhost', 'evil.example'],
    ]) {
      it(`Host ${JSON.stringify(host)} is answered 421 by operations, pages, files and the stream`, async () => {
        for (const target of someReads())
          await refused(wire(target, { headers: { Host: host } }), 421, 'misdirected-host');
        await refused(change({ Host: host }), 421, 'misdirected-host');
        await refused(
          wire('/api/sim/overview', { method: 'OPTIONS', headers: { Host: host, Origin: 'http://evil.example' } }),
          421,
          'misdirected-host',
        );
        await refused(upgrade({ Host: host }), 421, 'misdirected-host');
      });
    }

    for (const origin of [
      'http://evil.example',
      'null',
      'https://localhost',
      'http://localhost:1',
      'http://localhost/',
      'http://LOCALHOST.',
      'http://127.0.0.1',
      '',
      ['http://localhost', 'http://evil.example'],
    ]) {
      it(`Origin ${JSON.stringify(origin)} is answered 403 on changes, preflights and the stream; reads get no CORS header`, async () => {
        await refused(change({ Origin: origin }), 403, 'cross-origin');
        await refused(
          wire('/api/sim/controls/time', { method: 'PUT', headers: { Origin: origin } }),
          403,
          'cross-origin',
        );
        await refused(upgrade({ Origin: origin }), 403, 'cross-origin');
        const asked = {
          Origin: origin,
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Private-Network': 'true',
        };
        for (const target of ['/api/sim/controls/time', '/', '/nothing'])
          await refused(wire(target, { method: 'OPTIONS', headers: asked }), 403, 'cross-origin');
        for (const target of someReads())
          expectSound(cutAnswers(await talk(port, wire(target, { headers: { Origin: origin } })))[0]!);
      });
    }

    for (const site of ['cross-site', 'same-site']) {
      it(`Sec-Fetch-Site: ${site} is answered 403 on changes, the stream, and reads that are no links`, async () => {
        await refused(change({ 'Sec-Fetch-Site': site }), 403, 'cross-origin');
        await refused(upgrade({ 'Sec-Fetch-Site': site }), 403, 'cross-origin');
        for (const target of someReads()) {
          for (const [mode, dest] of [
            ['no-cors', 'script'],
            ['no-cors', 'image'],
            ['cors', 'empty'],
            ['navigate', 'iframe'],
          ] as const) {
            const headers = { 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': mode, 'Sec-Fetch-Dest': dest };
            await refused(wire(target, { headers }), 403, 'cross-origin');
          }
          const link = { 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
          expect((await only(port, wire(target, { headers: link }))).status, target).to.equal(
            target === '/nothing' ? 404 : 200,
          );
        }
      });
    }

    it('own pages, scripts and typed addresses are served', async () => {
      for (const headers of [
        {},
        { Origin: 'http://localhost' },
        { Origin: 'http://LocalHost', Host: 'LOCALHOST' },
        { 'Sec-Fetch-Site': 'none' },
        { Origin: 'http://127.0.0.1:80', Host: '127.0.0.1:80', 'Sec-Fetch-Site': 'same-origin' },
      ]) {
        expect(
          (await only(port, wire('/api/sim/controls/time', { body: '{"timezone":"UTC"}', headers }))).status,
        ).to.equal(200);
      }
    });
  });

  describe('with --cors_origin and --allowed_host', () => {
    const origin = 'https://tool.example';

    before(async () => {
      ({ app, port } = await startApp(['PV-3Phase'], ['--cors_origin', origin, '--allowed_host', 'Sim.Example']));
    });
    after(() => app.stop());

    async function raw(bytes: Buffer) {
      const [answer] = cutAnswers(await talk(port, bytes));
      return answer!;
    }

    it('that origin gets CORS headers and no other, its preflights 204 without leave for private networks', async () => {
      const { status, headers } = await raw(
        wire('/api/sim/controls/time', {
          method: 'OPTIONS',
          headers: {
            Origin: origin,
            'Sec-Fetch-Site': 'cross-site',
            'Access-Control-Request-Method': 'POST',
            'Access-Control-Request-Private-Network': 'true',
          },
        }),
      );
      expect(status).to.equal(204);
      expect(headers).to.include({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      expect(headers['x-request-id']).to.have.length(36);
      expect(headers).not.to.have.any.keys('access-control-allow-credentials', 'access-control-allow-private-network');
      for (const bytes of [
        wire('/api/sim/overview', {
          headers: { Origin: origin, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors' },
        }),
        wire('/api/sim/nothing', { headers: { Origin: origin } }),
      ]) {
        expect((await raw(bytes)).headers['access-control-allow-origin']).to.equal(origin);
      }
      expect((await raw(wire('/api/sim/overview'))).headers).not.to.have.property('access-control-allow-origin');
      expect(
        (
          await raw(
            wire('/api/sim/controls/time', {
              body: '{"timezone":"UTC"}',
              headers: { Origin: origin, 'Sec-Fetch-Site': 'cross-site' },
            }),
          )
        ).status,
      ).to.equal(200);
    });

    for (const other of [
      'https://tool.example.evil.example',
      'http://tool.example',
      'https://tool.example:8443',
      'https://tool.example/',
      'https://xtool.example',
      'null',
    ]) {
      it(`${other} is another one`, async () => {
        await refused(change({ Origin: other }), 403, 'cross-origin');
        await refused(
          wire('/api/sim/controls/time', { method: 'OPTIONS', headers: { Origin: other } }),
          403,
          'cross-origin',
        );
        await refused(upgrade({ Origin: other }), 403, 'cross-origin');
      });
    }

    it('the name is served whatever its case and port, names around it are not', async () => {
      for (const host of ['sim.example', 'SIM.EXAMPLE:99'])
        expect((await only(port, wire('/', { headers: { Host: host } }))).status).to.equal(200);
      for (const host of ['a.sim.example', 'sim.example.', 'sim.example.evil'])
        await refused(wire('/', { headers: { Host: host } }), 421, 'misdirected-host');
    });
  });

  describe('bound to all addresses', () => {
    before(async () => {
      ({ app, port } = await startApp(['PV-3Phase'], ['-wi', '0.0.0.0', '--mb_host', '127.0.0.1']));
    });
    after(() => app.stop());

    it('any address literal is served and no name; the start says what is exposed, in one line', async () => {
      for (const host of ['10.0.0.1:8111', '192.168.7.7', '[2001:db8::1]:80', '[::ffff:10.0.0.1]', 'localhost']) {
        expect((await only(port, wire('/', { headers: { Host: host } }))).status, host).to.equal(200);
      }
      for (const host of ['evil.example', '10.0.0.1.evil.example', '10.0.0', '167772161', 'localhost.'])
        await refused(wire('/', { headers: { Host: host } }), 421, 'misdirected-host');
      const warnings = app.logBook
        .entries({ levels: ['warning'] })
        .map(({ message }) => message)
        .filter((message) => message.includes('0.0.0.0'));
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.match(/HTTP.*without authentication/);
    });
  });
});
