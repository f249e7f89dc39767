/** Rules of K01 for a charging profile and its schedules by themselves. */
import { instantOf } from '../../../station/instants.ts';
import { broken, firstIssue, unable } from './issue.ts';
import type { Check, Issue, RuleFacts, SentProfile, SentSchedule } from './issue.ts';
import { periodIssue } from './periods.ts';

type ProfileCheck = Check<[profile: SentProfile, facts: RuleFacts]>;
type ScheduleCheck = Check<[schedule: SentSchedule, profile: SentProfile, facts: RuleFacts]>;

const isDate = (text: string | undefined) => text === undefined || !Number.isNaN(instantOf(text));

/** A text of JSON may hold a number that is none here, such as 1e999. */
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
        `ids up to ${maxExternalId} are those of external constraints`,
      );

const purpose: ProfileCheck = ({ chargingProfilePurpose }) =>
  chargingProfilePurpose === 'ChargingStationExternalConstraints'
    ? broken('K01.FR.22', 'InvalidValue', 'a central system sets no ChargingStationExternalConstraints')
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
  if (!isDate(validFrom) || !isDate(validTo)) return broken('K01', 'InvalidProfile', 'an instant is no date');
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
  if (!isDate(dynUpdateTime)) return broken('K28', 'InvalidProfile', 'dynUpdateTime is no date');
  return (dynUpdateInterval ?? 0) < 0
    ? broken('K28', 'InvalidProfile', `the dynUpdateInterval ${dynUpdateInterval} is negative`)
    : null;
};

const offline: ProfileCheck = ({ maxOfflineDuration = 0 }) =>
  maxOfflineDuration < 0
    ? broken('K01', 'InvalidProfile', `the maxOfflineDuration ${maxOfflineDuration} is negative`)
    : null;

/** Prices, and what proves them: no vehicle of the simulation chooses by a price. */
const prices: ScheduleCheck = (schedule, { priceScheduleSignature }) => {
  const { salesTariff, absolutePriceSchedule, priceLevelSchedule, signatureId, digestValue, powerTolerance } = schedule;
  const given = Object.entries({
    salesTariff,
    absolutePriceSchedule,
    priceLevelSchedule,
    signatureId,
    digestValue,
    powerTolerance,
    priceScheduleSignature,
  }).find(([, value]) => value !== undefined);
  return given === undefined ? null : unable('UnsupportedParam', `${given[0]}: no vehicle would act by it`);
};

const unit: ScheduleCheck = ({ chargingRateUnit }, _profile, { rateUnits }) =>
  rateUnits.includes(chargingRateUnit)
    ? null
    : broken('K01.FR.26', 'UnsupportedRateUnit', `RateUnit has no ${chargingRateUnit}`);

const periodCount: ScheduleCheck = ({ chargingSchedulePeriod: { length } }, _profile, { maxPeriods }) =>
  length <= maxPeriods
    ? null
    : broken('K01', 'TooManyElements', `${length} periods are more than PeriodsPerSchedule ${maxPeriods}`);

/** K01.FR.40, K01.FR.41 */
const start: ScheduleCheck = ({ startSchedule }, { chargingProfileKind: kind }) => {
  if (!isDate(startSchedule)) return broken('K01', 'InvalidSchedule', 'startSchedule is no date');
  if (startSchedule === undefined)
    return kind === 'Absolute' || kind === 'Recurring'
      ? broken('K01.FR.40', 'InvalidProfile', `an ${kind} profile needs a startSchedule`)
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
    const found = firstIssue(ofSchedule, schedule, profile, facts);
    if (found !== null) return { ...found, text: `schedule ${schedule.id}: ${found.text}` };
  }
  return null;
}
