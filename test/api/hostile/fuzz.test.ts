import { expect } from 'chai';
import type { App } from '../../../src/app/start-stop.ts';
import { allRoutes } from '../../../src/api/routes.ts';
import { apiPrefix, hasBody } from '../../../src/api/http/route.ts';
import { cutAnswers, expectSound, talk, wire } from '../../support/hostile.ts';
import { casesOf } from '../../support/random.ts';
import { startApp } from '../../support/running-app.ts';
import { examplesOf } from '../../../src/api/description/openapi.ts';

const requests = 500;
const atOnce = 16;

const random = casesOf('hostile requests');
const below = (n: number) => Math.floor(random.next() * n);
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
const chance = (p: number) => random.next() < p;

/** What ends the process, runs for minutes or calls on others is left out. */
const served = allRoutes.filter(
  ({ path }) => !['/stop', '/controls/time/step', '/sunspec-client/connect'].includes(path),
);
const paths = [
  ...new Set(served.map(({ path }) => apiPrefix + path)),
  '/',
  '/docs',
  '/docs/',
  '/docs/swagger-ui.css',
  '/redoc',
  '/openapi.json',
];
const bodies = served.flatMap((route) =>
  hasBody(route)
    ? [{ method: route.method.toUpperCase(), path: apiPrefix + route.path, body: examplesOf(route).body ?? {} }]
    : [],
);

const oddText = [
  '',
  '..',
  '%2e%2e',
  '%00',
  '%ff',
  '%',
  '%zz',
  '//',
  '\\',
  ';',
  '#',
  '?',
  '&',
  '=',
  '<b>',
  '"',
  "'",
  '*',
  '~',
  ':',
  '@',
  '__proto__',
  '[0]',
  '\x7f',
  '\xe9',
  '%F0%9F%92%A9',
  'a'.repeat(300),
];
const oddValues: readonly unknown[] = [
  null,
  true,
  false,
  '',
  'x',
  -1,
  0,
  0.1,
  1e-320,
  1e300,
  -1e300,
  2 ** 53,
  65_536,
  '1',
  [],
  {},
  [[]],
  { a: 1 },
  '\u0000',
  '\ud800',
  '\u202e',
  'x'.repeat(1001),
  Array.from({ length: 40 }, () => null),
  { $ref: '#' },
  { toString: 1 },
  { then: 1 },
  { constructor: 1 },
];
const oddHeaders: readonly Readonly<Record<string, string | readonly string[] | undefined>>[] = [
  {},
  {},
  {},
  { Host: undefined },
  { Host: '' },
  { Host: 'evil.example' },
  { Host: ['localhost', 'evil.example'] },
  { Host: '127.0.0.1:65536' },
  { Origin: 'null' },
  { Origin: 'http://localhost' },
  { Origin: 'http://localhost.evil.example' },
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' },
  { 'Content-Type': 'text/plain' },
  { 'Content-Type': 'application/json;charset=' },
  { 'Content-Type': ';;;' },
  { 'Content-Encoding': 'gzip' },
  { 'Transfer-Encoding': 'chunked' },
  { 'Content-Length': '1' },
  { 'Content-Length': '99999' },
  { 'Content-Length': '1e3' },
  { Expect: '100-continue' },
  { Expect: 'x' },
  { Range: 'bytes=-1' },
  { 'If-Match': '*' },
  { 'X-HTTP-Method-Override': 'DELETE' },
  { 'X-Forwarded-Host': 'evil.example' },
  { Accept: 'text/html' },
  { Upgrade: 'h2c', Connection: 'Upgrade' },
  { Upgrade: 'websocket', Connection: 'Upgrade' },
  { 'X-Long': 'x'.repeat(15_000) },
  { 'Proxy-Connection': 'x' },
  { TE: 'trailers' },
  { Cookie: 'a=b' },
  { Connection: 'close, Host' },
  { 'X-Latin': '\xfc' },
];

