/**
 * Variables of the controllers of each block: authorization, transactions, metering, display, tariff, charging,
 * communication, security.
 */
import { maxCacheBytes } from '../../../authorization.ts';
import { listLimits, maxAdditionalInfo, tokenTypes } from '../../authorization/tokens.ts';
import { rowsOf } from '../model.ts';
import type { VariableRow, VariableFacts, Place } from '../model.ts';
import { suppliedMeasurands } from '../../meter-values.ts';
import { txPoints } from '../../transactions/reasons.ts';
import { limitNames } from '../../transactions/state.ts';
import { formats, languages, maxMessages, priorities, states } from '../../display-message.ts';
import { externalProfileId, maxPeriods, maxProfiles, maxStackLevel, modesOf } from '../../charging/rules.ts';
import { derTargets } from '../../der-controls/translate.ts';
import { ratingAt } from './components.ts';
import { fileProtocols } from '../../../files/transfer.ts';
import { maxHeartbeatIntervalS } from '../../../provisioning/registration.ts';

const auth = rowsOf('AuthCtrlr');
const cache = rowsOf('AuthCacheCtrlr');
const list = rowsOf('LocalAuthListCtrlr');
const reservation = rowsOf('ReservationCtrlr');
const types = tokenTypes['ocpp2.1'];

export const authRows: readonly VariableRow[] = [
  // false: plugging in is enough, and every token is accepted
  auth.readWrite('Enabled', 'boolean', true),
  auth.readWrite('AuthorizeRemoteStart', 'boolean', true),
  auth.readWrite('LocalAuthorizeOffline', 'boolean', true),
  auth.readWrite('LocalPreAuthorize', 'boolean', false),
  auth.readWrite('OfflineTxForUnknownIdEnabled', 'boolean', false),
  auth.readWrite('DisableRemoteAuthorization', 'boolean', false),
  auth.readWrite('MasterPassGroupId', 'string', '', { max: 255 }),
  auth.readOnly('AdditionalInfoItemsPerMessage', 'integer', maxAdditionalInfo),
  auth.readOnly('SupportedIdTokenType', 'MemberList', types.join(','), { values: types, since: 'ocpp2.1' }),

  cache.readOnly('Available', 'boolean', true),
  cache.readWrite('Enabled', 'boolean', true),
  // from the last use of the token on
  cache.readWrite('LifeTime', 'integer', 30 * 86_400, { unit: 's', min: 1, max: 2_000_000_000 }),
  cache.readWrite('Policy', 'OptionList', 'LRU', { values: ['LRU', 'LFU', 'FIFO'] }),
  cache.readOnly('Storage', 'integer', 0, { unit: 'B', max: maxCacheBytes }),
  cache.readWrite('DisablePostAuthorize', 'boolean', false),

  list.readOnly('Available', 'boolean', true),
  list.readWrite('Enabled', 'boolean', true),
  list.readOnly('Entries', 'integer', 0, { max: listLimits.entries }),
  list.readOnly('ItemsPerMessage', 'integer', listLimits.itemsPerMessage),
  list.readOnly('BytesPerMessage', 'integer', listLimits.bytesPerMessage),
  list.readOnly('Storage', 'integer', 0, { unit: 'B', max: listLimits.bytes }),
  list.readWrite('DisablePostAuthorize', 'boolean', false),
  list.readOnly('SupportsExpiryDateTime', 'boolean', true, { since: 'ocpp2.1' }),

  reservation.readOnly('Available', 'boolean', true),
  reservation.readWrite('Enabled', 'boolean', true),
  reservation.readWrite('NonEvseSpecific', 'boolean', true),
];

const tx = rowsOf('TxCtrlr');
const sampled = rowsOf('SampledDataCtrlr');
const aligned = rowsOf('AlignedDataCtrlr');

const daySeconds = 86_400;
const registerAlone = 'Energy.Active.Import.Register';
/** options of rows with a list of measurands */
const measurands = { values: ({ version }: VariableFacts) => suppliedMeasurands(version), max: 1000 };
/** options of rows with an interval of samples; 0: no samples */
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

/** Strategies for a tariff of a driver that the station cannot use (I08). */
const failedTariffRules = ['Deauthorize', 'UseDefaultTariff', 'CentralCost'] as const;
/** maximum price elements of one dimension of a tariff */
const maxElements = 20;
const states21 = states['ocpp2.1'];

