/**
 * Calls of one connection: those to the central system, one in flight while the others wait in order (OCPP-J 1.6 4.1.1,
 * 2.x 4.1.1), those of the central system, and the outlet through which frames are sent.
 */
import { randomUUID } from 'node:crypto';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { errorCode, maxIdLength, frameText, isObject } from './frames.ts';
import type { Frame, OutFrame } from './frames.ts';
import { frameTypes, CallError, noAnswer } from './model.ts';
import type {
  CallOptions,
  CallOutcome,
  Line,
  OcppSubprotocol,
  Payload,
  PayloadChecks,
  PayloadIssue,
  CallHandler,
  FrameDisturbance,
  FrameDisturber,
} from './model.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { OcppMessageType } from '../../contract/ocpp.ts';
import type { WireDirection } from '../../core/wire/wire-log.ts';

interface CallerOptions {
  readonly clock: WallClock;
  readonly later: Later;
  readonly schemas: PayloadChecks;
  readonly outlet: Outlet;
  /** ms; default for a call */
  readonly timeoutMs: number;
  /** An answer of the central system breaks its schema. */
  readonly violated: (messageId: string, action: string, violation: PayloadIssue) => void;
  readonly timedOut: () => void;
  /** @returns an id that was never used; default a UUID */
  readonly newId?: () => string;
}

interface CallInFlight {
  readonly id: string;
  readonly action: string;
  /** time since it was sent */
  readonly durationMs: number;
}

/** A call that was given up: an answer to it comes too late. */
interface GivenUpCall {
  readonly action: string;
  /** `lost`: its connection has ended */
  readonly why: 'timeout' | 'lost';
  /** it was sent again under the same id, so that it may have two answers */
  readonly isRepeated: boolean;
}

type Answer = Exclude<Frame, { readonly kind: 'call' | 'send' | 'invalid' }>;

interface Caller extends Line {
  opened(version: OcppSubprotocol): void;
  closed(): void;
  /** The call in flight if it has this id; null: no call in flight has it. */
  inFlight(id: string): CallInFlight | null;
  /** @returns false: no call awaits it */
  answered(frame: Answer): boolean;
  /** Removes the call with this id from those given up, so that only one late answer counts. null: no such call. */
  takeLate(id: string): GivenUpCall | null;
  /** Sets the default for calls that are sent from now on. */
  setTimeoutMs(ms: number): void;
  /** The answer to the call in flight is no frame of OCPP-J. @param type 3 or 4 */
  answeredBadly(id: string, type: number): void;
}

interface Waiting {
  readonly id: string;
  readonly action: string;
  readonly payload: Payload;
  readonly options: CallOptions;
  readonly resolve: (outcome: CallOutcome) => void;
}

interface Sent {
  readonly call: Waiting;
  readonly sentMs: number;
  readonly endTimer: () => void;
}

/** Maximum characters of a number quoted in an error. */
const maxNumberShown = 40;

/** The issue of a payload with a number that JavaScript cannot hold exactly; it is refused, since it would change. */
function numberIssue(
  version: OcppSubprotocol,
  { changedNumber }: { readonly changedNumber?: string },
): PayloadIssue | null {
  if (changedNumber === undefined) return null;
  const description = `the number ${changedNumber.slice(0, maxNumberShown)} cannot be held exactly`;
  return { code: errorCode(version, 'value'), description, details: {} };
}

/** Maximum of waiting calls; more are not sent. */
const maxWaiting = 1000;
/** Maximum of calls given up that are kept to distinguish a late answer from a wrong one. */
const maxGivenUp = 100;
const unsent = (why: string): CallOutcome => ({ kind: 'unsent', why });

/** The last calls without an answer, by their ids. */
class GivenUp {
  readonly #calls = new Map<string, GivenUpCall>();

