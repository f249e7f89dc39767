/** OCPP-J between one charge point and its central system, free of version and device. */
import type { OcppSubprotocol } from '../../contract/ocpp.ts';

export type { OcppSubprotocol } from '../../contract/ocpp.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type Payload = Readonly<Record<string, unknown>>;

/** Numbers of the frame types. */
export const frameTypes = { call: 2, result: 3, error: 4, resultError: 5, send: 6 } as const;

/** Outcome of a call. Never rejects. */
export type CallOutcome =
  | { readonly kind: 'result'; readonly payload: Payload; readonly durationMs: number }
  | {
      readonly kind: 'error';
      readonly code: string;
      readonly description: string;
      readonly details: unknown;
      readonly durationMs: number;
    }
  /** no answer in time */
  | { readonly kind: 'timeout' }
  /** the connection broke while the answer was awaited: the peer may have received it or not */
  | { readonly kind: 'lost' }
  /** it was never sent: no connection, or the message itself breaks its schema */
  | { readonly kind: 'unsent'; readonly why: string };

export interface CallOptions {
  /** ms; default that of the line */
  readonly timeoutMs?: number;
  /** false: the payload goes out even where it breaks its schema, and the answer is not checked either */
  readonly validate?: boolean;
  /** for a repeat of the same message; default a new one */
  readonly messageId?: string;
  /** before everything that waits: BootNotification */
  readonly urgent?: boolean;
}

/** A refusal of a call of the central system, with the code of the error table of its version. */
export class CallError extends Error {
  readonly code: string;
  readonly details: Payload;

  constructor(code: string, description: string, details: Payload = {}) {
    super(description);
    this.code = code;
    this.details = details;
  }
}

/** Work that follows once the answer is on the wire ("answer first, message after"). */
export type After = (act: () => void) => void;

/** Answer of a handler to a call that must not be answered at all. */
export const noAnswer = Symbol('no answer');

type Answer = Payload | typeof noAnswer;

/** Answers a call of the central system whose payload fits its schema. @throws CallError */
export type CallHandler = (action: string, payload: Payload, after: After) => Answer | Promise<Answer>;

/** How a connection began and why it ended. */
export interface LineOpened {
  readonly subprotocol: OcppSubprotocol;
}

export interface LineClosed {
  /** close code of the WebSocket; null: it never opened */
  readonly code: number | null;
  readonly reason: string;
}

/** The connection of one station as its version works with it. One call is in flight at a time; others wait in order. */
export interface Line {
  readonly open: boolean;
  /** calls that wait or are in flight */
  readonly waiting: number;
  call(action: string, payload: Payload, options?: CallOptions): Promise<CallOutcome>;
  /** SEND of 2.1: never answered; dropped while there is no connection. */
  send(action: string, payload: Payload): void;
}

/** Role of a message in its transaction. `middle` may be dropped when the queue is full. */
export type QueuedRole = 'start' | 'middle' | 'end';

/** A transaction message as it is kept in the store. */
export interface QueuedMessage {
  readonly action: string;
  readonly payload: { readonly [name: string]: Json };
  /** links the messages of one transaction; chosen by the station, unique for ever */
  readonly transaction: string;
  readonly role: QueuedRole;
}

/** Attempts and interval of transaction messages, as configured now. */
export interface RetryPolicy {
  readonly attempts: number;
  /** the wait after the n-th transmission is n times this, s */
  readonly intervalS: number;
}

export interface TransactionQueueEvents {
  /**
   * Completes the payload at the moment of sending: the transaction id of 1.6. Null: it cannot be sent at all, since its
   * transaction has no id and will have none; it leaves the queue without a call of `dropped`.
   */
  readonly fill?: (message: QueuedMessage) => Payload | null;
  /** A CALLRESULT arrived; the message has left the queue. */
  readonly answered?: (message: QueuedMessage, reply: Payload) => void;
  /** The last permitted attempt has failed, or the cap has cost it; it has left the queue. */
  readonly dropped?: (message: QueuedMessage, why: 'attempts' | 'cap') => void;
}

