/** Operation modes of 2.1 (block Q): which powers a period of each may name, and which modes this station carries out. */
import type { OperationMode } from '../../charging/model.ts';
import type { ChargingProfilePurposeEnum, OperationModeEnum } from '../messages.ts';

export type PeriodPower = 'limit' | 'dischargeLimit' | 'setpoint';

interface ModePowers {
  readonly required: readonly PeriodPower[];
  readonly optional: readonly PeriodPower[];
}

/** Table of limits and set-points by operation mode, for the modes that the station knows. */
export const modePowers: Readonly<Record<OperationMode, ModePowers>> = {
  Idle: { required: [], optional: [] },
  ChargingOnly: { required: ['limit'], optional: [] },
  CentralSetpoint: { required: ['setpoint'], optional: ['limit', 'dischargeLimit'] },
  CentralFrequency: { required: ['setpoint'], optional: ['limit', 'dischargeLimit'] },
  LocalFrequency: { required: [], optional: [] },
};

/** Why the station does not carry out the other modes. */
export const refusedModes: Readonly<Record<Exclude<OperationModeEnum, OperationMode>, string>> = {
  ExternalSetpoint: 'no outside system gives this station set-points of an EVSE',
  ExternalLimits: 'limits from outside hold for this station without a profile',
  LocalLoadBalancing: 'the station has no meter of an upstream load',
};

export function isCarriedOut(mode: OperationModeEnum): mode is OperationMode {
  return mode in modePowers;
}

/** Modes that an EVSE offers: a bidirectional one all that the station carries out. */
export function modesOf(bidirectional: boolean): readonly OperationMode[] {
  return bidirectional
    ? ['ChargingOnly', 'CentralSetpoint', 'CentralFrequency', 'LocalFrequency', 'Idle']
    : ['ChargingOnly'];
}

/** Purposes whose periods may have another mode than ChargingOnly. */
export function takesModes(purpose: ChargingProfilePurposeEnum): boolean {
  return purpose === 'TxProfile' || purpose === 'TxDefaultProfile';
}
