/** Calls of the central system on one connection: checks them, hands them to the station and sends the answers. */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { OcppRule } from '../../finding-rules/ocpp.ts';
import type { WallClock } from '../../core/time/clock.ts';
import { errorCode, maxIdLength } from './frames.ts';
import type { OutFrame } from './frames.ts';
import { CallError, noAnswer } from './model.ts';
import type { CallHandler, OcppSubprotocol, Payload, PayloadChecks, PayloadIssue } from './model.ts';
import type { Outlet } from './outlet.ts';
import { numberIssue } from './schemas.ts';

interface ResponderOptions {
  readonly clock: WallClock;
  readonly schemas: PayloadChecks;
  readonly outlet: Outlet;
  readonly handle: CallHandler;
  /** true: answers are not sent */
  readonly isMute: () => boolean;
  readonly log: Pick<Logger, 'error'>;
  readonly deviceIndex: number;
  /** The station has answered a call with a result. */
  readonly replied: (call: Pick<IncomingCall, 'id' | 'action' | 'payload'>, reply: Payload) => void;
  /** A call of the central system breaks its schema. */
  readonly violated: (messageId: string, action: string, violation: PayloadIssue) => void;
  /** A rule of the transport is broken, with its clause. */
  readonly broken: (call: BrokenCall, clause: string, text: string) => void;
}

/** A call that breaks a rule of the transport. */
interface BrokenCall {
  readonly id: string;
  readonly action: string;
  /** of the catalogue of findings */
  readonly rule: OcppRule;
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
/** A central system may give up a call that has had no answer for so long, and send the next one, ms. */
const patienceMs = 10_000;
/** Maximum of message ids kept for each connection, to detect repeated ids. */
const maxEarlierIds = 64;

interface Connection {
  readonly version: OcppSubprotocol;
  /** times at which the calls came that are being answered, by id, monotonic ms */
  readonly calls: Map<string, number>;
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

/** 1.6 only advises against it. */
const overlapRule = (version: OcppSubprotocol) => (version === 'ocpp1.6' ? 'call_overlap_16' : 'call_overlap');

/** Checks, handles and answers calls of the central system, with the error codes of the version. */
export function createResponder(options: ResponderOptions): Responder {
  const { clock, schemas, outlet, handle, log, deviceIndex } = options;
  let connection: Connection | null = null;

  /** @throws CallError, UnknownId unless the call may be handled */
  const check = ({ version, calls, earlierIds }: Connection, call: IncomingCall): void => {
    const { id, action, payload, isEarly = false } = call;
    const isRepeated = remember(earlierIds, id);
    const broken = (rule: OcppRule, clause: string, text: string) => {
      options.broken({ id, action, rule }, clause, text);
    };
    if (id.length > maxIdLength)
      broken('id_long', 'OCPP-J 4.1.4', `a message id of more than ${maxIdLength} characters`);
    if (calls.has(id)) {
      broken('id_reused', 'OCPP-J 4.1.4', 'the message id is that of a call which is still being answered');
      throw new CallError(errorCode(version, 'duplicateId'), 'a call with this message id is being answered');
    }
    if (isRepeated) broken('id_reused', 'OCPP-J 4.1.4', 'the message id is that of an earlier call');
    if (isEarly || [...calls.values()].some((atMs) => clock.monotonicMs() - atMs < patienceMs))
      broken(overlapRule(version), 'OCPP-J 4.1.1', 'a call was sent before the previous one was answered');
    if (calls.size >= maxInProgress) throw new CallError(errorCode(version, 'generic'), 'too many calls at one time');
    if (!schemas.knows(version, action)) {
      broken('action_unknown', 'OCPP-J 4.2.1', 'an action that the version does not have');
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
      connection = { version, calls: new Map(), earlierIds: new Set() };
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
      const send = (frame: OutFrame, settled: () => void = () => undefined) => {
        if (connection === at && !options.isMute())
          outlet.send(frame, { action, durationMs: clock.monotonicMs() - sinceMs }, settled);
        else settled();
      };
      try {
        check(at, call);
      } catch (error) {
        send(refusal(at.version, id, action, error));
        return;
      }
      at.calls.set(id, sinceMs);
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
        const due = acts ?? [];
        acts = null;
        if (payload === noAnswer) return;
        if (instead === undefined) options.replied(call, payload);
        send(result(at.version, call, payload), () => {
          for (const followUp of due) act(followUp);
        });
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
