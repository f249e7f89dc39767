import { connect } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import { apiContext } from '../../support/api-context.ts';
import { ask } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { prefix } from '../../support/rest.ts';
import { FakeClient } from './fake-client.ts';

const plain = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

describe('page of the client of IEEE 2030.5, at its own address', () => {
  let api: Api;
  let port: number;
  let page: number;
  beforeEach(async () => {
    const context = apiContext({ plant: testPlant(), csipClient: new FakeClient() });
    api = createApi({ ...context, config: { ...context.config, csipWebsite: { host: '127.0.0.1', port: 0 } } });
    ({ port } = await api.start());
    page = api.csipWebsite?.port ?? 0;
  });
  afterEach(() => api.stop());

  it('serves its page, which has no script of its own', async () => {
    expect(page).to.not.be.oneOf([0, port]);
    const types = {
      '/': 'text/html',
      '/favicon.png': 'image/png',
    };
    for (const [path, type] of Object.entries(types)) {
      const { status, headers, text } = await ask(page, path);
      expect([status, headers['content-type']?.split(';')[0]], path).to.deep.equal([200, type]);
      expect(headers['x-content-type-options']).to.equal('nosniff');
      if (path !== '/favicon.png') expect(headers['content-security-policy']).to.equal(plain);
      if (type === 'text/html') {
        // without a build a page without a script asks for one
        const scripts = [...text.matchAll(/<script[^>]*>/g)].map(([tag]) => tag);
        for (const tag of scripts) expect(tag).to.match(/ src="\/assets\/app-[\w-]+\.js"/);
      }
    }
    expect((await ask(page, '/csip.js')).status).to.equal(404);
    expect((await ask(page, '/assets/app.js')).json.code).to.equal('not-found');
    expect((await ask(page, '/docs/')).status).to.equal(404);
    expect((await ask(page, '/', { method: 'POST', body: {} })).status).to.equal(405);
  });

  it('has the same interface under the same prefix', async () => {
    for (const path of ['/csip-client', '/server-info', '/overview']) {
      const [there, here] = [await ask(page, prefix + path), await ask(port, prefix + path)];
      expect([there.status, Object.keys(there.json)]).to.deep.equal([200, Object.keys(here.json)]);
    }
    expect((await ask(page, `${prefix}/csip/poll`, { method: 'POST', body: {} })).status).to.equal(202);
    expect(
      (await ask(page, `${prefix}/controls/grid`, { method: 'POST', body: { frequency_hz: 60.1 } })).status,
    ).to.equal(200);
    expect((await ask(port, `${prefix}/controls/grid`)).json.frequency_hz).to.equal(60.1);
  });

  it('keeps the rules of hosts and origins, with its own address', async () => {
    const poll = (headers: Record<string, string>) =>
      ask(page, `${prefix}/csip/poll`, { method: 'POST', body: {}, headers });
    expect((await ask(page, '/', { headers: { Host: 'evil.example' } })).status).to.equal(421);
    expect((await ask(page, `${prefix}/overview`, { headers: { Host: 'evil.example' } })).status).to.equal(421);
    expect((await poll({ Origin: 'http://evil.example' })).status).to.equal(403);
    expect((await poll({ Origin: `http://127.0.0.1:${port}` })).status, 'the other address').to.equal(403);
    expect((await poll({ Origin: `http://127.0.0.1:${page}` })).status).to.equal(202);
    const elsewhere = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' };
    expect((await ask(page, `${prefix}/csip-client`, { headers: elsewhere })).status).to.equal(403);
  });

  it('answers what is no HTTP, and an offer of a WebSocket, like any other', async () => {
    const socket = connect(page, '127.0.0.1');
    socket.write('nonsense\r\n\r\n');
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    expect(bytes.toString()).to.match(/^HTTP\/1\.1 400 [^]*malformed-request/);
    socket.destroy();
    const offer = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'AA==',
    };
    expect((await ask(page, `${prefix}/server-info`, { headers: offer })).status).to.equal(200);
  });

  it('closes with the interface', async () => {
    await api.stop();
    const socket = connect(page, '127.0.0.1');
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).to.equal('ECONNREFUSED');
  });
});

describe('without a page of the client of IEEE 2030.5', () => {
  it('there is no second address', async () => {
    const api = createApi(apiContext({ plant: testPlant() }));
    await api.start();
    expect(api.csipWebsite).to.equal(null);
    await api.stop();
  });

  it('an address that is taken fails the start, and nothing stays open', async () => {
    const taken = createApi(apiContext({ plant: testPlant() }));
    const { port } = await taken.start();
    const context = apiContext({ plant: testPlant() });
    const api = createApi({ ...context, config: { ...context.config, csipWebsite: { host: '127.0.0.1', port } } });
    const failure = await api.start().then(
      () => null,
      (error: unknown) => String(error),
    );
    await Promise.all([api.stop(), taken.stop()]);
    expect(failure).to.match(
      /CSIP page: cannot listen .*; --csip_website_port takes another port, or 0 for no such page$/,
    );
  });
});
