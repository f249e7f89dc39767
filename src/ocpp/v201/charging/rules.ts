/** Rules of K01 for a charging profile, its schedules and its place. */
import type { ChargingProfile, OperationMode, ProfilePurpose } from '../../charging/model.ts';
import { instantOf } from '../../station/stack.ts';
import type { ChargingProfilePurposeEnum, OperationModeEnum, Requests } from '../messages.ts';
import type { Version2 } from '../../station/stack.ts';

// Facts and results of the checks of a charging profile.

export type SentProfile = Requests['SetChargingProfile']['chargingProfile'];
export type SentSchedule = SentProfile['chargingSchedule'][number];
export type SentPeriod = SentSchedule['chargingSchedulePeriod'][number];
type SentMode = NonNullable<SentPeriod['operationMode']>;

/** Why a profile is refused. */
export interface Issue {
  /** reason code of the appendix */
  readonly reason: string;
  readonly text: string;
  /** requirement that the central system has broken; null: the standard allows it, the station does not support it */
  readonly rule: string | null;
}

export const broken = (rule: string, reason: string, text: string): Issue => ({ reason, text, rule });
export const unable = (reason: string, text: string): Issue => ({ reason, text, rule: null });

/** An EVSE that a profile concerns. */
export interface EvseFacts {
  readonly type: 'ac' | 'dc';
  readonly phases: 1 | 3;
  /** operation modes that it supports */
  readonly modes: readonly SentMode[];
}

export interface RuleFacts {
  readonly version: Version2;
  readonly maxStackLevel: number;
  readonly maxPeriods: number;
  readonly rateUnits: readonly string[];
  /** ids up to this one are reserved for external constraints */
  readonly maxExternalId: number;
  /** of the place of the profile: one EVSE, all of them, or the grid connection */
  readonly evses: readonly EvseFacts[];
}

/** A check of one aspect; null: passed. */
type Check<Subject extends readonly unknown[]> = (...subject: Subject) => Issue | null;

/** First issue of several checks. */
function firstIssue<Subject extends readonly unknown[]>(
  checks: readonly Check<Subject>[],
  ...subject: Subject
): Issue | null {
  for (const check of checks) {
    const issue = check(...subject);
    if (issue !== null) return issue;
  }
  return null;
}

// Rules of K01 for the place of a charging profile: its EVSE, its transaction, and the other profiles.

export interface Place {
  readonly evseId: number;
  readonly evseIds: readonly number[];
  /** the transaction that runs at the EVSE; null: none */
  readonly transaction: { readonly transactionId: string } | null;
  /** true: a transaction with this id runs anywhere */
  readonly runs: (transactionId: string) => boolean;
}

/** K01.FR.28 */
function evseIssue({ evseId, evseIds }: Place): Issue | null {
  return evseId === 0 || evseIds.includes(evseId)
    ? null
    : broken('K01.FR.28', 'UnknownEvse', `the station has no EVSE ${evseId}`);
}

/** K01.FR.03, K01.FR.09, K01.FR.16, K01.FR.33 */
function transactionIssue({ transactionId }: SentProfile, { evseId, transaction, runs }: Place): Issue | null {
  if (evseId === 0) return broken('K01.FR.16', 'InvalidValue', 'a TxProfile is for one EVSE');
  if (transactionId === undefined) return broken('K01.FR.03', 'MissingParam', 'a TxProfile needs its transactionId');
  if (transaction?.transactionId === transactionId) return null;
  if (transaction === null && !runs(transactionId))
    return broken('K01.FR.09', 'TxNotFound', `no transaction runs at EVSE ${evseId}`);
  return broken('K01.FR.33', 'TxNotFound', `transaction ${transactionId} does not run at EVSE ${evseId}`);
}

