/** Lengths of RTU frames by function code (Modbus application protocol 1.1b3, 6), address and CRC included. */
import type { Buffer } from 'node:buffer';

/** The octet with the length has not arrived yet. */
export const unknownSize = 0;

/** A fixed size, or `base` octets plus the count in the octet at `countAt`. */
type Size = number | { readonly base: number; readonly countAt: number };

const byteCounted = (base: number, countAt: number): Size => ({ base, countAt });

const requestSizes: Readonly<Partial<Record<number, Size>>> = {
  1: 8,
  2: 8,
  3: 8,
  4: 8,
  5: 8,
  6: 8,
  7: 4,
  8: 8,
  11: 4,
  12: 4,
  17: 4,
  22: 10,
  24: 6,
  43: 7,
  15: byteCounted(9, 6),
  16: byteCounted(9, 6),
  20: byteCounted(5, 2),
  21: byteCounted(5, 2),
  23: byteCounted(13, 10),
};

const answerSizes: Readonly<Partial<Record<number, Size>>> = {
  5: 8,
  6: 8,
  7: 5,
  8: 8,
  11: 8,
  15: 8,
  16: 8,
  22: 10,
  1: byteCounted(5, 2),
  2: byteCounted(5, 2),
  3: byteCounted(5, 2),
  4: byteCounted(5, 2),
  12: byteCounted(5, 2),
  17: byteCounted(5, 2),
  20: byteCounted(5, 2),
  21: byteCounted(5, 2),
  23: byteCounted(5, 2),
};

/** Address, function with its highest bit, code, CRC. */
const exceptionSize = 5;

/**
 * The sizes that a frame at `start` may have, by its function code; none where the function has no known length, and
 * `unknownSize` for a length that has not come yet.
 * @param foreign whether it belongs to another device, so that it may also be an answer
 */
export function frameSizes(bytes: Buffer, start: number, foreign: boolean): readonly number[] {
  const code = bytes[start + 1];
  if (code === undefined) return [unknownSize];
  if (code >= 0x80) return [exceptionSize];
  const sizes: number[] = [];
  const request = requestSizes[code];
  const answer = foreign ? answerSizes[code] : undefined;
  if (request !== undefined) sizes.push(sizeIn(bytes, start, request));
  if (answer !== undefined) sizes.push(sizeIn(bytes, start, answer));
  return sizes;
}

function sizeIn(bytes: Buffer, start: number, size: Size): number {
  if (typeof size === 'number') return size;
  const count = bytes[start + size.countAt];
  return count === undefined ? unknownSize : size.base + count;
}
