/**
 * The messages of Modbus in the wire log, of the listeners for masters and of the built-in master: their content, and
 * the channel that adapters write to.
 */
import { Buffer } from 'node:buffer';
import type { CommName } from '../adapter.ts';
import type { WireChannel, WireEntry, WireDirection, WireLog } from './wire-log.ts';
import type { WallClock } from '../time/clock.ts';

export const modbusMessageKinds = ['request', 'answer', 'no_answer', 'foreign'] as const;
/**
 * `answer`: octets sent or received in answer to a request, whole or not; `no_answer`: no octets were sent, or received,
 * in answer to a request; `foreign`: a frame on a line between others, or one to the built-in master that answers none
 * of its requests.
 */
export type ModbusMessageKind = (typeof modbusMessageKinds)[number];

export const noAnswerReasons = [
  'unit_not_served',
  'broadcast',
  'suppressed',
  'connection_ended',
  'no_answer_in_time',
] as const;
/**
 * `broadcast`: carried out by several devices, none of which answers; `suppressed`: by a fault, or the device is off;
 * `connection_ended`: before the answer was sent, or received; `no_answer_in_time`: the built-in master received none
 * within its time limit or before its next request, but one may still come.
 */
type NoAnswerReason = (typeof noAnswerReasons)[number];

/** Names and values behind the registers of one request. */
export interface RegisterNames {
  /** the points that the registers belong to, in the order of addresses: `704.WMaxLimPct` */
  readonly points: readonly string[];
  /** PDU address of the first register of each, as the master sees it; absent: unknown */
  readonly addresses?: readonly number[];
  /** points that an acknowledged write leaves unchanged */
  readonly ignored: readonly string[];
  /** Values of the points that lie whole in the registers. @param words all of them, big-endian */
  values(words: Buffer): Readonly<Record<string, number | string | null>>;
}

/** One request and its answers. */
export interface ModbusExchange extends RequestSpan {
  /** id of the message with the request */
  readonly id: number;
  readonly comm: CommName;
  readonly framing: 'mbap' | 'rtu';
  readonly unitId: number;
  /** it reaches several devices */
  readonly broadcast: boolean;
  /** Names the registers, on demand; null: no names. */
  readonly names: (() => RegisterNames) | null;
}

export interface ModbusFacts {
  readonly exchange: ModbusExchange;
  /** time since the request, ms; null for the request */
  readonly durationMs: number | null;
  /** null unless the message says that there was no answer */
  readonly noAnswer: NoAnswerReason | null;
}

/** Decoded content of a message. */
export interface ModbusContent {
  /** true if the octets are one whole frame, with the right length and checksum */
  readonly whole: boolean;
  /** of the header; null in RTU frames */
  readonly transactionId: number | null;
  readonly unitId: number | null;
  /** without the bit that marks an exception */
  readonly functionCode: number | null;
  readonly exceptionCode: number | null;
  /** the points that a request names; null where they have no names, and in answers */
  readonly points: readonly string[] | null;
  /** the points of a write that it leaves as they are; null in other messages, and where registers have no names */
  readonly ignored: readonly string[] | null;
  /** values that are written or answered, by point; null where the message carries none */
  readonly values: Readonly<Record<string, number | string | null>> | null;
}

export type ModbusMessages = WireChannel<ModbusFacts, ModbusContent>;

/** Names of function codes (Modbus application protocol 1.1b3, section 6). */
export const functionNames: Readonly<Record<number, string>> = {
  1: 'read coils',
  2: 'read discrete inputs',
  3: 'read holding registers',
  4: 'read input registers',
  5: 'write single coil',
  6: 'write single register',
  7: 'read exception status',
  8: 'diagnostics',
  11: 'get comm event counter',
  12: 'get comm event log',
  15: 'write multiple coils',
  16: 'write multiple registers',
  17: 'report server id',
  20: 'read file record',
  21: 'write file record',
  22: 'mask write register',
  23: 'read/write multiple registers',
  24: 'read fifo queue',
  43: 'encapsulated interface transport',
};

/** Names of exception codes (section 7). */
export const exceptionNames: Readonly<Record<number, string>> = {
  1: 'illegal function',
  2: 'illegal data address',
  3: 'illegal data value',
  4: 'server device failure',
  5: 'acknowledge',
  6: 'server device busy',
  7: 'negative acknowledge',
  8: 'memory parity error',
  10: 'gateway path unavailable',
  11: 'gateway target device failed to respond',
};

/** Functions whose PDU has an address after the function code, and after it a quantity unless they are in `single`. */
const addressed: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 6, 15, 16, 22, 23]);
/** Functions among `addressed` that mean one register or coil. */
const single: ReadonlySet<number> = new Set([5, 6, 22]);

/** Registers or coils that a request names. */
interface RequestSpan {
  readonly functionCode: number;
  /** null where the PDU is too short to have one, or the function has none */
  readonly address: number | null;
  readonly count: number | null;
}

/** @param pduStart offset of the PDU of a request in `bytes`; `pduEnd` is the offset after it */
export function spanOf(bytes: Buffer, pduStart: number, pduEnd: number): RequestSpan {
  const functionCode = bytes[pduStart] ?? 0;
  const hasAddress = addressed.has(functionCode);
  const wordAt = (at: number) => (hasAddress && pduStart + at + 2 <= pduEnd ? bytes.readUInt16BE(pduStart + at) : null);
  return { functionCode, address: wordAt(1), count: single.has(functionCode) ? 1 : wordAt(3) };
}

const crcTable = Uint16Array.from({ length: 256 }, (_, octet) => {
  let crc = octet;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >> 1 : (crc >> 1) ^ 0xa001;
  return crc;
});

