import type { Buffer } from 'node:buffer';

/**
 * What the Modbus stack below the bridge needs of a served unit. Both throw `SimError`
 * (codes `MAP_*`), which `errors.ts` turns into exceptions.
 */
export interface ModbusUnit {
  /** `count` registers from `address` as big-endian bytes; a view that the caller copies at once */
  read(address: number, count: number): Buffer;
  /** all-or-nothing write of whole registers */
  write(address: number, words: Buffer, peer: string): void;
}
