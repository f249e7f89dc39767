import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import fc from 'fast-check';
import { crc16, encodeFrame, maxFrameOctets, LinkParser } from '../../../src/dnp3/stack/link.ts';
import { fragmentFrames, hex, linkFrame, toHex } from '../rig/frames.ts';
import { holds } from '../../support/property.ts';
import { casesOf } from '../../support/random.ts';

const poll = '05 64 14 c4 01 00 04 00 65 8e c0 c0 01 3c 02 06 3c 03 06 3c 04 06 3c 01 06 8a 51';
const parse = (...pieces: readonly Buffer[]) => {
  const parser = new LinkParser();
  return pieces.flatMap((piece) => [...parser.push(piece)]);
};

describe('frames of the data link layer', () => {
  it('have the check value of CRC-16/DNP', () => {
    const octets = Buffer.from('123456789');
    expect(crc16(octets, 0, octets.length)).to.equal(0xea82);
  });

  it('6.1, 6.3: equal the worked frames', () => {
    const frame = (control: number) => toHex(encodeFrame({ control, destination: 4, source: 1 }));
    expect(frame(0x0b)).to.equal('05 64 05 0b 04 00 01 00 91 2c');
    expect(frame(0x00)).to.equal('05 64 05 00 04 00 01 00 d2 1c');
    const fragment = hex('c0 81 90 00');
    expect(toHex(encodeFrame({ control: 0x44, destination: 4, source: 1 }, fragment, 0, 4, 0xc0))).to.equal(
      '05 64 0a 44 04 00 01 00 92 e4 c0 c0 81 90 00 9b 2c',
    );
  });

  it('are as long as 292 octets', () => {
    const frame = encodeFrame({ control: 0x44, destination: 4, source: 1 }, Buffer.alloc(249, 1), 0, 249, 0xc0);
    expect(frame.length).to.equal(maxFrameOctets);
    expect(frame.equals(linkFrame(0x44, 4, 1, Buffer.concat([hex('c0'), Buffer.alloc(249, 1)])))).to.equal(true);
  });

  it('are read from a stream cut anywhere', () => {
    holds(
      'frames cut anywhere',
      [fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 6 }), fc.array(fc.nat(40))],
      (fragments, cuts) => {
        const stream = Buffer.concat(fragments.flatMap((each) => fragmentFrames(each, 1, 4)));
        const pieces: Buffer[] = [];
        let at = 0;
        for (const cut of cuts) {
          pieces.push(stream.subarray(at, at + cut));
          at += cut;
        }
        pieces.push(stream.subarray(at));
        const whole = parse(stream).map(({ data }) => toHex(data));
        expect(parse(...pieces).map(({ data }) => toHex(data))).to.deep.equal(whole);
        expect(whole.length).to.equal(fragments.reduce((sum, each) => sum + Math.ceil(each.length / 249), 0));
      },
      { runs: 200 },
    );
  });

  for (const [what, octets] of [
    ['noise', 'ff 00 05 05 64 12'],
    ['start octets alone', '05 64 05 64 05 64'],
    ['a wrong header checksum', '05 64 05 c9 01 00 04 00 14 b8'],
    ['a wrong block checksum', poll.replace(/51$/, '50')],
    ['user data without data', toHex(linkFrame(0xc4, 1, 4))],
    ['a reset with data', toHex(linkFrame(0xc0, 1, 4, hex('c0')))],
    ['an answer with data', toHex(linkFrame(0x80, 1, 4, hex('c0')))],
  ] as const)
    it(`6.6.2: go on behind ${what}`, () => {
      const frames = parse(hex(octets), hex(poll));
      expect(frames.map(({ control }) => control)).to.deep.equal([0xc4]);
    });

  it('LEN below 5 and a long LEN are passed over', () => {
    for (const length of [0, 1, 4, 255]) {
      const header = hex('05 64 00 c4 01 00 04 00');
      header[2] = length;
      const crc = crc16(header, 0, 8);
      const bad = Buffer.concat([header, Buffer.from([crc & 0xff, crc >> 8])]);
      const frames = parse(bad, ...Array.from({ length: 15 }, () => hex(poll)));
      expect(frames.length, `LEN ${length}`).to.be.greaterThan(0);
    }
  });

  it('take 50,000 mutations without a throw, and hold less than one frame', () => {
    const random = casesOf('link mutations');
    const parser = new LinkParser();
    const pick = (below: number) => Math.floor(random.next() * below);
    for (let n = 0; n < 50_000; n += 1) {
      const frame = Buffer.from(hex(poll));
      for (let k = pick(4); k >= 0; k -= 1) frame[pick(frame.length)] = pick(256);
      parser.push(frame.subarray(0, pick(frame.length + 1)));
    }
    expect(parser.heldOctets).to.be.at.most(maxFrameOctets);
    const after = [...Array.from({ length: 12 }, () => parser.push(hex(poll)))].flat();
    expect(after.length).to.be.greaterThan(0);
  });
});