/** CRC-16 of octets, sent low octet first; 0 over octets that end with their own CRC. */
export function crc16(bytes: Buffer, start: number, end: number): number {
  let crc = 0xffff;
  for (let at = start; at < end; at++) crc = (crc >> 8) ^ (crcTable[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  return crc;
}

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

/** Decodes Modbus messages as sent, including frames corrupted by faults. */
function decodeModbus({ kind, raw, rawLength, facts: { exchange } }: WireEntry<ModbusFacts>): ModbusContent {
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

/** Summary of a message for a recording. */
function inWords({ facts: { exchange, noAnswer } }: WireEntry<ModbusFacts>, exceptionCode: number | null): string {
  if (noAnswer !== null) return `no answer: ${noAnswer}`;
  if (exceptionCode !== null) return `exception ${exceptionCode} (${exceptionNames[exceptionCode] ?? 'unknown'})`;
  const { functionCode, address, count, unitId } = exchange;
  const registers = address === null ? '' : ` ${address}..${address + Math.max(count ?? 1, 1) - 1}`;
  return `${functionNames[functionCode] ?? `function ${functionCode}`}${registers}, unit ${unitId}`;
}

/** Facts of a message in a recording: its exchange, and the points of its registers. */
function reportModbus(entry: WireEntry<ModbusFacts>): Readonly<Record<string, unknown>> {
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

/** Default number of messages kept. */
export const defaultModbusEntries = 1000;
/** Maximum octets of the messages kept. */
const maxBytes = 4 * 1024 * 1024;

/** The channel of Modbus: one for all of its adapters. */
export function createModbusMessages(wireLog: WireLog): ModbusMessages {
  return wireLog.channel<ModbusFacts, ModbusContent>({
    protocol: 'modbus',
    key: '',
    entries: defaultModbusEntries,
    bytes: maxBytes,
    decode: decodeModbus,
    report: reportModbus,
  });
}

/** A request that an adapter reports. */
interface TappedRequest extends RequestSpan, Pick<ModbusExchange, 'framing' | 'unitId' | 'broadcast' | 'names'> {
  readonly kind: 'request' | 'foreign';
  readonly direction: WireDirection;
  readonly peer: string;
  readonly deviceIndex: number | null;
  /** the frame */
  readonly raw: Buffer;
  /** reason to report if no answer is sent or received; null: no answer is due */
  readonly unanswered: NoAnswerReason | null;
}

const noBytes = Buffer.alloc(0);

/** One request whose answers are still to be reported. */
export class TappedExchange implements ModbusExchange {
  readonly id: number;
  readonly comm: CommName;
  readonly framing: 'mbap' | 'rtu';
  readonly unitId: number;
  readonly functionCode: number;
  readonly address: number | null;
  readonly count: number | null;
  readonly broadcast: boolean;
  readonly names: (() => RegisterNames) | null;
  readonly #tap: ModbusTap;
  readonly #sinceMs: number;
  readonly #direction: WireDirection;
  readonly #peer: string;
  readonly #deviceIndex: number | null;
  /** reason to report if no answer follows; null: an answer was reported, or none is due */
  #unanswered: NoAnswerReason | null;

  constructor(tap: ModbusTap, request: TappedRequest) {
    this.id = tap.messages.lastId + 1;
    this.comm = tap.comm;
    this.framing = request.framing;
    this.unitId = request.unitId;
    this.functionCode = request.functionCode;
    this.address = request.address;
    this.count = request.count;
    this.broadcast = request.broadcast;
    this.names = request.names;
    this.#tap = tap;
    this.#sinceMs = tap.clock.monotonicMs();
    this.#direction = request.direction === 'in' ? 'out' : 'in';
    this.#peer = request.peer;
    this.#deviceIndex = request.deviceIndex;
    this.#unanswered = request.unanswered;
  }

  /** Reports octets of an answer, whole or a part of it. */
  answered(raw: Buffer): void {
    this.#unanswered = null;
    this.#push('answer', raw, null);
  }

  /** Reports that no answer follows, unless one was reported. @param reason default: that of the request */
  ended(reason: NoAnswerReason | null = this.#unanswered): void {
    if (this.#unanswered === null) return;
    this.#unanswered = null;
    this.#push('no_answer', noBytes, reason);
  }

  #push(kind: ModbusMessageKind, raw: Buffer, noAnswer: NoAnswerReason | null): void {
    const { messages, clock } = this.#tap;
    // the last observer may have gone
    if (!messages.active) return;
    messages.push({
      direction: this.#direction,
      peer: this.#peer,
      deviceIndex: this.#deviceIndex,
      kind,
      summary: noAnswer ?? '',
      raw,
      facts: { exchange: this, durationMs: clock.monotonicMs() - this.#sinceMs, noAnswer },
    });
  }
}

/** Reports the messages of one adapter to the channel of Modbus. */
export class ModbusTap {
  readonly messages: ModbusMessages;
  readonly comm: CommName;
  readonly clock: Pick<WallClock, 'monotonicMs'>;

  constructor(messages: ModbusMessages, comm: CommName, clock: Pick<WallClock, 'monotonicMs'>) {
    this.messages = messages;
    this.comm = comm;
    this.clock = clock;
  }

  /** True while there is an observer; `request` may be called only then. */
  get active(): boolean {
    return this.messages.active;
  }

  request(request: TappedRequest): TappedExchange {
    const exchange = new TappedExchange(this, request);
    const { direction, peer, deviceIndex, kind, raw } = request;
    const facts = { exchange, durationMs: null, noAnswer: null };
    this.messages.push({ direction, peer, deviceIndex, kind, summary: '', raw, facts });
    return exchange;
  }
}
