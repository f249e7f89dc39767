/** Each operation of the API is called by the dashboard, or is an exception with its reason. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { operations } from './support/description.ts';

const sources = new URL('../../src/ui/', import.meta.url);
const texts = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
  .map((path) => readFileSync(new URL(path, sources), 'utf8'));

const gridFunctions =
  'volt-var volt-watt watt-var freq-droop pf constant-var max-power active-power enter-service lv-trip hv-trip lf-trip ' +
  'hf-trip ramp anti-islanding';

/** Operations that the page does not call, by the reason. */
const exceptionsByReason: Readonly<Record<string, readonly string[]>> = {
  'for supervisors and Prometheus': ['GET health', 'GET metrics'],
  'the answer is part of another one that the page reads': [
    'GET state/snapshots',
    'GET fleet/shards/{name}',
    'GET commands/{id}',
    'GET evse/{id}/connectors',
    'GET evse/{id}/connectors/{cid}',
    'GET ocpp/{id}',
    'GET sunspec-client/models',
    'GET sunspec-client/poll',
    'GET scenarios/{id}',
    'GET scenarios/{id}/report',
    ...gridFunctions
      .split(' ')
      .filter((name) => name !== 'max-power')
      .map((name) => `GET grid-support/${name}`),
  ],
  'for the program that solves the grid': [
    'POST exchange',
    'POST exchange/step',
    'POST exchange/trial',
    'GET exchange/values',
    'POST exchange/values',
    'POST exchange/end',
  ],
  'the page reads csip/status': ['GET csip-client'],
  'the page posts devices/{index}/remove': ['DELETE devices/{index}'],
  'the page reads and posts faults, for all protocols': ['modbus', 'csip', 'ocpp/{id}', 'dnp3'].flatMap((protocol) => [
    `GET ${protocol}/fault`,
    `POST ${protocol}/fault`,
  ]),
  'the page reads registers/changes': ['GET nameplate/configured-settings'],
};
const exceptions = Object.values(exceptionsByReason).flat();

const verbs: Readonly<Record<string, string>> = { get: 'GET', post: 'POST', patch: 'PATCH', del: 'DELETE' };

interface Pattern {
  readonly method: string;
  /** parts of the path; null: known only at run time */
  readonly parts: readonly (string | null)[];
}

const partsOf = (path: string) =>
  path.split('/').map((part) => (part.includes('${') || part.startsWith('{') ? null : part));

/** The path of an argument: a literal, or a constant of the same file. Undefined: neither. */
function pathOf(argument: string, text: string): string | undefined {
  const literal = /^['`](.*)['`]$/.exec(argument)?.[1];
  if (literal !== undefined) return literal;
  return new RegExp(`const ${argument} =\\s*['\`]([^'\`]*)['\`];`).exec(text)?.[1];
}

function* patternsIn(text: string): Generator<Pattern> {
  for (const [, verb = '', path = ''] of text.matchAll(/(?<![.\w])(get|post|patch|del)\(\s*['`]([^'`]+)['`]/g))
    yield { method: verbs[verb] ?? '', parts: partsOf(path) };
  for (const [, method = '', argument = ''] of text.matchAll(/\banyCall\(\s*'(\w+)',\s*('[^']*'|`[^`]*`|\w+)/g)) {
    const path = pathOf(argument, text);
    if (path !== undefined) yield { method, parts: partsOf(path) };
  }
}

const patterns = texts.flatMap((text) => [...patternsIn(text)]);
const words = new Set(texts.flatMap((text) => text.match(/[\w-]+/g) ?? []));
const hasWord = (part: string) => words.has(part) || words.has(part.replaceAll('-', '_'));

function isCalled(method: string, path: string): boolean {
  const parts = path.split('/');
  return patterns.some(
    (pattern) =>
      pattern.method === method &&
      pattern.parts.length === parts.length &&
      parts.every((part, at) => {
        const called = pattern.parts[at];
        // a name that the page puts in at run time stands somewhere in its sources
        return called === null ? part.startsWith('{') || hasWord(part) : called === part;
      }),
  );
}

describe('operations of the API in the dashboard', () => {
  const named = operations.map(({ method, path }) => ({ name: `${method} ${path}`, called: isCalled(method, path) }));

  it('are each called by a control or a view, or are an exception', () => {
    const missing = named.filter(({ name, called }) => !called && !exceptions.includes(name)).map(({ name }) => name);
    expect(missing).to.deep.equal([]);
  });

  it('have no exception that is called, or that the API does not have', () => {
    const open = new Set(named.filter(({ called }) => !called).map(({ name }) => name));
    expect(exceptions.filter((name) => !open.has(name))).to.deep.equal([]);
  });
});