/** The rule that a profile of SetChargingProfile breaks at its place; null: none. */
export function placeIssue(profile: SentProfile, place: Place): Issue | null {
  const issue = evseIssue(place);
  if (issue !== null) return issue;
  const { chargingProfilePurpose: purpose } = profile;
  if (purpose === 'TxProfile') return transactionIssue(profile, place);
  const ofStation = purpose === 'ChargingStationMaxProfile' || purpose === 'LocalGeneration';
  return ofStation && place.evseId !== 0
    ? broken('K01', 'InvalidValue', `a ${purpose} is for the station: EVSE 0`)
    : null;
}

/** The rule that the TxProfile of RequestStartTransaction breaks. */
export function startIssue({ chargingProfilePurpose, transactionId }: SentProfile): Issue | null {
  if (chargingProfilePurpose !== 'TxProfile')
    return broken('F01', 'InvalidProfile', `a transaction starts with a TxProfile, not a ${chargingProfilePurpose}`);
  return transactionId === undefined
    ? null
    : broken('F01', 'InvalidProfile', 'the transactionId of a transaction that has yet to start is not known');
}

function overlaps(a: ChargingProfile, b: ChargingProfile): boolean {
  const from = (profile: ChargingProfile) => profile.validFromMs ?? -Infinity;
  const to = (profile: ChargingProfile) => profile.validToMs ?? Infinity;
  return from(a) < to(b) && from(b) < to(a);
}

const duplicateRules: Partial<Record<ProfilePurpose, string>> = { tx: 'K01.FR.39', tx_default: 'K01.FR.53' };

/**
 * K01.FR.06, K01.FR.39, K01.FR.53: no two profiles of a place have the same purpose and stackLevel and overlapping
 * validities. TxDefaultProfiles and PriorityCharging profiles of the station and of an EVSE count as of one place.
 */
export function duplicateIssue(profile: ChargingProfile, others: readonly ChargingProfile[]): Issue | null {
  const { purpose, connectorId, stackLevel, profileId } = profile;
  const isAtSamePlace = (other: ChargingProfile) =>
    other.connectorId === connectorId ||
    ((purpose === 'tx_default' || purpose === 'priority') && (connectorId === 0 || other.connectorId === 0));
  const duplicate = others.find(
    (other) =>
      other.profileId !== profileId &&
      other.purpose === purpose &&
      other.stackLevel === stackLevel &&
      isAtSamePlace(other) &&
      overlaps(profile, other),
  );
  if (duplicate === undefined) return null;
  const text = `profile ${duplicate.profileId} has the same purpose and stackLevel ${stackLevel}`;
  return broken(duplicateRules[purpose] ?? 'K01.FR.06', 'DuplicateProfile', text);
}

// Operation modes of 2.1 (block Q): the powers that a period of a mode may have, and the modes of this station.

type PeriodPower = 'limit' | 'dischargeLimit' | 'setpoint';

interface ModePowers {
  readonly required: readonly PeriodPower[];
  readonly optional: readonly PeriodPower[];
}

/** Limits and set-points by operation mode, for the modes that the station carries out. */
export const modePowers: Readonly<Record<OperationMode, ModePowers>> = {
  Idle: { required: [], optional: [] },
  ChargingOnly: { required: ['limit'], optional: [] },
  CentralSetpoint: { required: ['setpoint'], optional: ['limit', 'dischargeLimit'] },
  CentralFrequency: { required: ['setpoint'], optional: ['limit', 'dischargeLimit'] },
  LocalFrequency: { required: [], optional: [] },
};

/** Why the station does not carry out the other modes. */
export const refusedModes: Readonly<Record<Exclude<OperationModeEnum, OperationMode>, string>> = {
  ExternalSetpoint: 'no external system sends this station set-points of an EVSE',
  ExternalLimits: 'external limits apply to this station without a profile',
  LocalLoadBalancing: 'the station has no meter of the upstream load',
};

export function isCarriedOut(mode: OperationModeEnum): mode is OperationMode {
  return mode in modePowers;
}

/** Modes that an EVSE supports: if bidirectional, all that the station carries out. */
export function modesOf(bidirectional: boolean): readonly OperationMode[] {
  return bidirectional
    ? ['ChargingOnly', 'CentralSetpoint', 'CentralFrequency', 'LocalFrequency', 'Idle']
    : ['ChargingOnly'];
}

