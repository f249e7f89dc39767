/** Variables of smart charging (SmartChargingCtrlr), of bidirectional power (V2XChargingCtrlr) and of ISO 15118. */
import { externalProfileId, maxPeriods, maxProfiles, maxStackLevel, modesOf } from '../../charging/rules.ts';
import { derTargets } from '../../der-controls/translate.ts';
import type { DataType, Place, VariableFacts, VariableRow } from '../model.ts';

// DCDERCtrlr and ACDERCtrlr: each EVSE that gives power back, with the ratings of the inverter of the station.

/** The type of a connector that gives power back; null: this one does not. */
function kindOf({ evseIds, ratings }: VariableFacts, { evseId }: Place): 'ac' | 'dc' | null {
  const rating = ratings[evseIds.findIndex((each) => each === evseId)];
  return rating?.bidirectional === true ? rating.type : null;
}

interface Given {
  readonly unit?: string;
  readonly type?: DataType;
  readonly initial?: string;
}

const everyType = Object.keys(derTargets);

function row(kind: 'ac' | 'dc', variable: string, { unit, type = 'decimal', initial = '0' }: Given = {}): VariableRow {
  return {
    component: kind === 'ac' ? 'ACDERCtrlr' : 'DCDERCtrlr',
    tier: 'evse',
    variable,
    type,
    mutability: 'ReadOnly',
    initial: (facts, place) => (kindOf(facts, place) === kind ? initial : null),
    since: 'ocpp2.1',
    ...(unit !== undefined && { unit }),
    ...(type === 'MemberList' && { values: everyType }),
  };
}

const text = { type: 'string', initial: '' } as const;
const modes = { type: 'MemberList', initial: '' } as const;

/** `createDerControl` gives the values. */
export const derRows: readonly VariableRow[] = [
  row('dc', 'Enabled', { type: 'boolean', initial: 'true' }),
  row('dc', 'MaxW', { unit: 'W' }),
  row('dc', 'OverExcitedW', { unit: 'W' }),
  row('dc', 'OverExcitedPF'),
  row('dc', 'UnderExcitedW', { unit: 'W' }),
  row('dc', 'UnderExcitedPF'),
  row('dc', 'MaxVA', { unit: 'VA' }),
  row('dc', 'MaxVar', { unit: 'var' }),
  row('dc', 'MaxVarNeg', { unit: 'var' }),
  row('dc', 'MaxChargeRateW', { unit: 'W' }),
  row('dc', 'MaxChargeRateVA', { unit: 'VA' }),
  row('dc', 'VNom', { unit: 'V' }),
  row('dc', 'MaxV', { unit: 'V' }),
  row('dc', 'MinV', { unit: 'V' }),
  row('dc', 'ReactiveSusceptance', { unit: 's' }),
  row('dc', 'ModesSupported', modes),
  row('dc', 'InverterManufacturer', text),
  row('dc', 'InverterModel', text),
  row('dc', 'InverterSerialNumber', text),
  row('dc', 'InverterSwVersion', text),
  // no model and no profile has a version of the hardware
  row('dc', 'InverterHwVersion', { type: 'string', initial: '1.0' }),
  row('ac', 'ModesSupported', modes),
];

/** Of 2.1, by purpose: whether its profiles are there after a restart. */
const persistent = {
  TxProfile: 'false',
  LocalGeneration: 'true',
  ChargingStationExternalConstraints: 'false',
} as const;

/** Fields of 2.1 that a profile may have. */
const supported = {
  SupportsDynamicProfiles: 'true',
  SupportsMaxOfflineDuration: 'true',
  SupportsUseLocalTime: 'true',
  SupportsRandomizedDelay: 'true',
  SupportsLimitAtSoC: 'true',
  SupportsEvseSleep: 'false',
} as const;

const smart = (row: Omit<VariableRow, 'component'>): VariableRow => ({ component: 'SmartChargingCtrlr', ...row });

const ratingAt = ({ ratings }: VariableFacts, { evseId }: Place) =>
  ratings.find(({ connectorId }) => connectorId === evseId);

