/** Calls of the central system to the handlers of the parts, as far as the registration permits them. */
import { errorCode } from '../rpc/errors.ts';
import type { After, CallHandler, Payload } from '../rpc/model.ts';
import { CallError, noAnswer } from '../rpc/model.ts';
import { directions } from './actions.ts';
import type { Action } from './messages.ts';
import type { Handlers, StationParts } from './parts.ts';
import { bootTable16 } from '../registration/table.ts';
import type { RegistrationPart } from '../registration/registration.ts';
import { afterBootAnswer } from '../station/handlers.ts';
import { checkRegistered } from './rules.ts';

type AnyHandler = (request: Payload, after: After) => Payload | Promise<Payload>;

/** @throws CallError */
function handlerOf(handlers: Handlers, action: string, finding: StationParts['finding']): AnyHandler {
  const handler = Object.hasOwn(handlers, action) ? handlers[action as Action] : undefined;
  if (handler !== undefined) return handler as unknown as AnyHandler;
  if (Object.hasOwn(directions, action)) {
    finding('OCPP 1.6 5', `only charge points send ${action}`, action as Action);
    throw new CallError(errorCode('ocpp1.6', 'unsupportedAction'), `a charge point does not answer ${action}`);
  }
  throw new CallError(errorCode('ocpp1.6', 'unknownAction'), `there is no action ${action.slice(0, 50)}`);
}

export interface DispatchOptions {
  readonly handlers: Handlers;
  readonly registration: RegistrationPart;
  readonly finding: StationParts['finding'];
  /** the station leaves or has stopped */
  readonly isEnding: () => boolean;
}

export function createDispatch({ handlers, registration, finding, isEnding }: DispatchOptions): CallHandler {
  const act: CallHandler = (action, payload, after) => {
    if (isEnding()) return noAnswer;
    const { status } = registration;
    checkRegistered(status, action, finding);
    const { incoming, remote } = bootTable16[status];
    if (incoming === 'ignored') return noAnswer;
    if (incoming === 'refused')
      throw new CallError(errorCode('ocpp1.6', 'security'), 'the registration is not accepted');
    const handler = handlerOf(handlers, action, finding);
    if (!remote && (action === 'RemoteStartTransaction' || action === 'RemoteStopTransaction'))
      return { status: 'Rejected' };
    return handler(payload, after);
  };
  return afterBootAnswer(registration, act);
}
