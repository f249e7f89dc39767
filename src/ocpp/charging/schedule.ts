/**
 * One charging profile over time. A profile is in force from `validFromMs` to before `validToMs`, while its schedule runs:
 * from its start until its duration is over, if it has one. A recurring schedule begins anew each period; what its
 * periods or its duration exceed that by is not executed (1.6, 5.16.4). Days have 24 hours: instants are UTC.
 */
import type { ChargingProfile, ChargingSchedule, RunningTransaction, SchedulePeriod } from './model.ts';

const dayMs = 86_400_000;
const recurrenceMs: Readonly<Record<ChargingProfile['kind'], number>> = {
  absolute: Infinity,
  recurring_daily: dayMs,
  recurring_weekly: 7 * dayMs,
  relative: Infinity,
  dynamic: Infinity,
};

/** Purposes whose relative schedules begin with a transaction. */
const ofTransaction: readonly ChargingProfile['purpose'][] = ['tx', 'tx_default', 'priority'];

/**
 * Start of the schedule; `waiting`: it begins with a transaction and none runs, so it stands at its beginning and shows
 * what a transaction would get.
 */
function startOf(profile: ChargingProfile, transaction: RunningTransaction | null): number | 'waiting' {
  const { kind, purpose, schedule, receivedMs } = profile;
  if (kind !== 'relative') return schedule.startMs ?? receivedMs;
  if (!ofTransaction.includes(purpose)) return receivedMs;
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

/** How many of these ascending numbers are at most `value`. */
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
  /** of every period, ms into the schedule */
  readonly all: readonly number[];
  /** of those that change something */
  readonly changes: readonly number[];
}

/** A schedule may have thousands of periods, and each limit looks at each schedule several times. */
const knownStarts = new WeakMap<ChargingSchedule, Starts>();

function isSame(a: SchedulePeriod | undefined, b: SchedulePeriod): boolean {
  return (
    a?.limit === b.limit &&
    a.numberPhases === b.numberPhases &&
    a.setpoint === b.setpoint &&
    a.dischargeLimit === b.dischargeLimit &&
    a.mode === b.mode &&
    // a curve may be another one of the same form
    a.frequencyWatt === b.frequencyWatt
  );
}

function startsOf(schedule: ChargingSchedule): Starts {
  const starts = knownStarts.get(schedule);
  if (starts !== undefined) return starts;
  const { periods } = schedule;
  const computed = {
    all: periods.map(({ startS }) => startS * 1000),
    changes: periods.filter((period, i) => !isSame(periods[i - 1], period)).map(({ startS }) => startS * 1000),
  };
  knownStarts.set(schedule, computed);
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
  // outside of its validity only the begin of it matters
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
