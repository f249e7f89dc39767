/** Calls of the central system to the handlers of the parts, as far as the registration permits them. */
import { bootTable16 } from '../provisioning/registration.ts';
import type { RegistrationPart } from '../provisioning/registration.ts';
import { errorCode } from '../rpc/frames.ts';
import { CallError, noAnswer } from '../rpc/model.ts';
import type { After, CallHandler, Payload } from '../rpc/model.ts';
import { afterBootAnswer } from '../station/stack.ts';
import type { Action } from './messages.ts';
import { checkRegistered } from './parts.ts';
import type { Handlers, StationParts } from './parts.ts';

// Actions of OCPP 1.6 and of its security extension by direction.

/** `station`: sent by the station; `central`: by the central system. */
export const directions: Readonly<Record<Action, 'station' | 'central' | 'both'>> = {
  Authorize: 'station',
  BootNotification: 'station',
  CancelReservation: 'central',
  CertificateSigned: 'central',
  ChangeAvailability: 'central',
  ChangeConfiguration: 'central',
  ClearCache: 'central',
  ClearChargingProfile: 'central',
  DataTransfer: 'both',
  DeleteCertificate: 'central',
  DiagnosticsStatusNotification: 'station',
  ExtendedTriggerMessage: 'central',
  FirmwareStatusNotification: 'station',
  GetCompositeSchedule: 'central',
  GetConfiguration: 'central',
  GetDiagnostics: 'central',
  GetInstalledCertificateIds: 'central',
  GetLocalListVersion: 'central',
  GetLog: 'central',
  Heartbeat: 'station',
  InstallCertificate: 'central',
  LogStatusNotification: 'station',
  MeterValues: 'station',
  RemoteStartTransaction: 'central',
  RemoteStopTransaction: 'central',
  ReserveNow: 'central',
  Reset: 'central',
  SecurityEventNotification: 'station',
  SendLocalList: 'central',
  SetChargingProfile: 'central',
  SignCertificate: 'station',
  SignedFirmwareStatusNotification: 'station',
  SignedUpdateFirmware: 'central',
  StartTransaction: 'station',
  StatusNotification: 'station',
  StopTransaction: 'station',
  TriggerMessage: 'central',
  UnlockConnector: 'central',
  UpdateFirmware: 'central',
};

/** Calls that the central system may send. */
export const centralActions: readonly Action[] = (Object.keys(directions) as readonly Action[]).filter(
  (action) => directions[action] !== 'station',
);

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

interface DispatchOptions {
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
