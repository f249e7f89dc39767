import type { Buffer } from 'node:buffer';
import type { RegisterNames } from '../../../core/wire/modbus-messages.ts';
import type { Role } from '../access/roles.ts';

/** The sender of a request. */
export interface Requester {
  /** `address:port`, or the path of a serial line */
  readonly peer: string;
  /** absent: the listener has no roles; null: a TLS session whose certificate gives no valid role */
  readonly role?: Role | null;
}

/**
 * A served unit of the Modbus stack. Reads and writes throw `SimError` (codes `MAP_*` and `ACCESS_DENIED`), which
 * `errors.ts` maps to exceptions.
 */
export interface ModbusUnit {
  /** the device of the unit; absent: none, or several */
  readonly deviceIndex?: number | undefined;
  /** index of the unit for faults; absent: `deviceIndex` */
  readonly faultIndex?: number;
  /** true: carries out requests and never answers: a broadcast, or several devices at one address */
  readonly mute?: true;
  /** Restricts a group to the devices that act; absent on a single device. */
  subset?(acts: (deviceIndex: number) => boolean): ModbusUnit;
  /** `count` registers from `address` as big-endian bytes; a view that the caller copies at once */
  read(address: number, count: number, by: Requester): Buffer;
  /** input registers (function 4); absent: they mirror the holding registers */
  readInput?(address: number, count: number, by: Requester): Buffer;
  /**
   * Names the 1 to 125 registers of a request with their present points, for the wire log; the result may be called
   * much later. Absent, or null: no names.
   */
  names?(functionCode: number, address: number, count: number): (() => RegisterNames) | null;
  /** all-or-nothing write of whole registers */
  write(address: number, words: Buffer, by: Requester): void;
}
