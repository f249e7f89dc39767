/** Content of a Modbus PDU on its own (Modbus application protocol 1.1b3, sections 6 and 7). */
import type { Buffer } from 'node:buffer';

export const functionNames: Readonly<Record<number, string>> = {
  1: 'read coils',
  2: 'read discrete inputs',
  3: 'read holding registers',
  4: 'read input registers',
  5: 'write single coil',
  6: 'write single register',
  7: 'read exception status',
  8: 'diagnostics',
  11: 'get comm event counter',
  12: 'get comm event log',
  15: 'write multiple coils',
  16: 'write multiple registers',
  17: 'report server id',
  20: 'read file record',
  21: 'write file record',
  22: 'mask write register',
  23: 'read/write multiple registers',
  24: 'read fifo queue',
  43: 'encapsulated interface transport',
};

export const exceptionNames: Readonly<Record<number, string>> = {
  1: 'illegal function',
  2: 'illegal data address',
  3: 'illegal data value',
  4: 'server device failure',
  5: 'acknowledge',
  6: 'server device busy',
  7: 'negative acknowledge',
  8: 'memory parity error',
  10: 'gateway path unavailable',
  11: 'gateway target device failed to respond',
};

/** Functions whose PDU has an address behind the function code, and behind it a quantity. */
const addressed: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 6, 15, 16, 22, 23]);
/** Functions among `addressed` that mean one register or coil. */
const single: ReadonlySet<number> = new Set([5, 6, 22]);

/** Registers or coils that a request names. */
export interface RequestSpan {
  readonly functionCode: number;
  /** null where the PDU is too short to have one, or the function has none */
  readonly address: number | null;
  readonly count: number | null;
}

/** @param pduStart of a request in `bytes`; it ends before `pduEnd` */
export function spanOf(bytes: Buffer, pduStart: number, pduEnd: number): RequestSpan {
  const functionCode = bytes[pduStart] ?? 0;
  const hasAddress = addressed.has(functionCode);
  const wordAt = (at: number) => (hasAddress && pduStart + at + 2 <= pduEnd ? bytes.readUInt16BE(pduStart + at) : null);
  return { functionCode, address: wordAt(1), count: single.has(functionCode) ? 1 : wordAt(3) };
}
