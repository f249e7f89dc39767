/**
 * Charging profiles of every version in one form, over time. Instants in whole ms since the epoch, on the clock of the
 * central system, so that sums of them are exact. A profile is in force from `validFromMs` to before `validToMs`, while
 * its schedule runs: from its start until its duration is over, if it has one. A recurring schedule starts again each
 * period, and periods beyond the recurrence interval are ignored (1.6, 5.16.4). Days have 24 hours: instants are UTC.
 */
import { z } from 'zod';
import { amount, instant, place, record } from '../../core/slot-values.ts';

/** 1.6 has the first three; its ChargePointMaxProfile is `station_max`. */
export type ProfilePurpose = 'station_max' | 'tx_default' | 'tx' | 'external' | 'priority' | 'local_generation';

export type ProfileKind = 'absolute' | 'recurring_daily' | 'recurring_weekly' | 'relative' | 'dynamic';
export type RateUnit = 'W' | 'A';

/** 2.1: operation mode of a period. Absent: ChargingOnly. */
export type OperationMode = 'Idle' | 'ChargingOnly' | 'CentralSetpoint' | 'CentralFrequency' | 'LocalFrequency';

/** Power (W, + into the vehicle) over a frequency (Hz) or a signal. */
export type WattCurve = readonly (readonly [at: number, powerW: number])[];

/** 2.1: a set-point that follows the grid frequency and a signal of the grid operator. */
export interface FrequencyWatt {
  readonly baselineW: number;
  /** at least 2 points, ascending frequencies in Hz */
  readonly curve: WattCurve;
  /** null: signals are not followed */
  readonly signalCurve: WattCurve | null;
}

export interface SchedulePeriod {
  /** seconds from the start of the schedule */
  readonly startS: number;
  /** maximum in the unit of the schedule: W in total, A per phase; null: this period limits nothing */
  readonly limit: number | null;
  /** null: as many as the connector has; 2 counts as 1, see `limitAt` */
  readonly numberPhases: 1 | 2 | 3 | null;
  /** 2.1: signed, + into the vehicle */
  readonly setpoint?: number;
  /** 2.1: never positive */
  readonly dischargeLimit?: number;
  /** 2.1 */
  readonly mode?: OperationMode;
  /** 2.1: decides the set-point, in W */
  readonly frequencyWatt?: FrequencyWatt;
}

export interface ChargingSchedule {
  readonly unit: RateUnit;
  /** null: it never ends */
  readonly durationS: number | null;
  /** null: relative, or absolute from the moment it was received */
  readonly startMs: number | null;
  readonly minChargingRate: number | null;
  /** 2.1: maximum, in the unit of the schedule, once the vehicle has this state of charge */
  readonly limitAtSoc?: { readonly socPct: number; readonly limit: number };
  /** ascending; the first starts at 0, or later where random delays have moved it */
  readonly periods: readonly SchedulePeriod[];
}

export interface ChargingProfile {
  readonly profileId: number;
  /** 0: the whole station, or every connector */
  readonly connectorId: number;
  readonly stackLevel: number;
  readonly purpose: ProfilePurpose;
  readonly kind: ProfileKind;
  /** inclusive; null: open */
  readonly validFromMs: number | null;
  /** exclusive; null: open */
  readonly validToMs: number | null;
  /** id from the central system; null: any transaction */
  readonly transactionId: string | null;
  readonly schedule: ChargingSchedule;
  /** when it was installed: the start of an absolute schedule without a start */
  readonly receivedMs: number;
  /** 2.1: in force for this long without the central system, s; absent: always */
  readonly maxOfflineS?: number;
}

const curve = z.array(z.tuple([amount, amount]));

const period = record<SchedulePeriod>({
  startS: amount,
  limit: amount.nullable(),
  numberPhases: z.literal([1, 2, 3]).nullable(),
  setpoint: amount.optional(),
  dischargeLimit: amount.optional(),
  mode: z.enum(['Idle', 'ChargingOnly', 'CentralSetpoint', 'CentralFrequency', 'LocalFrequency']).optional(),
  frequencyWatt: record<FrequencyWatt>({
    baselineW: amount,
    curve: curve.min(2),
    signalCurve: curve.nullable(),
  }).optional(),
});

