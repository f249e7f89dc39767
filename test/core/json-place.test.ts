import { expect } from 'chai';
import fc from 'fast-check';
import { jsonPlace } from '../../src/core/json-place.ts';
import { holds } from '../support/property.ts';

describe('where a text stops being JSON', () => {
  const cases: readonly (readonly [
    text: string,
    line: number,
    column: number,
    character: string | null,
    expected: string,
  ])[] = [
    ['', 1, 1, null, 'a value'],
    ['{', 1, 2, null, 'a member name in double quotes or }'],
    ['{"value":NaN}', 1, 10, 'N', 'a value'],
    ["{'value':1}", 1, 2, "'", 'a member name in double quotes or }'],
    ['{"value":01}', 1, 11, '1', 'a comma or }'],
    ['{"a": 1,\n "b": 2,\r\n}', 3, 1, '}', 'a member name in double quotes'],
    ['{"a" 1}', 1, 6, '1', 'a colon'],
    ['[1 2]', 1, 4, '2', 'a comma or ]'],
    ['[1,]', 1, 4, ']', 'a value'],
    ['[,]', 1, 2, ',', 'a value or ]'],
    ['{} {}', 1, 4, '{', 'the end'],
    ['{"a": tru}', 1, 7, 't', 'a value'],
    ['"a\\x"', 1, 3, '\\', 'an escape that JSON has'],
    ['["a\nb"]', 1, 4, '\n', 'the closing quote of a text'],
    ['["a', 1, 4, null, 'the closing quote of a text'],
    ['[1}', 1, 3, '}', 'a comma or ]'],
    ['[-]', 1, 2, '-', 'a value or ]'],
  ];
  for (const [text, line, column, character, expected] of cases) {
    it(JSON.stringify(text), () => {
      expect(jsonPlace(text)).to.deep.equal({ line, column, expected, character });
      expect(() => {
        JSON.parse(text);
      }).to.throw();
    });
  }

  it('agrees with the parser of the engine about what is JSON', () => {
    const pieces = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"a"',
        '"\\u00e4"',
        '"',
        '\\',
        '0',
        '-1.5e3',
        '1.',
        'null',
        'tru',
        ' ',
        '\n',
      ),
      { maxLength: 12 },
    );
    const isJson = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    holds(
      'agrees with JSON.parse',
      fc.oneof(
        pieces.map((each) => each.join('')),
        fc.json(),
      ),
      (text) => {
        expect(jsonPlace(text) === null, text).to.equal(isJson(text));
      },
      { runs: 2000 },
    );
  });

  it('100,000 levels are no recursion', () => {
    expect(jsonPlace('['.repeat(100_000))).to.include({ column: 100_001, character: null });
  });
});
