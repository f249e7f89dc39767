import { expect } from 'chai';
import { Problem } from '../../../src/ui/api/call';
import { textLines, tokensOf } from '../../../src/ui/views/scenarios/editor/colours';
import { proposalsAt } from '../../../src/ui/views/scenarios/editor/completion';
import type { Schema } from '../../../src/ui/views/scenarios/editor/completion';
import { contextAt } from '../../../src/ui/views/scenarios/editor/context';
import { problemsOf } from '../../../src/ui/views/scenarios/editor/problems';

/** The context at the mark `|` of a text. */
const at = (marked: string) => contextAt(marked.replace('|', ''), marked.indexOf('|'));
const place = (marked: string) => {
  const context = at(marked);
  return context && [context.path.join('/'), context.valueOf, context.typed];
};

describe('the text of a scenario', () => {
  describe('at the caret', () => {
    for (const [marked, expected] of [
      ['na|', ['', null, 'na']],
      ['name: x\nsteps:\n  - |', ['steps/*', null, '']],
      ['steps:\n  - name: a\n    af|', ['steps/*', null, 'af']],
      ['steps:\n  - grid:\n      voltage_pu: 1\n    |', ['steps/*', null, '']],
      ['steps:\n  - grid:\n      voltage_pu: 1\n      |', ['steps/*/grid', null, '']],
      ['steps:\n  - after: 1\n  - gr|', ['steps/*', null, 'gr']],
      ['steps:\n- after: 1\n- |', ['steps/*', null, '']],
      ['steps:\n- after: 1\non_failure: st|', ['', 'on_failure', 'st']],
      ['steps:\n  - grid: { vol|', ['steps/*/grid', null, 'vol']],
      ['steps:\n  - expect:\n      - { point: 701.W, ab|', ['steps/*/expect/*', null, 'ab']],
      ['steps:\n  - hold: { enabled: tr|', ['steps/*/hold', 'enabled', 'tr']],
      ['steps: [{ grid: { voltage_pu: 1 },\n  ex|', ['steps/*', null, 'ex']],
      ['steps: [{ when: { all: [{ po|', ['steps/*/when/all/*', null, 'po']],
      ['name: "a: {"\nst|', ['', null, 'st']],
      ['description: >\n  words: of a text\n  - more\nst|', ['', null, 'st']],
      ['steps:\n  - name: >\n      a: b\n    af|', ['steps/*', null, 'af']],
      ['# steps: { |', null],
    ] as const)
      it(JSON.stringify(marked), () => {
        expect(place(marked)).to.deep.equal(expected);
      });

    it('nothing in a text over several lines', () => {
      const text = 'steps:\n  - name: |\n      af';
      expect(contextAt(text, text.length)).to.equal(null);
    });
  });

  const schema: Schema = {
    properties: {
      $schema: { type: 'string' },
      name: { description: 'Its name.' },
      on_failure: { anyOf: [{ enum: ['continue', 'stop'] }, { type: 'string' }] },
      steps: { items: { $ref: '#/$defs/entry' } },
    },
    $defs: {
      entry: {
        anyOf: [
          { properties: { after: { description: 'Later.' }, hold: { properties: { enabled: { type: 'boolean' } } } } },
          { properties: { repeat: {}, steps: { items: { $ref: '#/$defs/entry' } } } },
        ],
      },
    },
  };
  const texts = (marked: string) => {
    const context = at(marked);
    return context && proposalsAt(schema, context).map(({ text }) => text);
  };

  it('is completed with keys, which follow references and alternatives', () => {
    expect(texts('|')).to.deep.equal(['name', 'on_failure', 'steps']);
    expect(texts('N|')).to.deep.equal(['name']);
    expect(texts('steps:\n  - |')).to.deep.equal(['after', 'hold', 'repeat', 'steps']);
    expect(texts('steps:\n  - steps:\n      - af|')).to.deep.equal(['after']);
    expect(texts('steps:\n  - nothing: { |')).to.deep.equal([]);
  });

  it('is completed with values of enumerations and flags', () => {
    expect(texts('on_failure: |')).to.deep.equal(['continue', 'stop']);
    expect(texts('on_failure: s|')).to.deep.equal(['stop']);
    expect(texts('steps:\n  - hold: { enabled: |')).to.deep.equal(['true', 'false']);
  });

  it('says what a key means', () => {
    expect(proposalsAt(schema, { path: [], valueOf: null, typed: 'na' })).to.deep.equal([
      { text: 'name', note: 'Its name.' },
    ]);
  });

  it('has colours by part, and loses no character', () => {
    const line = "  - { point: 701.W, at_least: 12.5, name: 'a: b' }   # why ${x}";
    const tokens = tokensOf(line, false);
    expect(tokens.map(({ text }) => text).join('')).to.equal(line);
    const of = (part: string) => tokens.filter((token) => token.part === part).map(({ text }) => text);
    expect(of('key')).to.deep.equal(['point', 'at_least', 'name']);
    expect(of('number')).to.deep.equal(['12.5']);
    expect(of('text')).to.deep.equal(["'a: b'"]);
    expect(of('comment')).to.deep.equal(['# why ${x}']);
    expect(tokensOf('grid: ${v}', false).at(-1)).to.deep.equal({ part: 'parameter', text: '${v}' });
  });

  it('knows the lines of a text after | and >', () => {
    const lines = 'description: >\n  a: b\n\n  c\nsteps:\n  - name: |\n      x\n    after: 1'.split('\n');
    expect([...textLines(lines)]).to.deep.equal([1, 2, 3, 6]);
  });

  it('has problems at the lines that the daemon names', () => {
    const issues = [
      'line 4: steps[0].expect.bove: is not a member',
      'line 3: steps[0].aftr: is not a member',
      'cannot be read: wrong at line 6, column 1:',
      'steps is required',
    ].map((detail) => ({ in: 'body', name: '/yaml', detail }));
    expect(problemsOf(new Problem(422, 'validation', 'no', issues))).to.deep.equal([
      { line: null, text: 'steps is required' },
      { line: 3, text: 'steps[0].aftr: is not a member' },
      { line: 4, text: 'steps[0].expect.bove: is not a member' },
      { line: 6, text: 'cannot be read: wrong' },
    ]);
    expect(problemsOf(new Problem(0, 'unreachable', 'The daemon does not answer.'))).to.deep.equal([
      { line: null, text: 'The daemon does not answer.' },
    ]);
  });
});
