/** The origin of each register that a master sees. */
import { Buffer } from 'node:buffer';
import { SimError } from '../../core/errors.ts';
import { notInMap } from '../map/span-words.ts';

/** Consecutive registers that are all real or all filler. */
export interface Run {
  readonly count: number;
  /** map address of the first register, or the words of the filler */
  readonly from: number | readonly number[];
}

/** A run with its address. */
export interface Span extends Run {
  /** address used by a master */
  readonly address: number;
}

/** A span of registers of the map. */
export type RealSpan = Span & { readonly from: number };

/** The registers served by a device, in their order. No real register is served twice. */
export class AddressShape {
  /** address of the first register, and number of registers */
  readonly base: number;
  readonly size: number;
  readonly #spans: readonly Span[];

  constructor(base: number, runs: readonly Run[]) {
    this.base = base;
    const spans: Span[] = [];
    let address = base;
    for (const { count, from } of runs) {
      const last = spans.at(-1);
      if (count === 0) continue;
      // adjacent registers of the map form one span
      if (last !== undefined && typeof from === 'number' && isReal(last) && last.from + last.count === from) {
        spans[spans.length - 1] = { ...last, count: last.count + count };
      } else {
        spans.push({ address, count, from });
      }
      address += count;
    }
    this.#spans = spans;
    this.size = address - base;
  }

  /**
   * The spans of `count` registers from `address`, cut to them.
   * @throws SimError MAP_ILLEGAL_ADDRESS
   */
  spans(address: number, count: number): readonly Span[] {
    const end = address + count;
    if (count < 1 || address < this.base || end > this.base + this.size) {
      throw notInMap(address, count);
    }
    return this.within(address, count);
  }

  /** The spans of the existing registers among `count` from `address`. */
  within(address: number, count: number): readonly Span[] {
    const end = address + count;
    return this.#spans
      .filter((span) => span.address < end && span.address + span.count > address)
      .map((span) => cut(span, address, end));
  }

  /**
   * Map address of registers to be written.
   * @throws SimError MAP_ILLEGAL_ADDRESS, MAP_READ_ONLY for registers that are not consecutive in the map: between two
   * pieces there is always a read-only header
   */
  mapAddress(address: number, count: number): number {
    const [first, ...others] = this.spans(address, count);
    if (first === undefined || typeof first.from !== 'number' || others.length > 0) {
      throw new SimError(
        'MAP_READ_ONLY',
        `registers ${address}..${address + count - 1} are not all registers of points`,
      );
    }
    return first.from;
  }
}

function cut(span: Span, address: number, end: number): Span {
  const skipped = Math.max(0, address - span.address);
  const count = Math.min(span.address + span.count, end) - span.address - skipped;
  const from = typeof span.from === 'number' ? span.from + skipped : span.from.slice(skipped, skipped + count);
  return { address: span.address + skipped, count, from };
}

/**
 * The bytes of spans.
 * @param image all registers of the map
 * @param imageBase address of its first register
 * @returns a view of the image for a single real span, otherwise a copy
 */
export function bytesOf(spans: readonly Span[], image: Buffer, imageBase: number): Buffer {
  const [first] = spans;
  const piece = ({ from, count }: RealSpan) => image.subarray(2 * (from - imageBase), 2 * (from - imageBase + count));
  if (spans.length === 1 && first !== undefined && isReal(first)) return piece(first);
  return Buffer.concat(spans.map((span) => (isReal(span) ? piece(span) : wordsOf(span.from as readonly number[]))));
}

/** True if the registers of a span belong to the map. */
export function isReal(span: Span): span is RealSpan {
  return typeof span.from === 'number';
}

function wordsOf(words: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * words.length);
  words.forEach((word, at) => bytes.writeUInt16BE(word, 2 * at));
  return bytes;
}
