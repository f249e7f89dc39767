import { expect } from 'chai';
import { sentencesOf } from '../../scripts/docs/sentences.ts';

describe('sentences of documents', () => {
  it('are counted over lines, in items of lists, without tables and code', () => {
    const text = [
      '# A title. Not counted',
      'One two',
      'three `a b c` [four](five.md). Next: two; more.',
      '- Item one',
      '  goes on.',
      '- Another.',
      '',
      '| a | b. C |',
      '```',
      'Code here.',
      '```',
    ].join('\n');
    expect(sentencesOf(text).map(({ line, words, text: sentence }) => [line, words, sentence])).to.deep.equal([
      [2, 5, 'One two three `a b c` four.'],
      [2, 3, 'Next: two; more.'],
      [4, 4, 'Item one goes on.'],
      [6, 1, 'Another.'],
    ]);
  });
});