/** Purposes whose periods may have another mode than ChargingOnly. */
function allowsModes(purpose: ChargingProfilePurposeEnum): boolean {
  return purpose === 'TxProfile' || purpose === 'TxDefaultProfile';
}

// Rules for the periods of a charging schedule.

type PeriodCheck = Check<[period: SentPeriod, schedule: SentSchedule, profile: SentProfile, facts: RuleFacts]>;

const modeOf = ({ operationMode = 'ChargingOnly' }: SentPeriod): SentMode => operationMode;

/** Members whose effect the device does not simulate. */
const withoutEffect = [
  'limit_L2',
  'limit_L3',
  'dischargeLimit_L2',
  'dischargeLimit_L3',
  'setpoint_L2',
  'setpoint_L3',
  'setpointReactive',
  'setpointReactive_L2',
  'setpointReactive_L3',
] as const satisfies readonly (keyof SentPeriod)[];

const unsupported: PeriodCheck = (period) => {
  const name = withoutEffect.find((each) => period[each] !== undefined);
  if (name?.includes('Reactive'))
    return unable('UnsupportedParam', `${name}: the station supports no set-points of reactive power`);
  if (name !== undefined) return unable('UnsupportedParam', `${name}: the station supports no values per phase`);
  if (period.preconditioningRequest === true)
    return unable('UnsupportedParam', 'preconditioningRequest: the vehicles support no preconditioning');
  return period.evseSleep === true
    ? broken('K01.FR.126', 'InvalidSchedule', 'evseSleep: SupportsEvseSleep is false')
    : null;
};

/** K01.FR.19, K01.FR.20, K01.FR.44, K01.FR.45 */
const phases: PeriodCheck = ({ numberPhases, phaseToUse }, _schedule, _profile, { evses, version }) => {
  if (numberPhases === undefined && phaseToUse === undefined) return null;
  if (evses.every(({ type }) => type === 'dc')) {
    const reason = version === 'ocpp2.1' ? 'NoPhaseForDC' : 'InvalidSchedule';
    return broken('K01.FR.44', reason, 'numberPhases and phaseToUse are not allowed for DC');
  }
  if (phaseToUse !== undefined)
    return numberPhases === 1
      ? broken('K01.FR.20', 'InvalidSchedule', 'phaseToUse: ACPhaseSwitchingSupported is false')
      : broken('K01.FR.19', 'InvalidSchedule', 'phaseToUse needs numberPhases 1');
  const supplied = Math.max(...evses.map((evse) => evse.phases));
  return numberPhases !== undefined && numberPhases >= 1 && numberPhases <= supplied
    ? null
    : broken('K01.FR.45', 'InvalidSchedule', `numberPhases ${numberPhases} must be 1 to ${supplied}`);
};

const limits: PeriodCheck = ({ limit = 0, dischargeLimit = 0 }) => {
  if (limit < 0) return broken('K01', 'InvalidSchedule', `the limit ${limit} is negative`);
  return dischargeLimit > 0
    ? broken('Q01', 'InvalidSchedule', `the dischargeLimit ${dischargeLimit} is positive`)
    : null;
};

const mode: PeriodCheck = (period, _schedule, { chargingProfilePurpose: purpose }, { evses }) => {
  const name = modeOf(period);
  if (name === 'ChargingOnly') return null;
  if (!allowsModes(purpose)) {
    const rule = purpose === 'PriorityCharging' ? 'K01.FR.71' : 'K01';
    return broken(rule, 'InvalidSchedule', `a ${purpose} has no operationMode ${name}`);
  }
  if (!isCarriedOut(name)) return unable('InvalidSchedule', `operationMode ${name}: ${refusedModes[name]}`);
  return evses.every(({ modes }) => modes.includes(name))
    ? null
    : unable('InvalidSchedule', `operationMode ${name} is not in SupportedOperationModes, or V2XChargingCtrlr is off`);
};

