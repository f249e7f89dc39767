import type { Buffer } from 'node:buffer';

/** A request PDU inside a buffer. */
export interface RequestPdu {
  readonly buffer: Buffer;
  readonly pduStart: number;
  readonly pduEnd: number;
  /** target of the request */
  readonly unitId: number;
}
