import { expect } from 'chai';
import { offlineRedoc } from '../../../src/api/description/docs.ts';
import { z } from '../../../src/api/description/zod.ts';
import { route } from '../../../src/api/http/route.ts';
import { createApi } from '../../../src/api/http/server.ts';
import type { Api } from '../../../src/api/http/server.ts';
import type { Plant } from '../../../src/contract/plant.ts';
import { apiContext } from '../../support/api-context.ts';
import { ask } from '../../support/http.ts';

const policy = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

describe('OpenAPI description', () => {
  it('is made by the first request for it, once; nothing else needs it', async () => {
    let described = 0;
    const thing = route({
      method: 'get',
      path: '/thing',
      tag: 'Core',
      operationId: 'get_thing',
      summary: '',
      query: z.strictObject({ n: z.enum(['1']).optional() }),
      reply: z.looseObject({}),
      handle: () => ({}),
    });
    const counted = Object.defineProperty({ ...thing }, 'summary', {
      get: () => {
        described += 1;
        return 'Reads the thing.';
      },
    });
    const api = createApi(apiContext({ plant: { devices: [] } as unknown as Plant }), { routes: [counted] });
    const { port } = await api.start();
    try {
      expect((await ask(port, '/api/sim/thing')).status).to.equal(200);
      expect((await ask(port, '/api/sim/thing?n=2')).status).to.equal(422);
      expect((await ask(port, '/docs/')).status).to.equal(200);
      expect(described).to.equal(0);
      const [first, second] = await Promise.all([ask(port, '/openapi.json'), ask(port, '/openapi.json')]);
      expect(first.json.paths['/api/sim/thing'].get.summary).to.equal('Reads the thing.');
      expect(second.text).to.equal(first.text);
      expect(`${JSON.stringify(await (await api.operations()).document())}\n`).to.equal(first.text);
      expect(described).to.equal(1);
    } finally {
      await api.stop();
    }
  });
});

describe('documentation pages', () => {
  let api: Api;
  let port: number;

  before(async () => {
    api = createApi(apiContext({ plant: { devices: [] } as unknown as Plant }));
    ({ port } = await api.start());
  });

  after(() => api.stop());

  it('carry a policy that lets nothing in from outside; styles are loosened on /docs and /redoc only', async () => {
    for (const [path, more] of [
      ['/', ''],
      ['/docs/', "; style-src 'self' 'unsafe-inline'; img-src 'self' data:"],
      ['/redoc', "; style-src 'self' 'unsafe-inline'; img-src 'self' data:; worker-src 'self' blob:"],
    ] as const) {
      const { status, headers } = await ask(port, path);
      expect(status).to.equal(200);
      expect(headers['content-security-policy']).to.equal(policy + more);
      expect(headers).to.include({
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      });
      expect(headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
    }
  });

  it('tell agents in at most 60 lines what it is, with requests that the description has', async () => {
    const { status, headers, text } = await ask(port, '/llms.txt');
    expect([status, headers['content-type']]).to.deep.equal([200, 'text/plain; charset=utf-8']);
    expect(text.split('\n').length).to.be.at.most(60);
    const requests = [...text.matchAll(/^- (GET|POST) ([\w/]+)/gm)].map(([, method = '', path = '']) => [method, path]);
    const { paths } = (await ask(port, '/openapi.json')).json;
    for (const [method = '', path = ''] of requests)
      expect(paths[`/api/sim/${path.replace(/^registers\/\d+/, 'registers/{model_id}')}`], path).to.have.property(
        method.toLowerCase(),
      );
    // the ten, and the one that stops
    expect(requests).to.have.length(11);
  });

  it('have the landing page at its file name too, and no browser keeps it', async () => {
    const [root, named] = [await ask(port, '/'), await ask(port, '/index.html')];
    expect([named.status, named.text]).to.deep.equal([200, root.text]);
    for (const { headers } of [root, named]) expect(headers['cache-control']).to.equal('no-store');
  });

  it('have no inline script and name no other host', async () => {
    for (const path of ['/', '/docs/', '/redoc', '/pages.css', '/docs/swagger-ui-init.js']) {
      const { status, text } = await ask(port, path);
      expect(status).to.equal(200);
      for (const script of text.match(/<script[^>]*>[^<]*/g) ?? [])
        expect(script).to.match(/^<script (type="module" crossorigin )?src=["']\.?\/(assets\/)?[\w.-]+\.js["']>\s*$/);
      expect(text.replaceAll(/"http:\/\/www\.w3\.org\/[^"]*"/g, '')).not.to.match(/https?:\/\//);
    }
  });

  it('redirects /docs, and serves from a fixed table only', async () => {
    const { status, headers } = await ask(port, '/docs?x=1');
    expect([status, headers['location']]).to.deep.equal([308, '/docs/']);
    for (const path of [
      '/docs/index.html',
      '/docs/swagger-initializer.js',
      '/docs/package.json',
      '/docs/../package.json',
      '/docs/%2e%2e/package.json',
      '/docs/swagger-ui.css/..%2fpackage.json',
      '/docs/x',
      '/redoc.html',
      '/index.html%00',
      '/.git/config',
      '/docs/%5c..%5cpackage.json',
      '/assets/',
      '/assets/app.js',
      '/assets/..%2findex.html',
      '/app.js',
    ]) {
      const { status: refused, json } = await ask(port, path);
      expect([refused, json.code], path).to.deep.equal([404, 'not-found']);
    }
  });

  it('serve the redoc bundle without its outside image', async () => {
    const { text } = await ask(port, '/redoc.standalone.js');
    expect(text.length).to.be.greaterThan(1_000_000);
    expect(text).not.to.include('cdn.redoc.ly');
    expect(() => offlineRedoc('another bundle')).to.throw(/changed/);
  });

  it('tell swagger-ui one document and no way to another', async () => {
    const { text } = await ask(port, '/docs/swagger-ui-init.js');
    expect(text)
      .to.include('"url": "/openapi.json"')
      .and.to.include('"queryConfigEnabled": false')
      .and.to.include('"validatorUrl": null');
  });
});
