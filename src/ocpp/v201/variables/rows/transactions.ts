/** TxCtrlr (E), SampledDataCtrlr and AlignedDataCtrlr (J). */
import { suppliedMeasurands } from '../../meter-values.ts';
import { txPoints } from '../../transactions/points.ts';
import { limitNames } from '../../transactions/record.ts';
import { rowsOf } from '../model.ts';
import type { VariableFacts, VariableRow } from '../model.ts';

const tx = rowsOf('TxCtrlr');
const sampled = rowsOf('SampledDataCtrlr');
const aligned = rowsOf('AlignedDataCtrlr');

const daySeconds = 86_400;
const registerAlone = 'Energy.Active.Import.Register';
/** of a list of measurands */
const measurands = { values: ({ version }: VariableFacts) => suppliedMeasurands(version), max: 1000 };
/** of an interval; 0: no samples */
const interval = { unit: 's', min: 0, max: daySeconds };

export const txRows: readonly VariableRow[] = [
  tx.readWrite('EVConnectionTimeOut', 'integer', 60, { unit: 's', min: 1, max: daySeconds }),
  tx.readWrite('StopTxOnEVSideDisconnect', 'boolean', true),
  tx.readWrite('StopTxOnInvalidId', 'boolean', true),
  tx.readWrite('MaxEnergyOnInvalidId', 'integer', 0, { unit: 'Wh', min: 0, max: 1_000_000 }),
  tx.readWrite('TxBeforeAcceptedEnabled', 'boolean', true),
  // an empty list would let energy flow without a transaction
  tx.readWrite('TxStartPoint', 'MemberList', 'PowerPathClosed', { values: txPoints, min: 1 }),
  tx.readWrite('TxStopPoint', 'MemberList', 'EVConnected,Authorized', { values: txPoints, min: 1 }),
  tx.readWrite('ResumptionTimeout', 'integer', 0, { unit: 's', min: 0, max: daySeconds, since: 'ocpp2.1' }),
  tx.readOnly('AllowEnergyTransferResumption', 'boolean', true, { since: 'ocpp2.1' }),
  tx.readOnly('SupportedLimits', 'MemberList', limitNames.join(','), { values: limitNames, since: 'ocpp2.1' }),

  sampled.readOnly('Available', 'boolean', true),
  sampled.readWrite('Enabled', 'boolean', true),
  sampled.readOnly('SignReadings', 'boolean', false),
  sampled.readOnly('RegisterValuesWithoutPhases', 'boolean', true),
  sampled.readWrite('TxStartedMeasurands', 'MemberList', registerAlone, measurands),
  sampled.readWrite('TxUpdatedMeasurands', 'MemberList', `${registerAlone},Power.Active.Import`, measurands),
  sampled.readWrite('TxUpdatedInterval', 'integer', 60, interval),
  sampled.readWrite('TxEndedMeasurands', 'MemberList', registerAlone, measurands),
  sampled.readWrite('TxEndedInterval', 'integer', 0, interval),

  aligned.readOnly('Available', 'boolean', true),
  aligned.readWrite('Enabled', 'boolean', true),
  aligned.readOnly('SignReadings', 'boolean', false),
  aligned.readWrite('SendDuringIdle', 'boolean', false),
  aligned.readWrite('Measurands', 'MemberList', registerAlone, measurands),
  aligned.readWrite('Interval', 'integer', 0, interval),
  aligned.readWrite('TxEndedMeasurands', 'MemberList', '', measurands),
  aligned.readWrite('TxEndedInterval', 'integer', 0, interval),
];