  add({ id, action }: Pick<Waiting, 'id' | 'action'>, why: GivenUpCall['why']): void {
    const isRepeated = this.#calls.delete(id);
    this.#calls.set(id, { action, why, isRepeated });
    const [oldest = id] = this.#calls.keys();
    if (this.#calls.size > maxGivenUp) this.#calls.delete(oldest);
  }

  /** Notes that a call with this id is sent again. */
  repeat(id: string): void {
    const earlier = this.#calls.get(id);
    if (earlier !== undefined) this.#calls.set(id, { ...earlier, isRepeated: true });
  }

  take(id: string): GivenUpCall | null {
    const late = this.#calls.get(id) ?? null;
    this.#calls.delete(id);
    return late;
  }
}

// one closure, since all functions share the state of the connection
export function createCaller(options: CallerOptions): Caller {
  const { clock, later, schemas, outlet } = options;
  const newId = options.newId ?? randomUUID;
  let version: OcppSubprotocol | null = null;
  let urgent: Waiting[] = [];
  let plain: Waiting[] = [];
  let sent: Sent | null = null;
  const givenUp = new GivenUp();
  let { timeoutMs } = options;

  const finish = (outcome: CallOutcome) => {
    const ended = sent;
    sent = null;
    if (ended !== null && (outcome.kind === 'timeout' || outcome.kind === 'lost'))
      givenUp.add(ended.call, outcome.kind);
    ended?.endTimer();
    ended?.call.resolve(outcome);
    sendNext();
  };

  const sendNext = () => {
    if (sent !== null || version === null) return;
    const call = urgent.shift() ?? plain.shift();
    if (call === undefined) return;
    const { id, action, payload } = call;
    givenUp.repeat(id);
    const endTimer = later(call.options.timeoutMs ?? timeoutMs, () => {
      options.timedOut();
      finish({ kind: 'timeout' });
    });
    sent = { call, sentMs: clock.monotonicMs(), endTimer };
    outlet.send({ kind: 'call', id, action, payload }, { action, durationMs: null });
  };

  /** @param isResult true: the answer is a CALLRESULT, the only message that a CALLRESULTERROR may refuse */
  const refuse = (at: OcppSubprotocol, { call, sentMs }: Sent, violation: PayloadIssue, isResult: boolean) => {
    const { id, action } = call;
    const durationMs = clock.monotonicMs() - sentMs;
    options.violated(id, action, violation);
    if (at === 'ocpp2.1' && isResult) outlet.send({ kind: 'result_error', id, ...violation }, { action, durationMs });
    finish({ kind: 'error', ...violation, durationMs });
  };

  const brokenRequest = (at: OcppSubprotocol, action: string, payload: Payload, { validate = true }: CallOptions) => {
    const violation = validate ? schemas.check(at, action, 'request', payload) : null;
    return violation === null ? null : `${action} breaks its schema: ${violation.description}`;
  };

  return {
    get open() {
      return version !== null;
    },
    get waiting() {
      return urgent.length + plain.length + (sent === null ? 0 : 1);
    },
    call(action, payload, callOptions = {}) {
      if (version === null) return Promise.resolve(unsent('there is no connection to the central system'));
      if (urgent.length + plain.length >= maxWaiting) return Promise.resolve(unsent('too many calls wait already'));
      const broken = brokenRequest(version, action, payload, callOptions);
      if (broken !== null) return Promise.resolve(unsent(broken));
      return new Promise((resolve) => {
        const call: Waiting = { id: callOptions.messageId ?? newId(), action, payload, options: callOptions, resolve };
        (callOptions.urgent === true ? urgent : plain).push(call);
        sendNext();
      });
    },
    send(action, payload) {
      if (version !== 'ocpp2.1') return;
      if (brokenRequest(version, action, payload, {}) !== null) return;
      outlet.send({ kind: 'send', id: newId(), action, payload }, { action, durationMs: null });
    },
    opened(subprotocol) {
      version = subprotocol;
    },
    closed() {
      version = null;
      const ended = [...urgent, ...plain];
      urgent = [];
      plain = [];
      finish({ kind: 'lost' });
      for (const { resolve } of ended) resolve(unsent('the connection ended before it was sent'));
    },
    inFlight(id) {
      if (sent?.call.id !== id) return null;
      return { id, action: sent.call.action, durationMs: clock.monotonicMs() - sent.sentMs };
    },
    answered(frame) {
      if (sent === null || version === null || sent.call.id !== frame.id) return false;
      const { call, sentMs } = sent;
      const durationMs = clock.monotonicMs() - sentMs;
      if (frame.kind !== 'result') {
        const { code, description, details } = frame;
        finish({ kind: 'error', code, description, details, durationMs });
        return true;
      }
      const violation =
        numberIssue(version, frame) ??
        (call.options.validate === false ? null : schemas.check(version, call.action, 'reply', frame.payload));
      if (violation === null) finish({ kind: 'result', payload: frame.payload, durationMs });
      else refuse(version, sent, violation, true);
      return true;
    },
    takeLate: (id) => givenUp.take(id),
    setTimeoutMs: (ms) => {
      timeoutMs = ms;
    },
    answeredBadly(id, type) {
      if (sent === null || version === null || sent.call.id !== id) return;
      const description = 'the answer has no object as its payload, has too many levels, or has no error code';
      refuse(
        version,
        sent,
        { code: errorCode(version, 'structure'), description, details: {} },
        type === frameTypes.result,
      );
    },
  };
}

interface ResponderOptions {
  readonly clock: WallClock;
  readonly schemas: PayloadChecks;
  readonly outlet: Outlet;
  readonly handle: CallHandler;
  /** true: answers are not sent */
  readonly isMute: () => boolean;
  readonly log: Pick<Logger, 'error'>;
  readonly deviceIndex: number;
  /** A call of the central system breaks its schema. */
  readonly violated: (messageId: string, action: string, violation: PayloadIssue) => void;
  /** A rule of the transport is broken, with its clause. */
  readonly broken: (messageId: string, action: string, clause: string, text: string) => void;
}

interface IncomingCall {
  readonly id: string;
  readonly action: string;
  readonly payload: Payload;
  readonly isEarly?: boolean;
  readonly changedNumber?: string;
}

/** By action, the member that holds an id, and the answer to an unknown id. */
const answersToUnknownId: Readonly<Record<string, { readonly member: string; readonly answer: Payload }>> = {
  RemoteStopTransaction: { member: 'transactionId', answer: { status: 'Rejected' } },
  CancelReservation: { member: 'reservationId', answer: { status: 'Rejected' } },
  ClearDisplayMessage: { member: 'id', answer: { status: 'Unknown' } },
};

/** A call for an id that JavaScript cannot hold exactly: nothing has such an id. */
class UnknownId extends Error {
  readonly answer: Payload;

