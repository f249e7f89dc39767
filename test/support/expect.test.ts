import { AssertionError, expect } from 'chai';
import { expectWithin, same } from './expect.ts';

const text = () => 'the words';

describe('comparisons of long loops', () => {
  it('same takes what is equal, member by member', () => {
    for (const value of [0, NaN, 'text', null, undefined, [1, { a: [2] }], new Uint8Array([0, 255])]) {
      expect(() => {
        same(value, structuredClone(value), () => expect.fail('the text is built on a difference alone'));
      }).not.to.throw();
    }
  });

  it('same refuses every difference, with its text', () => {
    for (const [actual, expected] of [
      [0, -0],
      [1, '1'],
      [null, undefined],
      [[1], [1, 2]],
      [{ a: 1 }, { a: 1, b: undefined }],
      [{ a: { b: NaN } }, { a: { b: 1 } }],
    ]) {
      expect(
        () => {
          same(actual, expected, text);
        },
        JSON.stringify([actual, expected]),
      ).to.throw(AssertionError, 'the words: expected');
    }
  });

  it('expectWithin takes the bounds and what lies between them, and no other value', () => {
    for (const value of [-1, 0, 2]) expectWithin(value, -1, 2, () => expect.fail(`${value} lies within`));
    for (const value of [-1.001, 2.001, Infinity, NaN])
      expect(() => {
        expectWithin(value, -1, 2, text);
      }, `${value}`).to.throw(AssertionError, 'the words: expected');
    expect(() => {
      expectWithin(1, NaN, 2, text);
    }).to.throw(AssertionError, 'the words: expected');
  });
});
