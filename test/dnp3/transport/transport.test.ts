import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import fc from 'fast-check';
import { Reassembler, Segmenter } from '../../../src/dnp3/stack/transport.ts';
import { hex, readFrames, toHex } from '../rig/frames.ts';
import { holds } from '../../support/property.ts';

function take(...segments: readonly string[]): (string | null)[] {
  const reassembler = new Reassembler();
  return segments.map((segment) => {
    const fragment = reassembler.push(hex(segment));
    return fragment === null ? null : toHex(fragment);
  });
}

describe('the transport function', () => {
  it('7.2 puts a series together, wherever its numbers start', () => {
    expect(take('7e 01', '3f 02', '80 03')).to.deep.equal([null, null, '01 02 03']);
  });

  it('TB2013-003: FIR starts over, and what has no FIR is dropped', () => {
    expect(take('05 09', '41 01', '42 02', '83 03')).to.deep.equal([null, null, null, '02 03']);
  });

  it('TB2013-003: the same segment once more is passed over, any other number ends the series', () => {
    expect(take('40 01', '01 02', '01 02', '82 03')).to.deep.equal([null, null, null, '01 02 03']);
    expect(take('40 01', '02 02', '83 03')).to.deep.equal([null, null, null]);
    expect(take('40 01', '01 02', '01 ff', '82 03')).to.deep.equal([null, null, null, null]);
  });

  it('counts segments and series that make no fragment', () => {
    const reassembler = new Reassembler(3);
    const lost = ['c0 01', '05 09', '40 01', '40 01', '01 02', '01 02', '05 02', '40 01', '81 00 00 00'].map(
      (segment) => {
        reassembler.push(hex(segment));
        return reassembler.lost;
      },
    );
    expect(lost).to.deep.equal([0, 1, 1, 2, 2, 2, 3, 3, 4]);
  });

  it('delivers nothing of an empty series, and drops one that grows too long', () => {
    expect(take('c0')).to.deep.equal([null]);
    const reassembler = new Reassembler(100);
    const long = (octet: number) => reassembler.push(Buffer.concat([Buffer.from([octet]), Buffer.alloc(60)]));
    expect([long(0x40), long(0x81)]).to.deep.equal([null, null]);
  });

  it('delivers a fragment of the greatest size, and none with an octet more', () => {
    const lengthOf = (octets: number) => {
      const reassembler = new Reassembler(100);
      reassembler.push(Buffer.concat([Buffer.from([0x40]), Buffer.alloc(60)]));
      return reassembler.push(Buffer.concat([Buffer.from([0x81]), Buffer.alloc(octets)]))?.length ?? null;
    };
    expect([39, 40, 41].map(lengthOf)).to.deep.equal([99, 100, null]);
  });

  it('holds no memory for middle segments without octets', () => {
    const reassembler = new Reassembler();
    reassembler.push(hex('40 01'));
    for (let n = 1; n <= 100_000; n += 1) expect(reassembler.push(Buffer.from([n & 0x3f]))).to.equal(null);
    expect(reassembler.push(Buffer.from([0x80 | (100_001 & 0x3f), 2]))?.length).to.equal(2);
  });

  it('cuts fragments that come back whole', () => {
    // a segment has 249 octets, and the longest fragment 2048
    const edge = fc.constantFrom(1, 248, 249, 250, 498, 499, 1992, 1993, 2047, 2048);
    const anyFragment = fc
      .oneof(edge, fc.integer({ min: 1, max: 2048 }))
      .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));
    holds(
      'fragments come back whole',
      anyFragment,
      (octets) => {
        const segmenter = new Segmenter({ destination: 4, source: 1 });
        const reassembler = new Reassembler();
        const { frames } = readFrames(Buffer.concat(segmenter.frames(Buffer.from(octets))));
        const fragments = frames.map(({ data }) => reassembler.push(data)).filter((each) => each !== null);
        expect(fragments).to.have.length(1);
        expect(fragments[0]?.equals(octets)).to.equal(true);
      },
      { runs: 100 },
    );
  });
});
