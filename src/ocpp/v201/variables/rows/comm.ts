/** Communication, clock and limits of the device model itself. */
import { fileProtocols } from '../../../files/transfer.ts';
import { maxHeartbeatIntervalS } from '../../../provisioning/registration.ts';
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

const daysS = 86_400;
const hasFixedCables = ({ ratings }: VariableFacts): boolean => ratings.every(({ attachedCable }) => attachedCable);

const ocppComm = (row: Omit<VariableRow, 'component'>): VariableRow => ({ component: 'OCPPCommCtrlr', ...row });
const clock = (row: Omit<VariableRow, 'component'>): VariableRow => ({ component: 'ClockCtrlr', ...row });
const limit = (variable: string, value: number): VariableRow => ({
  component: 'DeviceDataCtrlr',
  variable,
  type: 'integer',
  mutability: 'ReadOnly',
  initial: String(value),
});

const connection: readonly VariableRow[] = [
  ocppComm({ variable: 'ActiveNetworkProfile', type: 'string', mutability: 'ReadOnly', initial: '0' }),
  ocppComm({
    variable: 'HeartbeatInterval',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '300',
    unit: 's',
    min: 1,
    max: maxHeartbeatIntervalS,
  }),
  ocppComm({
    variable: 'MessageTimeout[Default]',
    type: 'integer',
    mutability: 'ReadOnly',
    initial: '30',
    unit: 's',
  }),
  ocppComm({
    variable: 'NetworkConfigurationPriority',
    type: 'SequenceList',
    mutability: 'ReadWrite',
    initial: '0',
    min: 1,
    values: networkSlots.map(String),
    reboot: true,
  }),
  ocppComm({
    variable: 'NetworkProfileConnectionAttempts',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '3',
    min: 1,
    max: 100,
  }),
  ocppComm({
    variable: 'OfflineThreshold',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '60',
    unit: 's',
    min: 0,
    max: 30 * daysS,
  }),
  ocppComm({
    variable: 'RetryBackOffWaitMinimum',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '1',
    unit: 's',
    min: 1,
    max: 3600,
  }),
  ocppComm({
    variable: 'RetryBackOffRandomRange',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '1',
    unit: 's',
    min: 0,
    max: 3600,
  }),
  ocppComm({
    variable: 'RetryBackOffRepeatTimes',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '8',
    min: 0,
    max: 20,
  }),
  ocppComm({
    variable: 'WebSocketPingInterval',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '60',
    unit: 's',
    min: 0,
    max: daysS,
  }),
];

const messages: readonly VariableRow[] = [
  ocppComm({
    variable: 'FileTransferProtocols',
    type: 'MemberList',
    mutability: 'ReadOnly',
    initial: fileProtocols.join(','),
    values: fileProtocols,
  }),
  ocppComm({
    variable: 'MessageAttempts[TransactionEvent]',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '3',
    min: 1,
    max: 1000,
  }),
  ocppComm({
    variable: 'MessageAttemptInterval[TransactionEvent]',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '60',
    unit: 's',
    min: 0,
    max: daysS,
  }),
  ocppComm({
    variable: 'ResetRetries',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '3',
    min: 0,
    max: 100,
  }),
  ocppComm({
    variable: 'UnlockOnEVSideDisconnect',
    type: 'boolean',
    mutability: 'ReadWrite',
    readOnlyIf: hasFixedCables,
    initial: (facts) => String(!hasFixedCables(facts)),
  }),
  ocppComm({
    variable: 'ExternalConfigChangeDate',
    type: 'dateTime',
    mutability: 'ReadOnly',
    initial: '',
    since: 'ocpp2.1',
  }),
];

const clocks: readonly VariableRow[] = [
  clock({ variable: 'DateTime', type: 'dateTime', mutability: 'ReadOnly', initial: '' }),
  clock({
    variable: 'TimeSource',
    type: 'SequenceList',
    mutability: 'ReadWrite',
    initial: 'Heartbeat',
    min: 1,
    values: ['Heartbeat'],
  }),
  clock({
    variable: 'TimeOffset',
    type: 'string',
    mutability: 'ReadWrite',
    initial: '+00:00',
    min: 6,
    max: 6,
    // nothing of 2.0.1 is in local time
    since: 'ocpp2.1',
  }),
  clock({
    variable: 'TimeAdjustmentReportingThreshold',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '60',
    unit: 's',
    min: 0,
    max: daysS,
  }),
];

const limits: readonly VariableRow[] = [
  limit('ItemsPerMessage[GetReport]', deviceDataLimits.getReportItems),
  limit('ItemsPerMessage[GetVariables]', deviceDataLimits.getVariablesItems),
  limit('ItemsPerMessage[SetVariables]', deviceDataLimits.setVariablesItems),
  limit('BytesPerMessage[GetReport]', deviceDataLimits.messageBytes),
  limit('BytesPerMessage[GetVariables]', deviceDataLimits.messageBytes),
  limit('BytesPerMessage[SetVariables]', deviceDataLimits.messageBytes),
  limit('ConfigurationValueSize', deviceDataLimits.valueSize),
  limit('ReportingValueSize', deviceDataLimits.reportedSize),
];

/** Identity of the station, and security that may be lowered (A01, A05). */
const credentials: readonly VariableRow[] = [
  {
    component: 'SecurityCtrlr',
    variable: 'BasicAuthPassword',
    type: 'string',
    mutability: 'WriteOnly',
    initial: '',
    min: 16,
    max: ({ version }) => (version === 'ocpp2.1' ? 64 : 40),
    secret: true,
  },
  {
    component: 'SecurityCtrlr',
    variable: 'AllowSecurityProfileDowngrade',
    type: 'boolean',
    mutability: 'ReadWrite',
    initial: 'false',
    since: 'ocpp2.1',
  },
];

const slotVariables: readonly Omit<VariableRow, 'component'>[] = [
  { variable: 'OcppCsmsUrl', type: 'string', mutability: 'ReadWrite', initial: '', max: 1000 },
  {
    variable: 'OcppInterface',
    type: 'OptionList',
    mutability: 'ReadWrite',
    initial: 'Any',
    values: ['Wired0', 'Any'],
  },
  { variable: 'OcppTransport', type: 'OptionList', mutability: 'ReadOnly', initial: 'JSON', values: ['JSON'] },
  { variable: 'OcppVersion', type: 'OptionList', mutability: 'ReadOnly', initial: 'OCPP21', values: ['OCPP21'] },
  { variable: 'MessageTimeout', type: 'integer', mutability: 'ReadWrite', initial: '30', unit: 's', min: 1, max: 3600 },
  { variable: 'SecurityProfile', type: 'integer', mutability: 'ReadWrite', initial: '0', min: 0, max: 3 },
  {
    variable: 'BasicAuthPassword',
    type: 'string',
    mutability: 'WriteOnly',
    initial: '',
    min: 16,
    max: 64,
    secret: true,
  },
  { variable: 'VpnEnabled', type: 'boolean', mutability: 'ReadOnly', initial: 'false' },
  { variable: 'ApnEnabled', type: 'boolean', mutability: 'ReadOnly', initial: 'false' },
];

/** Of 2.1: the slots of SetNetworkProfile. */
const networkConfigurations: readonly VariableRow[] = networkSlots.flatMap((slot) =>
  slotVariables.map((row): VariableRow => ({ component: `NetworkConfiguration[${slot}]`, since: 'ocpp2.1', ...row })),
);

export const commRows: readonly VariableRow[] = [
  ...connection,
  ...messages,
  ...clocks,
  ...limits,
  ...credentials,
  ...networkConfigurations,
];
