/** TxCtrlr (E), SampledDataCtrlr and AlignedDataCtrlr (J). */
import { suppliedMeasurands } from '../../meter-values.ts';
import { txPoints } from '../../transactions/points.ts';
import { limitNames } from '../../transactions/record.ts';
import type { VariableFacts, VariableRow } from '../model.ts';

const daySeconds = 86_400;

const metered = ({ version }: VariableFacts) => suppliedMeasurands(version);
const registerAlone = 'Energy.Active.Import.Register';

function measurands(component: string, variable: string, initial: string): VariableRow {
  return {
    component,
    variable,
    type: 'MemberList',
    mutability: 'ReadWrite',
    initial,
    values: metered,
    max: 1000,
  };
}

/** 0: no samples */
function interval(component: string, variable: string, initial: string): VariableRow {
  return {
    component,
    variable,
    type: 'integer',
    mutability: 'ReadWrite',
    initial,
    unit: 's',
    min: 0,
    max: daySeconds,
  };
}

function flag(component: string, variable: string, initial: boolean, more: Partial<VariableRow> = {}): VariableRow {
  return { component, variable, type: 'boolean', mutability: 'ReadWrite', initial: String(initial), ...more };
}

const readOnly = { mutability: 'ReadOnly' } as const;

const txCtrlr: readonly VariableRow[] = [
  {
    component: 'TxCtrlr',
    variable: 'EVConnectionTimeOut',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '60',
    unit: 's',
    min: 1,
    max: daySeconds,
  },
  flag('TxCtrlr', 'StopTxOnEVSideDisconnect', true),
  flag('TxCtrlr', 'StopTxOnInvalidId', true),
  {
    component: 'TxCtrlr',
    variable: 'MaxEnergyOnInvalidId',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '0',
    unit: 'Wh',
    min: 0,
    max: 1_000_000,
  },
  flag('TxCtrlr', 'TxBeforeAcceptedEnabled', true),
  {
    component: 'TxCtrlr',
    variable: 'TxStartPoint',
    type: 'MemberList',
    mutability: 'ReadWrite',
    initial: 'PowerPathClosed',
    values: txPoints,
    // an empty list would let energy flow without a transaction
    min: 1,
  },
  {
    component: 'TxCtrlr',
    variable: 'TxStopPoint',
    type: 'MemberList',
    mutability: 'ReadWrite',
    initial: 'EVConnected,Authorized',
    values: txPoints,
    min: 1,
  },
  {
    component: 'TxCtrlr',
    variable: 'ResumptionTimeout',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '0',
    unit: 's',
    min: 0,
    max: daySeconds,
    since: 'ocpp2.1',
  },
  flag('TxCtrlr', 'AllowEnergyTransferResumption', true, { ...readOnly, since: 'ocpp2.1' }),
  {
    component: 'TxCtrlr',
    variable: 'SupportedLimits',
    type: 'MemberList',
    mutability: 'ReadOnly',
    initial: limitNames.join(','),
    values: limitNames,
    since: 'ocpp2.1',
  },
];

const sampled: readonly VariableRow[] = [
  flag('SampledDataCtrlr', 'Available', true, readOnly),
  flag('SampledDataCtrlr', 'Enabled', true),
  flag('SampledDataCtrlr', 'SignReadings', false, readOnly),
  flag('SampledDataCtrlr', 'RegisterValuesWithoutPhases', true, readOnly),
  measurands('SampledDataCtrlr', 'TxStartedMeasurands', registerAlone),
  measurands('SampledDataCtrlr', 'TxUpdatedMeasurands', `${registerAlone},Power.Active.Import`),
  interval('SampledDataCtrlr', 'TxUpdatedInterval', '60'),
  measurands('SampledDataCtrlr', 'TxEndedMeasurands', registerAlone),
  interval('SampledDataCtrlr', 'TxEndedInterval', '0'),
];

const aligned: readonly VariableRow[] = [
  flag('AlignedDataCtrlr', 'Available', true, readOnly),
  flag('AlignedDataCtrlr', 'Enabled', true),
  flag('AlignedDataCtrlr', 'SignReadings', false, readOnly),
  flag('AlignedDataCtrlr', 'SendDuringIdle', false),
  measurands('AlignedDataCtrlr', 'Measurands', registerAlone),
  interval('AlignedDataCtrlr', 'Interval', '0'),
  measurands('AlignedDataCtrlr', 'TxEndedMeasurands', ''),
  interval('AlignedDataCtrlr', 'TxEndedInterval', '0'),
];

export const txRows: readonly VariableRow[] = [...txCtrlr, ...sampled, ...aligned];
