import type { Writable } from 'node:stream';
import { expect } from 'chai';
import * as library from 'ws';
import type { TickEvent } from '../../src/contract/plant.ts';
import { Broadcast, maxPieceBytes, textFrame } from '../../src/ws/frames.ts';

/** A tick whose texts count how often they are asked for. */
function tickOf(devices: readonly number[], length = 20) {
  const asked: number[] = [];
  const published = devices.map((index) => ({
    snapshot: { device_index: index },
    get json() {
      asked.push(index);
      return Buffer.from(`${index}`.padEnd(length, '.'));
    },
  }));
  return { asked, event: { published } as unknown as TickEvent };
}

/** The messages of a tick of devices without more than their snapshots. */
const broadcastOf = (event: TickEvent) => new Broadcast(event, { devices: [], dateMs: () => 0 });

/** Exported, but missing in the types. */
const { Receiver } = library as unknown as { Receiver: new (options: object) => Writable };

/** What the library of the other side reads out of bytes. */
function messagesIn(bytes: Buffer): string[] {
  const messages: string[] = [];
  const receiver = new Receiver({ isServer: false, allowSynchronousEvents: true });
  receiver.on('message', (data: Buffer, isBinary: boolean) => {
    messages.push(isBinary ? 'binary' : data.toString());
  });
  receiver.write(bytes);
  return messages;
}

describe('frames of the stream', () => {
  for (const length of [0, 1, 125, 126, 127, 65_535, 65_536, 200_000]) {
    it(`a text of ${length} octets is one final, unmasked frame`, () => {
      const text = 'ä'.repeat(length >> 1).padEnd(length - (length >> 1), 'x');
      const frame = textFrame(Buffer.from(text));
      expect(frame[0]).to.equal(0x81);
      expect(messagesIn(frame)).to.deep.equal([text]);
    });
  }

  it('makes each text once, and only the asked ones', () => {
    const { asked, event } = tickOf([0, 1, 2]);
    const broadcast = broadcastOf(event);
    expect(broadcast.of(1)).to.equal(broadcast.of(1));
    expect(asked).to.deep.equal([1]);
    expect(broadcast.pieces).to.equal(broadcast.pieces);
    expect(asked.toSorted()).to.deep.equal([0, 1, 2]);
  });

  it('joins neighbours in index order, never beyond the bound', () => {
    const devices = Array.from({ length: 150 }, (_, i) => i * 2);
    const { event } = tickOf(devices, 1000);
    const { pieces } = broadcastOf(event);
    expect(pieces.length).to.equal(3);
    expect(pieces.flatMap(({ frames }) => frames).length).to.equal(150);
    for (const { frames, joined } of pieces) {
      expect(joined.length).to.be.at.most(maxPieceBytes);
      expect(joined.equals(Buffer.concat(frames))).to.equal(true);
    }
    const texts = pieces.flatMap(({ joined }) => messagesIn(joined));
    expect(texts.map((text) => Number.parseInt(text, 10))).to.deep.equal(devices);
  });

  it('gives a message beyond the bound a piece of its own', () => {
    const { pieces } = broadcastOf(tickOf([0, 1], 70_000).event);
    expect(pieces.map(({ frames }) => frames.length)).to.deep.equal([1, 1]);
  });

  it('builds the other frames in parts when one cannot be built', () => {
    const { asked, event } = tickOf([0, 1, 2]);
    Object.defineProperty(event.published[1], 'json', {
      get() {
        throw new Error('no text');
      },
    });
    Array.from(broadcastOf(event).framesInParts());
    expect(asked).to.deep.equal([0, 2]);
  });

  it('finds a device among indexes with gaps', () => {
    const broadcast = broadcastOf(tickOf([3, 4, 9]).event);
    const found = [0, 3, 4, 5, 9, 10].map((index) => broadcast.of(index)?.subarray(2).toString().replaceAll('.', ''));
    expect(found).to.deep.equal([undefined, '3', '4', undefined, '9', undefined]);
    expect(broadcastOf(tickOf([]).event).pieces).to.deep.equal([]);
  });
});
