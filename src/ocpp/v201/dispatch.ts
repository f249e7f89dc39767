/** Calls of the central system to the handlers of the parts, as far as the registration permits them. */
import { bootTable2 } from '../registration/table.ts';
import type { RegistrationPart } from '../registration/registration.ts';
import { errorCode } from '../rpc/errors.ts';
import type { After, CallHandler, Payload } from '../rpc/model.ts';
import { CallError, noAnswer } from '../rpc/model.ts';
import { afterBootAnswer } from '../station/handlers.ts';
import { directionOf, unsupported } from './actions.ts';
import type { Action, Handlers, StationParts } from './parts.ts';
import { clauseOf } from './registration.ts';

type AnyHandler = (request: Payload, after: After) => Payload | Promise<Payload>;

export interface DispatchOptions extends Pick<StationParts, 'version' | 'finding'> {
  readonly handlers: Handlers;
  readonly registration: Pick<RegistrationPart, 'status' | 'booting'>;
  /** the station leaves or has stopped */
  readonly isEnding: () => boolean;
}

/** @throws CallError */
function handlerOf({ handlers, version, finding }: DispatchOptions, action: string): AnyHandler {
  const handler = Object.hasOwn(handlers, action) ? handlers[action as Action] : undefined;
  if (handler !== undefined) return handler as unknown as AnyHandler;
  const why = Object.hasOwn(unsupported, action) ? unsupported[action as Action] : undefined;
  if (why !== undefined) throw new CallError(errorCode(version, 'unsupportedAction'), why);
  if (directionOf(action) === 'station') {
    finding(clauseOf(version, 'part 2, 3'), `only charging stations send ${action}`, action);
    throw new CallError(errorCode(version, 'unsupportedAction'), `a charging station does not answer ${action}`);
  }
  throw new CallError(errorCode(version, 'unknownAction'), `there is no action ${action.slice(0, 50)}`);
}

const remoteActions: readonly string[] = ['RequestStartTransaction', 'RequestStopTransaction'];

export function createDispatch(options: DispatchOptions): CallHandler {
  const { registration, version, finding, isEnding } = options;
  const act: CallHandler = (action, payload, after) => {
    if (isEnding()) return noAnswer;
    const { status } = registration;
    const { incoming, remote } = bootTable2[status];
    if (incoming === 'refused') {
      finding(clauseOf(version, status === 'none' ? 'B01.FR.10' : 'B03.FR.08'), `${action} before acceptance`, action);
      throw new CallError(errorCode(version, 'security'), 'the registration is not accepted');
    }
    const handler = handlerOf(options, action);
    if (!remote && remoteActions.includes(action)) {
      finding(clauseOf(version, 'B02.FR.05'), `${action} while the registration is Pending`, action);
      return { status: 'Rejected', statusInfo: { reasonCode: 'NotEnabled' } };
    }
    return handler(payload, after);
  };
  return afterBootAnswer(registration, act);
}