const display = rowsOf('DisplayMessageCtrlr');
const display21 = rowsOf('DisplayMessageCtrlr', { since: 'ocpp2.1' });
const tariff = rowsOf('TariffCostCtrlr');
const tariff21 = rowsOf('TariffCostCtrlr', { since: 'ocpp2.1' });

export const displayRows: readonly VariableRow[] = [
  display.readOnly('Available', 'boolean', true),
  // false: the displays show nothing, and messages are refused
  display.readWrite('Enabled', 'boolean', true),
  display.readOnly('DisplayMessages', 'integer', 0, { max: maxMessages }),
  display.readOnly('SupportedFormats', 'MemberList', ({ version }) => formats[version].join(','), {
    values: ({ version }) => formats[version],
  }),
  display.readOnly('SupportedPriorities', 'MemberList', priorities.join(','), { values: priorities }),
  display21.readOnly('SupportedStates', 'MemberList', states21.join(','), { values: states21 }),
  // for messages in several languages, while the language of the driver is not known
  display21.readWrite('Language', 'OptionList', languages[0], { values: languages }),

  tariff.readOnly('Available[Tariff]', 'boolean', true),
  tariff.readOnly('Available[Cost]', 'boolean', true),
  // false: texts about tariffs are not shown; in 2.1 no tariff is used either
  tariff.readWrite('Enabled[Tariff]', 'boolean', true),
  // false: costs are not shown; in 2.1 they are not calculated either
  tariff.readWrite('Enabled[Cost]', 'boolean', true),
  tariff.readWrite('Currency', 'string', 'EUR', { max: 3 }),
  tariff.readWrite('TariffFallbackMessage', 'string', '', { max: 255 }),
  tariff.readWrite('TotalCostFallbackMessage', 'string', '', { max: 255 }),
  tariff21.readWrite('OfflineTariffFallbackMessage', 'string', '', { max: 255 }),
  tariff21.readWrite('Enabled[RunningCost]', 'boolean', false),
  tariff21.readWrite('Interval[Tariff]', 'integer', 10, { unit: 's', min: 1, max: 3600 }),
  tariff21.readWrite('Interval[Cost]', 'integer', 60, { unit: 's', min: 1, max: 86_400 }),
  tariff21.readOnly('MaxElements[Tariff]', 'integer', maxElements),
  tariff21.readOnly('ConditionsSupported[Tariff]', 'boolean', true),
  tariff21.readWrite('HandleFailedTariff[Tariff]', 'OptionList', 'UseDefaultTariff', { values: failedTariffRules }),
  // true after a tariff of a driver could not be used, until the next one that can be used
  tariff21.readOnly('Problem', 'boolean', false, { monitored: true }),
];

const isBidirectional = (facts: VariableFacts, place: Place) => ratingAt(facts, place).bidirectional;
const since = 'ocpp2.1' as const;

const smart = rowsOf('SmartChargingCtrlr');
const purposes = ['PriorityCharging', 'LocalGeneration'];

const smartRows: readonly VariableRow[] = [
  smart.readOnly('Available', 'boolean', true),
  smart.readWrite('Enabled', 'boolean', true),
  smart.readOnly('Entries[ChargingProfiles]', 'integer', 0, { max: maxProfiles }),
  smart.readWrite('LimitChangeSignificance', 'decimal', 1, { unit: 'Percent', min: 0, max: 100 }),
  smart.readWrite('NotifyChargingLimitWithSchedules', 'boolean', false),
  smart.readOnly('PeriodsPerSchedule', 'integer', maxPeriods),
  smart.readOnly('ProfileStackLevel', 'integer', maxStackLevel),
  smart.readOnly('RateUnit', 'MemberList', 'A,W', { values: ['A', 'W'] }),
  smart.readOnly('Phases3to1', 'boolean', ({ ratings }) =>
    String(ratings.some(({ type, phases }) => type === 'ac' && phases === 3)),
  ),
  smart.readOnly('ACPhaseSwitchingSupported', 'boolean', false),
  smart.readOnly('MaxExternalConstraintsId', 'integer', externalProfileId, { since }),
  smart.readOnly('SupportedAdditionalPurposes', 'MemberList', purposes.join(','), { values: purposes, since }),
  // by purpose: true if its profiles survive a restart
  smart.readOnly('ChargingProfilePersistence[TxProfile]', 'boolean', false, { since }),
  smart.readOnly('ChargingProfilePersistence[LocalGeneration]', 'boolean', true, { since }),
  smart.readOnly('ChargingProfilePersistence[ChargingStationExternalConstraints]', 'boolean', false, { since }),
  smart.readOnly('SupportsDynamicProfiles', 'boolean', true, { since }),
  smart.readOnly('SupportsMaxOfflineDuration', 'boolean', true, { since }),
  smart.readOnly('SupportsUseLocalTime', 'boolean', true, { since }),
  smart.readOnly('SupportsRandomizedDelay', 'boolean', true, { since }),
  smart.readOnly('SupportsLimitAtSoC', 'boolean', true, { since }),
  smart.readOnly('SupportsEvseSleep', 'boolean', false, { since }),
];

