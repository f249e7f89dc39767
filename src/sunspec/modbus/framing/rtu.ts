/**
 * Modbus over serial line 1.02, 2.5.1: RTU frames, on a line with other devices or in a TCP stream, and their lengths
 * by function code.
 */
import { Buffer } from 'node:buffer';
import { crc16 } from '../../../core/wire/modbus.ts';
import type { Framing, FramingResult } from './framing.ts';

/** The octet with the length has not arrived yet. */
const unknownSize = 0;

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
 * The sizes that a frame at `start` may have, by its function code; none for a function of unknown length, and
 * `unknownSize` for a length that has not arrived yet.
 * @param foreign true: the address is that of another device, so that the frame may also be an answer
 */
function frameSizes(bytes: Buffer, start: number, foreign: boolean): readonly number[] {
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

/** Address, function and CRC. */
const minFrame = 4;
const maxFrame = 256;
const crcSize = 2;
/** The address of all devices of a line. */
export const broadcastAddress = 0;
const noBytes = Buffer.alloc(0);

/** Silence that begins and ends frames. */
export interface RtuTiming {
  /** a pause after which a frame may begin, ms */
  readonly pauseMs: number;
  /** silence after which a frame that has begun cannot go on, ms; not below `pauseMs` */
  readonly gapMs: number;
}

/** In a TCP stream: a network may delay the second half of a frame, and a master waits a second for its answer. */
export const streamTiming: RtuTiming = { pauseMs: 20, gapMs: 500 };

interface RtuOptions extends RtuTiming {
  /** true if a served device has the address, so that a frame beginning with it can only be a request */
  readonly isOwn: (address: number) => boolean;
  /** called for each piece of the stream that is not a frame */
  readonly onUnreadable?: () => void;
}

/**
 * Cuts a stream into RTU frames. A frame begins after a pause or directly after another frame, and nowhere else: octets
 * inside noise or inside a damaged frame are never taken for a request. It ends where its length says (by function
 * code, with a correct CRC), or at a pause when the length is not known. Requests to other devices and their answers
 * are frames too; exceptions are skipped.
 *
 * Drivers deliver in bursts, which split frames and hide pauses. So a pause alone does not end a frame that may still
 * continue; only silence of `gapMs` does.
 */
export class RtuFraming implements Framing {
  readonly name = 'rtu';
  readonly headSize = 1;
  unitId = 0;
  buffer: Buffer = noBytes;
  pduStart = 0;
  pduEnd = 0;
  readonly #options: RtuOptions;
  #bytes: Buffer = noBytes;
  /** begin of the frame at hand */
  #at = 0;
  /** positions in `#bytes` after `#at` at which a pause was, ascending */
  #pauses: number[] = [];
  /** true if no frame can begin before the next pause */
  #lost = false;
  /** silence since the last octet */
  #silent: 'not' | 'pause' | 'gap' = 'not';
  #lastMs = -Infinity;

  constructor(options: RtuOptions) {
    this.#options = options;
  }

  get keptLength(): number {
    return this.#bytes.length - this.#at;
  }

  get heldLength(): number {
    return this.#bytes.length;
  }

  push(chunk: Buffer, nowMs: number): void {
    const earlierBytes = this.#bytes;
    if (nowMs - this.#lastMs >= this.#options.pauseMs) this.#markPause();
    this.#bytes = earlierBytes.length === 0 ? chunk : Buffer.concat([earlierBytes, chunk]);
    this.#silent = 'not';
    this.#lastMs = nowMs;
  }

  get awaitedSilenceMs(): number {
    if (this.#bytes.length === 0 || this.#silent === 'gap') return 0;
    return this.#silent === 'not' ? this.#options.pauseMs : this.#options.gapMs;
  }

  silence(): void {
    this.#markPause();
    this.#silent = this.#silent === 'not' && this.#options.gapMs > this.#options.pauseMs ? 'pause' : 'gap';
  }

  next(): FramingResult {
    while (this.#at < this.#bytes.length) {
      while ((this.#pauses[0] ?? Infinity) <= this.#at) {
        this.#pauses.shift();
        this.#lost = false;
      }
      const size = this.#lost ? 0 : this.#frameSize();
      if (size > 0) {
        const start = this.#at;
        this.#at += size;
        if (this.#take(start, this.#at)) return 'frame';
      } else if (size < 0) {
        return this.#keep();
      } else {
        this.#giveUp();
      }
    }
    return this.#keep();
  }

  wrap(out: Buffer, at: number, pduEnd: number): number {
    out[at] = this.unitId;
    const crc = crc16(out, at, pduEnd);
    out[pduEnd] = crc & 0xff;
    out[pduEnd + 1] = crc >> 8;
    return pduEnd + crcSize;
  }

  #markPause(): void {
    const place = this.#bytes.length;
    if (this.#pauses.at(-1) !== place) this.#pauses.push(place);
  }

  /** Size of the frame at hand; 0: not a frame; -1: unknown until more octets or a pause. */
  #frameSize(): number {
    const bytes = this.#bytes;
    const start = this.#at;
    const left = bytes.length - start;
    const address = bytes[start] ?? 0;
    const sizes = frameSizes(bytes, start, address !== broadcastAddress && !this.#options.isOwn(address));
    let mayGoOn = sizes.length === 0 && left < maxFrame;
    for (const size of sizes) {
      if (size === unknownSize || (size > left && size <= maxFrame)) mayGoOn = true;
      else if (size <= left && size <= maxFrame && crc16(bytes, start, start + size) === 0) return size;
    }
    for (const place of this.#pauses) {
      const size = place - start;
      if (size >= minFrame && size <= maxFrame && crc16(bytes, start, place) === 0) return size;
    }
    if (this.#silent === 'gap') return 0;
    if (this.#pauses.length === 0) return left <= maxFrame ? -1 : 0;
    return mayGoOn ? -1 : 0;
  }

  /** Makes a frame the request at hand. @returns false: an exception, which is no request */
  #take(start: number, end: number): boolean {
    const bytes = this.#bytes;
    // function codes from 128 on are exceptions: answers of other devices, or echoes
    if ((bytes[start + 1] ?? 0) >= 0x80) return false;
    this.unitId = bytes[start] ?? 0;
    this.buffer = bytes;
    this.pduStart = start + 1;
    this.pduEnd = end - crcSize;
    return true;
  }

  /** Skips octets up to the next pause. */
  #giveUp(): void {
    if (!this.#lost) this.#options.onUnreadable?.();
    this.#lost = true;
    this.#at = this.#pauses[0] ?? this.#bytes.length;
  }

  #keep(): 'more' {
    if (this.#at === this.#bytes.length) {
      this.#bytes = noBytes;
      this.#pauses = [];
      if (this.#silent !== 'not') this.#lost = false;
    } else {
      // keeps only the needed part of a chunk in memory
      this.#bytes = Buffer.from(this.#bytes.subarray(this.#at));
      this.#pauses = this.#pauses.map((place) => place - this.#at);
    }
    this.#at = 0;
    return 'more';
  }
}
