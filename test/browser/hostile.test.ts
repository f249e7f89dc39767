import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { App } from '../../src/app/start-stop.ts';
import { findChromium, launch, noChromium } from '../support/browser.ts';
import { startApp, stateOf } from '../support/running-app.ts';
import { hostileScript } from './hostile-page.ts';
import { skip } from '../support/skip.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly origin: string | undefined;
  readonly site: string | undefined;
}

const html = `<!doctype html><title>hostile</title><body><script src="/attack.js"></script></body>`;

function serveHostile(request: IncomingMessage, response: ServerResponse): void {
  const script = request.url === '/attack.js';
  response.writeHead(200, { 'Content-Type': script ? 'text/javascript' : 'text/html' });
  response.end(script ? hostileScript : html);
}

async function openHostile(): Promise<Server> {
  const server = createServer(serveHostile).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

describe('a hostile page in a browser', () => {
  let browser: Browser;
  let hostile: Server;
  let app: App;
  let port: number;
  let hostilePort: number;
  const seen: Seen[] = [];
  let upgrades = 0;

  before(async function skipWithoutBrowser() {
    const executable = findChromium();
    if (executable === undefined) skip(this, noChromium);
    browser = await launch(executable, ['--host-resolver-rules=MAP *.test 127.0.0.1']);
    hostile = await openHostile();
    hostilePort = portOf(hostile);
  });

  after(async () => {
    // a skipped suite has started neither
    await (browser as Browser | undefined)?.close();
    (hostile as Server | undefined)?.close().closeAllConnections();
  });

  async function openApp(webPort = 0): Promise<void> {
    ({ app, port } = await startApp(['PV-3Phase', 'Batt-3Phase'], [], { webPort }));
    seen.length = 0;
    upgrades = 0;
    app.api.server.prependListener('request', ({ method = '', url = '', headers }, response) => {
      response.once('finish', () => {
        seen.push({
          method,
          url,
          status: response.statusCode,
          origin: headers.origin,
          site: headers['sec-fetch-site'],
        });
      });
    });
    app.api.server.prependListener('upgrade', () => {
      upgrades += 1;
    });
  }

  afterEach(() => app.stop());

  /** Calls a function of the page's own script. */
  function call<T>(page: Page, name: string, ...args: string[]): Promise<T> {
    return page.evaluate(`${name}(${args.map((value) => JSON.stringify(value)).join()})`);
  }

  const attack = (page: Page, base: string) => call<Record<string, string>>(page, 'attack', base);

  /** Everything that the page learned: at most that opaque answers exist. */
  function expectNothingRead(results: Record<string, string>): void {
    expect(Object.keys(results).length).to.be.greaterThan(25);
    const learned = Object.entries(results).filter(([, result]) => result !== 'blocked');
    const readFrames = learned.filter(
      ([name, result]) => !(name.startsWith('form') || name.startsWith('iframe')) || result !== 'read: ',
    );
    expect(readFrames.filter(([, result]) => result !== 'opaque')).to.deep.equal([]);
  }

  for (const [what, host, site] of [
    ['another site', 'evil.test', 'cross-site'],
    ['another port of the same host', '127.0.0.1', 'same-site'],
  ] as const) {
    it(`of ${what} changes nothing and reads nothing`, async () => {
      await openApp();
      const before = stateOf(app);
      const page = await browser.newPage();
      await page.goto(`http://${host}:${hostilePort}/`);
      const results = await attack(page, `http://127.0.0.1:${port}`);
      expectNothingRead(results);
      // the requests did arrive, and were refused
      const posts = seen.filter(({ method }) => method === 'POST');
      expect(posts.length).to.be.greaterThan(10);
      expect([...new Set(posts.map(({ origin }) => origin))]).to.have.members([
        `http://${host}:${hostilePort}`,
        'null',
      ]);
      expect(seen.filter(({ method }) => method === 'OPTIONS').length).to.be.greaterThan(0);
      expect(upgrades).to.equal(2);
      expect(seen.filter(({ status }) => status < 400)).to.deep.equal([]);
      expect(seen.some((request) => request.site === site)).to.equal(true);
      expect(app.adapters.find(({ comm }) => comm === 'websocket')?.status()).to.include({ peers: 0, txCount: 0 });
      expect(stateOf(app)).to.equal(before);
      expect(app.api.stopping).to.equal(false);
      await page.close();
    });
  }

  it('that has rebound its name to this machine (DNS rebinding) changes and reads nothing', async () => {
    // the attacker's own server answers under this name and port until the page is there
    const first = await openHostile();
    const base = `http://rebound.test:${portOf(first)}`;
    const page = await browser.newPage();
    await page.goto(`${base}/`);
    await new Promise((resolve) => {
      first.close(resolve);
      first.closeAllConnections();
    });
    await openApp(Number(new URL(base).port));
    const before = stateOf(app);
    const results = await attack(page, base);
    // same origin for the browser: the page reads each answer, and each is the refusal
    const answers = Object.entries(results).filter(([, result]) => result.startsWith('read: '));
    expect(answers.length).to.be.greaterThan(8);
    for (const [name, result] of answers) {
      expect(result, name).to.match(/^read: (\{.*"code":"misdirected-host".*\}\n)?$/);
    }
    expect(Object.entries(results).filter(([, result]) => result === 'open' || result === 'loaded')).to.deep.equal([]);
    expect(seen.length).to.be.greaterThan(20);
    expect([...new Set(seen.map(({ status }) => status))]).to.deep.equal([421]);
    expect(upgrades).to.equal(2);
    expect(stateOf(app)).to.equal(before);
    expect(app.api.stopping).to.equal(false);
    await page.close();
  });

  it('that navigates the whole window with a form changes nothing', async () => {
    await openApp();
    const before = stateOf(app);
    for (const enctype of ['application/x-www-form-urlencoded', 'text/plain']) {
      const page = await browser.newPage();
      await page.goto(`http://evil.test:${hostilePort}/`);
      await Promise.all([
        page.waitForURL(`http://127.0.0.1:${port}/**`),
        call(page, 'postWindow', `http://127.0.0.1:${port}/api/sim/stop`, enctype),
      ]);
      expect(await page.textContent('body')).to.contain('cross-origin');
      await page.close();
    }
    expect(seen.map(({ method, status }) => [method, status]).filter(([method]) => method === 'POST')).to.deep.equal([
      ['POST', 403],
      ['POST', 403],
    ]);
    expect(stateOf(app)).to.equal(before);
    expect(app.api.stopping).to.equal(false);
  });

  it('may link to the simulator, whose pages then work and stay out of its reach', async () => {
    await openApp();
    const page = await browser.newPage();
    await page.goto(`http://evil.test:${hostilePort}/`);
    const [own] = await Promise.all([
      page.waitForEvent('popup'),
      call(page, 'openWindow', `http://127.0.0.1:${port}/docs/`),
    ]);
    await own.waitForSelector('.opblock-tag');
    expect(await call(page, 'titleOfWindow')).to.equal('blocked');
    await page.goto(`http://127.0.0.1:${port}/api/sim/overview`);
    expect(await page.textContent('body')).to.contain('"power_kw"');
    await page.close();
  });
});