const powers: PeriodCheck = (period, _schedule, { chargingProfilePurpose: purpose }) => {
  const name = modeOf(period);
  if (!isCarriedOut(name)) return null;
  const { required, optional } = modePowers[name];
  const present = (['limit', 'dischargeLimit', 'setpoint'] as const).filter((each) => period[each] !== undefined);
  const missing = required.find((each) => !present.includes(each));
  if (missing !== undefined) return broken('Q01', 'InvalidSchedule', `operationMode ${name} needs a ${missing}`);
  // the station may limit the discharge at its grid connection in any mode
  const isOfGrid = (each: PeriodPower) => purpose === 'ChargingStationMaxProfile' && each === 'dischargeLimit';
  const extra = present.find((each) => !required.includes(each) && !optional.includes(each) && !isOfGrid(each));
  return extra === undefined ? null : broken('Q01', 'InvalidSchedule', `operationMode ${name} has no ${extra}`);
};

const setpoint: PeriodCheck = ({ setpoint: value, limit = Infinity, dischargeLimit = -Infinity }) =>
  value === undefined || (value >= dischargeLimit && value <= limit)
    ? null
    : broken('Q01', 'InvalidSchedule', `the setpoint ${value} is outside of ${dischargeLimit} to ${limit}`);

/** Q08.FR.02, Q08.FR.05 */
const localFrequency: PeriodCheck = (period, { chargingRateUnit }) => {
  const { v2xBaseline, v2xFreqWattCurve = [], v2xSignalWattCurve = [] } = period;
  if (modeOf(period) !== 'LocalFrequency') return null;
  if (chargingRateUnit === 'A') return broken('Q08.FR.05', 'UnsupportedRateUnit', 'LocalFrequency needs the unit W');
  if (v2xBaseline === undefined || v2xFreqWattCurve.length < 2)
    return broken(
      'Q08.FR.02',
      'NoFreqWattCurve',
      'LocalFrequency needs v2xBaseline and two points of v2xFreqWattCurve',
    );
  const ascends = (values: readonly number[]) => values.every((each, i) => i === 0 || each > (values[i - 1] ?? 0));
  return ascends(v2xFreqWattCurve.map((each) => each.frequency)) &&
    ascends(v2xSignalWattCurve.map((each) => each.signal))
    ? null
    : broken('Q08', 'InvalidSchedule', 'the points of a curve must ascend');
};

const checks: readonly PeriodCheck[] = [unsupported, phases, limits, mode, powers, setpoint, localFrequency];

/** K01.FR.31, K01.FR.35 */
function brokenOrder(periods: readonly SentPeriod[]): Issue | null {
  const first = periods[0]?.startPeriod;
  if (first !== 0) return broken('K01.FR.31', 'InvalidSchedule', `the first startPeriod must be 0, not ${first}`);
  const early = periods.find(({ startPeriod }, i) => i > 0 && startPeriod <= (periods[i - 1]?.startPeriod ?? 0));
  return early === undefined
    ? null
    : broken('K01.FR.35', 'InvalidSchedule', `startPeriod ${early.startPeriod} must be later than the previous one`);
}

/** The first rule that a period of a schedule breaks. */
function periodIssue(schedule: SentSchedule, profile: SentProfile, facts: RuleFacts): Issue | null {
  for (const period of schedule.chargingSchedulePeriod) {
    const issue = firstIssue(checks, period, schedule, profile, facts);
    if (issue !== null) return { ...issue, text: `period at ${period.startPeriod} s: ${issue.text}` };
  }
  return brokenOrder(schedule.chargingSchedulePeriod);
}

// Bounds of the charging profiles of a station of 2.x.

/** Maximum number of profiles of a station. */
export const maxProfiles = 100;
export const maxStackLevel = 100;
/** Maximum number of periods of a schedule, as in the schema. */
export const maxPeriods = 1024;
/** MaxExternalConstraintsId, and the id of the profile that shows the external limit of the station. */
export const externalProfileId = -1;