function oddTarget(path: string): string {
  const filled = path.replaceAll(/\{\w+\}/g, () => (chance(0.5) ? pick(['701', '1', 'SIM-CP-1']) : pick(oddText)));
  const at = chance(0.3) ? below(filled.length + 1) : -1;
  const bent = at < 0 ? filled : filled.slice(0, at) + pick(oddText) + filled.slice(at);
  const query = chance(0.5)
    ? ''
    : `?${pick(['device', 'seconds', 'limit', 'x', '__proto__', 'port'])}=${pick(['0', '1', '2', '-1', ...oddText])}`;
  return bent + query;
}

/** The value with one member, at any depth, replaced, added or taken away. */
function bent(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || chance(0.2)) return pick(oddValues);
  const entries = Object.entries(value);
  if (entries.length === 0 || chance(0.2))
    entries.push([pick(['device', 'x', 'toString', 'hasOwnProperty', '', 'rate']), pick(oddValues)]);
  const at = below(entries.length);
  const [name, old] = entries[at]!;
  entries[at] = [name, bent(old)];
  if (chance(0.1)) entries.splice(at, 1);
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}

function bentText(body: unknown): string {
  const text = JSON.stringify(chance(0.8) ? bent(body) : body);
  if (!chance(0.2)) return text;
  const at = below(text.length + 1);
  return (
    text.slice(0, at) +
    pick(['', '}', '"', ',', '\\', '1e999', '\u0000', '[', '\ufeff', 'NaN']) +
    text.slice(at + below(3))
  );
}

/** One to three bytes changed, added or removed. */
function damaged(bytes: Buffer): Buffer {
  const copy = [...bytes];
  for (let i = 0; i <= below(3); i += 1)
    copy.splice(below(Math.min(copy.length, 400)), below(2), ...(chance(0.7) ? [below(256)] : []));
  return Buffer.from(copy);
}

function oddRequest(): Buffer {
  const headers = pick(oddHeaders);
  let bytes: Buffer;
  if (chance(0.6)) {
    const { method, path, body } = pick(bodies);
    bytes = wire(chance(0.8) ? path.replaceAll(/\{\w+\}/g, '1') : oddTarget(path), {
      method,
      body: bentText(body),
      headers,
    });
  } else {
    bytes = wire(oddTarget(pick(paths)), {
      method: pick(['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'BREW']),
      headers,
    });
  }
  return chance(0.2) ? damaged(bytes) : bytes;
}

/** The refusal of a missing file that a setting chooses names its path, which the working folder decides. */
const withoutChosenFiles = (text: string) =>
  text.replaceAll(/given \\"[^"]*\\"; allowed: the path of a file/g, 'allowed: the path of a file');

describe('odd requests by raw socket', () => {
  let app: App;
  let port: number;

  before(async () => {
    ({ app, port } = await startApp(['PV-3Phase', 'Batt-3Phase', 'EVSE'], [], { described: true }));
    // an incomplete request is answered soon, and a connection that stays open after its answer is closed soon
    app.api.server.headersTimeout = 200;
    app.api.server.requestTimeout = 200;
    app.api.server.keepAliveTimeout = 200;
  });
  after(() => app.stop());

  it('each is answered soundly, none with 5xx, and the simulator goes on', async () => {
    const counts = new Map<number, number>();
    const all = Array.from({ length: requests }, oddRequest);
    async function work(): Promise<void> {
      for (let bytes = all.pop(); bytes; bytes = all.pop()) {
        const shown = JSON.stringify(bytes.toString('latin1').slice(0, 600));
        try {
          const answers = cutAnswers(await talk(port, bytes));
          expect(answers.length).to.be.at.least(1);
          for (const answer of answers) {
            counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
            expect(answer.status, answer.text).to.be.below(500);
            expectSound({ ...answer, text: withoutChosenFiles(answer.text) });
          }
        } catch (error) {
          const logged = app.logBook
            .entries({ levels: ['error'] })
            .map(({ message }) => message)
            .join('; ');
          throw new Error(`after ${shown}; log: ${logged}`, { cause: error });
        }
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work));
    // every kind of answer has been provoked, so that the run says something
    expect([...counts.keys()]).to.include.members([200, 400, 403, 404, 405, 415, 421, 422]);
    expect(cutAnswers(await talk(port, wire('/api/sim/health')))[0]?.status).to.equal(200);
    expect(app.logBook.entries({ levels: ['error'] }).map(({ message }) => message)).to.deep.equal([]);
  }).timeout(60_000);
});
