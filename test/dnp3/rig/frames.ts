/** Frames of DNP3 written a second time for tests, bit by bit and without any part of the product. */
import { Buffer } from 'node:buffer';

/** CRC-16/DNP, one bit at a time: polynomial 0xA6BC reflected, inverted at the end. */
export function crcOf(octets: Uint8Array): number {
  let crc = 0;
  for (const octet of octets) {
    crc ^= octet;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xa6bc : crc >>> 1;
  }
  return ~crc & 0xffff;
}

function withCrc(octets: Uint8Array): Buffer {
  const crc = crcOf(octets);
  return Buffer.concat([octets, Buffer.from([crc & 0xff, crc >>> 8])]);
}

/** Octets written as in the tables of the standard: `05 64 05 c9`. */
export function hex(text: string): Buffer {
  return Buffer.from(text.replace(/\s+/g, ''), 'hex');
}

export function toHex(octets: Uint8Array): string {
  return Buffer.from(octets)
    .toString('hex')
    .replace(/(..)(?!$)/g, '$1 ');
}

/** One link frame. @param control the control octet: 0xc4 is unconfirmed user data of a master */
export function linkFrame(control: number, to: number, from: number, data: Uint8Array = Buffer.alloc(0)): Buffer {
  const header = Buffer.from([0x05, 0x64, 5 + data.length, control, to & 0xff, to >>> 8, from & 0xff, from >>> 8]);
  const blocks: Buffer[] = [withCrc(header)];
  for (let at = 0; at < data.length; at += 16) blocks.push(withCrc(data.subarray(at, at + 16)));
  return Buffer.concat(blocks);
}

/** The frames of one fragment of a master, 249 octets of it in each. */
export function fragmentFrames(fragment: Uint8Array, to: number, from: number, control = 0xc4, sequence = 0): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0, seq = sequence; at === 0 || at < fragment.length; at += 249, seq = (seq + 1) & 0x3f) {
    const piece = fragment.subarray(at, at + 249);
    const octet = (at === 0 ? 0x40 : 0) | (at + 249 >= fragment.length ? 0x80 : 0) | seq;
    frames.push(linkFrame(control, to, from, Buffer.concat([Buffer.from([octet]), piece])));
  }
  return frames;
}

export interface SeenFrame {
  readonly control: number;
  readonly to: number;
  readonly from: number;
  readonly data: Buffer;
  readonly octets: Buffer;
}

/** Cuts a stream of right frames; throws at the first wrong octet. Returns the frames, and what is left. */
export function readFrames(stream: Buffer): { readonly frames: readonly SeenFrame[]; readonly rest: Buffer } {
  const frames: SeenFrame[] = [];
  let at = 0;
  while (stream.length - at >= 10) {
    if (stream[at] !== 0x05 || stream[at + 1] !== 0x64) throw new Error(`no frame at octet ${at}: ${toHex(stream)}`);
    const user = stream[at + 2]! - 5;
    const length = 10 + user + 2 * Math.ceil(user / 16);
    if (stream.length - at < length) break;
    const octets = stream.subarray(at, at + length);
    const pieces = [octets.subarray(0, 10)];
    for (let block = 10; block < length; block += 18) pieces.push(octets.subarray(block, Math.min(block + 18, length)));
    for (const piece of pieces) {
      const body = piece.subarray(0, -2);
      if (crcOf(body) !== piece.readUInt16LE(body.length)) throw new Error(`wrong CRC in ${toHex(octets)}`);
    }
    frames.push({
      control: octets[3]!,
      to: octets.readUInt16LE(4),
      from: octets.readUInt16LE(6),
      data: Buffer.concat(pieces.slice(1).map((piece) => piece.subarray(0, -2))),
      octets,
    });
    at += length;
  }
  return { frames, rest: stream.subarray(at) };
}
