/** Modbus requests without their framing: Modbus application protocol 1.1b3. */
import type { Buffer } from 'node:buffer';
import { SimError } from '../../../core/errors.ts';
import { exceptionOf, modbusException } from './unit.ts';
import type { ModbusException, RequestPdu, ModbusUnit, Requester } from './unit.ts';
import type { RequestReport } from './report.ts';
import type { ConnectionJudge } from './context.ts';

/** Maximum size of a PDU: Modbus application protocol 1.1b3, 4.1. */
export const maxPdu = 253;

const maxRead = 125;
const maxWrite = 123;
const registerCount = 0x10000;

/** The sender of a request, and the log for internal errors. */
export interface Asker extends Requester {
  /** absent, or null: nobody judges the sender */
  readonly judge?: ConnectionJudge | null;
  internalError(error: unknown): void;
}

/** Function code of a request. */
export function functionOf({ buffer, pduStart }: RequestPdu): number {
  return buffer[pduStart] ?? 0;
}

/** True if the answer PDU written at `at` is an exception. */
export function isException(out: Buffer, at: number): boolean {
  return ((out[at] ?? 0) & 0x80) !== 0;
}

/**
 * Answers one request with a PDU into `out` from `at` (`maxPdu` octets must be free) and returns the end of
 * the answer. Every request gets exactly one answer; nothing is thrown.
 *
 * Served are functions 3, 4, 6 and 16. A SunSpec map lives in the holding registers; function 4
 * reads the same registers, for masters that poll input registers only, unless the unit has others.
 */
export function answer(
  pdu: RequestPdu,
  unit: ModbusUnit,
  asker: Asker,
  report: RequestReport,
  out: Buffer,
  at: number,
): number {
  try {
    switch (pdu.buffer[pdu.pduStart]) {
      case 3:
      case 4:
        return readRegisters(pdu, unit, asker, out, at);
      case 6:
      case 16: {
        const end = writeRegisters(pdu, unit, asker, out, at);
        if (report.detailed) report.written(pdu, unit, asker);
        return end;
      }
      default:
        throw refusal('this function is not served', modbusException.illegalFunction);
    }
  } catch (error) {
    const exception = exceptionOf(error);
    asker.judge?.refused(error);
    if (exception === undefined) asker.internalError(error);
    else report.refused(pdu, unit, asker, exception, error);
    return answerException(pdu, exception ?? modbusException.serverDeviceFailure, out, at);
  }
}

/** A refusal of the form of a request, independent of the unit. */
function refusal(why: string, exception: ModbusException): SimError {
  return new SimError('MAP_NOT_SUPPORTED', why, [], exception);
}

/** Answers a request with an exception; returns the end of the answer. */
export function answerException(pdu: RequestPdu, exception: number, out: Buffer, at: number): number {
  out[at] = functionOf(pdu) | 0x80;
  out[at + 1] = exception;
  return at + 2;
}

const lengthMisfit = () => refusal('its length does not fit its function', modbusException.illegalDataValue);
const beyondLast = () => refusal('the last register is 65535', modbusException.illegalDataAddress);

/** Modbus application protocol 1.1b3, 6.3 and 6.4: quantity before address. */
function readRegisters(pdu: RequestPdu, unit: ModbusUnit, asker: Asker, out: Buffer, at: number): number {
  const { buffer, pduStart: start } = pdu;
  if (pdu.pduEnd - start !== 5) throw lengthMisfit();
  const address = word(buffer, start + 1);
  const count = word(buffer, start + 3);
  if (count < 1 || count > maxRead) {
    throw refusal(`a read has 1 to ${maxRead} registers, not ${count}`, modbusException.illegalDataValue);
  }
  if (address + count > registerCount) throw beyondLast();
  const words =
    buffer[start] === 4 && unit.readInput !== undefined
      ? unit.readInput(address, count, asker)
      : unit.read(address, count, asker);
  const size = 2 * count;
  if (words.length !== size) throw new Error(`a read of ${count} registers gave ${words.length} octets`);
  out[at] = buffer[start] ?? 0;
  out[at + 1] = size;
  out.set(words, at + 2);
  return at + 2 + size;
}

function writeRegisters(pdu: RequestPdu, unit: ModbusUnit, asker: Asker, out: Buffer, at: number): number {
  return pdu.buffer[pdu.pduStart] === 6
    ? writeSingle(pdu, unit, asker, out, at)
    : writeMultiple(pdu, unit, asker, out, at);
}

/** Modbus application protocol 1.1b3, 6.6: the answer is the request. */
function writeSingle(pdu: RequestPdu, unit: ModbusUnit, asker: Asker, out: Buffer, at: number): number {
  const { buffer, pduStart: start, pduEnd: end } = pdu;
  if (end !== start + 5) throw lengthMisfit();
  unit.write(word(buffer, start + 1), buffer.subarray(end - 2, end), asker);
  return at + buffer.copy(out, at, start, end);
}

/** Modbus application protocol 1.1b3, 6.12: the whole request is checked before anything is written. */
function writeMultiple(pdu: RequestPdu, unit: ModbusUnit, asker: Asker, out: Buffer, at: number): number {
  const { buffer, pduStart: start, pduEnd: end } = pdu;
  if (end < start + 6) throw lengthMisfit();
  const address = word(buffer, start + 1);
  const count = word(buffer, start + 3);
  const size = 2 * count;
  if (count < 1 || count > maxWrite) {
    throw refusal(`a write has 1 to ${maxWrite} registers, not ${count}`, modbusException.illegalDataValue);
  }
  if (buffer[start + 5] !== size || end !== start + 6 + size) {
    throw refusal(
      `${count} registers need a byte count of ${size} and as many bytes`,
      modbusException.illegalDataValue,
    );
  }
  if (address + count > registerCount) throw beyondLast();
  unit.write(address, buffer.subarray(start + 6, end), asker);
  return at + buffer.copy(out, at, start, start + 5);
}

function word(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}
