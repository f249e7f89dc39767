/** Where the adapters of Modbus hand their messages over. */
import { Buffer } from 'node:buffer';
import type { CommName } from '../adapter.ts';
import type { WallClock } from '../time/clock.ts';
import { decodeModbus, reportModbus } from './modbus-decode.ts';
import type {
  ModbusContent,
  ModbusExchange,
  ModbusFacts,
  ModbusMessageKind,
  ModbusMessages,
  NoAnswerReason,
  RegisterNames,
} from './modbus-messages.ts';
import type { RequestSpan } from './modbus-pdu.ts';
import type { WireDirection, WireLog } from './wire-log.ts';

/** Messages kept unless asked otherwise, and their octets at most. */
export const defaultModbusEntries = 1000;
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

/** A request as an adapter knows it. */
export interface TappedRequest extends RequestSpan, Pick<ModbusExchange, 'framing' | 'unitId' | 'broadcast' | 'names'> {
  readonly kind: 'request' | 'foreign';
  readonly direction: WireDirection;
  readonly peer: string;
  readonly deviceIndex: number | null;
  /** the frame */
  readonly raw: Buffer;
  /** why nothing goes or comes in answer, if nothing does; null: no answer is due */
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
  /** null: an answer went, or none is due */
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

  /** Octets went or came in answer, whole or a part of it. */
  answered(raw: Buffer): void {
    this.#unanswered = null;
    this.#push('answer', raw, null);
  }

  /** No answer is waited for any more. @param reason why there was none, in place of that of the request */
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

/** The way of one adapter into the channel of Modbus. */
export class ModbusTap {
  readonly messages: ModbusMessages;
  readonly comm: CommName;
  readonly clock: Pick<WallClock, 'monotonicMs'>;

  constructor(messages: ModbusMessages, comm: CommName, clock: Pick<WallClock, 'monotonicMs'>) {
    this.messages = messages;
    this.comm = comm;
    this.clock = clock;
  }

  /** True if anybody listens: nothing else of the tap may be called otherwise. */
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
