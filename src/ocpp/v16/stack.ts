/**
 * The OCPP 1.6 stack of a station: its functions for REST, and the calls of the central system that its registration
 * permits.
 */
import type { OcppFunctions } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import { mergeHandlers, afterBootAnswer } from '../station/stack.ts';
import type { VersionStack } from '../station/stack.ts';
import { sendUserCall, sharedFunctions, createVersionStack } from '../station/version.ts';
import { assembleParts } from './assembly.ts';
import type { Assembled, Stack16Options } from './assembly.ts';
import { maxIdTagLength } from './authorization/tokens.ts';
import { createLastResort } from './last-resort.ts';
import { bootTable16 } from '../provisioning/registration.ts';
import type { RegistrationPart } from '../provisioning/registration.ts';
import { errorCode } from '../rpc/frames.ts';
import { CallError, noAnswer } from '../rpc/model.ts';
import type { After, CallHandler, Payload } from '../rpc/model.ts';
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

/** Actions that the central system may send. */
export const centralActions: readonly Action[] = (Object.keys(directions) as readonly Action[]).filter(
  (action) => directions[action] !== 'station',
);

type AnyHandler = (request: Payload, after: After) => Payload | Promise<Payload>;

/** @throws CallError */
function handlerOf(handlers: Handlers, action: string, finding: StationParts['finding']): AnyHandler {
  const handler = Object.hasOwn(handlers, action) ? handlers[action as Action] : undefined;
  if (handler !== undefined) return handler as unknown as AnyHandler;
  if (Object.hasOwn(directions, action)) {
    finding('OCPP 1.6 5', `only charge points send ${action}`, action, 'action_direction');
    throw new CallError(errorCode('ocpp1.6', 'unsupportedAction'), `a charge point does not answer ${action}`);
  }
  throw new CallError(errorCode('ocpp1.6', 'unknownAction'), `there is no action ${action.slice(0, 50)}`);
}

interface DispatchOptions {
  readonly handlers: Handlers;
  readonly registration: RegistrationPart;
  readonly finding: StationParts['finding'];
  /** True if the station is being removed or has stopped. */
  readonly isEnding: () => boolean;
}

function createDispatch({ handlers, registration, finding, isEnding }: DispatchOptions): CallHandler {
  const handleCall: CallHandler = (action, payload, after) => {
    if (isEnding()) return noAnswer;
    const { status } = registration;
    checkRegistered(status, action, finding);
    const { incoming, remote } = bootTable16[status];
    if (incoming === 'ignored') return noAnswer;
    const handler = handlerOf(handlers, action, finding);
    if (!remote && (action === 'RemoteStartTransaction' || action === 'RemoteStopTransaction'))
      return { status: 'Rejected' };
    return handler(payload, after);
  };
  return afterBootAnswer(registration, handleCall);
}

export type { Stack16Options } from './assembly.ts';

function functionsOf(at: Assembled): OcppFunctions {
  const { registration, keys, configuration } = at;
  return {
    ...sharedFunctions(at),
    boot: async (reason) => {
      if (reason !== null) throw new SimError('COMMAND_BAD_VALUE', 'reason: BootNotification of 1.6 has none');
      return await sendUserCall('BootNotification', (options) => registration.boot(options));
    },
    configuration: (key) => keys.view(key),
    setConfiguration: ({ name, value }) => {
      configuration.setLocal(name, value);
      return keys.view(name);
    },
    derControls() {
      throw new SimError('COMMAND_NOT_APPLICABLE', 'OCPP 1.6 has no DER controls');
    },
    display: () => [],
    authorize: (connectorId, idToken) => {
      if (idToken.length > maxIdTagLength)
        throw new SimError('COMMAND_BAD_VALUE', `id_token: an idTag of 1.6 has at most ${maxIdTagLength} characters`);
      return at.authorization.present(connectorId, idToken);
    },
  };
}

export function createStack16(options: Stack16Options): VersionStack {
  const at = assembleParts(options);
  const { registration, keys, security } = at;
  registration.onAccepted(at.smartCharging.refresh);
  const { network, log } = options;
  const resort =
    network &&
    createLastResort(network, log, () => {
      registration.restarted();
    });
  return createVersionStack(at, {
    functions: functionsOf(at),
    bootTable: bootTable16,
    heartbeatIntervalS: () => keys.integer('HeartbeatInterval'),
    loadSettings: () => keys.load(),
    opened: () => resort?.opened(),
    failed: (failure, isReverted) => {
      security.failed(failure);
      resort?.failed(isReverted);
    },
    dispatch: (isEnding) =>
      createDispatch({ handlers: mergeHandlers(at.all), registration, finding: options.finding, isEnding }),
  });
}
