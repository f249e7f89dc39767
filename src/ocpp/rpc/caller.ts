/**
 * Calls to the central system on one connection: one is in flight while the others wait in order (OCPP-J 1.6 4.1.1, 2.x
 * 4.1.1).
 */
import { randomUUID } from 'node:crypto';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { errorCode } from './frames.ts';
import type { Frame } from './frames.ts';
import { frameTypes } from './model.ts';
import type { CallOptions, CallOutcome, Line, OcppSubprotocol, Payload, PayloadChecks, PayloadIssue } from './model.ts';
import type { Outlet } from './outlet.ts';
import { numberIssue } from './schemas.ts';

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
  readonly watch: CallWatch;
  /** @returns an id that was never used; default a UUID */
  readonly newId?: () => string;
}

interface CallInFlight {
  readonly id: string;
  readonly action: string;
  /** time since it was sent */
  readonly durationMs: number;
}

/** A call to the central system, as its judge sees it. */
export interface SentCall extends CallInFlight {
  readonly payload: Payload;
  /** false: a user has made it up, and its answer shows nothing */
  readonly isJudged: boolean;
}

/** Learns of the calls to the central system and of their answers. */
export interface CallWatch {
  sent(call: SentCall): void;
  /** @param reply null: an error, or a result that breaks its schema */
  answered(call: SentCall, reply: Payload | null): void;
  refused(call: SentCall, code: string): void;
  timedOut(call: SentCall): void;
}

export const noWatch: CallWatch = {
  sent: () => undefined,
  answered: () => undefined,
  refused: () => undefined,
  timedOut: () => undefined,
};

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
  /** Sends no further call on this connection. @param drained called once none is in flight, at once if none is */
  drain(drained: () => void): void;
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

const sentCallOf = ({ call, sentMs }: Sent, clock: WallClock): SentCall => ({
  id: call.id,
  action: call.action,
  payload: call.payload,
  durationMs: clock.monotonicMs() - sentMs,
  isJudged: call.options.isJudged ?? true,
});

/** Why a request is not sent; null: it fits its schema, or is not to be checked. */
function requestIssue(
  schemas: PayloadChecks,
  version: OcppSubprotocol,
  { action, payload, options: { validate = true } }: Pick<Waiting, 'action' | 'payload' | 'options'>,
): string | null {
  const violation = validate ? schemas.check(version, action, 'request', payload) : null;
  return violation === null ? null : `${action} breaks its schema: ${violation.description}`;
}

// one closure, since all functions share the state of the connection
export function createCaller(options: CallerOptions): Caller {
  const { clock, later, schemas, outlet, watch, newId = randomUUID } = options;
  let version: OcppSubprotocol | null = null;
  let urgent: Waiting[] = [];
  let plain: Waiting[] = [];
  let sent: Sent | null = null;
  /** null: further calls are sent */
  let onDrained: (() => void) | null = null;
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
    const call = onDrained === null ? (urgent.shift() ?? plain.shift()) : undefined;
    if (call === undefined) {
      onDrained?.();
      return;
    }
    const { id, action, payload } = call;
    givenUp.repeat(id);
    const endTimer = later(call.options.timeoutMs ?? timeoutMs, () => {
      options.timedOut();
      if (sent !== null) watch.timedOut(sentCallOf(sent, clock));
      finish({ kind: 'timeout' });
    });
    sent = { call, sentMs: clock.monotonicMs(), endTimer };
    watch.sent(sentCallOf(sent, clock));
    outlet.send({ kind: 'call', id, action, payload }, { action, durationMs: null });
  };

  /** @param isResult true: the answer is a CALLRESULT, the only message that a CALLRESULTERROR may refuse */
  const refuse = (at: OcppSubprotocol, answeredCall: Sent, violation: PayloadIssue, isResult: boolean) => {
    const refused = sentCallOf(answeredCall, clock);
    const { id, action, durationMs } = refused;
    options.violated(id, action, violation);
    watch.answered(refused, null);
    if (at === 'ocpp2.1' && isResult) outlet.send({ kind: 'result_error', id, ...violation }, { action, durationMs });
    finish({ kind: 'error', ...violation, durationMs });
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
      const broken = requestIssue(schemas, version, { action, payload, options: callOptions });
      if (broken !== null) return Promise.resolve(unsent(broken));
      return new Promise((resolve) => {
        const call: Waiting = { id: callOptions.messageId ?? newId(), action, payload, options: callOptions, resolve };
        (callOptions.urgent === true ? urgent : plain).push(call);
        sendNext();
      });
    },
    send(action, payload) {
      if (version !== 'ocpp2.1' || requestIssue(schemas, version, { action, payload, options: {} }) !== null) return;
      outlet.send({ kind: 'send', id: newId(), action, payload }, { action, durationMs: null });
    },
    opened(subprotocol) {
      version = subprotocol;
    },
    closed() {
      version = onDrained = null;
      const ended = [...urgent, ...plain];
      urgent = [];
      plain = [];
      finish({ kind: 'lost' });
      for (const { resolve } of ended) resolve(unsent('the connection ended before it was sent'));
    },
    drain(drained) {
      onDrained = drained;
      sendNext();
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
        watch.refused(sentCallOf(sent, clock), code);
        finish({ kind: 'error', code, description, details, durationMs });
        return true;
      }
      const violation =
        numberIssue(version, frame) ??
        (call.options.validate === false ? null : schemas.check(version, call.action, 'reply', frame.payload));
      if (violation === null) {
        watch.answered(sentCallOf(sent, clock), frame.payload);
        finish({ kind: 'result', payload: frame.payload, durationMs });
      } else refuse(version, sent, violation, true);
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