/** A stored profile. */
export const chargingProfile = record<ChargingProfile>({
  profileId: z.int(),
  connectorId: place,
  stackLevel: z.int(),
  purpose: z.enum(['station_max', 'tx_default', 'tx', 'external', 'priority', 'local_generation']),
  kind: z.enum(['absolute', 'recurring_daily', 'recurring_weekly', 'relative', 'dynamic']),
  validFromMs: instant.nullable(),
  validToMs: instant.nullable(),
  transactionId: z.string().nullable(),
  schedule: record<ChargingSchedule>({
    unit: z.enum(['W', 'A']),
    durationS: amount.nullable(),
    startMs: instant.nullable(),
    minChargingRate: amount.nullable(),
    limitAtSoc: z.object({ socPct: amount, limit: amount }).optional(),
    periods: z.array(period),
  }),
  receivedMs: instant,
  maxOfflineS: amount.optional(),
});

/** Conditions beside the time that a schedule may follow at a connector. null: unknown and ignored */
export interface Conditions {
  readonly frequencyHz: number | null;
  /** last signal of the grid operator */
  readonly signal: number | null;
  /** of the vehicle */
  readonly socPct: number | null;
  /** false: set-points and limits never discharge the vehicle */
  readonly mayDischarge: boolean;
}

/** A transaction that runs at a connector, as far as profiles need it. */
export interface RunningTransaction {
  readonly connectorId: number;
  /** null: the central system has not assigned it yet */
  readonly transactionId: string | null;
  readonly startedMs: number;
  /** 2.1: it charges with priority, so that a `priority` profile replaces the others; default false */
  readonly priority?: boolean;
}

/**
 * Precedence of default profiles of a connector and of connector 0. `connector_first`: while a profile of the
 * connector is in force, the profiles of 0 do not apply to it (1.6, 3.13.1). `stack_level`: both are one stack (2.x,
 * K01.FR.17).
 */
export type DefaultPrecedence = 'connector_first' | 'stack_level';

/** Nominal values of a connector, or of the grid connection of the station. `ConnectorRating` is one. */
export interface Nominal {
  readonly type: 'ac' | 'dc';
  readonly phases: 1 | 3;
  /** line to neutral, or DC */
  readonly nominalVoltageV: number;
}

/** All that limits follow from. */
export interface ChargingState {
  readonly profiles: readonly ChargingProfile[];
  readonly transactions: readonly RunningTransaction[];
  readonly precedence: DefaultPrecedence;
  /** nominal values of the grid connection, to add local generation in the other unit */
  readonly station: Nominal;
  /** by connector; absent: unknown, and vehicles may discharge */
  readonly conditions?: ReadonlyMap<number, Conditions>;
}

/** The limit at one instant; every member null: no profile limits. */
export interface Limit {
  readonly limitW: number | null;
  readonly limitA: number | null;
  /** a limit to two phases counts as 1 */
  readonly numberPhases: 1 | 3 | null;
  readonly setpointW?: number | null;
  readonly setpointA?: number | null;
  readonly dischargeLimitW?: number | null;
  readonly dischargeLimitA?: number | null;
  /** of the transaction; absent: ChargingOnly */
  readonly mode?: OperationMode | null;
}

const dayMs = 86_400_000;
const recurrenceMs: Readonly<Record<ChargingProfile['kind'], number>> = {
  absolute: Infinity,
  recurring_daily: dayMs,
  recurring_weekly: 7 * dayMs,
  relative: Infinity,
  dynamic: Infinity,
};

/** Purposes whose relative schedules begin with a transaction. */
const transactionPurposes: readonly ChargingProfile['purpose'][] = ['tx', 'tx_default', 'priority'];

/**
 * Start of the schedule; `waiting`: it begins with a transaction and none runs, so its first period applies, as it
 * would to a transaction.
 */
