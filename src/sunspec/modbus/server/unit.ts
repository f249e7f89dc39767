import type { Buffer } from 'node:buffer';
import type { RegisterNames } from '../../../core/wire/modbus-messages.ts';
import type { Role } from '../access/roles.ts';

/** The peer that sent a request. */
export interface Requester {
  /** `address:port`, or the path of a serial line */
  readonly peer: string;
  /** absent: the listener knows no roles; null: a TLS session whose certificate gives no usable role */
  readonly role?: Role | null;
}

/**
 * A served unit, as the Modbus stack below the bridge uses it. Reads and writes throw `SimError` (codes `MAP_*` and
 * `ACCESS_DENIED`), which `errors.ts` turns into exceptions.
 */
export interface ModbusUnit {
  /** the device behind the unit; absent: none, or several */
  readonly deviceIndex?: number | undefined;
  /** by which faults find the unit; absent: `deviceIndex` */
  readonly faultIndex?: number;
  /** carries requests out and never answers: a broadcast, or several devices at one address */
  readonly mute?: true;
  /** Restricts a group to the devices that act; absent on a single device. */
  subset?(acts: (deviceIndex: number) => boolean): ModbusUnit;
  /** `count` registers from `address` as big-endian bytes; a view that the caller copies at once */
  read(address: number, count: number, by: Requester): Buffer;
  /** input registers (function 4), in the same way; absent: they mirror the holding registers */
  readInput?(address: number, count: number, by: Requester): Buffer;
  /**
   * Names the 1 to 125 registers of a request as the map shows them now, for the wire log; the result is called when
   * somebody wants to know, which may be long after. Absent, or null: they have no names.
   */
  names?(functionCode: number, address: number, count: number): (() => RegisterNames) | null;
  /** all-or-nothing write of whole registers */
  write(address: number, words: Buffer, by: Requester): void;
}
