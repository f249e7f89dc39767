import { Buffer } from 'node:buffer';
import { exceptionOf, modbusException } from './errors.ts';
import type { ModbusException } from './errors.ts';
import type { ModbusUnit } from './unit.ts';

/** Transaction id, protocol id, length: what stands before the octets that the length counts. */
const lengthEnd = 6;
const unitIdAt = 6;
const pduAt = 7;
/** The length counts the unit id and a PDU of 1..253 octets. */
const minLength = 2;
const maxLength = 254;
/** Longest ADU: Modbus application protocol 1.1b3, 4.1. */
export const maxAdu = lengthEnd + maxLength;
/** Longest answer: 125 registers with function and byte count. */
export const maxAnswer = pduAt + 2 + 250;

const maxRead = 125;
const maxWrite = 123;
const registerCount = 0x10000;
const noBytes = Buffer.alloc(0);

export type MbapResult =
  /** `buffer`, `start` and `end` hold one ADU until the next call */
  | 'frame'
  /** everything given is consumed or kept */
  | 'more'
  /** protocol id or length is illegal: the stream has no frame boundary any more */
  | 'broken';

/**
 * Cuts a byte stream into ADUs by the length of the MBAP header alone. Frames that lie whole in a
 * chunk are not copied; of a frame that a chunk cuts off, at most one ADU is kept.
 */
export class MbapSplitter {
  buffer: Buffer = noBytes;
  start = 0;
  end = 0;
  #chunk: Buffer = noBytes;
  #at = 0;
  #kept: Buffer | undefined;
  #keptLength = 0;

  /** Octets of a frame that has begun and is not complete. */
  get keptLength(): number {
    return this.#keptLength;
  }

  /** Octets that this splitter keeps in memory. */
  get heldLength(): number {
    return this.#chunk.length + this.#keptLength;
  }

  /** Gives the next octets of the stream; only after `next` has answered `more`. */
  push(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#at = 0;
  }

  next(): MbapResult {
    if (this.#keptLength > 0) return this.#complete(this.#kept ?? noBytes);
    const chunk = this.#chunk;
    const start = this.#at;
    const left = chunk.length - start;
    if (left < lengthEnd) return this.#keep(left);
    const size = aduSize(chunk, start);
    if (size === 0) return 'broken';
    if (left < size) return this.#keep(left);
    this.buffer = chunk;
    this.start = start;
    this.end = this.#at = start + size;
    return 'frame';
  }

  #keep(left: number): 'more' {
    if (left > 0) {
      this.#kept ??= Buffer.allocUnsafeSlow(maxAdu);
      this.#chunk.copy(this.#kept, 0, this.#at);
      this.#keptLength = left;
    }
    return this.#finishChunk();
  }

  /** Fills the kept frame up: first to its length field, then to its end. */
  #complete(kept: Buffer): MbapResult {
    if (this.#keptLength < lengthEnd && !this.#fill(kept, lengthEnd)) return this.#finishChunk();
    const size = aduSize(kept, 0);
    if (size === 0) return 'broken';
    if (!this.#fill(kept, size)) return this.#finishChunk();
    this.buffer = kept;
    this.start = 0;
    this.end = size;
    this.#keptLength = 0;
    return 'frame';
  }

  #fill(kept: Buffer, upTo: number): boolean {
    const taken = this.#chunk.copy(kept, this.#keptLength, this.#at, this.#at + upTo - this.#keptLength);
    this.#at += taken;
    this.#keptLength += taken;
    return this.#keptLength === upTo;
  }

  #finishChunk(): 'more' {
    this.#chunk = this.buffer = noBytes;
    this.#at = 0;
    return 'more';
  }
}

/** Octets of the ADU at `start`, or 0 when its header is illegal. */
function aduSize(bytes: Buffer, start: number): number {
  if (bytes[start + 2] !== 0 || bytes[start + 3] !== 0 || bytes[start + 4] !== 0) return 0;
  const length = bytes[start + 5] ?? 0;
  return length < minLength || length > maxLength ? 0 : lengthEnd + length;
}

