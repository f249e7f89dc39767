/** Communication, clock and limits of the device model itself. */
import { fileProtocols } from '../../../files/transfer.ts';
import { maxHeartbeatIntervalS } from '../../../provisioning/registration.ts';
import { rowsOf } from '../model.ts';
import type { VariableFacts, VariableRow } from '../model.ts';

/** Numbers of the network profiles that SetNetworkProfile can fill; 0 holds the settings of the process. */
export const networkSlots = [0, 1, 2, 3] as const;

/** Limits of the requests and reports of the device model. */
export const deviceDataLimits = {
  getReportItems: 100,
  getVariablesItems: 100,
  setVariablesItems: 100,
  /** of a payload as JSON text in UTF-8 */
  messageBytes: 65_536,
  /** longest text of a value that can be set */
  valueSize: 1000,
  /** longest text of a value that is told */
  reportedSize: 2500,
} as const;

const dayS = 86_400;
const hasFixedCables = ({ ratings }: VariableFacts): boolean => ratings.every(({ attachedCable }) => attachedCable);

const comm = rowsOf('OCPPCommCtrlr');
const clock = rowsOf('ClockCtrlr');
const data = rowsOf('DeviceDataCtrlr');
const security = rowsOf('SecurityCtrlr');

/** Of 2.1: a slot of SetNetworkProfile. */
function networkConfiguration(slot: number): readonly VariableRow[] {
  const network = rowsOf(`NetworkConfiguration[${slot}]`, { since: 'ocpp2.1' });
  return [
    network.readWrite('OcppCsmsUrl', 'string', '', { max: 1000 }),
    network.readWrite('OcppInterface', 'OptionList', 'Any', { values: ['Wired0', 'Any'] }),
    network.readOnly('OcppTransport', 'OptionList', 'JSON', { values: ['JSON'] }),
    network.readOnly('OcppVersion', 'OptionList', 'OCPP21', { values: ['OCPP21'] }),
    network.readWrite('MessageTimeout', 'integer', 30, { unit: 's', min: 1, max: 3600 }),
    network.readWrite('SecurityProfile', 'integer', 0, { min: 0, max: 3 }),
    network.writeOnly('BasicAuthPassword', 'string', '', { min: 16, max: 64, secret: true }),
    network.readOnly('VpnEnabled', 'boolean', false),
    network.readOnly('ApnEnabled', 'boolean', false),
  ];
}

export const commRows: readonly VariableRow[] = [
  comm.readOnly('ActiveNetworkProfile', 'string', '0'),
  comm.readWrite('HeartbeatInterval', 'integer', 300, { unit: 's', min: 1, max: maxHeartbeatIntervalS }),
  comm.readOnly('MessageTimeout[Default]', 'integer', 30, { unit: 's' }),
  comm.readWrite('NetworkConfigurationPriority', 'SequenceList', '0', {
    min: 1,
    values: networkSlots.map(String),
    reboot: true,
  }),
  comm.readWrite('NetworkProfileConnectionAttempts', 'integer', 3, { min: 1, max: 100 }),
  comm.readWrite('OfflineThreshold', 'integer', 60, { unit: 's', min: 0, max: 30 * dayS }),
  comm.readWrite('RetryBackOffWaitMinimum', 'integer', 1, { unit: 's', min: 1, max: 3600 }),
  comm.readWrite('RetryBackOffRandomRange', 'integer', 1, { unit: 's', min: 0, max: 3600 }),
  comm.readWrite('RetryBackOffRepeatTimes', 'integer', 8, { min: 0, max: 20 }),
  comm.readWrite('WebSocketPingInterval', 'integer', 60, { unit: 's', min: 0, max: dayS }),
  comm.readOnly('FileTransferProtocols', 'MemberList', fileProtocols.join(','), { values: fileProtocols }),
  comm.readWrite('MessageAttempts[TransactionEvent]', 'integer', 3, { min: 1, max: 1000 }),
  comm.readWrite('MessageAttemptInterval[TransactionEvent]', 'integer', 60, { unit: 's', min: 0, max: dayS }),
  comm.readWrite('ResetRetries', 'integer', 3, { min: 0, max: 100 }),
  comm.readWrite('UnlockOnEVSideDisconnect', 'boolean', (facts) => String(!hasFixedCables(facts)), {
    readOnlyIf: hasFixedCables,
  }),
  comm.readOnly('ExternalConfigChangeDate', 'dateTime', '', { since: 'ocpp2.1' }),

  clock.readOnly('DateTime', 'dateTime', ''),
  clock.readWrite('TimeSource', 'SequenceList', 'Heartbeat', { min: 1, values: ['Heartbeat'] }),
  // nothing of 2.0.1 is in local time
  clock.readWrite('TimeOffset', 'string', '+00:00', { min: 6, max: 6, since: 'ocpp2.1' }),
  clock.readWrite('TimeAdjustmentReportingThreshold', 'integer', 60, { unit: 's', min: 0, max: dayS }),

  data.readOnly('ItemsPerMessage[GetReport]', 'integer', deviceDataLimits.getReportItems),
  data.readOnly('ItemsPerMessage[GetVariables]', 'integer', deviceDataLimits.getVariablesItems),
  data.readOnly('ItemsPerMessage[SetVariables]', 'integer', deviceDataLimits.setVariablesItems),
  data.readOnly('BytesPerMessage[GetReport]', 'integer', deviceDataLimits.messageBytes),
  data.readOnly('BytesPerMessage[GetVariables]', 'integer', deviceDataLimits.messageBytes),
  data.readOnly('BytesPerMessage[SetVariables]', 'integer', deviceDataLimits.messageBytes),
  data.readOnly('ConfigurationValueSize', 'integer', deviceDataLimits.valueSize),
  data.readOnly('ReportingValueSize', 'integer', deviceDataLimits.reportedSize),

  // identity of the station, and security that may be lowered (A01, A05)
  security.writeOnly('BasicAuthPassword', 'string', '', {
    min: 16,
    max: ({ version }) => (version === 'ocpp2.1' ? 64 : 40),
    secret: true,
  }),
  security.readWrite('AllowSecurityProfileDowngrade', 'boolean', false, { since: 'ocpp2.1' }),
  ...networkSlots.flatMap(networkConfiguration),
];
