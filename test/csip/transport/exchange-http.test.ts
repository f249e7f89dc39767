import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { RequestListener, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { listen } from '../../../src/core/net/listen.ts';
import { retryAfterMs } from '../../../src/csip/transport/exchange.ts';
import type { ExchangeOptions, HttpExchange } from '../../../src/csip/transport/sep-exchange.ts';
import { settled } from '../../support/handles.ts';
import { exchangeWith, get, PeerServer, post, refusalOf } from './support.ts';

const routes =
  (table: Readonly<Record<string, RequestListener>>): RequestListener =>
  (request, response) => {
    const route = table[(request.url ?? '').split('?')[0] ?? ''];
    if (route === undefined) response.writeHead(404).end();
    else route(request, response);
  };
const document: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'application/sep+xml').end('<Time/>');
};
const created: RequestListener = (_request, response) => {
  response.writeHead(201, { location: '/rsp/1' }).end('<Response/>');
};
const redirect =
  (status: number, location: string): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { location }).end();
  };
const answer =
  (body: Buffer | string, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(200, headers).end(body);
  };

describe('exchange: HTTP', () => {
  const open: { close(): Promise<void> }[] = [];

  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });

  const server = async (table: Readonly<Record<string, RequestListener>>) => {
    const peer = await PeerServer.open(null, routes(table));
    open.push(peer);
    return peer;
  };
  const client = (port: number, more: Partial<ExchangeOptions> = {}): HttpExchange => {
    const made = exchangeWith(port, more);
    open.push(made);
    return made;
  };
  /** A server of octets: `speak` has the connection after its first request. */
  const raw = async (speak: (socket: Socket, count: number) => void): Promise<{ port: number }> => {
    const sockets = new Set<Socket>();
    let count = 0;
    const peer = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', () => {
        count += 1;
        speak(socket, count);
      });
    });
    const { port } = await listen(peer, '127.0.0.1', 0);
    open.push({
      close: () =>
        new Promise((resolve) => {
          for (const socket of sockets) socket.destroy();
          peer.close(() => {
            resolve();
          });
        }),
    });
    return { port };
  };

  it('documents with their media type, both ways; the answer of a POST has none', async () => {
    const peer = await server({ '/tm': document, '/rsp': created });
    const exchange = client(peer.port);
    const before = performance.now();
    const found = await exchange.request(get('/tm'));
    expect(found.middleMonotonicMs).to.be.within(before, performance.now());
    expect(found).to.include({ status: 200, url: `http://127.0.0.1:${peer.port}/tm`, location: null });
    expect(found.document?.name).to.equal('Time');
    const made = await exchange.request(post('rsp', { base: `http://127.0.0.1:${peer.port}/x` }));
    expect(made).to.deep.include({ status: 201, location: `http://127.0.0.1:${peer.port}/rsp/1`, document: null });
    expect(peer.requests.map(({ headers }) => [headers.accept, headers['content-type']])).to.deep.equal([
      ['application/sep+xml', undefined],
      ['application/sep+xml', 'application/sep+xml'],
    ]);
    expect(peer.requests[1]?.body).to.equal('<Time>{"currentTime":7}</Time>');
    expect(peer.requests[1]?.headers['content-length']).to.equal('30');
  });

  it('a refusal is an answer, with its Error where it has one', async () => {
    const peer = await server({
      '/e': (_request, response) => response.writeHead(400).end('<Error/>'),
      '/h': (_request, response) => response.writeHead(500).end('<html><p>'),
      '/n': (_request, response) => response.writeHead(204).end(),
    });
    const exchange = client(peer.port);
    expect((await exchange.request(post('/e'))).document?.name).to.equal('Error');
    expect(await exchange.request(get('/h'))).to.include({ status: 500, document: null });
    expect(await exchange.request(get('/n'))).to.include({ status: 204, document: null });
    expect(await exchange.request(get('/none'))).to.include({ status: 404, document: null });
  });

  it('Retry-After in seconds or as a date', async () => {
    const peer = await server({
      '/busy': (_request, response) => response.writeHead(503, { 'retry-after': '120' }).end(),
      '/tm': document,
    });
    const exchange = client(peer.port);
    expect((await exchange.request(get('/busy'))).retryAfterMs).to.equal(120_000);
    expect(await exchange.request(get('/tm'))).to.not.have.property('retryAfterMs');
    const now = Date.UTC(2026, 5, 21, 8);
    expect(retryAfterMs('Sun, 21 Jun 2026 08:01:00 GMT', now)).to.equal(60_000);
    expect(retryAfterMs('Sun, 21 Jun 2026 07:01:00 GMT', now)).to.equal(0);
    expect(retryAfterMs('9999999999', now)).to.equal(86_400_000);
    expect(retryAfterMs('soon', now)).to.equal(null);
    expect(retryAfterMs(undefined, now)).to.equal(null);
  });

  it('redirects repeat the method; a permanent one is remembered with its query, a temporary one is not', async () => {
    const peer = await server({
      '/old': (request, response) =>
        response.writeHead(301, { location: (request.url ?? '').replace('old', 'new') }).end(),
      '/new': document,
      '/now': redirect(302, '/new'),
      '/then': redirect(307, 'new'),
    });
    const exchange = client(peer.port);
    expect((await exchange.request(get('/old?s=0&l=9'))).url).to.equal(`http://127.0.0.1:${peer.port}/new?s=0&l=9`);
    await exchange.request(post('/old?s=9'));
    await exchange.request({ ...post('/now'), method: 'PUT' });
    await exchange.request(post('/now'));
    await exchange.request(post('/then'));
    expect(peer.requests.map(({ method, url, body }) => `${method} ${url} ${body.length}`)).to.deep.equal([
      'GET /old?s=0&l=9 0',
      'GET /new?s=0&l=9 0',
      'POST /new?s=9 30',
      'PUT /now 30',
      'PUT /new 30',
      'POST /now 30',
      'POST /new 30',
      'POST /then 30',
      'POST /new 30',
    ]);
  });

  it('a permanent redirect to the same path with another query is remembered and followed', async () => {
    const peer = await server({
      '/tm': (request, response) =>
        request.url === '/tm?v=1' ? document(request, response) : redirect(301, '/tm?v=1')(request, response),
    });
    const exchange = client(peer.port);
    for (let times = 0; times < 3; times += 1) expect((await exchange.request(get('/tm'))).status).to.equal(200);
    expect((await exchange.request({ ...post('/tm'), method: 'PUT' })).status).to.equal(200);
    expect(peer.requests.map(({ method, url }) => `${method} ${url}`)).to.deep.equal([
      'GET /tm',
      'GET /tm?v=1',
      'GET /tm?v=1',
      'GET /tm?v=1',
      'PUT /tm?v=1',
    ]);
  });

  it('303 leads a GET on, and says of other methods that they were carried out', async () => {
    const peer = await server({ '/old': redirect(303, '/new'), '/new': document });
    const exchange = client(peer.port);
    expect((await exchange.request(get('/old'))).url).to.equal(`http://127.0.0.1:${peer.port}/new`);
    const posted = await exchange.request(post('/old'));
    expect([posted.status, posted.location]).to.deep.equal([303, `http://127.0.0.1:${peer.port}/new`]);
    expect(peer.requests.map(({ method, url }) => `${method} ${url}`)).to.deep.equal([
      'GET /old',
      'GET /new',
      'POST /old',
    ]);
  });

  it('interim answers (1xx) before the final one are skipped, on a connection that stays', async () => {
    const peer = await server({
      '/tm': (request, response) => {
        response.writeContinue();
        response.writeProcessing();
        document(request, response);
      },
    });
    const exchange = client(peer.port);
    for (const method of ['POST', 'PUT'] as const)
      expect((await exchange.request({ ...post('/tm'), method })).status, method).to.equal(200);
    expect((await exchange.request(get('/tm'))).document).to.not.equal(null);
    expect(peer.connections).to.equal(1);
  });

  it('a redirect that leads nowhere is an error: nothing was done', async () => {
    const peer = await server({
      '/rsp': (_request, response) => response.writeHead(301).end(),
      '/old': (_request, response) => response.writeHead(304).end(),
    });
    const exchange = client(peer.port);
    const refused = await refusalOf(exchange.request(post('/rsp')));
    expect(refused.code).to.equal('PEER_ERROR');
    expect(refused.message).to.match(/answers 301 without a location to follow/);
    expect((await refusalOf(exchange.request(get('/old')))).code).to.equal('PEER_ERROR');
  });

  it('a remembered redirect whose target is gone is forgotten', async () => {
    let moved = true;
    const peer = await server({
      '/old': (request, response) => (moved ? redirect(301, '/new')(request, response) : document(request, response)),
      '/new': (request, response) => (moved ? document(request, response) : response.writeHead(404).end()),
    });
    const exchange = client(peer.port);
    await exchange.request(get('/old'));
    moved = false;
    expect((await exchange.request(get('/old'))).status).to.equal(404);
    expect((await exchange.request(get('/old'))).status).to.equal(200);
  });

  it('a remembered redirect behind a temporary one is forgotten too', async () => {
    let moved = true;
    const peer = await server({
      '/a': redirect(307, '/b'),
      '/b': (request, response) => (moved ? redirect(301, '/c')(request, response) : document(request, response)),
      '/c': (request, response) => (moved ? document(request, response) : response.writeHead(404).end()),
    });
    const exchange = client(peer.port);
    expect((await exchange.request(get('/a'))).status).to.equal(200);
    moved = false;
    expect((await exchange.request(get('/a'))).status).to.equal(404);
    expect((await exchange.request(get('/a'))).status).to.equal(200);
  });

  it('at most 5 redirects, and no circle', async () => {
    const hops = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`/${at}`, redirect(302, `/${at + 1}`)]));
    const peer = await server({
      ...hops,
      '/9': document,
      '/a': redirect(301, '/b'),
      '/b': redirect(301, '/a'),
    });
    const exchange = client(peer.port);
    expect((await exchange.request(get('/4'))).status).to.equal(200);
    expect(await refusalOf(exchange.request(get('/3')))).to.deep.equal({
      code: 'PEER_ERROR',
      message: `http://127.0.0.1:${peer.port}/3 leads to more than 5 redirects`,
    });
    for (let times = 0; times < 3; times += 1)
      expect((await refusalOf(exchange.request(get('/a')))).message).to.contain('more than 5 redirects');
  });

  it('links and redirects lead to the server and allowed hosts only, and keep the scheme', async () => {
    const peer = await server({
      '/tm': document,
      '/away': redirect(302, 'http://elsewhere.example/tm'),
      '/tls': redirect(302, 'https://127.0.0.1/tm'),
      '/file': redirect(302, 'file:///etc/passwd'),
      '/user': redirect(302, 'http://a:b@127.0.0.1/tm'),
    });
    const exchange = client(peer.port);
    for (const [path, words] of [
      ['/away', 'a host that is not allowed'],
      ['/tls', 'not of the scheme http'],
      ['/file', 'not of the scheme http'],
      ['/user', 'contains a user name'],
    ] as const)
      expect((await refusalOf(exchange.request(get(path)))).message, path).to.contain(words);
    expect((await refusalOf(exchange.request(get('http://localhost/tm')))).message).to.contain('not allowed');
    expect((await refusalOf(exchange.request(get('http://')))).message).to.contain('not a URI');
    const allowing = client(peer.port, { allowedHosts: ['localhost'] });
    expect((await allowing.request(get(`http://localhost:${peer.port}/tm`))).status).to.equal(200);
  });

  it('targets that were not set by a flag keep the rules of outgoing connections, redirects too', async () => {
    const peer = await server({ '/tm': document, '/meta': redirect(302, 'http://169.254.169.254/latest') });
    const exchange = client(peer.port, { anywhere: false, allowedHosts: ['169.254.169.254'] });
    expect((await exchange.request(get('/tm'))).status).to.equal(200);
    expect((await refusalOf(exchange.request(get('/meta')))).message).to.contain('link-local');
    const named = client(80, {
      host: 'head-end.example',
      anywhere: false,
      names: {
        hosts: () => Promise.resolve('169.254.1.1 head-end.example'),
        resolver: () => {
          throw new Error('not asked');
        },
        system: () => Promise.resolve([]),
      },
    });
    expect((await refusalOf(named.request(get('/tm')))).message).to.contain('resolves to 169.254.1.1');
  });

  it('answers above the limit are refused, also when they are compressed', async () => {
    const large = `<Time>${'x'.repeat(2000)}</Time>`;
    const fits = `<Time>${'x'.repeat(900)}</Time>`;
    const peer = await server({
      '/large': answer(large),
      '/chunks': (_request, response) => {
        response.write(large.slice(0, 600));
        response.end(large.slice(600));
      },
      '/bomb': answer(gzipSync(large), { 'content-encoding': 'gzip' }),
      '/gzip': answer(gzipSync(fits), { 'content-encoding': 'x-gzip' }),
      '/deflate': answer(deflateSync(fits), { 'content-encoding': 'deflate' }),
      '/br': answer(brotliCompressSync(fits), { 'content-encoding': 'br' }),
      '/torn': answer(gzipSync(fits).subarray(0, 20), { 'content-encoding': 'gzip' }),
      '/odd': answer('x', { 'content-encoding': 'zstd' }),
    });
    const exchange = client(peer.port, { limits: { bodyBytes: 1000 } });
    for (const path of ['/large', '/chunks', '/bomb'])
      expect(await refusalOf(exchange.request(get(path))), path).to.deep.equal({
        code: 'PEER_ERROR',
        message: 'the answer has more than 1000 octets',
      });
    for (const path of ['/gzip', '/deflate', '/br'])
      expect((await exchange.request(get(path))).document?.name, path).to.equal('Time');
    expect((await refusalOf(exchange.request(get('/torn')))).message).to.contain('cannot be decompressed');
    expect((await refusalOf(exchange.request(get('/odd')))).message).to.contain('unknown encoding zstd');
  });

  it('what is no document is an error that says what came', async () => {
    const peer = await server({
      '/cut': answer('<Time><currentTime>', { 'content-type': 'application/sep+xml' }),
      '/html': answer('<html>', { 'content-type': 'text/html' }),
    });
    const exchange = client(peer.port);
    expect(await refusalOf(exchange.request(get('/cut')))).to.deep.equal({
      code: 'PEER_ERROR',
      message: 'the answer about Time cannot be read: it is not well-formed XML',
    });
    expect((await refusalOf(exchange.request(get('/html')))).message).to.contain('(its type is text/html)');
  });

  it('slow answers and bodies end', async () => {
    const peer = await server({
      '/silent': () => undefined,
      '/slow': (_request, response) => {
        response.writeHead(200);
        response.write('<Time');
        const drip = setInterval(() => response.write(' '), 20);
        response.on('close', () => {
          clearInterval(drip);
        });
      },
    });
    const exchange = client(peer.port, { limits: { headersMs: 100, bodyMs: 100 } });
    expect(await refusalOf(exchange.request(get('/silent')))).to.deep.equal({
      code: 'PEER_TIMEOUT',
      message: `http://127.0.0.1:${peer.port} did not answer within 0.1 s`,
    });
    expect(await refusalOf(exchange.request(get('/slow')))).to.deep.equal({
      code: 'PEER_TIMEOUT',
      message: 'the body of the answer did not end within 0.1 s',
    });
  });

  it('HTTP/1.0 that ends with the connection, and answers that are no HTTP', async () => {
    const old = await raw((socket) =>
      socket.end('HTTP/1.0 200 OK\r\nContent-Type: application/sep+xml\r\n\r\n<Time/>'),
    );
    const exchange = client(old.port);
    for (let times = 0; times < 3; times += 1)
      expect((await exchange.request(get('/tm'))).document?.name).to.equal('Time');
    const odd = await raw((socket) => socket.end('SSH-2.0-x\r\n\r\n'));
    expect((await refusalOf(client(odd.port).request(get('/tm')))).message).to.contain('its answer is not HTTP');
    const short = await raw((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n<Time/>'));
    expect((await refusalOf(client(short.port).request(get('/tm')))).code).to.equal('PEER_ERROR');
  });

  it('one connection serves requests one after the other, and at most so many run at once', async () => {
    const atOnce = 3;
    const held: ServerResponse[] = [];
    let most = 0;
    const peer = await server({
      '/tm': document,
      '/wait': (_request, response) => {
        held.push(response);
        most = Math.max(most, held.length);
        if (held.length < atOnce) return;
        // one more request would come in these turns
        void settled().then(() => {
          for (const each of held.splice(0)) each.end('<Time/>');
        });
      },
    });
    const exchange = client(peer.port, { limits: { atOnce } });
    for (let times = 0; times < 5; times += 1) await exchange.request(get('/tm'));
    expect(peer.connections).to.equal(1);
    await Promise.all(Array.from({ length: 9 }, () => exchange.request(get('/wait'))));
    expect([most, peer.connections]).to.deep.equal([atOnce, atOnce]);
  });

  it('a connection that the server closed while it was idle costs no request; a POST is not repeated', async () => {
    const peer = await raw((socket, count) => {
      if (count === 2 || count === 5) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n<Time/>');
    });
    const exchange = client(peer.port);
    await exchange.request(get('/tm'));
    expect((await exchange.request(get('/tm'))).status).to.equal(200);
    await exchange.request(get('/tm'));
    expect(await refusalOf(exchange.request(post('/rsp')))).to.deep.equal({
      code: 'PEER_ERROR',
      message: `http://127.0.0.1:${peer.port} closed the connection before its answer was complete`,
    });
  });

  it('requests end when they are given up, and with the exchange', async () => {
    const peer = await server({ '/silent': () => undefined });
    const exchange = client(peer.port);
    const giving = new AbortController();
    const one = refusalOf(exchange.request(get('/silent', { signal: giving.signal })));
    const other = refusalOf(exchange.request(get('/silent')));
    giving.abort();
    expect(await one).to.deep.equal({ code: 'NOT_CONNECTED', message: 'the request was aborted' });
    await exchange.close();
    expect(await other).to.deep.equal({ code: 'NOT_CONNECTED', message: 'the connection was closed' });
    expect((await refusalOf(exchange.request(get('/silent')))).code).to.equal('NOT_CONNECTED');
  });
});
