/**
 * OCPP 2.0.1 or 2.1 of one station: its functions for REST, and the calls of the central system that the registration
 * permits.
 */
import type { OcppBootStatus, OcppFunctions } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import { bootTable2 } from '../provisioning/registration.ts';
import type { RegistrationPart } from '../provisioning/registration.ts';
import { sendUserCall, sharedFunctions, createVersionStack } from '../station/version.ts';
import { mergeHandlers, afterBootAnswer } from '../station/stack.ts';
import type { StackOptions, VersionStack, Version2 } from '../station/stack.ts';
import { assembleParts } from './assembly.ts';
import type { Assembled } from './assembly.ts';
import { bootReasons, clauseOf } from './provisioning/registration.ts';
import { createVariableView } from './variables/handlers.ts';
import { errorCode } from '../rpc/frames.ts';
import { CallError, noAnswer } from '../rpc/model.ts';
import type { After, CallHandler, Payload } from '../rpc/model.ts';
import type { Action, Handlers, StationParts } from './parts.ts';

// Actions of OCPP 2.0.1 and 2.1 by direction, and the actions that the station does not support.

type Direction = 'station' | 'central' | 'both';

/** `station`: sent by the station; `central`: by the central system. `ocpp2.1`: 2.0.1 does not have the action. */
const actions: Readonly<Record<Action, readonly [direction: Direction, since?: 'ocpp2.1']>> = {
  AFRRSignal: ['central', 'ocpp2.1'],
  AdjustPeriodicEventStream: ['central', 'ocpp2.1'],
  Authorize: ['station'],
  BatterySwap: ['station', 'ocpp2.1'],
  BootNotification: ['station'],
  CancelReservation: ['central'],
  CertificateSigned: ['central'],
  ChangeAvailability: ['central'],
  ChangeTransactionTariff: ['central', 'ocpp2.1'],
  ClearCache: ['central'],
  ClearChargingProfile: ['central'],
  ClearDERControl: ['central', 'ocpp2.1'],
  ClearDisplayMessage: ['central'],
  ClearTariffs: ['central', 'ocpp2.1'],
  ClearVariableMonitoring: ['central'],
  ClearedChargingLimit: ['station'],
  ClosePeriodicEventStream: ['station', 'ocpp2.1'],
  CostUpdated: ['central'],
  CustomerInformation: ['central'],
  DataTransfer: ['both'],
  DeleteCertificate: ['central'],
  FirmwareStatusNotification: ['station'],
  Get15118EVCertificate: ['station'],
  GetBaseReport: ['central'],
  GetCertificateChainStatus: ['station', 'ocpp2.1'],
  GetCertificateStatus: ['station'],
  GetChargingProfiles: ['central'],
  GetCompositeSchedule: ['central'],
  GetDERControl: ['central', 'ocpp2.1'],
  GetDisplayMessages: ['central'],
  GetInstalledCertificateIds: ['central'],
  GetLocalListVersion: ['central'],
  GetLog: ['central'],
  GetMonitoringReport: ['central'],
  GetPeriodicEventStream: ['central', 'ocpp2.1'],
  GetReport: ['central'],
  GetTariffs: ['central', 'ocpp2.1'],
  GetTransactionStatus: ['central'],
  GetVariables: ['central'],
  Heartbeat: ['station'],
  InstallCertificate: ['central'],
  LogStatusNotification: ['station'],
  MeterValues: ['station'],
  NotifyAllowedEnergyTransfer: ['central', 'ocpp2.1'],
  NotifyChargingLimit: ['station'],
  NotifyCustomerInformation: ['station'],
  NotifyDERAlarm: ['station', 'ocpp2.1'],
  NotifyDERStartStop: ['station', 'ocpp2.1'],
  NotifyDisplayMessages: ['station'],
  NotifyEVChargingNeeds: ['station'],
  NotifyEVChargingSchedule: ['station'],
  NotifyEvent: ['station'],
  NotifyMonitoringReport: ['station'],
  NotifyPriorityCharging: ['station', 'ocpp2.1'],
  NotifyReport: ['station'],
  NotifySettlement: ['station', 'ocpp2.1'],
  NotifyWebPaymentStarted: ['central', 'ocpp2.1'],
  OpenPeriodicEventStream: ['station', 'ocpp2.1'],
  PublishFirmware: ['central'],
  PublishFirmwareStatusNotification: ['station'],
  PullDynamicScheduleUpdate: ['station', 'ocpp2.1'],
  ReportChargingProfiles: ['station'],
  ReportDERControl: ['station', 'ocpp2.1'],
  RequestBatterySwap: ['central', 'ocpp2.1'],
  RequestStartTransaction: ['central'],
  RequestStopTransaction: ['central'],
  ReservationStatusUpdate: ['station'],
  ReserveNow: ['central'],
  Reset: ['central'],
  SecurityEventNotification: ['station'],
  SendLocalList: ['central'],
  SetChargingProfile: ['central'],
  SetDERControl: ['central', 'ocpp2.1'],
  SetDefaultTariff: ['central', 'ocpp2.1'],
  SetDisplayMessage: ['central'],
  SetMonitoringBase: ['central'],
  SetMonitoringLevel: ['central'],
  SetNetworkProfile: ['central'],
  SetVariableMonitoring: ['central'],
  SetVariables: ['central'],
  SignCertificate: ['station'],
  StatusNotification: ['station'],
  TransactionEvent: ['station'],
  TriggerMessage: ['central'],
  UnlockConnector: ['central'],
  UnpublishFirmware: ['central'],
  UpdateDynamicSchedule: ['central', 'ocpp2.1'],
  UpdateFirmware: ['central'],
  UsePriorityCharging: ['central', 'ocpp2.1'],
  VatNumberValidation: ['station', 'ocpp2.1'],
};

