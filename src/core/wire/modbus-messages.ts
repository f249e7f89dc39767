/** The messages of Modbus in the wire log: of the listeners for masters, and of the built-in master. */
import type { CommName } from '../adapter.ts';
import type { RequestSpan } from './modbus-pdu.ts';
import type { WireChannel } from './wire-log.ts';

export const modbusMessageKinds = ['request', 'answer', 'no_answer', 'foreign'] as const;
/**
 * `answer`: octets sent or received in answer to a request, whole or not; `no_answer`: nothing left, or came, in answer
 * to a request; `foreign`: a frame on a line between others, or one to the built-in master that answers none of its
 * requests.
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
 * `connection_ended`: before the answer could leave, or came; `no_answer_in_time`: none came to the built-in master
 * within its time limit or before its next request, but one may still come.
 */
export type NoAnswerReason = (typeof noAnswerReasons)[number];

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