function startOf(profile: ChargingProfile, transaction: RunningTransaction | null): number | 'waiting' {
  const { kind, purpose, schedule, receivedMs } = profile;
  if (kind !== 'relative') return schedule.startMs ?? receivedMs;
  if (!transactionPurposes.includes(purpose)) return receivedMs;
  return transaction?.startedMs ?? 'waiting';
}

function isValidAt({ validFromMs, validToMs }: ChargingProfile, atMs: number): boolean {
  return atMs >= (validFromMs ?? -Infinity) && atMs < (validToMs ?? Infinity);
}

/** ms into the schedule, or into its present recurrence; null: the profile is not in force. */
function elapsedMs(profile: ChargingProfile, atMs: number, transaction: RunningTransaction | null): number | null {
  if (!isValidAt(profile, atMs)) return null;
  const start = startOf(profile, transaction);
  if (start === 'waiting') return 0;
  const sinceMs = atMs - start;
  if (sinceMs < 0) return null;
  const elapsed = sinceMs % recurrenceMs[profile.kind];
  return elapsed >= (profile.schedule.durationS ?? Infinity) * 1000 ? null : elapsed;
}

/** Number of values in an ascending list that are at most `value`. */
function countUpTo(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? Infinity) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Starts {
  /** start of every period, ms into the schedule */
  readonly all: readonly number[];
  /** starts of the periods that differ from the previous period */
  readonly changes: readonly number[];
}

/** Cache, since a schedule may have thousands of periods and each limit reads it several times. */
const startsBySchedule = new WeakMap<ChargingSchedule, Starts>();

function isSame(a: SchedulePeriod | undefined, b: SchedulePeriod): boolean {
  return (
    a?.limit === b.limit &&
    a.numberPhases === b.numberPhases &&
    a.setpoint === b.setpoint &&
    a.dischargeLimit === b.dischargeLimit &&
    a.mode === b.mode &&
    // by identity: an equal curve may count as a change
    a.frequencyWatt === b.frequencyWatt
  );
}

function startsOf(schedule: ChargingSchedule): Starts {
  const starts = startsBySchedule.get(schedule);
  if (starts !== undefined) return starts;
  const { periods } = schedule;
  const computed = {
    all: periods.map(({ startS }) => startS * 1000),
    changes: periods.filter((period, i) => !isSame(periods[i - 1], period)).map(({ startS }) => startS * 1000),
  };
  startsBySchedule.set(schedule, computed);
  return computed;
}

/** The period of a profile at an instant; null: the profile is not in force. @param transaction at the connector */
export function periodAt(
  profile: ChargingProfile,
  atMs: number,
  transaction: RunningTransaction | null,
): SchedulePeriod | null {
  const elapsed = elapsedMs(profile, atMs, transaction);
  if (elapsed === null) return null;
  const { schedule } = profile;
  return schedule.periods[countUpTo(startsOf(schedule).all, elapsed) - 1] ?? null;
}

/** The first instant after `afterMs` at which the period of a profile may change; Infinity: none. */
export function nextBoundary(
  profile: ChargingProfile,
  afterMs: number,
  transaction: RunningTransaction | null,
): number {
  const { kind, schedule } = profile;
  const [validFromMs, validToMs] = [profile.validFromMs ?? -Infinity, profile.validToMs ?? Infinity];
  // before its validity only its begin matters
  if (afterMs >= validToMs) return Infinity;
  if (afterMs < validFromMs) return validFromMs;
  const start = startOf(profile, transaction);
  if (start === 'waiting') return validToMs;
  if (start > afterMs) return Math.min(validToMs, start);
  const cycleMs = recurrenceMs[kind];
  const elapsed = (afterMs - start) % cycleMs;
  const base = afterMs - elapsed;
  const { changes } = startsOf(schedule);
  const boundaries = [
    cycleMs,
    (schedule.durationS ?? Infinity) * 1000,
    changes[countUpTo(changes, elapsed)] ?? Infinity,
  ];
  return Math.min(validToMs, ...boundaries.filter((ms) => ms > elapsed).map((ms) => base + ms));
}
