/** Adds the frames of the DNP3 link layer, which a recording does not have, to fragments. */
import { Buffer } from 'node:buffer';
import { encodeFrame, linkBit, maxUserOctets, primaryFunction } from '../dnp3/stack/link.ts';
import { transportBit } from '../dnp3/stack/transport.ts';

/** The link addresses and the direction of a fragment. */
export interface Way {
  readonly source: number;
  readonly destination: number;
  readonly fromMaster: boolean;
}

/** Maximum octets of a fragment in one frame, after the transport octet. */
const segmentOctets = maxUserOctets - 1;

/** Counts the segments of one connection by pair of addresses and direction. */
export class LinkFrames {
  readonly #sequences = new Map<string, number>();

  /** The frames of a fragment, in order. */
  of(fragment: Buffer, { source, destination, fromMaster }: Way): Buffer {
    const key = `${source} ${destination} ${fromMaster}`;
    const control = linkBit.primary | primaryFunction.unconfirmedUserData | (fromMaster ? linkBit.fromMaster : 0);
    const frames: Buffer[] = [];
    for (let begin = 0; begin < fragment.length; begin += segmentOctets) {
      const end = Math.min(begin + segmentOctets, fragment.length);
      const sequence = this.#sequences.get(key) ?? 0;
      this.#sequences.set(key, (sequence + 1) & transportBit.sequence);
      const bits = (begin === 0 ? transportBit.first : 0) | (end === fragment.length ? transportBit.final : 0);
      frames.push(encodeFrame({ control, destination, source }, fragment, begin, end, bits | sequence));
    }
    return Buffer.concat(frames);
  }
}
