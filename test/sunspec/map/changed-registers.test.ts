/** Runs of registers that differ between two images. */
import { expect } from 'chai';
import fc from 'fast-check';
import { changedRegisters, putRegisters } from '../../../src/sunspec/map/changed-registers.ts';
import { holds } from '../../support/property.ts';

const imageOf = (registers: readonly number[], shift: number): Buffer => {
  // an image may begin at any octet of its memory
  const bytes = Buffer.alloc(2 * registers.length + shift).subarray(shift);
  for (const [at, value] of registers.entries()) bytes.writeUInt16BE(value, 2 * at);
  return bytes;
};

describe('sunspec/map: changed registers', () => {
  it('put into the start image, give the image again', () => {
    const registers = fc.array(fc.tuple(fc.constantFrom(0, 1, 0x0100, 0xffff), fc.constantFrom(0, 1, 0x0100, 0xffff)), {
      maxLength: 60,
    });
    holds('an image is restored', [registers, fc.nat({ max: 1 })], (pairs, shift) => {
      const start = imageOf(
        pairs.map(([value]) => value),
        shift,
      );
      const present = imageOf(
        pairs.map(([, value]) => value),
        1 - shift,
      );
      const restored = Buffer.from(start);
      expect(putRegisters(restored, changedRegisters(present, start))).to.equal(true);
      expect(restored.equals(present)).to.equal(true);
    });
  });

  it('are none for equal images, and one run for those that lie close together', () => {
    const start = imageOf(new Array<number>(40).fill(7), 0);
    expect(changedRegisters(Buffer.from(start), start)).to.deep.equal([]);
    const present = Buffer.from(start);
    for (const at of [3, 9, 17, 39]) present.writeUInt16BE(1, 2 * at);
    expect(
      changedRegisters(present, start).map(([offset, octets]) => [offset, Buffer.from(octets, 'base64').length]),
    ).to.deep.equal([
      [3, 14],
      [17, 2],
      [39, 2],
    ]);
  });

  it('outside of the image are refused', () => {
    const octets = Buffer.alloc(4).toString('base64');
    const image = Buffer.alloc(8);
    expect([-1, 0.5, 2, 3].map((offset) => putRegisters(image, [[offset, octets]]))).to.deep.equal([
      false,
      false,
      true,
      false,
    ]);
  });
});
