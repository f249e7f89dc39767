/** Rules of 1.6 for charging profiles, each with its clause. */
import { instantOf } from '../../station/stack.ts';
import type { Keys, Requests } from '../parts.ts';

export type SentProfile = Requests['SetChargingProfile']['csChargingProfiles'];

/** A rule that a profile breaks. */
export interface BrokenRule {
  readonly clause: string;
  readonly text: string;
}

const clauses = {
  purposes: 'OCPP 1.6 3.13.1',
  outside: 'OCPP 1.6 5.16.4',
  profile: 'OCPP 1.6 7.8',
  kind: 'OCPP 1.6 7.9',
  schedule: 'OCPP 1.6 7.13',
  period: 'OCPP 1.6 7.14',
  keys: 'OCPP 1.6 9.4',
} as const;

/** Units that the station takes. */
export function allowedUnits(keys: Pick<Keys, 'list'>): readonly ('A' | 'W')[] {
  return keys
    .list('ChargingScheduleAllowedChargingRateUnit')
    .flatMap((name) => (name === 'Current' ? ['A' as const] : name === 'Power' ? ['W' as const] : []));
}

type Check = (profile: SentProfile, keys: Pick<Keys, 'integer' | 'list'>) => string | null;

const isDate = (text: string | undefined) => text === undefined || !Number.isNaN(instantOf(text));

function checkPeriods({ chargingSchedule: { chargingSchedulePeriod: periods } }: SentProfile): string | null {
  for (const [i, { startPeriod, limit, numberPhases = 3 }] of periods.entries()) {
    const before = periods[i - 1];
    const nth = `period ${i + 1}`;
    if (before !== undefined && startPeriod <= before.startPeriod)
      return `${nth}: startPeriod ${startPeriod} must be later than ${before.startPeriod}`;
    if (!(limit >= 0)) return `${nth}: the limit ${limit} is negative`;
    if (![1, 2, 3].includes(numberPhases)) return `${nth}: numberPhases ${numberPhases} must be 1, 2 or 3`;
  }
  return null;
}

const checks: readonly (readonly [clause: string, check: Check])[] = [
  [
    clauses.keys,
    ({ stackLevel }, keys) => {
      const max = keys.integer('ChargeProfileMaxStackLevel');
      return stackLevel >= 0 && stackLevel <= max ? null : `stackLevel ${stackLevel} must be 0 to ${max}`;
    },
  ],
  [
    clauses.keys,
    ({ chargingSchedule }, keys) => {
      const max = keys.integer('ChargingScheduleMaxPeriods');
      const count = chargingSchedule.chargingSchedulePeriod.length;
      return count <= max ? null : `${count} periods are more than ChargingScheduleMaxPeriods ${max}`;
    },
  ],
  [
    clauses.keys,
    ({ chargingSchedule: { chargingRateUnit } }, keys) =>
      allowedUnits(keys).includes(chargingRateUnit)
        ? null
        : `ChargingScheduleAllowedChargingRateUnit has no ${chargingRateUnit}`,
  ],
  [
    clauses.kind,
    ({ chargingProfileKind, chargingProfilePurpose }) =>
      chargingProfileKind === 'Relative' && chargingProfilePurpose === 'ChargePointMaxProfile'
        ? 'a ChargePointMaxProfile has no start to be relative to'
        : null,
  ],
  [
    clauses.profile,
    ({ chargingProfileKind, recurrencyKind }) =>
      chargingProfileKind === 'Recurring' && recurrencyKind === undefined
        ? 'a recurring profile needs its recurrencyKind'
        : null,
  ],
  [
    clauses.schedule,
    ({ chargingProfileKind, chargingSchedule: { startSchedule } }) =>
      chargingProfileKind === 'Recurring' && startSchedule === undefined
        ? 'a recurring profile needs a startSchedule'
        : null,
  ],
  [
    clauses.profile,
    ({ validFrom, validTo, chargingSchedule: { startSchedule } }) =>
      isDate(validFrom) && isDate(validTo) && isDate(startSchedule) ? null : 'an instant is no date',
  ],
  [
    clauses.profile,
    ({ validFrom, validTo }) =>
      validFrom !== undefined && validTo !== undefined && instantOf(validFrom) >= instantOf(validTo)
        ? 'validTo must be later than validFrom'
        : null,
  ],
  [
    clauses.schedule,
    ({ chargingSchedule: { duration = Infinity } }) =>
      duration > 0 ? null : `the duration ${duration} must be greater than 0`,
  ],
  [
    clauses.outside,
    ({ chargingSchedule: { chargingSchedulePeriod } }) => {
      const first = chargingSchedulePeriod[0]?.startPeriod;
      if (first === undefined) return 'a schedule needs a period';
      return first === 0 ? null : `the first startPeriod must be 0, not ${first}`;
    },
  ],
  [clauses.period, checkPeriods],
];

/** The first rule that a profile breaks by itself; null: none. */
export function brokenRule(profile: SentProfile, keys: Pick<Keys, 'integer' | 'list'>): BrokenRule | null {
  for (const [clause, check] of checks) {
    const text = check(profile, keys);
    if (text !== null) return { clause, text: `profile ${profile.chargingProfileId}: ${text}` };
  }
  return null;
}

/** State of the place for which a profile is checked. */
export interface Place {
  readonly connectorIds: readonly number[];
  /** the transaction that runs at the connector; null: none */
  readonly transaction: { readonly transactionId: number | null } | null;
}

/** The rule that a profile breaks at a connector in SetChargingProfile; null: none. */
export function brokenPlace(connectorId: number, profile: SentProfile, place: Place): BrokenRule | null {
  const { chargingProfilePurpose: purpose, transactionId, chargingProfileId } = profile;
  const broken = (clause: string, text: string) => ({ clause, text: `profile ${chargingProfileId}: ${text}` });
  if (connectorId !== 0 && !place.connectorIds.includes(connectorId))
    return broken('OCPP 1.6 6.43', `the station has no connector ${connectorId}`);
  if (purpose === 'ChargePointMaxProfile' && connectorId !== 0)
    return broken(clauses.purposes, 'a ChargePointMaxProfile can only be set at connector 0');
  if (purpose !== 'TxProfile') return null;
  if (connectorId === 0) return broken(clauses.purposes, 'a TxProfile can only be set at a connector above 0');
  if (place.transaction === null)
    return broken(clauses.outside, `a TxProfile needs a transaction, and none runs at connector ${connectorId}`);
  if (transactionId !== undefined && transactionId !== place.transaction.transactionId)
    return broken('OCPP 1.6 5.16', `transaction ${transactionId} does not run at connector ${connectorId}`);
  return null;
}
