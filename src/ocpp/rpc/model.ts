/** OCPP-J between one charge point and its central system, independent of version and device. */
import type { OcppSubprotocol } from '../../contract/ocpp.ts';

export type { OcppSubprotocol } from '../../contract/ocpp.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type Payload = Readonly<Record<string, unknown>>;

/** Numbers of the frame types. */
export const frameTypes = { call: 2, result: 3, error: 4, resultError: 5, send: 6 } as const;

/** Outcome of a call; its promise never rejects. */
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
  /** never sent: no connection, registration not accepted, too many waiting calls, or the message breaks its schema */
  | { readonly kind: 'unsent'; readonly why: string };

export interface CallOptions {
  /** ms; default: the timeout of the line */
  readonly timeoutMs?: number;
  /** false: neither the payload nor the answer is checked against its schema */
  readonly validate?: boolean;
  /** default: a new id */
  readonly messageId?: string;
  /** true: before all waiting calls, as BootNotification */
  readonly urgent?: boolean;
  /** false: a user has made it up, so that the central system is not judged by its answer; default: true */
  readonly isJudged?: boolean;
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

/** Runs `act` once the answer is sent, since its messages must follow the answer. */
export type After = (act: () => void) => void;

/** Answer of a handler to a call that must not be answered at all. */
export const noAnswer = Symbol('no answer');

type Answer = Payload | typeof noAnswer;

/** Answers a call of the central system whose payload fits its schema. @throws CallError */
export type CallHandler = (action: string, payload: Payload, after: After) => Answer | Promise<Answer>;

export interface LineOpened {
  readonly subprotocol: OcppSubprotocol;
}

export interface LineClosed {
  /** close code of the WebSocket; null: it never opened */
  readonly code: number | null;
  readonly reason: string;
}

/** The connection of one station. One call is in flight at a time; others wait in order. */
export interface Line {
  readonly open: boolean;
  /** number of calls that wait or are in flight */
  readonly waiting: number;
  call(action: string, payload: Payload, options?: CallOptions): Promise<CallOutcome>;
  /** SEND of 2.1: never answered; dropped while there is no connection. */
  send(action: string, payload: Payload): void;
}

/** Role of a message in its transaction. `middle` may be dropped when the queue is full. */
export type QueuedRole = 'start' | 'middle' | 'end';

/** A transaction message as stored. */
export interface QueuedMessage {
  readonly action: string;
  readonly payload: { readonly [name: string]: Json };
  /** links the messages of one transaction; chosen by the station, unique for ever */
  readonly transaction: string;
  readonly role: QueuedRole;
}

/** Attempts and interval of transaction messages, from the present configuration. */
export interface RetryPolicy {
  readonly attempts: number;
  /** the wait after the n-th transmission is n times this, s */
  readonly intervalS: number;
}

export interface TransactionQueueEvents {
  /**
   * Completes the payload when it is sent, with the transaction id of 1.6. null: the transaction will never have an id;
   * the message leaves the queue without a call of `dropped`.
   */
  readonly fill?: (message: QueuedMessage) => Payload | null;
  /** A CALLRESULT arrived; the message has left the queue. */
  readonly answered?: (message: QueuedMessage, reply: Payload) => void;
  /** The message has left the queue: its last permitted attempt has failed, or the queue was full. */
  readonly dropped?: (message: QueuedMessage, why: 'attempts' | 'cap') => void;
}

/** A persistent queue, first in, first out; see `TransactionQueueEvents` for the ways in which a message leaves it. */
export interface TransactionQueue {
  readonly length: number;
  /** Messages of one transaction. */
  lengthOf(transaction: string): number;
  readonly droppedMiddles: number;
  push(message: QueuedMessage): void;
  /** Sends from now on: the line is open and the station is accepted. */
  resume(): void;
  /** Stops sending, since the line is down or the registration has ended; costs no attempt. */
  pause(): void;
  /** Resolves once the queue is empty or paused and its changes are written. */
  settled(): Promise<void>;
}

/** A request (of a CALL or SEND) or a reply (of a CALLRESULT). */
export type PayloadSide = 'request' | 'reply';

/** Error of a payload. */
export interface PayloadIssue {
  /** of the error table of the version */
  readonly code: string;
  /**
   * Place and rule, at most 255 characters: `/chargingSchedule/duration must be an integer`. No value, except a number
   * that cannot be held exactly.
   */
  readonly description: string;
  readonly details: Payload;
}

/** The schemas of every version. One version is loaded at its first use, one message compiled at its first check. */
export interface PayloadChecks {
  /**
   * Loads a version, so that later calls for it do not throw.
   * @throws SimError SHORTAGE; the error of the file system
   */
  prepare(version: OcppSubprotocol): void;
  /** True if the version has this action. @throws as `prepare` */
  knows(version: OcppSubprotocol, action: string): boolean;
  /**
   * null: the payload fits. Code for an action that the version does not have: `NotImplemented`.
   * @throws as `prepare`
   */
  check(version: OcppSubprotocol, action: string, side: PayloadSide, payload: unknown): PayloadIssue | null;
}

// Where faults act on the frames of a station; without faults `active` is false, and only `onChange` is used.

/** A frame about to go out, or one that has come in. */
export interface DisturbableFrame {
  readonly deviceIndex: number;
  readonly direction: 'in' | 'out';
  readonly type: 'call' | 'result' | 'error' | 'send';
  /** of the call, also for its answer */
  readonly action: string;
  readonly payload: Payload;
}

/** Faults of one frame; absent members: none of the kind. */
export interface FrameDisturbance {
  /** closes the socket without a close frame, in place of sending */
  readonly drop?: true;
  /** the frame is not sent; an incoming call is read and never answered */
  readonly suppress?: true;
  readonly delayMs?: number;
  /** answer to the call of the central system, in place of its handler */
  readonly callError?: { readonly code: string; readonly description: string };
  /** result of the call of the central system, which is not carried out */
  readonly pretence?: Payload;
  /** changes the text of the frame */
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
  /** True if a ping of the central system stays unanswered; each call is an occasion of its faults. */
  noPong(deviceIndex: number): boolean;
  /**
   * Time from its opening after which a connection may be dropped (flapping); null: never. Not an occasion of the
   * fault.
   */
  dropsAfterMs(deviceIndex: number): number | null;
  /** Decides whether the connection is dropped after that time: an occasion of its fault. */
  drops(deviceIndex: number): boolean;
  /** Seconds added to the time stamps of a message; each call is an occasion of its faults. */
  skewS(deviceIndex: number): number;
  /**
   * Distortion of the energy registers in a message; null: none. Each call is an occasion of its faults.
   * @param connectorId 0: the meter of the station
   * @param action message with the reading: StartTransaction, MeterValues, StopTransaction; in 2.x TransactionEvent,
   * MeterValues
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
