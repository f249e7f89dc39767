import { SimError } from '../../core/errors.ts';
import { exceptionNames } from '../../core/wire/modbus-pdu.ts';

/** `exception 2 (illegal data address)` */
export function exceptionText(code: number): string {
  return `exception ${code} (${exceptionNames[code] ?? 'not a code of the protocol'})`;
}

/** @param where the request in words, appended to the message */
export function exceptionError(code: number, where = ''): SimError {
  return new SimError('PEER_ERROR', exceptionText(code) + where, [], code);
}

/** The Modbus exception code behind an error; null: another error. */
export function exceptionIn(error: unknown): number | null {
  return error instanceof SimError && error.code === 'PEER_ERROR' ? (error.protocolCode ?? null) : null;
}

/** A well-formed frame that does not answer the request. */
export class UnfitAnswer extends SimError {
  constructor(message: string) {
    super('PEER_ERROR', message);
  }
}

/** True if an error is about the device or the connection to it. */
export function isOfPeer(error: unknown): error is SimError {
  return error instanceof SimError && error.code.startsWith('PEER_');
}

export function peerError(message: string): SimError {
  return new SimError('PEER_ERROR', message);
}

export function peerTimeout(message: string): SimError {
  return new SimError('PEER_TIMEOUT', message);
}
