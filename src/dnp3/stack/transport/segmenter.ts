/** Cuts fragments into the frames of an outstation. IEEE 1815 8.2.2 */
import type { Buffer } from 'node:buffer';
import { encodeFrame, linkBit, maxUserOctets, primaryFunction } from '../link/frame.ts';
import { transportBit } from './reassembler.ts';

const segmentOctets = maxUserOctets - 1;
const userData = linkBit.primary | primaryFunction.unconfirmedUserData;

/** Counts the segments of one pair of addresses on one connection. */
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