/** First in, first out; persistent; a message leaves it only when it was answered or its attempts are used up. */
export interface TransactionQueue {
  readonly length: number;
  /** of one transaction */
  lengthOf(transaction: string): number;
  readonly droppedMiddles: number;
  push(message: QueuedMessage): void;
  /** Sends from now on: the line is open and the station is accepted. */
  resume(): void;
  /** The line is down, or the registration has ended: costs no attempt. */
  pause(): void;
  /** Nothing of it is left to send, or it is paused. Resolves when writes to the store are done. */
  settled(): Promise<void>;
}

/** A request (of a CALL or SEND) or a reply (of a CALLRESULT). */
export type PayloadSide = 'request' | 'reply';

/** Error of a payload. */
export interface PayloadIssue {
  /** of the error table of the version */
  readonly code: string;
  /** place and rule, at most 255 characters, never a value: `/chargingSchedule/duration must be an integer` */
  readonly description: string;
  readonly details: Payload;
}

/** The schemas of every version. One version is loaded at its first use, one message compiled at its first check. */
export interface PayloadChecks {
  /** Loads a version, so that nothing after it throws. @throws SimError SHORTAGE; the error of the file system */
  prepare(version: OcppSubprotocol): void;
  /** True if the version has this action. @throws as `prepare` */
  knows(version: OcppSubprotocol, action: string): boolean;
  /** Null: it fits. An action that the version does not have: `NotImplemented`. @throws as `prepare` */
  check(version: OcppSubprotocol, action: string, side: PayloadSide, payload: unknown): PayloadIssue | null;
}

// Where faults act on the frames of a station; without faults `active` is false and nothing is asked.

/** A frame about to go out, or one that has come in. */
export interface DisturbableFrame {
  readonly deviceIndex: number;
  readonly direction: 'in' | 'out';
  readonly type: 'call' | 'result' | 'error' | 'send';
  /** of the call, also for its answer */
  readonly action: string;
  readonly payload: Payload;
}

/** Faults of one frame; absent members: nothing. */
export interface FrameDisturbance {
  /** closes the socket without a close frame instead */
  readonly drop?: true;
  /** not sent at all; of an incoming call: it is read and never answered */
  readonly suppress?: true;
  readonly delayMs?: number;
  /** answers the call of the central system so, in place of its handler */
  readonly callError?: { readonly code: string; readonly description: string };
  /** answers the call of the central system so, and does not carry it out */
  readonly pretence?: Payload;
  /** the text in its place */
  readonly rewrite?: (text: string) => string;
  readonly twice?: true;
  readonly messageId?: string;
  readonly payload?: Payload;
}

/** Readings of a faulty meter: energies times `factor`, then plus `offsetWh`. */
export interface MeterDistortion {
  readonly factor: number;
  readonly offsetWh: number;
}

export interface FrameDisturber {
  readonly active: boolean;
  disturb(frame: DisturbableFrame): FrameDisturbance | null;
  /** true: pings of the central system stay unanswered now */
  noPong(deviceIndex: number): boolean;
  /** how long after its opening a connection may be dropped (flapping); null: never. No occasion of the fault yet */
  dropsAfterMs(deviceIndex: number): number | null;
  /** True if the connection is dropped now that this time has passed: an occasion of its fault. */
  drops(deviceIndex: number): boolean;
  /** added to every time stamp that is sent, s */
  skewS(deviceIndex: number): number;
  /**
   * Of the energy registers as a message shows them; null: the truth. Each call is an occasion of its faults.
   * @param connectorId 0: the meter of the station
   * @param action message that the reading is for: StartTransaction, MeterValues, StopTransaction; of 2.x
   * TransactionEvent, MeterValues
   */
  readings(deviceIndex: number, connectorId: number, action: string): MeterDistortion | null;
  /** As `readings`, but no occasion of any fault. */
  peekReadings(deviceIndex: number, connectorId: number, action: string): MeterDistortion | null;
  /** Calls back when a fault of OCPP begins or ends. */
  onChange(listener: () => void): () => void;
}

export const noDisturber: FrameDisturber = {
  active: false,
  disturb: () => null,
  noPong: () => false,
  dropsAfterMs: () => null,
  drops: () => false,
  skewS: () => 0,
  readings: () => null,
  peekReadings: () => null,
  onChange: () => () => undefined,
};
