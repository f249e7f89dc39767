import { expect } from 'chai';
import { crcOf, fragmentFrames, hex, linkFrame, readFrames, toHex } from './frames.ts';

describe('frames of DNP3 in tests', () => {
  it('have the check value of CRC-16/DNP', () => {
    expect(crcOf(Buffer.from('123456789'))).to.equal(0xea82);
  });

  it('equal the frames that Wireshark has confirmed', () => {
    expect(toHex(linkFrame(0xc9, 1, 4))).to.equal('05 64 05 c9 01 00 04 00 14 b9');
    const [poll] = fragmentFrames(hex('c0 01 3c 02 06 3c 03 06 3c 04 06 3c 01 06'), 1, 4);
    expect(toHex(poll!)).to.equal('05 64 14 c4 01 00 04 00 65 8e c0 c0 01 3c 02 06 3c 03 06 3c 04 06 3c 01 06 8a 51');
  });

  it('are read back, in pieces too', () => {
    const fragment = Buffer.alloc(600, 7);
    const stream = Buffer.concat(fragmentFrames(fragment, 1, 4));
    const { frames, rest } = readFrames(stream.subarray(0, -1));
    expect(frames.map(({ data }) => data.length)).to.deep.equal([250, 250]);
    expect(readFrames(Buffer.concat([rest, stream.subarray(-1)])).frames.map(({ data }) => data.length)).to.deep.equal([
      103,
    ]);
  });
});
