/** Finds frames in a stream of octets, whatever stands between them. IEEE 1815 9.2.4.3, 9.2.4.4 */
import { Buffer } from 'node:buffer';
import { crc16 } from './crc.ts';
import { blockOctets, frameLength, headerOctets, linkBit, minLength, primaryFunction, startOctets } from './frame.ts';
import type { LinkFrame } from './frame.ts';

/** Frames dropped since the start, by reason. */
export interface ParserCounts {
  headerCrc: number;
  blockCrc: number;
  /** length below 5, or user data that the function does not have */
  length: number;
}

const noOctets = Buffer.alloc(0);

/** True if a function and the amount of user data agree. */
function isConsistent(control: number, user: number): boolean {
  if ((control & linkBit.primary) === 0) return user === 0;
  const code = control & 0x0f;
  const carries = code === primaryFunction.confirmedUserData || code === primaryFunction.unconfirmedUserData;
  return carries ? user > 0 : user === 0;
}

/**
 * Keeps the octets of a frame that has not come whole, at most 291 of them. A frame with a wrong checksum is dropped
 * without a word, and the search goes on behind its start octets: its length cannot be trusted.
 */
export class LinkParser {
  readonly counts: ParserCounts = { headerCrc: 0, blockCrc: 0, length: 0 };
  #held: Buffer = noOctets;

  /** octets of a frame that has not come whole */
  get heldOctets(): number {
    return this.#held.length;
  }

  /** The whole frames up to the end of `octets`; their data are copies. */
  push(octets: Buffer): readonly LinkFrame[] {
    const stream = this.#held.length === 0 ? octets : Buffer.concat([this.#held, octets]);
    const frames: LinkFrame[] = [];
    let at = 0;
    for (;;) {
      at = nextStart(stream, at);
      if (stream.length - at < headerOctets) break;
      const length = this.#lengthAt(stream, at);
      if (length === null) {
        at += startOctets.length;
        continue;
      }
      if (stream.length - at < length) break;
      const frame = this.#frameAt(stream, at, length);
      if (frame === null) {
        at += startOctets.length;
        continue;
      }
      frames.push(frame);
      at += length;
    }
    this.#held = at === stream.length ? noOctets : Buffer.from(stream.subarray(at));
    return frames;
  }

  /** Octets of the frame whose header stands at `at`; null: it is none. */
  #lengthAt(stream: Buffer, at: number): number | null {
    if (crc16(stream, at, at + 8) !== stream.readUInt16LE(at + 8)) {
      this.counts.headerCrc += 1;
      return null;
    }
    const user = (stream[at + 2] ?? 0) - minLength;
    if (user < 0 || !isConsistent(stream[at + 3] ?? 0, user)) {
      this.counts.length += 1;
      return null;
    }
    return frameLength(user);
  }

  #frameAt(stream: Buffer, at: number, length: number): LinkFrame | null {
    const user = (stream[at + 2] ?? 0) - minLength;
    const data = user === 0 ? noOctets : Buffer.allocUnsafe(user);
    let from = at + headerOctets;
    for (let done = 0; done < user; done += blockOctets) {
      const size = Math.min(blockOctets, user - done);
      if (crc16(stream, from, from + size) !== stream.readUInt16LE(from + size)) {
        this.counts.blockCrc += 1;
        return null;
      }
      stream.copy(data, done, from, from + size);
      from += size + 2;
    }
    if (from !== at + length) return null;
    return {
      control: stream[at + 3] ?? 0,
      destination: stream.readUInt16LE(at + 4),
      source: stream.readUInt16LE(at + 6),
      data,
    };
  }
}

/** Where the next start octets stand, or the end; a single first start octet at the end counts. */
function nextStart(stream: Buffer, from: number): number {
  for (let at = stream.indexOf(startOctets[0], from); at >= 0; at = stream.indexOf(startOctets[0], at + 1)) {
    if (at + 1 === stream.length || stream[at + 1] === startOctets[1]) return at;
  }
  return stream.length;
}
