import { expect } from 'chai';
import { compactDocument, printDocument } from '../../../scripts/openapi-compact.ts';
import { compareDocuments, rules, versionFault } from '../../../scripts/openapi-changes.ts';
import type { Change, Json, RuleName, Step } from '../../../scripts/openapi-changes.ts';
import { checkRelease } from '../../../scripts/openapi-release.ts';
import { memo } from '../../../src/core/lazy.ts';

const released = memo(checkRelease);

type Node = Readonly<Record<string, Json>>;

const text: Node = { type: 'string' };
const number: Node = { type: 'number' };
const object = (properties: Node, more: Node = {}): Node => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...more,
});
const json = (schema: Node): Node => ({ content: { 'application/json': { schema } } });

/** One operation: a document as small as can be. */
function documentOf(operation: Node, path = '/a'): Node {
  return { paths: { [path]: { get: { operationId: 'a', responses: {}, ...operation } } } };
}
const asking = (schema: Node): Node => documentOf({ requestBody: json(schema) });
const answering = (schema: Node): Node => documentOf({ responses: { 200: json(schema) } });
const found = (before: Node, after: Node): [RuleName, Step][] =>
  compareDocuments(before, after).map(({ rule, step }: Change) => [rule, step]);

const operationCases: readonly (readonly [RuleName, Step, Node, Node])[] = [
  ['operationAdded', 'minor', { paths: {} }, documentOf({})],
  ['operationRemoved', 'major', documentOf({}), { paths: {} }],
  ['operationRenamed', 'major', documentOf({}), documentOf({ operationId: 'b' })],
  ['successRemoved', 'major', documentOf({ responses: { 202: {} } }), documentOf({})],
  ['problemRemoved', 'minor', documentOf({ responses: { 409: {} } }), documentOf({})],
  ['statusAdded', 'minor', documentOf({}), documentOf({ responses: { 409: {} } })],
  ['mediaRemoved', 'major', answering(text), documentOf({ responses: { 200: {} } })],
  ['mediaAdded', 'minor', documentOf({ responses: { 200: {} } }), answering(text)],
  [
    'headerRemoved',
    'major',
    documentOf({ responses: { 200: { headers: { Location: {} } } } }),
    documentOf({ responses: { 200: {} } }),
  ],
  [
    'headerAdded',
    'minor',
    documentOf({ responses: { 200: {} } }),
    documentOf({ responses: { 200: { headers: { Location: {} } } } }),
  ],
  ['bodyRemoved', 'major', asking(text), documentOf({})],
  ['bodyAdded', 'minor', documentOf({}), asking(text)],
  ['bodyAddedRequired', 'major', documentOf({}), documentOf({ requestBody: { required: true, ...json(text) } })],
  ['memberRequired', 'major', asking(text), documentOf({ requestBody: { required: true, ...json(text) } })],
  ['memberRemoved', 'major', documentOf({ parameters: [{ in: 'query', name: 'n' }] }), documentOf({})],
  ['memberAdded', 'minor', documentOf({}), documentOf({ parameters: [{ in: 'query', name: 'n' }] })],
  [
    'memberAddedRequired',
    'major',
    documentOf({}),
    documentOf({ parameters: [{ in: 'query', name: 'n', required: true }] }),
  ],
  [
    'rangeNarrowed',
    'major',
    documentOf({ parameters: [{ in: 'query', name: 'n', schema: number }] }),
    documentOf({ parameters: [{ in: 'query', name: 'n', schema: { ...number, maximum: 9 } }] }),
  ],
];

/** A change of a schema: the rule, the step it asks for in a request and in a reply. */
const schemaCases: readonly (readonly [RuleName, Step, Step, Node, Node])[] = [
  ['memberRemoved', 'major', 'major', object({ a: text }), object({})],
  ['memberAdded', 'minor', 'minor', object({}), object({ a: text })],
  ['memberAddedRequired', 'major', 'minor', object({}), object({ a: text }, { required: ['a'] })],
  ['memberRequired', 'major', 'minor', object({ a: text }), object({ a: text }, { required: ['a'] })],
  ['memberOptional', 'minor', 'major', object({ a: text }, { required: ['a'] }), object({ a: text })],
  ['nullAdded', 'minor', 'major', text, { type: ['string', 'null'] }],
  ['nullAdded', 'minor', 'major', text, { anyOf: [text, { type: 'null' }] }],
  ['nullRemoved', 'major', 'minor', { type: ['string', 'null'] }, text],
  ['kindRemoved', 'major', 'minor', { type: ['string', 'number'] }, text],
  ['kindOfNullAdded', 'minor', 'minor', { type: 'null' }, { anyOf: [object({}), { type: 'null' }] }],
  ['kindAdded', 'minor', 'major', text, { anyOf: [number, text] }],
  ['fractionAdded', 'minor', 'major', { type: 'integer' }, number],
  ['fractionRemoved', 'major', 'minor', number, { type: 'integer' }],
  ['valueRemoved', 'major', 'minor', { type: 'string', enum: ['a', 'b'] }, { type: 'string', enum: ['a'] }],
  ['valueAdded', 'minor', 'minor', { type: 'string', enum: ['a'] }, { type: 'string', enum: ['a', 'b'] }],
  ['valuesFixed', 'major', 'minor', text, { type: 'string', enum: ['a'] }],
  ['valuesFreed', 'minor', 'minor', { type: 'string', const: 'a' }, text],
  ['rangeNarrowed', 'major', 'minor', { type: 'number', minimum: 0 }, { type: 'number', minimum: 1 }],
  ['rangeNarrowed', 'major', 'minor', { type: 'number', minimum: 0 }, { type: 'number', exclusiveMinimum: 0 }],
  ['rangeNarrowed', 'major', 'minor', text, { type: 'string', maxLength: 5 }],
  ['rangeWidened', 'minor', 'minor', { type: 'number', maximum: 9 }, { type: 'number', maximum: 10 }],
  ['rangeWidened', 'minor', 'minor', { type: 'number', maximum: 9 }, number],
  ['formAdded', 'major', 'minor', text, { type: 'string', pattern: '^a' }],
  ['formRemoved', 'minor', 'minor', { type: 'string', format: 'date-time' }, text],
  ['membersClosed', 'major', 'minor', object({}, { additionalProperties: true }), object({})],
  ['membersOpened', 'minor', 'minor', object({}), object({}, { additionalProperties: text })],
];

