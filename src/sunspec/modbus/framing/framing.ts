/** Framing of requests and answers, and the MBAP header (Modbus Messaging on TCP/IP 1.0b, 3.1.3). */
import { Buffer } from 'node:buffer';
import type { RequestPdu } from '../server/unit.ts';

/** Encoding of requests and answers: MBAP on TCP and TLS, or address and CRC (RTU) on a serial line or a socket. */
export type FramingName = 'mbap' | 'rtu';

export type FramingResult =
  /** the members hold one request until the next call */
  | 'frame'
  /** all octets are consumed or kept */
  | 'more'
  /** the frame boundaries are lost */
  | 'broken';

/** Maximum size of an ADU of any framing: that of MBAP (Modbus application protocol 1.1b3, 4.1). */
export const maxAdu = 260;

/** Cuts the octets of one peer into requests, and frames the answers. */
export interface Framing extends RequestPdu {
  readonly name: FramingName;
  /** target of the request at hand: unit id of MBAP, address of RTU */
  readonly unitId: number;
  /** octets of an incomplete frame */
  readonly keptLength: number;
  /** octets kept in memory */
  readonly heldLength: number;
  /** octets of an answer before its PDU */
  readonly headSize: number;
  /** ms of silence that may end the kept frame; 0: not needed */
  readonly awaitedSilenceMs: number;
  /**
   * Adds the next octets of the stream; only after `next` has returned `more`.
   * @param nowMs monotonic time of their arrival
   */
  push(chunk: Buffer, nowMs: number): void;
  next(): FramingResult;
  /** Ends the kept frame after `awaitedSilenceMs` without an octet; `next` then returns the outcome. */
  silence(): void;
  /**
   * Completes the answer to the request at hand, whose PDU begins `headSize` after `at`.
   * @returns the end of the ADU
   */
  wrap(out: Buffer, at: number, pduEnd: number): number;
}

/** Octets before those counted by the length: transaction id, protocol id, length. */
const lengthEnd = 6;
const unitIdAt = 6;
const pduAt = 7;
/** The length counts the unit id and a PDU of 1..253 octets. */
const minLength = 2;
const maxLength = 254;
const noBytes = Buffer.alloc(0);

/**
 * Cuts a byte stream into ADUs by the length of the MBAP header alone. Frames complete within a chunk are not copied;
 * of a cut frame at most one ADU is kept.
 */
export class MbapFraming implements Framing {
  readonly name = 'mbap';
  readonly headSize = pduAt;
  /** the length alone ends a frame */
  readonly awaitedSilenceMs = 0;
  buffer: Buffer = noBytes;
  pduStart = 0;
  pduEnd = 0;
  #chunk: Buffer = noBytes;
  #at = 0;
  #incompleteFrame: Buffer | undefined;
  #incompleteLength = 0;

  get unitId(): number {
    return this.buffer[this.pduStart - 1] ?? 0;
  }

  get keptLength(): number {
    return this.#incompleteLength;
  }

  get heldLength(): number {
    return this.#chunk.length + this.#incompleteLength;
  }

  push(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#at = 0;
  }

  /** `broken`: illegal protocol id or length. */
  next(): FramingResult {
    if (this.#incompleteLength > 0) return this.#complete(this.#incompleteFrame ?? noBytes);
    const chunk = this.#chunk;
    const start = this.#at;
    const left = chunk.length - start;
    if (left < lengthEnd) return this.#keep(left);
    const size = aduSize(chunk, start);
    if (size === 0) return 'broken';
    if (left < size) return this.#keep(left);
    this.buffer = chunk;
    this.pduStart = start + pduAt;
    this.pduEnd = this.#at = start + size;
    return 'frame';
  }

  silence(): void {
    /* not needed */
  }

  wrap(out: Buffer, at: number, pduEnd: number): number {
    const { buffer } = this;
    const start = this.pduStart - pduAt;
    out[at] = buffer[start] ?? 0;
    out[at + 1] = buffer[start + 1] ?? 0;
    out[at + 2] = 0;
    out[at + 3] = 0;
    out[at + 4] = 0;
    out[at + 5] = pduEnd - at - lengthEnd;
    out[at + unitIdAt] = buffer[start + unitIdAt] ?? 0;
    return pduEnd;
  }

  #keep(left: number): 'more' {
    if (left > 0) {
      this.#incompleteFrame ??= Buffer.allocUnsafeSlow(maxAdu);
      this.#chunk.copy(this.#incompleteFrame, 0, this.#at);
      this.#incompleteLength = left;
    }
    return this.#finishChunk();
  }

  /** Completes the kept frame: first to its length field, then to its end. */
  #complete(kept: Buffer): FramingResult {
    if (this.#incompleteLength < lengthEnd && !this.#fill(kept, lengthEnd)) return this.#finishChunk();
    const size = aduSize(kept, 0);
    if (size === 0) return 'broken';
    if (!this.#fill(kept, size)) return this.#finishChunk();
    this.buffer = kept;
    this.pduStart = pduAt;
    this.pduEnd = size;
    this.#incompleteLength = 0;
    return 'frame';
  }

  #fill(kept: Buffer, upTo: number): boolean {
    const taken = this.#chunk.copy(kept, this.#incompleteLength, this.#at, this.#at + upTo - this.#incompleteLength);
    this.#at += taken;
    this.#incompleteLength += taken;
    return this.#incompleteLength === upTo;
  }

  #finishChunk(): 'more' {
    this.#chunk = this.buffer = noBytes;
    this.#at = 0;
    return 'more';
  }
}

/** Octets of the ADU at `start`; 0: illegal header. */
function aduSize(bytes: Buffer, start: number): number {
  if (bytes[start + 2] !== 0 || bytes[start + 3] !== 0 || bytes[start + 4] !== 0) return 0;
  const length = bytes[start + 5] ?? 0;
  return length < minLength || length > maxLength ? 0 : lengthEnd + length;
}
