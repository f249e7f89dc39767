/** Interim answers in a stream of octets that comes in any pieces. */
import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { withoutInterim } from '../../../src/csip/transport/interim.ts';
import { holds } from '../../support/property.ts';

/** What a reader gets of pieces that come one by one. */
function readAll(
  pieces: readonly string[],
  beforePiece: (socket: Socket, at: number) => void = () => undefined,
): string {
  const queue: Buffer[] = [];
  const stream = new Duplex({ read: () => undefined, write: (_piece, _encoding, done) => done() });
  stream.read = () => queue.shift() ?? null;
  const socket = withoutInterim(stream as unknown as Socket);
  let text = '';
  pieces.forEach((piece, at) => {
    beforePiece(socket, at);
    queue.push(Buffer.from(piece, 'latin1'));
    for (let got = socket.read() as Buffer | null; got !== null; got = socket.read() as Buffer | null)
      text += got.toString('latin1');
  });
  return text;
}

const final = 'HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok';
const goOn = 'HTTP/1.1 100 Continue\r\n\r\n';
const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';

describe('interim answers', () => {
  it('do not reach the reader, in whatever pieces they come', () => {
    const cuts = fc.array(fc.nat(200), { maxLength: 8 });
    holds(
      'interim answers in pieces',
      [fc.array(fc.constantFrom(goOn, hints), { maxLength: 3 }), cuts],
      (interim, at) => {
        const whole = interim.join('') + final;
        const places = [0, ...at.filter((each) => each < whole.length).sort((a, b) => a - b), whole.length];
        const pieces = places.slice(1).map((to, i) => whole.slice(places[i], to));
        expect(readAll(pieces.filter((piece) => piece !== ''))).to.equal(final);
      },
    );
  });

  it('are looked for before a head alone: a body may contain one', () => {
    expect(readAll([final.slice(0, -2), goOn, final])).to.equal(final.slice(0, -2) + goOn + final);
  });

  it('are looked for again after a request', () => {
    const pieces = [final, goOn + final];
    expect(readAll(pieces)).to.equal(pieces.join(''));
    expect(readAll(pieces, (socket) => socket.write('GET / HTTP/1.1'))).to.equal(final + final);
  });

  it('of a change of protocol, and heads that are none, are left to the parser', () => {
    for (const text of [
      'HTTP/1.1 101 Switching Protocols\r\n\r\n',
      'HTTP/1.1 1000 x\r\n\r\n',
      'HTTP/2 100\r\n\r\n',
      'SSH-2.0',
      'HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\r\n\r\n',
    ])
      expect(readAll([text])).to.equal(text);
  });

  it('without an end are left to the parser once they are too long for one', () => {
    const endless = `HTTP/1.1 100 Continue\r\nx: ${'y'.repeat(4000)}`;
    expect(readAll([endless])).to.equal('');
    expect(readAll([endless, endless, endless])).to.equal(endless.repeat(3));
  });
});
