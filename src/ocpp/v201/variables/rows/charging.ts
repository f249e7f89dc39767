/** Variables of smart charging (SmartChargingCtrlr), of bidirectional power (V2XChargingCtrlr), of ISO 15118 and of DER. */
import { externalProfileId, maxPeriods, maxProfiles, maxStackLevel, modesOf } from '../../charging/rules.ts';
import { derTargets } from '../../der-controls/translate.ts';
import { rowsOf } from '../model.ts';
import type { Place, VariableFacts, VariableRow } from '../model.ts';
import { ratingAt } from './station.ts';

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
  // by purpose: its profiles are there after a restart
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

/** Requested and bidirectional transfers of an EVSE. */
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

/** Of the EVSEs whose vehicles tell their needs: DC, and bidirectional AC. */
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

/** Rows of each EVSE that gives power back by connectors of a type, with the ratings of the inverter of the station. */
const derRowsOf = (component: string, connectorType: 'ac' | 'dc') =>
  rowsOf(component, {
    tier: 'evse',
    since,
    where: (facts, place) => isBidirectional(facts, place) && ratingAt(facts, place).type === connectorType,
  }).readOnly;

const dc = derRowsOf('DCDERCtrlr', 'dc');
const ac = derRowsOf('ACDERCtrlr', 'ac');
const controlTypes = { values: Object.keys(derTargets) };

/** `createDerControl` gives the values. */
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
  // no model and no profile has a version of the hardware
  dc('InverterHwVersion', 'string', '1.0'),
  ac('ModesSupported', 'MemberList', '', controlTypes),
];
