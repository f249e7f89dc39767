/** A served unit as the Modbus stack sees it: requests, their sender, and the exception for each error. */
import type { Buffer } from 'node:buffer';
import type { RegisterNames } from '../../../core/wire/modbus.ts';
import type { Role } from '../access/certificate-role.ts';
import { SimError } from '../../../core/errors.ts';
import type { ErrorCode } from '../../../core/errors.ts';
import type { JudgedMap } from '../findings/map-bridge.ts';

/** The sender of a request. */
export interface Requester {
  /** `address:port`, or the path of a serial line */
  readonly peer: string;
  /** absent: the listener has no roles; null: a TLS session whose certificate gives no valid role */
  readonly role?: Role | null;
}

/** Consecutive registers of a map. */
export interface RegisterPlace {
  /** PDU address of the first one */
  readonly address: number;
  readonly count: number;
}

/**
 * A served unit of the Modbus stack. Reads and writes throw `SimError` (codes `MAP_*` and `ACCESS_DENIED`), which
 * `exceptionOf` maps to exceptions.
 */
export interface ModbusUnit {
  /** the device of the unit; absent: none, or several */
  readonly deviceIndex?: number | undefined;
  /** index of the unit for faults; absent: `deviceIndex` */
  readonly faultIndex?: number;
  /** the SunSpec map, for judges; absent: it has none, or several; null: faults have moved its registers */
  readonly judged?: JudgedMap | null;
  /** Where the registers of a request really lie while faults have moved them; absent: they are never moved. */
  realPlaces?(address: number, count: number): readonly RegisterPlace[];
  /** true: carries out requests and never answers: a broadcast, or several devices at one address */
  readonly mute?: true;
  /** Restricts a group to the devices that act; absent on a single device. */
  subset?(acts: (deviceIndex: number) => boolean): ModbusUnit;
  /** `count` registers from `address` as big-endian bytes; a view that the caller copies at once */
  read(address: number, count: number, by: Requester): Buffer;
  /** input registers (function 4); absent: the same as the holding registers */
  readInput?(address: number, count: number, by: Requester): Buffer;
  /**
   * Names the 1 to 125 registers of a request with their present points, for the wire log; the result may be called
   * much later. Absent, or null: no names.
   */
  names?(functionCode: number, address: number, count: number): (() => RegisterNames) | null;
  /** all-or-nothing write of whole registers */
  write(address: number, words: Buffer, by: Requester): void;
}

/** A request PDU inside a buffer. */
export interface RequestPdu {
  readonly buffer: Buffer;
  readonly pduStart: number;
  readonly pduEnd: number;
  /** target of the request */
  readonly unitId: number;
}

/** Exception codes of the Modbus application protocol, section 7. */
export const modbusException = {
  illegalFunction: 0x01,
  illegalDataAddress: 0x02,
  illegalDataValue: 0x03,
  serverDeviceFailure: 0x04,
  acknowledge: 0x05,
  serverDeviceBusy: 0x06,
  memoryParityError: 0x08,
  gatewayPathUnavailable: 0x0a,
  gatewayTargetFailed: 0x0b,
} as const;

export type ModbusException = (typeof modbusException)[keyof typeof modbusException];

/** The only translation of error codes to Modbus exceptions; an unlisted code is an internal error. */
const exceptionOfCode: Partial<Readonly<Record<ErrorCode, ModbusException>>> = {
  MAP_ILLEGAL_ADDRESS: modbusException.illegalDataAddress,
  MAP_UNKNOWN_POINT: modbusException.illegalDataAddress,
  MAP_READ_ONLY: modbusException.illegalDataAddress,
  MAP_NOT_IMPLEMENTED: modbusException.illegalDataAddress,
  MAP_PARTIAL_POINT: modbusException.illegalDataValue,
  MAP_BAD_VALUE: modbusException.illegalDataValue,
  MAP_NOT_SUPPORTED: modbusException.illegalDataValue,
  // under local control no register is writable
  MAP_LOCAL_CONTROL: modbusException.illegalDataAddress,
  // Modbus/TCP Security: a function that the role does not permit is illegal for this client
  ACCESS_DENIED: modbusException.illegalFunction,
};

/**
 * Exception for an error thrown by a unit; undefined: not a refusal but an internal error (answered as
 * `serverDeviceFailure` and logged).
 */
export function exceptionOf(error: unknown): number | undefined {
  return error instanceof SimError ? (error.protocolCode ?? exceptionOfCode[error.code]) : undefined;
}
