/** A point in the middle of a buffer: guard bytes on both sides reveal a write beside it. */
import { expect } from 'chai';

const guard = 0xa5;

/** Offset of the point in the buffer, in bytes. */
export const at = 4;

export function canvas(registers: number): { bytes: Buffer; dv: DataView } {
  const bytes = Buffer.alloc(at * 2 + registers * 2, guard);
  return { bytes, dv: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

export function expectGuards(bytes: Buffer, registers: number): void {
  const around = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + registers * 2)]);
  expect(
    around.every((byte) => byte === guard),
    'bytes beside the point',
  ).to.equal(true);
}

/** The registers of the point as hex. */
export const inner = (bytes: Buffer, registers: number) => bytes.toString('hex', at, at + registers * 2);
