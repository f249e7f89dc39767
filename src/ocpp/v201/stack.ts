/** OCPP 2.0.1 or 2.1 at work for one station: its functions for REST, and calls of the central system as far as the registration permits them. */
import type { OcppFunctions } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import { bootTable2 } from '../provisioning/registration.ts';
import type { RegistrationPart } from '../provisioning/registration.ts';
import { called, sharedFunctions, createVersionStack } from '../station/version.ts';
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

// Actions of OCPP 2.0.1 and 2.1 by direction, and those that this station does not carry out.

/** `station`: sent by the station; `central`: by the central system. */
export const directions: Readonly<Record<Action, 'station' | 'central' | 'both'>> = {
  AFRRSignal: 'central',
  AdjustPeriodicEventStream: 'central',
  Authorize: 'station',
  BatterySwap: 'station',
  BootNotification: 'station',
  CancelReservation: 'central',
  CertificateSigned: 'central',
  ChangeAvailability: 'central',
  ChangeTransactionTariff: 'central',
  ClearCache: 'central',
  ClearChargingProfile: 'central',
  ClearDERControl: 'central',
  ClearDisplayMessage: 'central',
  ClearTariffs: 'central',
  ClearVariableMonitoring: 'central',
  ClearedChargingLimit: 'station',
  ClosePeriodicEventStream: 'station',
  CostUpdated: 'central',
  CustomerInformation: 'central',
  DataTransfer: 'both',
  DeleteCertificate: 'central',
  FirmwareStatusNotification: 'station',
  Get15118EVCertificate: 'station',
  GetBaseReport: 'central',
  GetCertificateChainStatus: 'station',
  GetCertificateStatus: 'station',
  GetChargingProfiles: 'central',
  GetCompositeSchedule: 'central',
  GetDERControl: 'central',
  GetDisplayMessages: 'central',
  GetInstalledCertificateIds: 'central',
  GetLocalListVersion: 'central',
  GetLog: 'central',
  GetMonitoringReport: 'central',
  GetPeriodicEventStream: 'central',
  GetReport: 'central',
  GetTariffs: 'central',
  GetTransactionStatus: 'central',
  GetVariables: 'central',
  Heartbeat: 'station',
  InstallCertificate: 'central',
  LogStatusNotification: 'station',
  MeterValues: 'station',
  NotifyAllowedEnergyTransfer: 'central',
  NotifyChargingLimit: 'station',
  NotifyCustomerInformation: 'station',
  NotifyDERAlarm: 'station',
  NotifyDERStartStop: 'station',
  NotifyDisplayMessages: 'station',
  NotifyEVChargingNeeds: 'station',
  NotifyEVChargingSchedule: 'station',
  NotifyEvent: 'station',
  NotifyMonitoringReport: 'station',
  NotifyPriorityCharging: 'station',
  NotifyReport: 'station',
  NotifySettlement: 'station',
  NotifyWebPaymentStarted: 'central',
  OpenPeriodicEventStream: 'station',
  PublishFirmware: 'central',
  PublishFirmwareStatusNotification: 'station',
  PullDynamicScheduleUpdate: 'station',
  ReportChargingProfiles: 'station',
  ReportDERControl: 'station',
  RequestBatterySwap: 'central',
  RequestStartTransaction: 'central',
  RequestStopTransaction: 'central',
  ReservationStatusUpdate: 'station',
  ReserveNow: 'central',
  Reset: 'central',
  SecurityEventNotification: 'station',
  SendLocalList: 'central',
  SetChargingProfile: 'central',
  SetDERControl: 'central',
  SetDefaultTariff: 'central',
  SetDisplayMessage: 'central',
  SetMonitoringBase: 'central',
  SetMonitoringLevel: 'central',
  SetNetworkProfile: 'central',
  SetVariableMonitoring: 'central',
  SetVariables: 'central',
  SignCertificate: 'station',
  StatusNotification: 'station',
  TransactionEvent: 'station',
  TriggerMessage: 'central',
  UnlockConnector: 'central',
  UnpublishFirmware: 'central',
  UpdateDynamicSchedule: 'central',
  UpdateFirmware: 'central',
  UsePriorityCharging: 'central',
  VatNumberValidation: 'station',
};

export function directionOf(action: string): 'station' | 'central' | 'both' | null {
  return Object.hasOwn(directions, action) ? directions[action as Action] : null;
}

/** Calls of the central system that are answered with NotSupported, with the reason. */
export const unsupported: Readonly<Partial<Record<Action, string>>> = {
  PublishFirmware: 'only a local controller publishes firmware',
  UnpublishFirmware: 'only a local controller publishes firmware',
  NotifyWebPaymentStarted: 'the station has no payment by web page',
  RequestBatterySwap: 'the station does not swap batteries',
};

/** Actions that 2.1 has brought. */
const since21: ReadonlySet<Action> = new Set<Action>([
  'AFRRSignal',
  'AdjustPeriodicEventStream',
  'BatterySwap',
  'ChangeTransactionTariff',
  'ClearDERControl',
  'ClearTariffs',
  'ClosePeriodicEventStream',
  'GetCertificateChainStatus',
  'GetDERControl',
  'GetPeriodicEventStream',
  'GetTariffs',
  'NotifyAllowedEnergyTransfer',
  'NotifyDERAlarm',
  'NotifyDERStartStop',
  'NotifyPriorityCharging',
  'NotifySettlement',
  'NotifyWebPaymentStarted',
  'OpenPeriodicEventStream',
  'PullDynamicScheduleUpdate',
  'ReportDERControl',
  'RequestBatterySwap',
  'SetDERControl',
  'SetDefaultTariff',
  'UpdateDynamicSchedule',
  'UsePriorityCharging',
  'VatNumberValidation',
]);

/** The actions of a version. */
export function actionsOf(version: Version2): readonly Action[] {
  return (Object.keys(directions) as readonly Action[]).filter(
    (action) => version === 'ocpp2.1' || !since21.has(action),
  );
}

type AnyHandler = (request: Payload, after: After) => Payload | Promise<Payload>;

interface DispatchOptions extends Pick<StationParts, 'version' | 'finding'> {
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

function functionsOf(at: Assembled): OcppFunctions {
  const { registration, parts } = at;
  const variables = createVariableView(parts, at.variables, at.networkProfiles.checks);
  return {
    ...sharedFunctions(at),
    boot: async (reason) => {
      if (reason !== null && !(bootReasons as readonly string[]).includes(reason))
        throw new SimError('COMMAND_BAD_VALUE', `reason: allowed: ${bootReasons.join(', ')}`);
      return await called('BootNotification', (options) =>
        registration.boot({ ...options, ...(reason !== null && { reason }) }),
      );
    },
    configuration: (key) => variables.configuration(key),
    setConfiguration: (change) => variables.setConfiguration(change),
    derControls: () => at.derControl.entries(),
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
    failed: (failure) => {
      security.failed(failure);
      networkProfiles.failed();
    },
    retargeted: () => {
      networkProfiles.targetSet();
    },
    dispatch: (isEnding) =>
      createDispatch({ version, handlers: mergeHandlers(at.all), registration, finding: options.finding, isEnding }),
  });
}
