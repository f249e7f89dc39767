import { expect } from 'chai';
import type { App } from '../../../src/app/start-stop.ts';
import { dealt } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import { cutAnswers, expectSound, only, talk, wire } from '../../support/hostile.ts';
import type { Wire } from '../../support/hostile.ts';
import { startApp, stateOf } from '../../support/running-app.ts';

const time = '/api/sim/controls/time';
const evse = '/api/sim/evse';

type Case = readonly [name: string, bytes: Buffer | string, status: number, code: string];

const targets: readonly Case[] = [
  ['an unknown path', wire('/api/sim/nothing'), 404, 'not-found'],
  ['a trailing slash of what is not there', wire('/api/sim/nothing/'), 404, 'not-found'],
  ['a host and a trailing slash', wire('//evil.example/api/sim/overview/'), 404, 'not-found'],
  ['another case', wire('/api/SIM/Overview'), 404, 'not-found'],
  ['a double slash', wire('//api/sim/overview'), 404, 'not-found'],
  ['a host in the path', wire('//evil.example/api/sim/overview'), 404, 'not-found'],
  ['an escaped slash', wire('/api%2fsim/overview'), 404, 'not-found'],
  ['an escaped letter', wire('/api/sim/%6fverview'), 404, 'not-found'],
  ['a path parameter', wire('/api/sim/overview;device=1'), 404, 'not-found'],
  ['..', wire('/docs/../../etc/passwd'), 404, 'not-found'],
  ['%2e%2e', wire('/docs/%2e%2e/%2e%2e/package.json'), 404, 'not-found'],
  ['..%2f', wire('/..%2f..%2fetc/passwd'), 404, 'not-found'],
  ['%5c', wire('/docs/..%5c..%5cpackage.json'), 404, 'not-found'],
  ['%00', wire('/docs/swagger-ui.css%00.png'), 404, 'not-found'],
  ['a dot file', wire('/.git/config'), 404, 'not-found'],
  ['a directory', wire('/docs/.'), 404, 'not-found'],
  ['the package behind the pages', wire('/docs/package.json'), 404, 'not-found'],
  ['another file of that package', wire('/docs/oauth2-redirect.html'), 404, 'not-found'],
  ['markup', wire('/<script>alert(1)</script>'), 404, 'not-found'],
  ['%ff in a parameter of the path', wire('/api/sim/registers/%ff'), 400, 'malformed-request'],
  ['a cut escape', wire('/api/sim/evse/%e0%a4%'), 400, 'malformed-request'],
  ['%00 in a parameter of the path', wire(`${evse}/%00`), 404, 'unknown-resource'],
  ['an absolute target', wire('http://localhost/api/sim/overview'), 400, 'malformed-request'],
  ['an absolute target on another host', wire('http://evil.example/api/sim/overview'), 400, 'malformed-request'],
  ['a fragment', wire('/api/sim/overview#x'), 400, 'malformed-request'],
  ['OPTIONS *', wire('*', { method: 'OPTIONS' }), 400, 'malformed-request'],
  ['no leading slash', wire('?x'), 400, 'malformed-request'],
  ['bytes over 127', wire('/\xff\xfe'), 400, 'malformed-request'],
  ['8 KiB of path', wire(`/${'x'.repeat(8192)}`), 414, 'uri-too-long'],
  ['16 KiB of path', wire(`/${'x'.repeat(17_000)}`), 431, 'headers-too-large'],
];

const parameters: readonly Case[] = [
  ...[
    '',
    'x',
    '-1',
    '1.5',
    '1e0',
    '0x1',
    ' 1',
    '%2B1',
    'NaN',
    'null',
    'true',
    '99999999999999999999',
    '%ff',
    '%00',
  ].map(
    (value): Case => [
      `device=${value}`,
      wire(`/api/sim/overview?device=${value.replace(' ', '%20')}`),
      422,
      'validation',
    ],
  ),
  ['a device that is not there', wire('/api/sim/overview?device=7'), 404, 'unknown-device'],
  ['two values', wire('/api/sim/overview?device=0&device=0'), 422, 'validation'],
  ['an unknown name', wire('/api/sim/health?verbose=1'), 422, 'validation'],
  ['an array in brackets', wire('/api/sim/overview?device[]=0'), 422, 'validation'],
  ['__proto__', wire('/api/sim/overview?__proto__=1&constructor=1'), 422, 'validation'],
  ['a parameter of a POST', wire(`${time}?x=1`, { body: '{}' }), 422, 'validation'],
  ['the right path of another kind of device', wire('/api/sim/battery'), 404, 'not-applicable'],
];

