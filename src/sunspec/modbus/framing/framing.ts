import type { Buffer } from 'node:buffer';
import type { RequestPdu } from '../server/request.ts';

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
