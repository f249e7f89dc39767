import { expect } from 'chai';
import { runWhole } from '../../src/core/turns.ts';
import { parseYaml, parsingYamlText } from '../../src/core/yaml.ts';

describe('YAML of configuration files', () => {
  for (const [tag, value] of [
    ['omap', '[ {nominal_frequency_hz: 50} ]'],
    ['set', '{a, b}'],
    ['pairs', '[ {a: 1} ]'],
    ['binary', 'aGk='],
    ['timestamp', '2026-01-01'],
  ] as const)
    it(`refuses !!${tag}, naming the line`, () => {
      expect(() => parseYaml(`tick: 1\ngrid: !!${tag} ${value}`)).to.throw(
        `not a type of the core schema: !!${tag} at line 2, column 7`,
      );
    });

  it('knows the core schema only, also where a directive asks for YAML 1.1', () => {
    const text = '%YAML 1.1\n---\na: yes\nb: 0o17\nc: 1_000\nd: 12:30\ne: !!str 1\nf: !!int 3\ng: ~';
    expect(parseYaml(text)).to.deep.equal({ a: 'yes', b: 15, c: '1_000', d: '12:30', e: '1', f: 3, g: null });
  });

  it('counts plain aliases', () => {
    const text = (count: number) => `a: &a 1\nb: [${Array(count).fill('*a').join(', ')}]`;
    expect(parseYaml(text(1000))).to.deep.equal({ a: 1, b: Array(1000).fill(1) });
    expect(() => parseYaml(text(1001))).to.throw('allowed: 1000');
    expect(() => parseYaml(text(50_000))).to.throw('allowed: 1000');
  });

  it('does not take a text that begins with an asterisk for an alias', () => {
    const line = '  *a\n';
    expect(parseYaml(`a: |\n${line.repeat(1001)}`)).to.deep.equal({ a: '*a\n'.repeat(1001) });
    expect(parseYaml(`a: ['*b', "*c"]`)).to.deep.equal({ a: ['*b', '*c'] });
  });

  it('refuses a key that stands twice in one mapping, naming its place, whatever form and depth', () => {
    for (const [text, place] of [
      ['a: 1\nb: 2\na: 3', 'line 3, column 1'],
      ['{ a: 1, a: 2 }', 'line 1, column 9'],
      ['x:\n  - { y: 1 }\n  - z: { y: 1, "y": 2 }', 'line 3, column 16'],
      ['? a\n: 1\n? a\n: 2', 'line 3, column 3'],
      ['&k a: 1\n*k : 2', 'line 2, column 1'],
    ] as const)
      expect(() => parseYaml(text), text).to.throw(`stands twice in its mapping, at ${place}`);
    for (const text of ['a: { a: { a: 1 } }', '- a: 1\n- a: 2', '1: a\n"1": b'])
      expect(() => parseYaml(text)).not.to.throw();
  });

  it('takes 40,000 keys of one mapping in a moment: each is compared with a set, not with all before it', () => {
    const text = Array.from({ length: 40_000 }, (_, n) => `key${n}: ${n}`).join('\n');
    expect(Object.keys(parseYaml(text) as object)).to.have.length(40_000);
    expect(() => parseYaml(`${text}\nkey7: 1`)).to.throw(
      'the key "key7" stands twice in its mapping, at line 40001, column 1',
    );
  });

  it('takes the value that the build has parsed for exactly this text, each time as a new copy', () => {
    const values = new Map([['a: 1\n', { a: 7 }]]);
    const value = parseYaml('a: 1\n', values);
    expect(value).to.deep.equal({ a: 7 });
    Object.assign(value as object, { a: 8 });
    expect(parseYaml('a: 1\n', values)).to.deep.equal({ a: 7 });
    expect(parseYaml('a: 2\n', values)).to.deep.equal({ a: 2 });
  });

  it('is parsed in parts, between which other work may run, down to a refusal', () => {
    const parsing = parsingYamlText('- a\n'.repeat(5000));
    let parts = 0;
    while (parsing.next().done !== true) parts += 1;
    expect(parts).to.be.above(20);
    expect(() => runWhole(parsingYamlText('a: [1'))).to.throw(/^Flow sequence .* at line 1, column 6$/);
    expect(() => runWhole(parsingYamlText('- '.repeat(5000)))).to.throw(RangeError);
    expect(() => runWhole(parsingYamlText('a: 1\n---\nb: 2\n'))).to.throw('more than one document');
  });

  it('tells the lines of keys and entries, and of the part around one that does not exist', () => {
    const text = runWhole(parsingYamlText('a:\n  1: x\n  b:\n    - y\n    - c: z\n'));
    expect(
      [[], ['a'], ['a', 1], ['a', 'b', 1], ['a', 'b', 1, 'c'], ['a', 'none']].map((path) => text.lineOf(path)),
    ).to.deep.equal([1, 1, 2, 5, 5, 1]);
  });
});