const methods: readonly Case[] = [
  ...['PUT', 'DELETE', 'PATCH', 'TRACE', 'OPTIONS', 'PROPFIND', 'LINK'].map(
    (method): Case => [`${method} of an operation`, wire(time, { method }), 405, 'method-not-allowed'],
  ),
  ['POST of a read', wire('/api/sim/health', { body: '{}' }), 405, 'method-not-allowed'],
  ['GET of a write', wire('/api/sim/stop'), 405, 'method-not-allowed'],
  ['PUT of a page', wire('/docs/', { method: 'PUT' }), 405, 'method-not-allowed'],
  ['DELETE of a file', wire('/docs/swagger-ui.css', { method: 'DELETE' }), 405, 'method-not-allowed'],
  ['POST of the landing page', wire('/', { method: 'POST' }), 405, 'method-not-allowed'],
  ['CONNECT', 'CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', 405, 'method-not-allowed'],
  ['a method that there is not', wire('/', { method: 'FETCH' }), 400, 'malformed-request'],
  ['a lower-case method', wire('/', { method: 'get' }), 400, 'malformed-request'],
];

const close = 'Host: localhost\r\nConnection: close\r\n';
const framing: readonly Case[] = [
  ['HTTP/2 in clear text', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed-request'],
  ['TLS', Buffer.from('16030100a5010000a1030361', 'hex'), 400, 'malformed-request'],
  ['Modbus', Buffer.from('000100000006010300000001', 'hex'), 400, 'malformed-request'],
  ['a version that there is not', 'GET / HTTP/1.7\r\n\r\n', 400, 'malformed-request'],
  ['bare line feeds', 'GET / HTTP/1.1\nHost: localhost\n\n', 400, 'malformed-request'],
  ['a folded header', `GET / HTTP/1.1\r\n${close}X: a\r\n b\r\n\r\n`, 400, 'malformed-request'],
  ['NUL in a header', 'GET / HTTP/1.1\r\nHost: local\0host\r\n\r\n', 400, 'malformed-request'],
  ['a space before the colon', `GET / HTTP/1.1\r\n${close}X : 1\r\n\r\n`, 400, 'malformed-request'],
  [
    'length and chunks',
    `POST ${time} HTTP/1.1\r\n${close}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
    'malformed-request',
  ],
  [
    'two lengths',
    `POST ${time} HTTP/1.1\r\n${close}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    400,
    'malformed-request',
  ],
  ['a negative length', `POST ${time} HTTP/1.1\r\n${close}Content-Length: -1\r\n\r\n`, 400, 'malformed-request'],
  [
    'another transfer coding',
    `POST ${time} HTTP/1.1\r\n${close}Transfer-Encoding: gzip\r\n\r\n`,
    400,
    'malformed-request',
  ],
  [
    'a broken chunk',
    `POST ${time} HTTP/1.1\r\n${close}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nZZ\r\n`,
    400,
    'malformed-request',
  ],
  ['16 KiB of headers', wire('/', { headers: { X: 'x'.repeat(17_000) } }), 431, 'headers-too-large'],
];

const json = (body: string | Buffer, headers: Wire['headers'] = {}) => wire(time, { body, headers });
const nested = (depth: number) => `{"rate":${'['.repeat(depth)}${']'.repeat(depth)}}`;
const bodies: readonly Case[] = [
  ['cut JSON', json('{"rate":2'), 400, 'malformed-json'],
  ['no JSON at all', json('rate=2'), 400, 'malformed-json'],
  ['NaN', json('{"rate":NaN}'), 400, 'malformed-json'],
  ['Infinity', json('{"rate":Infinity}'), 400, 'malformed-json'],
  ['a comment', json('{"rate":2/**/}'), 400, 'malformed-json'],
  ['bad UTF-8', json(Buffer.from('7b2272617465ff223a317d', 'hex')), 400, 'malformed-json'],
  ['UTF-16', json(Buffer.from('\ufeff{"rate":2}', 'utf16le')), 400, 'malformed-json'],
  ['100 000 brackets that do not close', json('['.repeat(100_000)), 400, 'malformed-json'],
  ['an array', json('[{"rate":2}]'), 422, 'validation'],
  ['a number', json('2'), 422, 'validation'],
  ['null', json('null'), 422, 'validation'],
  ['an unknown member', json('{"rate":2,"rates":3}'), 422, 'validation'],
  ['__proto__', json('{"rate":2,"__proto__":{"rate":3}}'), 422, 'validation'],
  ['constructor', json('{"rate":2,"constructor":{"prototype":{}}}'), 422, 'validation'],
  ['a repeated member', json('{"rate":2,"rate":3}'), 422, 'validation'],
  ['a repeated member in another spelling', json('{"rate":2,"r\\u0061te":3}'), 422, 'validation'],
  ['1e309', json('{"rate":1e309}'), 422, 'validation'],
  ['text for a number', json('{"rate":"2"}'), 422, 'validation'],
  ['a boolean for a number', json('{"rate":true}'), 422, 'validation'],
  ['null for a number', json('{"rate":null}'), 422, 'validation'],
  ['a number outside the range', json('{"rate":-1}'), 422, 'validation'],
  ['33 levels', json(nested(33)), 422, 'validation'],
  ['50 000 levels', json(nested(50_000)), 422, 'validation'],
  ['200 000 characters', json(`{"timezone":"${'x'.repeat(200_000)}"}`), 422, 'validation'],
  ['a name of 200 000 characters', json(`{"${'x'.repeat(200_000)}":1}`), 422, 'validation'],
  ['9 000 unknown members', json(`{${Array.from({ length: 9000 }, (_, i) => `"k${i}":1`).join()}}`), 422, 'validation'],
  ['20 000 items', json(`{"rate":[${'0,'.repeat(20_000)}0]}`), 422, 'validation'],
  ['more than 256 KiB', json(`{"rate":2,"x":"${'x'.repeat(256 * 1024)}"}`), 413, 'too-large'],
  [
    'a length of 1 TB',
    wire(time, { method: 'POST', headers: { 'Content-Type': 'application/json', 'Content-Length': '1000000000000' } }),
    413,
    'too-large',
  ],
  ['no Content-Type', json('{"rate":2}', { 'Content-Type': undefined }), 415, 'unsupported-media-type'],
  ['a form', json('rate=2', { 'Content-Type': 'application/x-www-form-urlencoded' }), 415, 'unsupported-media-type'],
  [
    'a multipart form',
    json('--x--', { 'Content-Type': 'multipart/form-data; boundary=x' }),
    415,
    'unsupported-media-type',
  ],
  ['text/plain', json('{"rate":2}', { 'Content-Type': 'text/plain' }), 415, 'unsupported-media-type'],
  [
    'text/plain that ends like JSON',
    json('{"rate":2}', { 'Content-Type': 'text/plain; application/json' }),
    415,
    'unsupported-media-type',
  ],
  [
    'two types in one header',
    json('{"rate":2}', { 'Content-Type': 'application/json, text/plain' }),
    415,
    'unsupported-media-type',
  ],
  [
    'two headers',
    json('{"rate":2}', { 'Content-Type': ['application/json', 'text/plain'] }),
    415,
    'unsupported-media-type',
  ],
  [
    'a kind of JSON',
    json('{"rate":2}', { 'Content-Type': 'application/merge-patch+json' }),
    415,
    'unsupported-media-type',
  ],
  [
    'another charset',
    json('{"rate":2}', { 'Content-Type': 'application/json; charset=utf-16' }),
    415,
    'unsupported-media-type',
  ],
  ['gzip', json('{"rate":2}', { 'Content-Encoding': 'gzip' }), 415, 'unsupported-media-type'],
  ['an unknown coding', json('{"rate":2}', { 'Content-Encoding': 'identity, br' }), 415, 'unsupported-media-type'],
];

describe('hostile requests, by raw socket, to the whole simulator', () => {
  let app: App;
  let port: number;

  before(async () => {
    ({ app, port } = await startApp(['PV-3Phase', 'EVSE']));
  });
  after(() => app.stop());

  for (const [group, cases] of Object.entries({
    target: targets,
    parameter: parameters,
    method: methods,
    framing,
    body: bodies,
  })) {
    for (const [name, bytes, status, code] of cases) {
      it(`${group}: ${name} is answered ${status} ${code}`, async () => {
        const before = stateOf(app);
        const { status: given, problem } = await only(port, bytes);
        expect([given, problem.code]).to.deep.equal([status, code]);
        expect(stateOf(app)).to.equal(before);
      });
    }
  }

  it('Allow names the methods of the path', async () => {
    for (const [target, allow] of [
      [time, 'GET, HEAD, POST'],
      ['/api/sim/health', 'GET, HEAD'],
      ['/api/sim/stop', 'POST'],
      ['/docs/', 'GET, HEAD'],
      ['/docs/swagger-ui-bundle.js', 'GET, HEAD'],
      ['/openapi.json', 'GET, HEAD'],
    ] as const)
      expect((await only(port, wire(target, { method: 'DELETE' }))).headers['allow']).to.equal(allow);
    const tunnel = await only(port, 'CONNECT x:1 HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(tunnel.headers['allow'], 'of all paths').to.equal('GET, HEAD, POST, PATCH, DELETE');
  });

  it('at most 100 of thousands of faults are named', async () => {
    const { problem, text } = await only(port, json(`{${Array.from({ length: 3000 }, (_, i) => `"k${i}":1`).join()}}`));
    expect(problem.errors).to.have.length(100);
    expect(problem.detail).to.contain('and 2995 more');
    expect(text.length).to.be.below(50_000);
  });

  it('a byte order mark, an own charset and empty objects are taken', async () => {
    for (const bytes of [
      json('\ufeff{"timezone":"UTC"}'),
      json('{"timezone":"UTC"}', { 'Content-Type': 'application/json; charset=utf-8' }),
      json('{"timezone":"UTC"}', { 'Content-Encoding': 'identity' }),
      wire('/api/sim/grid-support/ramp', { method: 'POST' }),
      wire('/api/sim/grid-support/ramp', { body: '{}', headers: { Expect: '100-continue' } }),
    ])
      expect((await only(port, bytes)).status).to.equal(200);
  });

  it('the same name in two objects is no repetition', async () => {
    const body = JSON.stringify({ volt_var: { enabled: false }, volt_watt: { enabled: false } });
    expect((await only(port, wire('/api/sim/grid-support', { body }))).status).to.equal(200);
  });

  it('conditions and ranges change nothing on pages, files and state', async () => {
    const all: readonly NonNullable<Wire['headers']>[] = [
      { Range: 'bytes=0-3' },
      { Range: 'bytes=999999999-' },
      { 'If-Match': '"x"' },
      { 'If-None-Match': '"x"' },
      { 'If-Modified-Since': 'Fri, 31 Dec 2100 23:59:59 GMT' },
      { 'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
    ];
    for (const [at, target] of [
      '/',
      '/docs/',
      '/docs/swagger-ui.css',
      '/docs/swagger-ui-init.js',
      '/redoc',
      '/openapi.json',
      '/api/sim/server-info',
    ].entries()) {
      for (const headers of pick({ quick: dealt(all, 3, at), ci: all }))
        expect((await only(port, wire(target, { headers }))).status, `${target} ${JSON.stringify(headers)}`).to.equal(
          200,
        );
    }
  });

  it('HEAD answers what GET would, without its bytes', async () => {
    for (const target of [
      '/api/sim/overview',
      '/api/sim/nothing',
      '/docs/',
      '/docs/swagger-ui.css',
      '/openapi.json',
      '/api/sim/overview?device=9',
    ]) {
      const get = await only(port, wire(target));
      const head = await only(port, wire(target, { method: 'HEAD' }), true);
      const described = ({ status, headers }: typeof get) => [
        status,
        headers['content-type'],
        headers['content-length'],
        headers['content-security-policy'],
      ];
      expect(described(head), target).to.deep.equal(described(get));
    }
  });

  it('every answer has its own request id', async () => {
    const requests = Array.from({ length: 20 }, (_, i) =>
      wire(i % 2 === 0 ? '/api/sim/health' : '/no', { headers: { Connection: 'keep-alive', 'X-Request-Id': 'mine' } }),
    );
    const answers = cutAnswers(await talk(port, Buffer.concat([...requests, wire('/')])));
    for (const answer of answers) expectSound(answer);
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).to.equal(21);
  });
});
