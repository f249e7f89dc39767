/** Answers to calls of the central system: checked, handled, answered in the words of the version. */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { WallClock } from '../../core/time/clock.ts';
import { errorCode, maxIdLength } from './frames.ts';
import type { OutFrame } from './frames.ts';
import { CallError, noAnswer } from './model.ts';
import type { CallHandler, OcppSubprotocol, Payload, PayloadChecks, PayloadIssue } from './model.ts';
import type { Outlet } from './outlet.ts';

interface ResponderOptions {
  readonly clock: WallClock;
  readonly schemas: PayloadChecks;
  readonly outlet: Outlet;
  readonly handle: CallHandler;
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
}

interface Responder {
  opened(version: OcppSubprotocol): void;
  closed(): void;
  /** @param instead the refusal, or the answer, that a fault puts in place of the handler */
  take(call: IncomingCall, instead?: CallError | Payload): void;
}

/** Calls of a central system that are answered at one time; the rule permits one. */
const maxInProgress = 64;
/** Message ids of a connection that are remembered, to tell those that are used again. */
const maxKnownIds = 64;

interface Connection {
  readonly version: OcppSubprotocol;
  /** ids of calls that are being answered */
  readonly calls: Set<string>;
  /** ids of the last calls, oldest first */
  readonly known: Set<string>;
}

/** @returns true if the id was there already */
function remember(ids: Set<string>, id: string): boolean {
  if (ids.has(id)) return true;
  ids.add(id);
  if (ids.size > maxKnownIds) {
    const [oldest = id] = ids;
    ids.delete(oldest);
  }
  return false;
}

export function createResponder(options: ResponderOptions): Responder {
  const { clock, schemas, outlet, handle, log, deviceIndex } = options;
  let connection: Connection | null = null;

  /** @throws CallError unless the call may be handled */
  const check = ({ version, calls, known }: Connection, { id, action, payload, isEarly = false }: IncomingCall) => {
    const isKnown = remember(known, id);
    if (id.length > maxIdLength)
      options.broken(id, action, 'OCPP-J 4.1.4', `a message id of more than ${maxIdLength} characters`);
    if (calls.has(id)) {
      options.broken(id, action, 'OCPP-J 4.1.4', 'the message id is that of a call which is still being answered');
      throw new CallError(errorCode(version, 'duplicateId'), 'a call with this message id is being answered');
    }
    if (isKnown) options.broken(id, action, 'OCPP-J 4.1.4', 'the message id is that of an earlier call');
    if (calls.size > 0 || isEarly)
      options.broken(id, action, 'OCPP-J 4.1.1', 'a call was sent before the one before it was answered');
    if (calls.size >= maxInProgress) throw new CallError(errorCode(version, 'generic'), 'too many calls at one time');
    if (!schemas.knows(version, action)) {
      options.broken(id, action, 'OCPP-J 4.2.1', 'an action that the version does not have');
      throw new CallError(errorCode(version, 'unknownAction'), 'this action is not known');
    }
    const violation = schemas.check(version, action, 'request', payload);
    if (violation === null) return;
    options.violated(id, action, violation);
    throw new CallError(violation.code, violation.description, violation.details);
  };

  const refusal = (version: OcppSubprotocol, id: string, action: string, thrown: unknown): OutFrame => {
    if (thrown instanceof CallError)
      return { kind: 'error', id, code: thrown.code, description: thrown.message, details: thrown.details };
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    log.error(`${action} of the central system could not be answered: ${errorText(thrown)}`, deviceIndex, stack);
    return {
      kind: 'error',
      id,
      code: errorCode(version, 'internal'),
      description: 'the station has failed',
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
      connection = { version, calls: new Set(), known: new Set() };
    },
    closed() {
      connection = null;
    },
    take(call, instead) {
      const at = connection;
      if (at === null) return;
      const { id, action } = call;
      const sinceMs = clock.monotonicMs();
      /** The answer of a connection that has ended is dropped: nobody asked for it on the next one. */
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
      const act = (each: () => void) => {
        try {
          each();
        } catch (error) {
          log.error(`what follows ${action} has failed: ${errorText(error)}`, deviceIndex);
        }
      };
      const succeed = (payload: Payload | typeof noAnswer) => {
        at.calls.delete(id);
        const due = payload === noAnswer ? [] : (acts ?? []);
        acts = null;
        if (payload !== noAnswer) send(result(at.version, call, payload));
        for (const each of due) act(each);
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
        const answer = handle(action, call.payload, (each) => {
          if (acts === null) act(each);
          else acts.push(each);
        });
        if (answer instanceof Promise) answer.then(succeed, fail);
        else succeed(answer);
      } catch (error) {
        fail(error);
      }
    },
  };
}
