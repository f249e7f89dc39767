import type { Buffer } from 'node:buffer';
import type { RequestPdu } from '../server/pdu.ts';

/** How requests and answers are put into octets: MBAP on TCP and TLS, or address and CRC (RTU) on a line or a socket. */
export type FramingName = 'mbap' | 'rtu';

export type FramingResult =
  /** the members hold one request until the next call */
  | 'frame'
  /** everything given is consumed or kept */
  | 'more'
  /** there is no frame boundary any more */
  | 'broken';

/** Longest ADU of any framing: that of MBAP (Modbus application protocol 1.1b3, 4.1). */
export const maxAdu = 260;

/** Cuts the octets of one peer into requests, and puts frames around the answers. */
export interface Framing extends RequestPdu {
  readonly name: FramingName;
  /** unit id of MBAP, address of RTU: whom the request at hand is meant for */
  readonly unitId: number;
  /** octets of a frame that has begun and is not complete */
  readonly keptLength: number;
  /** octets kept in memory */
  readonly heldLength: number;
  /** octets of an answer that stand before its PDU */
  readonly headSize: number;
  /** silence after which more can be said of the octets kept, ms; 0: none */
  readonly awaitedSilenceMs: number;
  /**
   * Gives the next octets of the stream; only after `next` has answered `more`.
   * @param nowMs monotonic time of their arrival
   */
  push(chunk: Buffer, nowMs: number): void;
  next(): FramingResult;
  /** `awaitedSilenceMs` have gone without an octet; `next` says what that has made of the octets kept. */
  silence(): void;
  /**
   * Completes the answer to the request at hand, whose PDU stands `headSize` behind `at`.
   * @returns the end of the ADU
   */
  wrap(out: Buffer, at: number, pduEnd: number): number;
}