const smartRows: readonly VariableRow[] = [
  smart({ variable: 'Available', type: 'boolean', mutability: 'ReadOnly', initial: 'true' }),
  smart({ variable: 'Enabled', type: 'boolean', mutability: 'ReadWrite', initial: 'true' }),
  smart({
    variable: 'Entries[ChargingProfiles]',
    type: 'integer',
    mutability: 'ReadOnly',
    initial: '0',
    max: maxProfiles,
  }),
  smart({
    variable: 'LimitChangeSignificance',
    type: 'decimal',
    mutability: 'ReadWrite',
    initial: '1',
    unit: 'Percent',
    min: 0,
    max: 100,
  }),
  smart({ variable: 'NotifyChargingLimitWithSchedules', type: 'boolean', mutability: 'ReadWrite', initial: 'false' }),
  smart({ variable: 'PeriodsPerSchedule', type: 'integer', mutability: 'ReadOnly', initial: String(maxPeriods) }),
  smart({ variable: 'ProfileStackLevel', type: 'integer', mutability: 'ReadOnly', initial: String(maxStackLevel) }),
  smart({ variable: 'RateUnit', type: 'MemberList', mutability: 'ReadOnly', initial: 'A,W', values: ['A', 'W'] }),
  smart({
    variable: 'Phases3to1',
    type: 'boolean',
    mutability: 'ReadOnly',
    initial: ({ ratings }) => String(ratings.some(({ type, phases }) => type === 'ac' && phases === 3)),
  }),
  smart({ variable: 'ACPhaseSwitchingSupported', type: 'boolean', mutability: 'ReadOnly', initial: 'false' }),
  smart({
    variable: 'MaxExternalConstraintsId',
    type: 'integer',
    mutability: 'ReadOnly',
    initial: String(externalProfileId),
    since: 'ocpp2.1',
  }),
  smart({
    variable: 'SupportedAdditionalPurposes',
    type: 'MemberList',
    mutability: 'ReadOnly',
    initial: 'PriorityCharging,LocalGeneration',
    values: ['PriorityCharging', 'LocalGeneration'],
    since: 'ocpp2.1',
  }),
  ...Object.entries(persistent).map(([purpose, initial]) =>
    smart({
      variable: `ChargingProfilePersistence[${purpose}]`,
      type: 'boolean',
      mutability: 'ReadOnly',
      initial,
      since: 'ocpp2.1',
    }),
  ),
  ...Object.entries(supported).map(([variable, initial]) =>
    smart({ variable, type: 'boolean', mutability: 'ReadOnly', initial, since: 'ocpp2.1' }),
  ),
];

/** V2XChargingCtrlr of the bidirectional EVSEs. */
const v2x = (row: Omit<VariableRow, 'component' | 'tier' | 'initial' | 'since'> & { readonly initial: string }) =>
  ({
    component: 'V2XChargingCtrlr',
    tier: 'evse',
    since: 'ocpp2.1',
    ...row,
    initial: (facts, place) => (ratingAt(facts, place)?.bidirectional === true ? row.initial : null),
  }) satisfies VariableRow;

/** The only bidirectional connectors of the simulation are DC. */
const energyTransfers = ['DC', 'DC_BPT'] as const;

const v2xRows: readonly VariableRow[] = [
  v2x({ variable: 'Available', type: 'boolean', mutability: 'ReadOnly', initial: 'true' }),
  v2x({ variable: 'Enabled', type: 'boolean', mutability: 'ReadWrite', initial: 'true' }),
  {
    ...v2x({
      variable: 'SupportedEnergyTransferModes',
      type: 'MemberList',
      mutability: 'ReadOnly',
      initial: energyTransfers.join(','),
      values: ['DC', 'DC_BPT', 'AC_single_phase', 'AC_three_phase', 'AC_BPT'],
    }),
    initial: (facts, place) => {
      const rating = ratingAt(facts, place);
      if (rating?.bidirectional !== true) return null;
      if (rating.type === 'dc') return energyTransfers.join(',');
      return `${rating.phases === 3 ? 'AC_three_phase' : 'AC_single_phase'},AC_BPT`;
    },
  },
  v2x({
    variable: 'SupportedOperationModes',
    type: 'MemberList',
    mutability: 'ReadOnly',
    initial: modesOf(true).join(','),
    values: modesOf(true),
  }),
  v2x({
    variable: 'LocalFrequencyUpdateThreshold',
    type: 'integer',
    mutability: 'ReadWrite',
    initial: '0',
    unit: 'mHz',
    min: 0,
    max: 1000,
  }),
];

/** ISO15118Ctrlr of the EVSEs whose vehicles tell their needs: DC, and bidirectional AC. */
const iso15118 = (row: Pick<VariableRow, 'variable' | 'type' | 'since' | 'values'> & { readonly initial: string }) =>
  ({
    component: 'ISO15118Ctrlr',
    tier: 'evse',
    mutability: 'ReadOnly',
    ...row,
    initial: (facts, place) => {
      const rating = ratingAt(facts, place);
      return rating?.type === 'dc' || rating?.bidirectional === true ? row.initial : null;
    },
  }) satisfies VariableRow;

const iso15118Rows: readonly VariableRow[] = [
  iso15118({ variable: 'Available', type: 'boolean', initial: 'true' }),
  iso15118({ variable: 'ContractValidationOffline', type: 'boolean', initial: 'false' }),
  iso15118({ variable: 'PnCEnabled', type: 'boolean', initial: 'false' }),
  iso15118({ variable: 'MaxScheduleEntries', type: 'integer', initial: String(maxPeriods) }),
  {
    ...iso15118({ variable: 'ServiceRenegotiationSupport', type: 'boolean', initial: 'true', since: 'ocpp2.1' }),
    initial: (facts, place) => (ratingAt(facts, place)?.bidirectional === true ? 'true' : null),
  },
];

export const chargingRows: readonly VariableRow[] = [...smartRows, ...v2xRows, ...iso15118Rows];