  constructor(description: string, answer: Payload) {
    super(description);
    this.answer = answer;
  }
}

/** The refusal of a call with a number that JavaScript cannot hold exactly; an id of this kind counts as unknown. */
function numberRefusal({ action, payload, changedNumber }: IncomingCall, issue: PayloadIssue): CallError | UnknownId {
  const { code, description, details } = issue;
  const idRow = Object.hasOwn(answersToUnknownId, action) ? answersToUnknownId[action] : undefined;
  // the payload may have other numbers too, and `changedNumber` is without sign
  const isId = idRow !== undefined && Math.abs(Number(payload[idRow.member])) === Number(changedNumber);
  return isId ? new UnknownId(description, idRow.answer) : new CallError(code, description, details);
}

interface Responder {
  opened(version: OcppSubprotocol): void;
  closed(): void;
  /** @param instead the refusal, or the answer, that a fault puts in place of the handler */
  take(call: IncomingCall, instead?: CallError | Payload): void;
}

/** Maximum of calls of a central system answered at one time; the standard permits one. */
const maxInProgress = 64;
/** Maximum of message ids kept for each connection, to detect repeated ids. */
const maxEarlierIds = 64;

interface Connection {
  readonly version: OcppSubprotocol;
  /** ids of calls that are being answered */
  readonly calls: Set<string>;
  /** ids of the last calls, oldest first */
  readonly earlierIds: Set<string>;
}

/** Adds an id. @returns true if the set had it already */
function remember(ids: Set<string>, id: string): boolean {
  if (ids.has(id)) return true;
  ids.add(id);
  if (ids.size > maxEarlierIds) {
    const [oldest = id] = ids;
    ids.delete(oldest);
  }
  return false;
}

/** Checks, handles and answers calls of the central system, with the error codes of the version. */
export function createResponder(options: ResponderOptions): Responder {
  const { clock, schemas, outlet, handle, log, deviceIndex } = options;
  let connection: Connection | null = null;

  /** @throws CallError, UnknownId unless the call may be handled */
  const check = ({ version, calls, earlierIds }: Connection, call: IncomingCall): void => {
    const { id, action, payload, isEarly = false } = call;
    const isRepeated = remember(earlierIds, id);
    if (id.length > maxIdLength)
      options.broken(id, action, 'OCPP-J 4.1.4', `a message id of more than ${maxIdLength} characters`);
    if (calls.has(id)) {
      options.broken(id, action, 'OCPP-J 4.1.4', 'the message id is that of a call which is still being answered');
      throw new CallError(errorCode(version, 'duplicateId'), 'a call with this message id is being answered');
    }
    if (isRepeated) options.broken(id, action, 'OCPP-J 4.1.4', 'the message id is that of an earlier call');
    if (calls.size > 0 || isEarly)
      options.broken(id, action, 'OCPP-J 4.1.1', 'a call was sent before the previous one was answered');
    if (calls.size >= maxInProgress) throw new CallError(errorCode(version, 'generic'), 'too many calls at one time');
    if (!schemas.knows(version, action)) {
      options.broken(id, action, 'OCPP-J 4.2.1', 'an action that the version does not have');
      throw new CallError(errorCode(version, 'unknownAction'), 'this action is not known');
    }
    const numberViolation = numberIssue(version, call);
    const violation = schemas.check(version, action, 'request', payload) ?? numberViolation;
    if (violation === null) return;
    options.violated(id, action, violation);
    if (violation === numberViolation) throw numberRefusal(call, violation);
    throw new CallError(violation.code, violation.description, violation.details);
  };

  const refusal = (version: OcppSubprotocol, id: string, action: string, thrown: unknown): OutFrame => {
    if (thrown instanceof UnknownId) return { kind: 'result', id, payload: thrown.answer };
    if (thrown instanceof CallError)
      return { kind: 'error', id, code: thrown.code, description: thrown.message, details: thrown.details };
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    log.error(`${action} of the central system could not be answered: ${errorText(thrown)}`, deviceIndex, stack);
    return {
      kind: 'error',
      id,
      code: errorCode(version, 'internal'),
      description: 'internal error of the station',
      details: {},
    };
  };

  const result = (version: OcppSubprotocol, { id, action }: IncomingCall, payload: Payload): OutFrame => {
    const violation = schemas.check(version, action, 'reply', payload);
    if (violation === null) return { kind: 'result', id, payload };
    return refusal(version, id, action, new Error(`its answer breaks the schema: ${violation.description}`));
  };

  return {
    opened(version) {
      connection = { version, calls: new Set(), earlierIds: new Set() };
    },
    closed() {
      connection = null;
    },
    take(call, instead) {
      const at = connection;
      if (at === null) return;
      const { id, action } = call;
      const sinceMs = clock.monotonicMs();
      /** Drops the answer if its connection has ended: the next connection has not requested it. */
      const send = (frame: OutFrame) => {
        if (connection === at && !options.isMute())
          outlet.send(frame, { action, durationMs: clock.monotonicMs() - sinceMs });
      };
      try {
        check(at, call);
      } catch (error) {
        send(refusal(at.version, id, action, error));
        return;
      }
      at.calls.add(id);
      let acts: (() => void)[] | null = [];
      const act = (followUp: () => void) => {
        try {
          followUp();
        } catch (error) {
          log.error(`an action after the answer to ${action} failed: ${errorText(error)}`, deviceIndex);
        }
      };
      const succeed = (payload: Payload | typeof noAnswer) => {
        at.calls.delete(id);
        const due = payload === noAnswer ? [] : (acts ?? []);
        acts = null;
        if (payload !== noAnswer) send(result(at.version, call, payload));
        for (const followUp of due) act(followUp);
      };
      const fail = (thrown: unknown) => {
        at.calls.delete(id);
        acts = null;
        send(refusal(at.version, id, action, thrown));
      };
      try {
        if (instead instanceof CallError) throw instead;
        if (instead !== undefined) {
          succeed(instead);
          return;
        }
        const answer = handle(action, call.payload, (followUp) => {
          if (acts === null) act(followUp);
          else acts.push(followUp);
        });
        if (answer instanceof Promise) answer.then(succeed, fail);
        else succeed(answer);
      } catch (error) {
        fail(error);
      }
    },
  };
}

/** Facts of a frame beside its text. */
export interface FrameFacts {
  readonly direction: WireDirection;
  readonly type: OcppMessageType;
  readonly messageId: string | null;
  /** of the call, also for its answer; null: unknown */
  readonly action: string | null;
  /** of an answer, since its call */
  readonly durationMs: number | null;
}

interface OutletOptions {
  readonly deviceIndex: number;
  readonly later: Later;
  readonly disturber: FrameDisturber;
  /** Counts and stores a frame that was sent. */
  readonly record: (facts: FrameFacts, text: string) => void;
  /** Resolves when what the station has kept so far survives its process; null: it does. A frame goes out after it. */
  readonly durable: () => Promise<void> | null;
}

/** The connection that frames leave by. */
interface OutletLine {
  /** @returns false: the connection is closing and nothing was sent */
  send(text: string): boolean;
  terminate(): void;
}

/** Sends frames: disturbs them by faults, and records each that was sent. */
interface Outlet {
  /** null: no connection; frames that a fault has delayed are dropped */
  line: OutletLine | null;
  /** @param about action of the call, and for an answer the time since its call */
  send(frame: OutFrame, about: Pick<FrameFacts, 'action' | 'durationMs'>): void;
}

const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** A payload with every date-time moved by `skewS` seconds. */
export function skewed(value: unknown, skewS: number): unknown {
  if (typeof value === 'string' && dateTime.test(value)) {
    const ms = Date.parse(value) + skewS * 1000;
    return Number.isNaN(ms) || Math.abs(ms) > 8.64e15 ? value : new Date(ms).toISOString();
  }
  if (Array.isArray(value)) return value.map((each) => skewed(each, skewS));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, skewed(each, skewS)]));
}

