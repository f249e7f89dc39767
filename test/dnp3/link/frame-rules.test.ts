/** Which octets are a frame, and what a frame holds: the bounds that a mutation of the source would change. */
import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import { crc16, encodeFrame, frameLength, LinkParser, LinkSession } from '../../../src/dnp3/stack/link.ts';
import { hex, linkFrame, toHex } from '../rig/frames.ts';

const octetsUpTo = (count: number) => Buffer.from(Array.from({ length: count }, (_, i) => i + 1));

function parsed(octets: Buffer) {
  const parser = new LinkParser();
  const frames = parser.push(octets).map(({ control, destination, source, data }) => ({
    control,
    destination,
    source,
    data: toHex(data),
  }));
  return { frames, counts: parser.counts, held: parser.heldOctets };
}

/** A header with a right checksum. */
function header(length: number, control: number): Buffer {
  const octets = hex('05 64 00 00 01 00 04 00');
  octets[2] = length;
  octets[3] = control;
  const crc = crc16(octets, 0, 8);
  return Buffer.concat([octets, Buffer.from([crc & 0xff, crc >> 8])]);
}

const noneDropped = { headerCrc: 0, blockCrc: 0, length: 0 };

describe('a frame of the data link layer', () => {
  for (const control of [0xc0, 0xc2, 0xc9, 0x80, 0x81, 0x83, 0x84, 0x8b])
    it(`of function ${control.toString(16)} is whole with its header, and has no user data`, () => {
      expect(parsed(linkFrame(control, 1, 4))).to.deep.equal({
        frames: [{ control, destination: 1, source: 4, data: '' }],
        counts: noneDropped,
        held: 0,
      });
      expect(parsed(linkFrame(control, 1, 4, hex('c0')))).to.deep.include({
        frames: [],
        counts: { ...noneDropped, length: 1 },
      });
    });

  for (const control of [0xf3, 0xd3, 0xc4])
    it(`of function ${control.toString(16)} has user data`, () => {
      for (const count of [1, 15, 16, 17, 20, 32, 33, 250]) {
        const data = octetsUpTo(count);
        const frame = encodeFrame({ control, destination: 1, source: 4 }, data);
        expect(toHex(frame), `${count} octets`).to.equal(toHex(linkFrame(control, 1, 4, data)));
        expect(frame.length).to.equal(frameLength(count));
        expect(parsed(frame)).to.deep.equal({
          frames: [{ control, destination: 1, source: 4, data: toHex(data) }],
          counts: noneDropped,
          held: 0,
        });
      }
      expect(parsed(linkFrame(control, 1, 4)).counts).to.deep.equal({ ...noneDropped, length: 1 });
    });

  it('is cut out of the octets that it is given', () => {
    const frame = encodeFrame({ control: 0xc4, destination: 1, source: 4 }, octetsUpTo(40), 3, 22, 0xc0);
    expect(parsed(frame).frames[0]?.data).to.equal(toHex(Buffer.concat([hex('c0'), octetsUpTo(40).subarray(3, 22)])));
  });

  it('is counted by the reason for which it is dropped', () => {
    const whole = linkFrame(0xc4, 1, 4, octetsUpTo(20));
    const spoilt = (at: number) => {
      const copy = Buffer.from(whole);
      copy[at] = (copy[at] ?? 0) ^ 0xff;
      return parsed(copy).counts;
    };
    expect(spoilt(4)).to.deep.equal({ ...noneDropped, headerCrc: 1 });
    expect(spoilt(8)).to.deep.equal({ ...noneDropped, headerCrc: 1 });
    expect(spoilt(10)).to.deep.equal({ ...noneDropped, blockCrc: 1 });
    expect(spoilt(whole.length - 3)).to.deep.equal({ ...noneDropped, blockCrc: 1 });
    for (const length of [0, 4])
      expect(parsed(header(length, 0xc9)).counts).to.deep.equal({ ...noneDropped, length: 1 });
  });

  it('begins at the second of two octets 05', () => {
    const { frames } = parsed(Buffer.concat([hex('ff 05'), linkFrame(0xc9, 1, 4)]));
    expect(frames.map(({ control }) => control)).to.deep.equal([0xc9]);
  });

  it('may begin with the last octet of what came before', () => {
    const parser = new LinkParser();
    const frame = linkFrame(0xc9, 1, 4);
    expect(parser.push(Buffer.concat([hex('00'), frame.subarray(0, 1)]))).to.deep.equal([]);
    expect(parser.heldOctets).to.equal(1);
    expect(parser.push(frame.subarray(1))).to.have.length(1);
    expect(parser.push(hex('00 64'))).to.deep.equal([]);
    expect(parser.heldOctets).to.equal(0);
  });
});

describe('the outstation as a station of its own', () => {
  const session = () => {
    const sent: string[] = [];
    const link = new LinkSession({ outstation: 1, master: 4, send: (frame) => sent.push(toHex(frame)) });
    return { link, sent };
  };

  it('asks the master for its status', () => {
    const { link, sent } = session();
    link.requestStatus();
    expect(sent).to.deep.equal([toHex(linkFrame(0x49, 4, 1))]);
  });

  it('hands nothing over that came with a test of the link', () => {
    const { link } = session();
    const frame = (control: number) => ({ control, destination: 1, source: 4, data: hex('c0') });
    link.take(frame(0xc0));
    expect(link.take(frame(0xf2))).to.equal(null);
  });
});