const v2x = rowsOf('V2XChargingCtrlr', { tier: 'evse', since, where: isBidirectional });

/** Energy transfer modes of a bidirectional EVSE. */
function energyTransfersAt(facts: VariableFacts, place: Place): string {
  const rating = ratingAt(facts, place);
  if (rating.type === 'dc') return 'DC,DC_BPT';
  return `${rating.phases === 3 ? 'AC_three_phase' : 'AC_single_phase'},AC_BPT`;
}

const v2xRows: readonly VariableRow[] = [
  v2x.readOnly('Available', 'boolean', true),
  v2x.readWrite('Enabled', 'boolean', true),
  v2x.readOnly('SupportedEnergyTransferModes', 'MemberList', energyTransfersAt, {
    values: ['DC', 'DC_BPT', 'AC_single_phase', 'AC_three_phase', 'AC_BPT'],
  }),
  v2x.readOnly('SupportedOperationModes', 'MemberList', modesOf(true).join(','), { values: modesOf(true) }),
  v2x.readWrite('LocalFrequencyUpdateThreshold', 'integer', 0, { unit: 'mHz', min: 0, max: 1000 }),
];

/** Rows of EVSEs whose vehicles send their charging needs: DC, and bidirectional AC. */
const iso15118 = rowsOf('ISO15118Ctrlr', {
  tier: 'evse',
  where: (facts, place) => ratingAt(facts, place).type === 'dc' || isBidirectional(facts, place),
}).readOnly;

const iso15118Rows: readonly VariableRow[] = [
  iso15118('Available', 'boolean', true),
  iso15118('ContractValidationOffline', 'boolean', false),
  iso15118('PnCEnabled', 'boolean', false),
  iso15118('MaxScheduleEntries', 'integer', maxPeriods),
  iso15118('ServiceRenegotiationSupport', 'boolean', true, { since, where: isBidirectional }),
];

export const chargingRows: readonly VariableRow[] = [...smartRows, ...v2xRows, ...iso15118Rows];

/** Rows of each bidirectional EVSE with a type of connector; the ratings are those of the inverter of the station. */
const derRowsOf = (component: string, connectorType: 'ac' | 'dc') =>
  rowsOf(component, {
    tier: 'evse',
    since,
    where: (facts, place) => isBidirectional(facts, place) && ratingAt(facts, place).type === connectorType,
  }).readOnly;

const dc = derRowsOf('DCDERCtrlr', 'dc');
const ac = derRowsOf('ACDERCtrlr', 'ac');
const controlTypes = { values: Object.keys(derTargets) };

/** `createDerControl` provides the values. */
export const derRows: readonly VariableRow[] = [
  dc('Enabled', 'boolean', true),
  dc('MaxW', 'decimal', 0, { unit: 'W' }),
  dc('OverExcitedW', 'decimal', 0, { unit: 'W' }),
  dc('OverExcitedPF', 'decimal', 0),
  dc('UnderExcitedW', 'decimal', 0, { unit: 'W' }),
  dc('UnderExcitedPF', 'decimal', 0),
  dc('MaxVA', 'decimal', 0, { unit: 'VA' }),
  dc('MaxVar', 'decimal', 0, { unit: 'var' }),
  dc('MaxVarNeg', 'decimal', 0, { unit: 'var' }),
  dc('MaxChargeRateW', 'decimal', 0, { unit: 'W' }),
  dc('MaxChargeRateVA', 'decimal', 0, { unit: 'VA' }),
  dc('VNom', 'decimal', 0, { unit: 'V' }),
  dc('MaxV', 'decimal', 0, { unit: 'V' }),
  dc('MinV', 'decimal', 0, { unit: 'V' }),
  dc('ReactiveSusceptance', 'decimal', 0, { unit: 's' }),
  dc('ModesSupported', 'MemberList', '', controlTypes),
  dc('InverterManufacturer', 'string', ''),
  dc('InverterModel', 'string', ''),
  dc('InverterSerialNumber', 'string', ''),
  dc('InverterSwVersion', 'string', ''),
  // neither a SunSpec model nor a device profile has a version of the hardware
  dc('InverterHwVersion', 'string', '1.0'),
  ac('ModesSupported', 'MemberList', '', controlTypes),
];