type ProfileCheck = Check<[profile: SentProfile, facts: RuleFacts]>;
type ScheduleCheck = Check<[schedule: SentSchedule, profile: SentProfile, facts: RuleFacts]>;

const isDate = (text: string | undefined) => text === undefined || !Number.isNaN(instantOf(text));

/** True if all numbers are finite: JSON may hold a number that JavaScript reads as infinite, such as 1e999. */
function isFiniteThroughout(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isFiniteThroughout);
}

const finite: ProfileCheck = (profile) =>
  isFiniteThroughout(profile) ? null : broken('K01', 'InvalidProfile', 'a number is too large');

const id: ProfileCheck = (profile, { maxExternalId, version }) =>
  profile.id > maxExternalId
    ? null
    : broken(
        version === 'ocpp2.1' ? 'K01.FR.81' : 'K01.FR.05',
        version === 'ocpp2.1' ? 'InvalidProfileId' : 'InvalidProfile',
        `ids up to ${maxExternalId} are reserved for external constraints`,
      );

const purpose: ProfileCheck = ({ chargingProfilePurpose }) =>
  chargingProfilePurpose === 'ChargingStationExternalConstraints'
    ? broken('K01.FR.22', 'InvalidValue', 'a central system must not set ChargingStationExternalConstraints')
    : null;

const stackLevel: ProfileCheck = (profile, { maxStackLevel }) =>
  profile.stackLevel >= 0 && profile.stackLevel <= maxStackLevel
    ? null
    : broken('K01', 'InvalidStackLevel', `stackLevel ${profile.stackLevel} must be 0 to ${maxStackLevel}`);

const relative: ProfileCheck = ({ chargingProfileKind, chargingProfilePurpose }) =>
  chargingProfileKind === 'Relative' && chargingProfilePurpose === 'ChargingStationMaxProfile'
    ? broken('K01.FR.38', 'InvalidProfile', 'a ChargingStationMaxProfile has no start to be relative to')
    : null;

const recurrency: ProfileCheck = ({ chargingProfileKind, recurrencyKind }) =>
  chargingProfileKind === 'Recurring' && recurrencyKind === undefined
    ? broken('K01', 'InvalidProfile', 'a recurring profile needs its recurrencyKind')
    : null;

const validity: ProfileCheck = ({ validFrom, validTo }) => {
  if (!isDate(validFrom) || !isDate(validTo))
    return broken('K01', 'InvalidProfile', 'validFrom or validTo is not a date-time');
  return validFrom !== undefined && validTo !== undefined && instantOf(validFrom) >= instantOf(validTo)
    ? broken('K01', 'InvalidProfile', 'validTo must be later than validFrom')
    : null;
};

/** K28.FR.01 to K28.FR.04 */
const dynamic: ProfileCheck = (profile) => {
  const { chargingProfileKind, dynUpdateInterval, dynUpdateTime, chargingSchedule } = profile;
  if (chargingProfileKind !== 'Dynamic')
    return dynUpdateInterval === undefined && dynUpdateTime === undefined
      ? null
      : broken('K28.FR.04', 'InvalidProfile', 'only a Dynamic profile has dynUpdateInterval and dynUpdateTime');
  if (chargingSchedule.length !== 1 || chargingSchedule[0]?.chargingSchedulePeriod.length !== 1)
    return broken('K28.FR.03', 'InvalidSchedule', 'a Dynamic profile has one schedule of one period');
  if (!isDate(dynUpdateTime)) return broken('K28', 'InvalidProfile', 'dynUpdateTime is not a date-time');
  return (dynUpdateInterval ?? 0) < 0
    ? broken('K28', 'InvalidProfile', `the dynUpdateInterval ${dynUpdateInterval} is negative`)
    : null;
};

const offline: ProfileCheck = ({ maxOfflineDuration = 0 }) =>
  maxOfflineDuration < 0
    ? broken('K01', 'InvalidProfile', `the maxOfflineDuration ${maxOfflineDuration} is negative`)
    : null;