describe('changes between two descriptions', () => {
  for (const [rule, step, before, after] of operationCases) {
    it(`${rule} of an operation asks for a ${step} step`, () => {
      expect(found(before, after)).to.deep.equal([[rule, step]]);
    });
  }

  for (const [rule, request, reply, before, after] of schemaCases) {
    it(`${rule} asks for a ${request} step in a request and a ${reply} one in a reply: ${JSON.stringify(after)}`, () => {
      expect(found(asking(before), asking(after))).to.deep.equal([[rule, request]]);
      expect(found(answering(before), answering(after))).to.deep.equal([[rule, reply]]);
    });
  }

  it('has a test of every rule', () => {
    const tested = new Set([...operationCases, ...schemaCases].map(([rule]) => rule));
    expect([...tested]).to.have.members(Object.keys(rules));
  });

  it('another type is a breaking change either way', () => {
    expect(found(asking(text), asking(object({})))).to.deep.equal([
      ['kindRemoved', 'major'],
      ['kindAdded', 'minor'],
    ]);
    expect(found(answering(text), answering(object({})))).to.deep.equal([
      ['kindAdded', 'major'],
      ['kindRemoved', 'minor'],
    ]);
  });

  it('names the place: nested members, items and named schemas, these once', () => {
    const nested = (schema: Node) => answering(object({ rows: { type: 'array', items: object({ a: schema }) } }));
    expect(compareDocuments(nested(text), nested({ type: ['string', 'null'] }))[0]).to.include({
      where: 'GET /a, reply 200/rows[]/a',
      words: 'may now be null',
    });
    const named = (schema: Node) => ({
      ...documentOf({
        responses: {
          200: json({ $ref: '#/components/schemas/A' }),
          202: json(object({ a: { $ref: '#/components/schemas/A' } })),
        },
      }),
      components: { schemas: { A: object({ a: schema, again: { $ref: '#/components/schemas/A' } }) } },
    });
    expect(compareDocuments(named(text), named(number)).map(({ where, words }) => `${where} ${words}`)).to.deep.equal([
      'reply A/a may now be number',
      'reply A/a can no longer be string',
    ]);
  });

  it('sees through references with words of their own, and through responses with a name', () => {
    const plain = answering(object({ a: { type: ['object', 'null'], properties: {} } }));
    const combined = {
      ...answering(
        object({ a: { allOf: [{ $ref: '#/components/schemas/A' }, { type: ['object', 'null'], description: 'x' }] } }),
      ),
      components: { schemas: { A: { type: 'object', properties: {} } } },
    };
    expect(compareDocuments(plain, combined)).to.deep.equal([]);
    const shared = {
      ...documentOf({ responses: { 200: { $ref: '#/components/responses/R' } } }),
      components: { responses: { R: json(text) } },
    };
    expect(compareDocuments(answering(text), shared)).to.deep.equal([]);
  });

  it('descriptions, examples and order do not count', () => {
    const words = answering(object({ b: { type: 'string', description: 'x', example: 'y' }, a: number }));
    expect(compareDocuments(words, answering(object({ a: number, b: text })))).to.deep.equal([]);
    expect(printDocument(compactDocument(words))).to.equal(
      printDocument(compactDocument(answering(object({ a: number, b: text })))),
    );
  });

  it('a member may have the name of a keyword', () => {
    const compacted = compactDocument(answering(object({ description: text, example: text })));
    expect(JSON.stringify(compacted)).to.include(
      '"properties":{"description":{"type":"string"},"example":{"type":"string"}}',
    );
  });
});

describe('version step', () => {
  const additive = compareDocuments(documentOf({}), documentOf({ responses: { 409: {} } }));
  const breaking = compareDocuments(documentOf({}), { paths: {} });

  it('additive changes ask for a higher minor version, breaking ones for a higher major one, none for none', () => {
    for (const version of ['1.3.0', '2.0.0']) expect(versionFault('1.2.0', version, additive), version).to.equal(null);
    expect(versionFault('1.2.0', '1.2.1', additive)).to.include('must be 1.3.0');
    expect(versionFault('1.2.0', '2.0.0', breaking)).to.equal(null);
    expect(versionFault('1.2.0', '1.3.0', breaking)).to.include('must be 2.0.0');
    for (const version of ['1.2.0', '1.2.1', '1.3.0'])
      expect(versionFault('1.2.0', version, []), version).to.equal(null);
  });

  it('a version never goes back', () => {
    for (const version of ['1.1.9', '0.9.0', '1.2.2'])
      expect(versionFault('1.2.3', version, []), version).to.include('lower');
  });

  it('of this build fits what has changed since the last release', () => {
    const { changes, fault } = released();
    const breaks = changes.filter(({ step }) => step === 'major').map(({ where, words }) => `${where}: ${words}`);
    expect(fault, breaks.join('; ')).to.equal(null);
  });

  it('has no correction of the released description that nothing needs', () => {
    expect(released().idle).to.deep.equal([]);
  });
});