export const directions: Readonly<Record<string, Direction>> = Object.fromEntries(
  Object.entries(actions).map(([action, [direction]]) => [action, direction]),
);

export function directionOf(action: string): Direction | null {
  return Object.hasOwn(actions, action) ? actions[action as Action][0] : null;
}

/** Calls of the central system that are answered with NotSupported, with the reason. */
export const unsupported: Readonly<Partial<Record<Action, string>>> = {
  PublishFirmware: 'only a local controller publishes firmware',
  UnpublishFirmware: 'only a local controller publishes firmware',
  NotifyWebPaymentStarted: 'the station has no payment by web page',
  RequestBatterySwap: 'the station does not swap batteries',
};

/** The actions of a version. */
export function actionsOf(version: Version2): readonly Action[] {
  return (Object.keys(actions) as readonly Action[]).filter(
    (action) => version === 'ocpp2.1' || actions[action][1] === undefined,
  );
}

type AnyHandler = (request: Payload, after: After) => Payload | Promise<Payload>;

interface DispatchOptions extends Pick<StationParts, 'version' | 'finding'> {
  readonly handlers: Handlers;
  readonly registration: Pick<RegistrationPart, 'status' | 'booting'>;
  /** true: the station is leaving the central system, or has stopped */
  readonly isEnding: () => boolean;
}

/** @throws CallError */
function handlerOf({ handlers, version, finding }: DispatchOptions, action: string): AnyHandler {
  const handler = Object.hasOwn(handlers, action) ? handlers[action as Action] : undefined;
  if (handler !== undefined) return handler as unknown as AnyHandler;
  const why = Object.hasOwn(unsupported, action) ? unsupported[action as Action] : undefined;
  if (why !== undefined) throw new CallError(errorCode(version, 'unsupportedAction'), why);
  if (directionOf(action) === 'station') {
    finding(clauseOf(version, 'part 2, 3'), `only charging stations send ${action}`, action, 'action_direction');
    throw new CallError(errorCode(version, 'unsupportedAction'), `a charging station does not answer ${action}`);
  }
  throw new CallError(errorCode(version, 'unknownAction'), `there is no action ${action.slice(0, 50)}`);
}

const remoteActions: readonly string[] = ['RequestStartTransaction', 'RequestStopTransaction'];

/**
 * The rule that a call breaks which the registration does not permit. Before the first answer none: an earlier connection
 * may have brought the acceptance, or this station may have restarted since.
 */
function refusedRule(status: OcppBootStatus, action: string, payload: Payload): 'before_registration' | null {
  const isBootTrigger = action === 'TriggerMessage' && payload.requestedMessage === 'BootNotification';
  return status === 'none' || isBootTrigger ? null : 'before_registration';
}

export function createDispatch(options: DispatchOptions): CallHandler {
  const { registration, version, finding, isEnding } = options;
  const handleCall: CallHandler = (action, payload, after) => {
    if (isEnding()) return noAnswer;
    const { status } = registration;
    const { incoming, remote } = bootTable2[status];
    if (incoming === 'refused') {
      const clause = clauseOf(version, status === 'none' ? 'B01.FR.10' : 'B03.FR.08');
      finding(clause, `${action} before acceptance`, action, refusedRule(status, action, payload));
      throw new CallError(errorCode(version, 'security'), 'the registration is not accepted');
    }
    const handler = handlerOf(options, action);
    if (!remote && remoteActions.includes(action)) {
      const clause = clauseOf(version, 'B02.FR.05');
      finding(clause, `${action} while the registration is Pending`, action, 'before_registration');
      return { status: 'Rejected', statusInfo: { reasonCode: 'NotEnabled' } };
    }
    return handler(payload, after);
  };
  return afterBootAnswer(registration, handleCall);
}

function functionsOf(at: Assembled): OcppFunctions {
  const { registration, parts } = at;
  const variables = createVariableView(parts, at.variables, at.networkProfiles.checks);
  return {
    ...sharedFunctions(at),
    boot: async (reason) => {
      if (reason !== null && !(bootReasons as readonly string[]).includes(reason))
        throw new SimError('COMMAND_BAD_VALUE', `reason: allowed: ${bootReasons.join(', ')}`);
      return await sendUserCall('BootNotification', (options) =>
        registration.boot({ ...options, ...(reason !== null && { reason }) }),
      );
    },
    configuration: (key) => variables.configuration(key),
    setConfiguration: (change) => variables.setConfiguration(change),
    derControls: () => at.derControl.entries(),
    display: (evseId) => at.display.shown(evseId),
    authorize: (evseId, idToken, _by, type) => at.authorization.present(evseId, idToken, type),
  };
}

export function createStack2(version: Version2, options: StackOptions): VersionStack {
  const at = assembleParts(version, options);
  const { registration, variables, networkProfiles, security } = at;
  return createVersionStack(at, {
    functions: functionsOf(at),
    bootTable: bootTable2,
    heartbeatIntervalS: () => variables.integer('OCPPCommCtrlr', 'HeartbeatInterval'),
    loadSettings: () => variables.load(),
    opened: () => {
      networkProfiles.opened();
    },
    failed: (failure, isReverted) => {
      security.failed(failure);
      networkProfiles.failed(isReverted);
    },
    retargeted: () => {
      networkProfiles.targetSet();
    },
    dispatch: (isEnding) =>
      createDispatch({ version, handlers: mergeHandlers(at.all), registration, finding: options.finding, isEnding }),
  });
}