/** Refuses prices and their signatures, since no simulated vehicle uses prices. */
const prices: ScheduleCheck = (schedule, { priceScheduleSignature }) => {
  const { salesTariff, absolutePriceSchedule, priceLevelSchedule, signatureId, digestValue, powerTolerance } = schedule;
  const member = Object.entries({
    salesTariff,
    absolutePriceSchedule,
    priceLevelSchedule,
    signatureId,
    digestValue,
    powerTolerance,
    priceScheduleSignature,
  }).find(([, value]) => value !== undefined);
  return member === undefined ? null : unable('UnsupportedParam', `${member[0]}: the vehicles do not support it`);
};

const unit: ScheduleCheck = ({ chargingRateUnit }, _profile, { rateUnits }) =>
  rateUnits.includes(chargingRateUnit)
    ? null
    : broken('K01.FR.26', 'UnsupportedRateUnit', `RateUnit does not list ${chargingRateUnit}`);

const periodCount: ScheduleCheck = ({ chargingSchedulePeriod: { length } }, _profile, { maxPeriods }) =>
  length <= maxPeriods
    ? null
    : broken('K01', 'TooManyElements', `${length} periods are more than PeriodsPerSchedule ${maxPeriods}`);

/** K01.FR.40, K01.FR.41 */
const start: ScheduleCheck = ({ startSchedule }, { chargingProfileKind: kind }) => {
  if (!isDate(startSchedule)) return broken('K01', 'InvalidSchedule', 'startSchedule is not a date-time');
  if (startSchedule === undefined)
    return kind === 'Absolute' || kind === 'Recurring'
      ? broken('K01.FR.40', 'InvalidProfile', `a profile of kind ${kind} needs a startSchedule`)
      : null;
  return kind === 'Relative' ? broken('K01.FR.41', 'InvalidProfile', 'a Relative profile has no startSchedule') : null;
};

const duration: ScheduleCheck = ({ duration: seconds }, { chargingProfilePurpose }) => {
  if (seconds === undefined) return null;
  if (chargingProfilePurpose === 'PriorityCharging')
    return broken('K01.FR.70', 'InvalidSchedule', 'the schedule of a PriorityCharging profile has no duration');
  return seconds > 0 ? null : broken('K01', 'InvalidSchedule', `the duration ${seconds} must be greater than 0`);
};

const delay: ScheduleCheck = ({ randomizedDelay = 0 }, { chargingProfilePurpose }) =>
  randomizedDelay > 0 && chargingProfilePurpose !== 'TxProfile' && chargingProfilePurpose !== 'TxDefaultProfile'
    ? broken('K01.FR.95', 'InvalidSchedule', `a ${chargingProfilePurpose} has no randomizedDelay`)
    : null;

const limitAtSoc: ScheduleCheck = ({ limitAtSoC }) =>
  limitAtSoC !== undefined && limitAtSoC.limit < 0
    ? broken('K01', 'InvalidSchedule', `the limit ${limitAtSoC.limit} of limitAtSoC is negative`)
    : null;

const ofProfile: readonly ProfileCheck[] = [
  finite,
  purpose,
  id,
  stackLevel,
  relative,
  recurrency,
  validity,
  dynamic,
  offline,
];
const ofSchedule: readonly ScheduleCheck[] = [
  prices,
  periodCount,
  unit,
  start,
  duration,
  delay,
  limitAtSoc,
  periodIssue,
];

/** The first rule that a profile breaks by itself; null: none. */
export function profileIssue(profile: SentProfile, facts: RuleFacts): Issue | null {
  const issue = firstIssue(ofProfile, profile, facts);
  if (issue !== null) return issue;
  for (const schedule of profile.chargingSchedule) {
    const scheduleIssue = firstIssue(ofSchedule, schedule, profile, facts);
    if (scheduleIssue !== null) return { ...scheduleIssue, text: `schedule ${schedule.id}: ${scheduleIssue.text}` };
  }
  return null;
}