/** Slots that SetNetworkProfile can fill; slot 0 holds the settings of the process until it is filled. */
export const networkSlots = [0, 1, 2, 3] as const;

/** Limits of the requests and reports of the device model. */
export const deviceDataLimits = {
  getReportItems: 100,
  getVariablesItems: 100,
  setVariablesItems: 100,
  /** of a payload as JSON text in UTF-8 */
  messageBytes: 65_536,
  /** maximum length of a value in SetVariables */
  valueSize: 1000,
  /** maximum length of a reported value */
  reportedSize: 2500,
} as const;

const dayS = 86_400;
const hasFixedCables = ({ ratings }: VariableFacts): boolean => ratings.every(({ attachedCable }) => attachedCable);

const comm = rowsOf('OCPPCommCtrlr');
const clock = rowsOf('ClockCtrlr');
const data = rowsOf('DeviceDataCtrlr');
const security = rowsOf('SecurityCtrlr');

/** Rows of a slot of SetNetworkProfile (2.1). */
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
    shared: true,
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

  // password of the station, and permission to lower its security profile (A01, A05)
  security.writeOnly('BasicAuthPassword', 'string', '', {
    min: 16,
    max: ({ version }) => (version === 'ocpp2.1' ? 64 : 40),
    secret: true,
  }),
  security.readWrite('AllowSecurityProfileDowngrade', 'boolean', false, { since: 'ocpp2.1' }),
  ...networkSlots.flatMap(networkConfiguration),
];

/** Maximum number of installed certificates, including those of the station itself. */
export const maxCertificates = 20;
/** maximum size of `certificateChain`, octets; also the limit of the schema */
const maxChainSize = 10_000;
/** ub-organization-name of X.520 */
const organizationLength = 64;
const organization = ({ nameplate }: VariableFacts) => nameplate.vendor.slice(0, organizationLength);

/** Rows of the station, which has one certificate for its EVSEs with ISO 15118: DC, and bidirectional AC. */
const stationIso15118 = rowsOf('ISO15118Ctrlr', {
  where: ({ ratings }) => ratings.some(({ type, bidirectional }) => type === 'dc' || bidirectional),
});

export const securityRows: readonly VariableRow[] = [
  security.readOnly('AdditionalRootCertificateCheck', 'boolean', false),
  security.readWrite('AllowCSMSTLSWildcards', 'boolean', true),
  security.readOnly('CertificateEntries', 'integer', 0, { max: maxCertificates }),
  security.readWrite('CertSigningRepeatTimes', 'integer', 3, { min: 0, max: 10 }),
  security.readWrite('CertSigningWaitMinimum', 'integer', 60, { unit: 's', min: 1, max: 86_400 }),
  security.readOnly('Identity', 'string', ''),
  security.readOnly('MaxCertificateChainSize', 'integer', maxChainSize, { max: maxChainSize }),
  security.readWrite('OrganizationName', 'string', organization, { min: 1, max: organizationLength }),
  security.readOnly('SecurityProfile', 'integer', (facts) => String(facts.securityProfile), { min: 0, max: 3 }),

  stationIso15118.readOnly('ContractCertificateInstallationEnabled', 'boolean', false),
  stationIso15118.readWrite('CountryName', 'string', 'DE', { min: 2, max: 2 }),
  stationIso15118.readWrite('OrganizationName', 'string', organization, { min: 1, max: organizationLength }),
  stationIso15118.readWrite('SeccId', 'string', ({ nameplate: { serialNumber, model } }) => serialNumber ?? model, {
    min: 1,
    max: 64,
  }),
  stationIso15118.readWrite('V2GCertificateInstallationEnabled', 'boolean', true),

  rowsOf('ChargingStation').readWrite('AllowNewSessionsPendingFirmwareUpdate', 'boolean', false),
];
