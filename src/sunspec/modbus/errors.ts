import { SimError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';

/** Exception codes of the Modbus application protocol, section 7. */
export const modbusException = {
  illegalFunction: 0x01,
  illegalDataAddress: 0x02,
  illegalDataValue: 0x03,
  serverDeviceFailure: 0x04,
  gatewayTargetFailed: 0x0b,
} as const;

export type ModbusException = (typeof modbusException)[keyof typeof modbusException];

/** The only place where an error of ours becomes a Modbus exception; a code not listed is our own failure. */
const exceptionOfCode: Partial<Readonly<Record<ErrorCode, ModbusException>>> = {
  MAP_ILLEGAL_ADDRESS: modbusException.illegalDataAddress,
  MAP_UNKNOWN_POINT: modbusException.illegalDataAddress,
  MAP_READ_ONLY: modbusException.illegalDataAddress,
  MAP_NOT_IMPLEMENTED: modbusException.illegalDataAddress,
  MAP_PARTIAL_POINT: modbusException.illegalDataValue,
  MAP_BAD_VALUE: modbusException.illegalDataValue,
  MAP_NOT_SUPPORTED: modbusException.illegalDataValue,
};

/**
 * Exception that answers what a unit threw, or `undefined` when the throw is not a refusal of the
 * request but a failure of ours (answered as `serverDeviceFailure` and logged).
 */
export function exceptionOf(error: unknown): ModbusException | undefined {
  return error instanceof SimError ? exceptionOfCode[error.code] : undefined;
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'not permitted to use this port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be resolved now',
  EAFNOSUPPORT: 'this machine does not support that kind of address',
  EMFILE: 'too many open files (raise the limit of open files, or serve fewer ports)',
  ENFILE: 'the machine has too many open files',
  ERR_SOCKET_BAD_PORT: 'a port is a number from 0 to 65535',
};

/** `LISTEN_FAILED` with host, port and the reason in words. */
export function listenFailed(host: string, port: number, cause: unknown): SimError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  const detail = cause instanceof Error ? cause.message : String(cause);
  const reason = listenReasons[code] ?? detail;
  return new SimError('LISTEN_FAILED', `cannot listen on ${hostAndPort(host, port)}: ${reason}`, [
    { name: hostAndPort(host, port), detail: reason },
  ]);
}

/** `host:port`, an IPv6 address in brackets. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
