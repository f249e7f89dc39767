import type { Buffer } from 'node:buffer';
import type { RequestPdu } from '../server/request.ts';

/**
 * How requests and answers are put into octets: MBAP on TCP and TLS, or address and CRC (RTU) on a line or a socket.
 */
export type FramingName = 'mbap' | 'rtu';

export type FramingResult =
  /** the members hold one request until the next call */
  | 'frame'
  /** everything given is consumed or kept */
  | 'more'
  /** there is no frame boundary any more */
  | 'broken';

/** Maximum size of an ADU of any framing: that of MBAP (Modbus application protocol 1.1b3, 4.1). */
export const maxAdu = 260;

/** Cuts the octets of one peer into requests, and puts frames around the answers. */
export interface Framing extends RequestPdu {
  readonly name: FramingName;
  /** target of the request at hand: unit id of MBAP, address of RTU */
  readonly unitId: number;
  /** octets of a frame that has begun and is not complete */
  readonly keptLength: number;
  /** octets kept in memory */
  readonly heldLength: number;
  /** octets of an answer before its PDU */
  readonly headSize: number;
  /** ms of silence that may decide what the kept octets are; 0: none is needed */
  readonly awaitedSilenceMs: number;
  /**
   * Gives the next octets of the stream; only after `next` has answered `more`.
   * @param nowMs monotonic time of their arrival
   */
  push(chunk: Buffer, nowMs: number): void;
  next(): FramingResult;
  /** To be called after `awaitedSilenceMs` without an octet; `next` then returns the outcome. */
  silence(): void;
  /**
   * Completes the answer to the request at hand, whose PDU begins `headSize` after `at`.
   * @returns the end of the ADU
   */
  wrap(out: Buffer, at: number, pduEnd: number): number;
}
