import { expect } from 'chai';
import { eachLater, replyInPieces } from '../../../src/api/http/streaming.ts';
import { JsonText, StreamedReply } from '../../../src/api/http/route.ts';

describe('replies in pieces', () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

  it('that are short are whole, with lists at any depth, empty ones and absent members', () => {
    const reply = replyInPieces<unknown>({
      name: 'Geh\u00e4use "1"',
      absent: undefined,
      none: eachLater([], String),
      outer: eachLater(numbers(2), (n) => ({ n, inner: eachLater(numbers(n), (m) => ({ m })), plain: [n] })),
      nested: { list: eachLater(numbers(2), String) },
    });
    expect(reply).to.be.instanceOf(JsonText);
    expect(JSON.parse((reply as JsonText<unknown>).bytes.toString())).to.deep.equal({
      name: 'Geh\u00e4use "1"',
      none: [],
      outer: [
        { n: 0, inner: [], plain: [0] },
        { n: 1, inner: [{ m: 0 }], plain: [1] },
      ],
      nested: { list: ['0', '1'] },
    });
  });

  it('that are long make their items when it is their turn, some 16 KiB of ASCII at a time', () => {
    let made = 0;
    const item = (n: number) => {
      made += 1;
      return { n, text: '\u00fc'.repeat(100) };
    };
    const reply = replyInPieces<unknown>({ list: eachLater(numbers(2000), item), end: true });
    expect(reply).to.be.instanceOf(StreamedReply);
    const perPiece = made;
    expect(perPiece).to.be.within(100, 200);
    const pieces: string[] = [];
    for (const piece of (reply as StreamedReply).pieces) {
      pieces.push(String(piece));
      expect(made).to.be.at.most((pieces.length + 1) * perPiece);
    }
    expect(made).to.equal(2000);
    expect(pieces.every((piece) => /^[\x20-\x7e]*$/.test(piece))).to.equal(true);
    expect(JSON.parse(pieces.join(''))).to.deep.equal({ list: numbers(2000).map(item), end: true });
  });
});
