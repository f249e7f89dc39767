/** Calls to the central system: one in flight, the others wait in order (OCPP-J 1.6 4.1.1, 2.x 4.1.1). */
import { randomUUID } from 'node:crypto';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { errorCode } from './frames.ts';
import type { Frame } from './frames.ts';
import { frameTypes } from './model.ts';
import type { CallOptions, CallOutcome, Line, OcppSubprotocol, Payload, PayloadChecks, PayloadIssue } from './model.ts';
import type { Outlet } from './outlet.ts';

interface CallerOptions {
  readonly clock: WallClock;
  readonly later: Later;
  readonly schemas: PayloadChecks;
  readonly outlet: Outlet;
  /** default for a call, ms */
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
  /** since it was sent */
  readonly durationMs: number;
}

type Answer = Exclude<Frame, { readonly kind: 'call' | 'send' | 'invalid' }>;

interface Caller extends Line {
  opened(version: OcppSubprotocol): void;
  closed(): void;
  /** The call that an answer with this id would be for; null: none, or it came too late. */
  inFlight(id: string): CallInFlight | null;
  /** @returns false: no call awaits it */
  answered(frame: Answer): boolean;
  /** True if a call with this id was sent and given up lately: its answer comes too late. */
  gaveUp(id: string): boolean;
  /** Default for calls that are sent from now on. */
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

/** Calls that may wait; more are not taken. */
const maxWaiting = 1000;
/** Ids of calls without an answer that are remembered, to tell a late answer from a wrong one. */
const maxGivenUp = 100;
const unsent = (why: string): CallOutcome => ({ kind: 'unsent', why });

// the state of one connection, shared by what happens to it
export function createCaller(options: CallerOptions): Caller {
  const { clock, later, schemas, outlet } = options;
  const newId = options.newId ?? randomUUID;
  let version: OcppSubprotocol | null = null;
  let urgent: Waiting[] = [];
  let plain: Waiting[] = [];
  let sent: Sent | null = null;
  let givenUp: readonly string[] = [];
  let { timeoutMs } = options;

  const finish = (outcome: CallOutcome) => {
    const ended = sent;
    sent = null;
    if (ended !== null && (outcome.kind === 'timeout' || outcome.kind === 'lost'))
      givenUp = [...givenUp, ended.call.id].slice(-maxGivenUp);
    ended?.endTimer();
    ended?.call.resolve(outcome);
    sendNext();
  };

  const sendNext = () => {
    if (sent !== null || version === null) return;
    const call = urgent.shift() ?? plain.shift();
    if (call === undefined) return;
    const { id, action, payload } = call;
    const endTimer = later(call.options.timeoutMs ?? timeoutMs, () => {
      options.timedOut();
      finish({ kind: 'timeout' });
    });
    sent = { call, sentMs: clock.monotonicMs(), endTimer };
    outlet.send({ kind: 'call', id, action, payload }, { action, durationMs: null });
  };

  /** @param isResult of answers, CALLRESULTERROR names CALLRESULTs alone */
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
    call(action, payload, given = {}) {
      if (version === null) return Promise.resolve(unsent('there is no connection to the central system'));
      if (urgent.length + plain.length >= maxWaiting) return Promise.resolve(unsent('too many calls wait already'));
      const broken = brokenRequest(version, action, payload, given);
      if (broken !== null) return Promise.resolve(unsent(broken));
      return new Promise((resolve) => {
        const call: Waiting = { id: given.messageId ?? newId(), action, payload, options: given, resolve };
        (given.urgent === true ? urgent : plain).push(call);
        sendNext();
      });
    },
    send(action, payload) {
      if (version !== 'ocpp2.1') return;
      if (brokenRequest(version, action, payload, {}) !== null) return;
      outlet.send({ kind: 'send', id: newId(), action, payload }, { action, durationMs: null });
    },
    opened(agreed) {
      version = agreed;
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
        call.options.validate === false ? null : schemas.check(version, call.action, 'reply', frame.payload);
      if (violation === null) finish({ kind: 'result', payload: frame.payload, durationMs });
      else refuse(version, sent, violation, true);
      return true;
    },
    gaveUp: (id) => givenUp.includes(id),
    setTimeoutMs: (ms) => {
      timeoutMs = ms;
    },
    answeredBadly(id, type) {
      if (sent === null || version === null || sent.call.id !== id) return;
      const description = 'the answer has no payload that is an object, has too many levels, or no error code';
      refuse(
        version,
        sent,
        { code: errorCode(version, 'structure'), description, details: {} },
        type === frameTypes.result,
      );
    },
  };
}
