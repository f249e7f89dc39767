/** Decodes Modbus messages as sent, including frames corrupted by faults. */
import type { Buffer } from 'node:buffer';
import { crc16 } from '../net/crc16.ts';
import type { ModbusContent, ModbusFacts, RegisterNames } from './modbus-messages.ts';
import { exceptionNames, functionNames, spanOf } from './modbus-pdu.ts';
import type { WireEntry } from './wire-log.ts';

/** A PDU inside a frame. */
interface Frame {
  readonly raw: Buffer;
  readonly transactionId: number | null;
  readonly unitId: number;
  readonly pduStart: number;
  readonly pduEnd: number;
}

const mbapOctets = 7;
/** transaction id, protocol id, length */
const lengthEnd = 6;
const crcOctets = 2;

/** The frame that the octets are; null: they are not one whole frame. */
function frameOf(raw: Buffer, framing: 'mbap' | 'rtu'): Frame | null {
  if (framing === 'rtu') {
    if (raw.length < 2 + crcOctets || crc16(raw, 0, raw.length) !== 0) return null;
    return { raw, transactionId: null, unitId: raw[0] ?? 0, pduStart: 1, pduEnd: raw.length - crcOctets };
  }
  if (raw.length <= mbapOctets || raw.readUInt16BE(2) !== 0 || raw.readUInt16BE(4) !== raw.length - lengthEnd)
    return null;
  return {
    raw,
    transactionId: raw.readUInt16BE(0),
    unitId: raw[lengthEnd] ?? 0,
    pduStart: mbapOctets,
    pduEnd: raw.length,
  };
}

type Values = ModbusContent['values'];

/** Values of `count` registers that end with the PDU; null where the PDU has another number of octets. */
function valuesIn({ raw, pduEnd }: Frame, dataAt: number, count: number | null, names: RegisterNames): Values {
  if (count === null || pduEnd - dataAt !== 2 * count) return null;
  return names.values(raw.subarray(dataAt, pduEnd));
}

/** Values that a request writes. */
function writtenBy(frame: Frame, names: RegisterNames): Values {
  const { raw, pduStart, pduEnd } = frame;
  const { functionCode, count } = spanOf(raw, pduStart, pduEnd);
  if (functionCode === 6) return valuesIn(frame, pduStart + 3, 1, names);
  const isWhole = functionCode === 16 && raw[pduStart + 5] === 2 * (count ?? 0);
  return isWhole ? valuesIn(frame, pduStart + 6, count, names) : null;
}

/** Values that an answer to a read carries. */
function readBy(frame: Frame, count: number | null, names: RegisterNames): Values {
  const { raw, pduStart } = frame;
  return raw[pduStart + 1] === 2 * (count ?? 0) ? valuesIn(frame, pduStart + 2, count, names) : null;
}

const unreadable: ModbusContent = {
  whole: false,
  transactionId: null,
  unitId: null,
  functionCode: null,
  exceptionCode: null,
  points: null,
  ignored: null,
  values: null,
};

export function decodeModbus({ kind, raw, rawLength, facts: { exchange } }: WireEntry<ModbusFacts>): ModbusContent {
  const frame = raw.length === rawLength ? frameOf(raw, exchange.framing) : null;
  if (frame === null) return unreadable;
  const first = raw[frame.pduStart] ?? 0;
  const isException = kind === 'answer' && first >= 0x80;
  const functionCode = isException ? first & 0x7f : first;
  const head = {
    ...unreadable,
    whole: true,
    transactionId: frame.transactionId,
    unitId: frame.unitId,
    functionCode,
    exceptionCode: isException ? (raw[frame.pduStart + 1] ?? null) : null,
  };
  if (kind === 'foreign' || exchange.names === null || isException) return head;
  const names = exchange.names();
  if (kind === 'request') {
    const isWrite = functionCode === 6 || functionCode === 16;
    const ignored = isWrite ? names.ignored : null;
    return { ...head, points: names.points, ignored, values: writtenBy(frame, names) };
  }
  const isRead = functionCode === 3 || functionCode === 4;
  return { ...head, values: isRead ? readBy(frame, exchange.count, names) : null };
}

/** A message in a few words, as its octets or their absence say. */
function inWords({ facts: { exchange, noAnswer } }: WireEntry<ModbusFacts>, exceptionCode: number | null): string {
  if (noAnswer !== null) return `no answer: ${noAnswer}`;
  if (exceptionCode !== null) return `exception ${exceptionCode} (${exceptionNames[exceptionCode] ?? 'unknown'})`;
  const { functionCode, address, count, unitId } = exchange;
  const registers = address === null ? '' : ` ${address}..${address + Math.max(count ?? 1, 1) - 1}`;
  return `${functionNames[functionCode] ?? `function ${functionCode}`}${registers}, unit ${unitId}`;
}

/** Facts of a message in a recording: its exchange, and the points of its registers. */
export function reportModbus(entry: WireEntry<ModbusFacts>): Readonly<Record<string, unknown>> {
  const { exchange, durationMs, noAnswer } = entry.facts;
  const { whole, exceptionCode, values } = decodeModbus(entry);
  const names = entry.kind === 'request' ? exchange.names?.() : undefined;
  const { points = [], addresses = [] } = names ?? {};
  return {
    summary: inWords(entry, exceptionCode),
    exchange_id: exchange.id,
    interface: exchange.comm,
    framing: exchange.framing,
    unit_id: exchange.unitId,
    function: exchange.functionCode,
    address: exchange.address,
    count: exchange.count,
    ...(names && { points: Object.fromEntries(points.map((name, i) => [name, addresses[i] ?? null])) }),
    ...(noAnswer === null && { whole, values }),
    ...(exceptionCode !== null && { exception: exceptionCode }),
    ...(noAnswer !== null && { no_answer: noAnswer }),
    ...(durationMs !== null && { duration_ms: Math.round(durationMs * 1000) / 1000 }),
  };
}
