/** Why transactions stop: stop reasons of the device and faults in the words of 2.x, with the trigger that tells each. */
import type { EvseErrorCode } from '../../../contract/kinds/evse.ts';
import type { ReasonEnum, TriggerReasonEnum } from '../messages.ts';
import type { Version2 } from '../version.ts';

/** Why a transaction, or its authorisation, ends. */
export interface Why {
  readonly reason: ReasonEnum;
  readonly trigger: TriggerReasonEnum;
}

/** Trigger of each reason. */
const triggers: Readonly<Record<ReasonEnum, TriggerReasonEnum>> = {
  DeAuthorized: 'Deauthorized',
  EmergencyStop: 'AbnormalCondition',
  EnergyLimitReached: 'EnergyLimitReached',
  EVDisconnected: 'EVCommunicationLost',
  GroundFault: 'AbnormalCondition',
  ImmediateReset: 'ResetCommand',
  Local: 'StopAuthorized',
  LocalOutOfCredit: 'CostLimitReached',
  MasterPass: 'StopAuthorized',
  Other: 'AbnormalCondition',
  OvercurrentFault: 'AbnormalCondition',
  PowerLoss: 'AbnormalCondition',
  PowerQuality: 'AbnormalCondition',
  Reboot: 'AbnormalCondition',
  Remote: 'RemoteStop',
  ReqEnergyTransferRejected: 'Deauthorized',
  SOCLimitReached: 'SoCLimitReached',
  StoppedByEV: 'ChargingStateChanged',
  TimeLimitReached: 'TimeLimitReached',
  Timeout: 'EVConnectTimeout',
};

/** Stop reasons of the device that 2.x does not have. A person has unlocked the connector at the station. */
const meanings: Readonly<Record<string, Why>> = {
  HardReset: { reason: 'ImmediateReset', trigger: 'ResetCommand' },
  SoftReset: { reason: 'ImmediateReset', trigger: 'ResetCommand' },
  UnlockCommand: { reason: 'Local', trigger: 'UnlockCommand' },
};

function isReason(text: string): text is ReasonEnum {
  return Object.hasOwn(triggers, text);
}

/** @param reason of the session of the device; null: it is not known */
export function whyOf(reason: string | null): Why {
  if (reason === null) return { reason: 'Local', trigger: 'StopAuthorized' };
  if (isReason(reason)) return { reason, trigger: triggers[reason] };
  return Object.hasOwn(meanings, reason)
    ? (meanings[reason] as Why)
    : { reason: 'Other', trigger: 'AbnormalCondition' };
}

const faults: Readonly<Partial<Record<EvseErrorCode | 'NoError', ReasonEnum>>> = {
  GroundFailure: 'GroundFault',
  OverCurrentFailure: 'OvercurrentFault',
  OverVoltage: 'PowerQuality',
  UnderVoltage: 'PowerQuality',
};

/** The stop reason of a fault of the connector. */
export function faultReason(errorCode: EvseErrorCode | 'NoError'): ReasonEnum {
  return faults[errorCode] ?? 'Other';
}

/** Triggers that 2.1 has added, in the words of 2.0.1. */
const formerly: Readonly<Partial<Record<TriggerReasonEnum, TriggerReasonEnum>>> = {
  CostLimitReached: 'Deauthorized',
  LimitSet: 'ChargingRateChanged',
  OperationModeChanged: 'ChargingRateChanged',
  RunningCost: 'Trigger',
  SoCLimitReached: 'EnergyLimitReached',
  TariffChanged: 'Trigger',
  TariffNotAccepted: 'Deauthorized',
  TxResumed: 'AbnormalCondition',
};

export function triggerIn(version: Version2, trigger: TriggerReasonEnum): TriggerReasonEnum {
  return version === 'ocpp2.1' ? trigger : (formerly[trigger] ?? trigger);
}

export function reasonIn(version: Version2, reason: ReasonEnum): ReasonEnum {
  return version === 'ocpp2.0.1' && reason === 'ReqEnergyTransferRejected' ? 'Other' : reason;
}