/** One ADU inside a buffer. */
export interface Adu {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Unit id that a request is meant for. */
export function unitIdOf(adu: Adu): number {
  return adu.buffer[adu.start + unitIdAt] ?? 0;
}

/** Whether the answer written at `at` is an exception. */
export function isException(out: Buffer, at: number): boolean {
  return ((out[at + pduAt] ?? 0) & 0x80) !== 0;
}

/** Who asks, and where a failure of ours is told. */
export interface Asker {
  /** `address:port` */
  readonly peer: string;
  internalError(error: unknown): void;
}

/**
 * Answers one request into `out` from `at` (`maxAnswer` octets must be free) and returns the end of
 * the answer. Every request gets exactly one answer; nothing is thrown.
 *
 * Served are functions 3, 4, 6 and 16. A SunSpec map lives in the holding registers; function 4
 * reads the same registers, for masters that poll input registers only.
 */
export function answer(adu: Adu, unit: ModbusUnit, asker: Asker, out: Buffer, at: number): number {
  try {
    switch (adu.buffer[adu.start + pduAt]) {
      case 3:
      case 4:
        return readRegisters(adu, unit, out, at);
      case 6:
        return writeRegister(adu, unit, asker.peer, out, at);
      case 16:
        return writeRegisters(adu, unit, asker.peer, out, at);
      default:
        return answerException(adu, modbusException.illegalFunction, out, at);
    }
  } catch (error) {
    const exception = exceptionOf(error);
    if (exception === undefined) asker.internalError(error);
    return answerException(adu, exception ?? modbusException.serverDeviceFailure, out, at);
  }
}

/** Answers a request with an exception; returns the end of the answer. */
export function answerException(adu: Adu, exception: ModbusException, out: Buffer, at: number): number {
  const code = (adu.buffer[adu.start + pduAt] ?? 0) | 0x80;
  const end = header(adu, 2, out, at);
  out[end] = code;
  out[end + 1] = exception;
  return end + 2;
}

/** Modbus application protocol 1.1b3, 6.3 and 6.4: quantity before address. */
function readRegisters(adu: Adu, unit: ModbusUnit, out: Buffer, at: number): number {
  const { buffer, start } = adu;
  if (adu.end - start !== pduAt + 5) return answerException(adu, modbusException.illegalDataValue, out, at);
  const address = word(buffer, start + pduAt + 1);
  const count = word(buffer, start + pduAt + 3);
  if (count < 1 || count > maxRead) return answerException(adu, modbusException.illegalDataValue, out, at);
  if (address + count > registerCount) return answerException(adu, modbusException.illegalDataAddress, out, at);
  const words = unit.read(address, count);
  const size = 2 * count;
  if (words.length !== size) throw new Error(`a read of ${count} registers gave ${words.length} octets`);
  const end = header(adu, 2 + size, out, at);
  out[end] = buffer[start + pduAt] ?? 0;
  out[end + 1] = size;
  out.set(words, end + 2);
  return end + 2 + size;
}

/** Modbus application protocol 1.1b3, 6.6: the answer is the request. */
function writeRegister(adu: Adu, unit: ModbusUnit, peer: string, out: Buffer, at: number): number {
  const { buffer, start } = adu;
  const end = start + pduAt + 5;
  if (adu.end !== end) return answerException(adu, modbusException.illegalDataValue, out, at);
  unit.write(word(buffer, start + pduAt + 1), buffer.subarray(end - 2, end), peer);
  return at + buffer.copy(out, at, start, end);
}

/** Modbus application protocol 1.1b3, 6.12: the whole request is checked before anything is written. */
function writeRegisters(adu: Adu, unit: ModbusUnit, peer: string, out: Buffer, at: number): number {
  const { buffer, start } = adu;
  const pdu = start + pduAt;
  if (adu.end < pdu + 6) return answerException(adu, modbusException.illegalDataValue, out, at);
  const address = word(buffer, pdu + 1);
  const count = word(buffer, pdu + 3);
  const size = 2 * count;
  if (count < 1 || count > maxWrite || buffer[pdu + 5] !== size || adu.end !== pdu + 6 + size) {
    return answerException(adu, modbusException.illegalDataValue, out, at);
  }
  if (address + count > registerCount) return answerException(adu, modbusException.illegalDataAddress, out, at);
  unit.write(address, buffer.subarray(pdu + 6, adu.end), peer);
  const end = header(adu, 5, out, at);
  return end + buffer.copy(out, end, pdu, pdu + 5);
}

/** MBAP header of an answer whose PDU has `pduSize` octets; returns where the PDU begins. */
function header(adu: Adu, pduSize: number, out: Buffer, at: number): number {
  const { buffer, start } = adu;
  out[at] = buffer[start] ?? 0;
  out[at + 1] = buffer[start + 1] ?? 0;
  out[at + 2] = 0;
  out[at + 3] = 0;
  out[at + 4] = 0;
  out[at + 5] = pduSize + 1;
  out[at + unitIdAt] = buffer[start + unitIdAt] ?? 0;
  return at + pduAt;
}

function word(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}
