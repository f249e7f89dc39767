import { SimError } from '../../../core/errors.ts';
import type { ErrorCode } from '../../../core/errors.ts';

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