const payloadOf = (frame: OutFrame): Payload => ('payload' in frame ? frame.payload : frame.details);

function withPayload(frame: OutFrame, payload: Payload): OutFrame {
  return 'payload' in frame ? { ...frame, payload } : { ...frame, details: payload };
}

/**
 * Acts once what has been done so far is durable, in the order of the calls; at once where nothing waits. A frame whose
 * connection has ended meanwhile is dropped.
 */
function inOrderAfter<Args extends readonly unknown[]>(
  durable: () => Promise<void> | null,
  act: (...args: Args) => void,
  line: () => unknown,
): (...args: Args) => void {
  let waiting = 0;
  let lastWait: Promise<void> = Promise.resolve();
  return (...args) => {
    const wait = durable();
    if (wait === null && waiting === 0) {
      act(...args);
      return;
    }
    const lineAtCall = line();
    waiting += 1;
    lastWait = (wait ?? lastWait).then(() => {
      waiting -= 1;
      if (line() === lineAtCall) act(...args);
    });
  };
}

export function createOutlet({ deviceIndex, later, disturber, record, durable }: OutletOptions): Outlet {
  const putNow = (frame: OutFrame, text: string, about: Pick<FrameFacts, 'action' | 'durationMs'>) => {
    if (outlet.line?.send(text) !== true) return;
    const { action, durationMs } = about;
    record({ direction: 'out', type: frame.kind, messageId: frame.id, action, durationMs }, text);
  };
  const put = inOrderAfter(durable, putNow, () => outlet.line);

  const disturbed = (original: OutFrame, about: Pick<FrameFacts, 'action' | 'durationMs'>) => {
    const disturbance: FrameDisturbance =
      disturber.disturb({
        deviceIndex,
        direction: 'out',
        type: original.kind === 'result_error' ? 'error' : original.kind,
        action: about.action ?? '',
        payload: payloadOf(original),
      }) ?? {};
    const { line } = outlet;
    if (disturbance.drop) {
      line?.terminate();
      return;
    }
    if (disturbance.suppress) return;
    const skewS = disturber.skewS(deviceIndex);
    const payload = disturbance.payload ?? payloadOf(original);
    const moved = withPayload(original, skewS === 0 ? payload : (skewed(payload, skewS) as Payload));
    const frame = disturbance.messageId === undefined ? moved : { ...moved, id: disturbance.messageId };
    const plain = frameText(frame);
    const text = disturbance.rewrite?.(plain) ?? plain;
    const transmit = () => {
      if (outlet.line !== line) return;
      put(frame, text, about);
      if (disturbance.twice) put(frame, text, about);
    };
    if (disturbance.delayMs !== undefined && disturbance.delayMs > 0) later(disturbance.delayMs, transmit);
    else transmit();
  };

  const outlet: Outlet = {
    line: null,
    send(frame, about) {
      if (disturber.active) disturbed(frame, about);
      else put(frame, frameText(frame), about);
    },
  };
  return outlet;
}
