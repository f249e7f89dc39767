/** The transport function: fragments from segments, and segments from fragments. IEEE 1815 8.2 */
import { Buffer } from 'node:buffer';
import { encodeFrame, linkBit, maxUserOctets, primaryFunction } from './link.ts';

export const transportBit = { final: 0x80, first: 0x40, sequence: 0x3f } as const;
/** Octets of the longest fragment that is accepted. */
const maxFragmentOctets = 2048;

/** Joins the segments of fragments; TB2013-003. Each pair of addresses has one, so that sources do not mix. */
export class Reassembler {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #length = 0;
  #last: Buffer | null = null;
  /** null: no series is under way */
  #sequence: number | null = null;
  /** segments that belong to no fragment, and series that were given up */
  lost = 0;

  constructor(limit = maxFragmentOctets) {
    this.#limit = limit;
  }

  /** @returns the fragment that the segment completes; null: none */
  push(segment: Buffer): Buffer | null {
    const [octet] = segment;
    if (octet === undefined) return null;
    const sequence = octet & transportBit.sequence;
    if (octet & transportBit.first) {
      if (this.#sequence !== null) this.lost += 1;
      this.#drop();
    } else if (this.#sequence === null) {
      this.lost += 1;
      return null;
    } else if (sequence !== ((this.#sequence + 1) & transportBit.sequence)) {
      if (!this.#repeats(segment)) this.#giveUp();
      return null;
    }
    // a segment without octets counts, and takes no memory
    if (segment.length > 1) this.#pieces.push(segment);
    this.#last = segment;
    this.#length += segment.length - 1;
    this.#sequence = sequence;
    if (this.#length > this.#limit) {
      this.#giveUp();
      return null;
    }
    if ((octet & transportBit.final) === 0) return null;
    const fragment = this.#whole();
    this.#drop();
    return fragment.length === 0 ? null : fragment;
  }

  /** True if a segment repeats the last one octet for octet. */
  #repeats(segment: Buffer): boolean {
    return this.#last?.equals(segment) ?? false;
  }

  #whole(): Buffer {
    const [only] = this.#pieces;
    if (this.#pieces.length === 1 && only !== undefined) return only.subarray(1);
    return Buffer.concat(this.#pieces.map((piece) => piece.subarray(1)));
  }

  #giveUp(): void {
    this.lost += 1;
    this.#drop();
  }

  #drop(): void {
    this.#pieces = [];
    this.#length = 0;
    this.#last = null;
    this.#sequence = null;
  }
}

const segmentOctets = maxUserOctets - 1;
const userData = linkBit.primary | primaryFunction.unconfirmedUserData;

/** Cuts fragments into frames, and numbers the segments for one pair of addresses. IEEE 1815 8.2.2 */
export class Segmenter {
  readonly #addresses: { readonly destination: number; readonly source: number };
  #sequence = 0;

  constructor(addresses: { readonly destination: number; readonly source: number }) {
    this.#addresses = addresses;
  }

  /** The frames of a fragment, in order. */
  frames(fragment: Buffer): readonly Buffer[] {
    const frames: Buffer[] = [];
    for (let begin = 0; begin === 0 || begin < fragment.length; begin += segmentOctets) {
      const end = Math.min(begin + segmentOctets, fragment.length);
      const lead =
        (begin === 0 ? transportBit.first : 0) | (end === fragment.length ? transportBit.final : 0) | this.#sequence;
      this.#sequence = (this.#sequence + 1) & transportBit.sequence;
      frames.push(encodeFrame({ control: userData, ...this.#addresses }, fragment, begin, end, lead));
    }
    return frames;
  }
}
