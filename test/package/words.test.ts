/** One word for one thing in all documents. */
import { expect } from 'chai';
import { linked, linkedTerms, unlinkedUses } from '../../scripts/docs/glossary.ts';
import { proseLines } from '../../scripts/docs/markdown.ts';
import { pathsBelow, textOf } from '../support/repository.ts';

/** Other words for what the glossary names, with the word to use. */
const synonyms: readonly (readonly [pattern: RegExp, word: string])[] = [
  [/\bready[- ]sets?\b/i, 'bundled set'],
  [/\bfault profiles?\b|\bprofiles? of faults\b/i, 'set'],
  [/\bslaves?\b/i, 'device, or outstation'],
  [/\bcharge ?box(?:es)?\b/i, 'station'],
  [/\bback-?ends?\b/i, 'central system, or server'],
];

const synonymsIn = (line: string) =>
  synonyms.flatMap(([pattern, word]) => {
    const [text] = pattern.exec(line.replaceAll(/`[^`]*`/g, '')) ?? [];
    return text === undefined ? [] : [`"${text}": write ${word}`];
  });

const documents = [...pathsBelow('docs').filter((path) => path.endsWith('.md')), 'CONTRIBUTING.md'];

const rowsOf = (path: string) =>
  textOf(path)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2).split(' | '));

describe('words of documents', () => {
  it('no document has another word for a term of the glossary', () => {
    const wrong = documents.flatMap((path) =>
      proseLines(textOf(path)).flatMap(([at, line]) => synonymsIn(line).map((text) => `${path}:${at} ${text}`)),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('a synonym is reported, but for names in code', () => {
    expect(synonymsIn('A ready set, `backend`')).to.deep.equal(['"ready set": write bundled set']);
  });

  it('the glossary has each term once, in alphabetical order', () => {
    const terms = rowsOf('docs/glossary.md')
      .slice(1)
      .map(([term = '']) => term.replace(/<.*>/, '').toLowerCase());
    expect(terms.length).to.be.at.least(60);
    expect(terms).to.deep.equal([...new Set(terms)].sort((a, b) => a.localeCompare(b, 'en')));
  });
});

describe('terms of the glossary', () => {
  const terms = linkedTerms(textOf('docs/glossary.md'));
  const textsOf = (page: string) => unlinkedUses(page, terms).map(({ term: { text } }) => text);

  it('are linked at their first use in doors, tutorials and concepts (npm run generate:glossary)', () => {
    expect(terms.length).to.be.greaterThan(15);
    const wrong = documents
      .filter((path) => /^docs\/(doors|tutorials|concepts)\//.test(path))
      .map((path) => [path, textsOf(textOf(path))] as const);
    expect(wrong.filter(([, texts]) => texts.length > 0)).to.deep.equal([]);
  });

  it('are found in sentences alone, with plurals, and count once', () => {
    expect(textsOf('Ticks pass.\n\nA tick.\nThe LFDI.')).to.deep.equal(['LFDI', 'tick']);
    expect(textsOf('# A tick\n| tick |\n`tick` LFDIs sticks half-tick\n\n```sh\ntick\n```\n')).to.deep.equal([]);
    expect(textsOf('A [long tick](a.md), and a tick.')).to.deep.equal([]);
    expect(textsOf('A tick, and a [long tick](a.md).')).to.deep.equal(['tick']);
  });

  it('become links in their places', () => {
    const page = 'First LFDI, then SFDI.\nUnit ids.\n';
    const whole = linked(page, unlinkedUses(page, terms), 'g.md');
    expect(whole).to.equal('First [LFDI](g.md#lfdi), then [SFDI](g.md#sfdi).\n[Unit ids](g.md#unit-id).\n');
    expect(textsOf(whole)).to.deep.equal([]);
  });
});

describe('docs/comparison.md', () => {
  const heads = rowsOf('docs/comparison.md').filter(([first]) => first === 'Job');

  it('names for each tool the month in which it was looked at', () => {
    const tools = heads.flatMap((head) => head.slice(1));
    expect(tools.length).to.be.greaterThan(5);
    for (const tool of tools) expect(tool).to.match(/\b20\d\d-(0[1-9]|1[0-2])\b/);
  });

  it('has a value in each cell', () => {
    for (const row of rowsOf('docs/comparison.md')) for (const cell of row) expect(cell.trim()).to.not.equal('');
  });
});
