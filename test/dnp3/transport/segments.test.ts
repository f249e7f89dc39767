/** Where a series of segments begins and ends: the bounds that a mutation of the source would change. */
import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import { LinkParser } from '../../../src/dnp3/stack/link.ts';
import { Reassembler, Segmenter } from '../../../src/dnp3/stack/transport.ts';
import { hex, toHex } from '../rig/frames.ts';

function take(...segments: readonly string[]): (string | null)[] {
  const reassembler = new Reassembler();
  return segments.map((segment) => {
    const fragment = reassembler.push(hex(segment));
    return fragment === null ? null : toHex(fragment);
  });
}

const octets = (count: number) => Buffer.from(Array.from({ length: count }, (_, i) => (i * 7) & 0xff));

/** The segments of the frames of a fragment. */
function segmentsOf(segmenter: Segmenter, fragment: Buffer) {
  const parser = new LinkParser();
  return segmenter.frames(fragment).flatMap((frame) => [...parser.push(frame)]);
}

describe('segments of the transport function', () => {
  it('without FIR begin no series, whatever their number', () => {
    for (let number = 0; number < 64; number += 1)
      expect(take(toHex(Buffer.from([0x80 | number, 9]))), `${number}`).to.deep.equal([null]);
    expect(take('c0 01', '81 02')).to.deep.equal(['01', null]);
  });

  it('of no octet at all leave a series as it was', () => {
    expect(take('40 01', '', '81 02')).to.deep.equal([null, null, '01 02']);
  });

  it('make a fragment as long as the limit, and none that is longer', () => {
    const push = (...lengths: readonly number[]) => {
      const reassembler = new Reassembler(100);
      return lengths.map((length, i) => {
        const bits = (i === 0 ? 0x40 : 0) | (i === lengths.length - 1 ? 0x80 : 0);
        return reassembler.push(Buffer.concat([Buffer.from([bits | i]), octets(length)]))?.length ?? null;
      });
    };
    expect([push(100), push(101), push(60, 40), push(60, 41)]).to.deep.equal([
      [100],
      [null],
      [null, 100],
      [null, null],
    ]);
  });

  for (const [length, lengths] of [
    [0, [0]],
    [1, [1]],
    [248, [248]],
    [249, [249]],
    [250, [249, 1]],
    [498, [249, 249]],
    [499, [249, 249, 1]],
    [2048, [249, 249, 249, 249, 249, 249, 249, 249, 56]],
  ] as const)
    it(`of ${length} octets are numbered, FIR the first and FIN the last`, () => {
      const segments = segmentsOf(new Segmenter({ destination: 4, source: 1 }), octets(length));
      const leads = lengths.map((_, i) => (i === 0 ? 0x40 : 0) | (i === lengths.length - 1 ? 0x80 : 0) | i);
      expect(segments.map(({ data }) => data[0])).to.deep.equal(leads);
      expect(segments.map(({ data }) => data.length - 1)).to.deep.equal(lengths);
      expect(Buffer.concat(segments.map(({ data }) => data.subarray(1))).equals(octets(length))).to.equal(true);
      for (const { control, destination, source } of segments)
        expect([control, destination, source]).to.deep.equal([0x44, 4, 1]);
    });

  it('go on counting from one fragment to the next, to 63 and then from 0', () => {
    const segmenter = new Segmenter({ destination: 4, source: 1 });
    const numbers = Array.from({ length: 66 }, () => (segmentsOf(segmenter, octets(1))[0]?.data[0] ?? 0) & 0x3f);
    expect(numbers).to.deep.equal([...Array.from({ length: 64 }, (_, i) => i), 0, 1]);
  });
});
