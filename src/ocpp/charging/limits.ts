/**
 * The limit that charging profiles set at an instant. For each purpose the profile in force with the highest stackLevel
 * decides; the lowest limit of all purposes applies. Watts and amperes are separate: each has its minimum.
 */
import type {
  ChargingProfile,
  ChargingSchedule,
  ChargingState,
  Conditions,
  Limit,
  ProfilePurpose,
  RateUnit,
  RunningTransaction,
  SchedulePeriod,
  WattCurve,
} from './model.ts';
import { nextBoundary, periodAt } from './model.ts';

// Effects of frequency, signal and state of charge on periods (2.1), and of a lost central system on profiles.

/** Power of a curve, W: linear between its points and constant outside of them. */
export function wattsAt(curve: WattCurve, at: number): number {
  let before: WattCurve[number] | undefined;
  for (const point of curve) {
    if (at <= point[0]) {
      if (before === undefined) return point[1];
      return before[1] + ((at - before[0]) / (point[0] - before[0])) * (point[1] - before[1]);
    }
    before = point;
  }
  return before?.[1] ?? 0;
}

/** Set-point in whole W, so that it does not change with each reading of the frequency. */
function frequencySetpoint(
  { baselineW, curve, signalCurve }: NonNullable<SchedulePeriod['frequencyWatt']>,
  frequencyHz: number,
  signal: number | null,
): number {
  const signalW = signal === null || signalCurve === null ? 0 : wattsAt(signalCurve, signal);
  return Math.round(baselineW + wattsAt(curve, frequencyHz) + signalW);
}

/** A period with the effects of the conditions at its connector. */
export function underConditions(
  period: SchedulePeriod,
  { limitAtSoc }: ChargingSchedule,
  conditions: Conditions | undefined,
): SchedulePeriod {
  if (conditions === undefined) return period;
  const { frequencyHz, signal, socPct, mayDischarge } = conditions;
  let { limit, setpoint, dischargeLimit } = period;
  if (period.frequencyWatt !== undefined && frequencyHz !== null)
    setpoint = frequencySetpoint(period.frequencyWatt, frequencyHz, signal);
  if (limitAtSoc !== undefined && socPct !== null && socPct >= limitAtSoc.socPct) {
    limit = Math.min(limit ?? Infinity, limitAtSoc.limit);
    if (setpoint !== undefined) setpoint = Math.min(setpoint, limitAtSoc.limit);
  }
  if (!mayDischarge) {
    if (setpoint !== undefined) setpoint = Math.max(0, setpoint);
    if (dischargeLimit !== undefined) dischargeLimit = 0;
  }
  return {
    ...period,
    limit,
    ...(setpoint !== undefined && { setpoint }),
    ...(dischargeLimit !== undefined && { dischargeLimit }),
  };
}

/** A profile with the end of its validity without the central system. @param offlineSinceMs null: connected */
export function whileOffline(profile: ChargingProfile, offlineSinceMs: number | null): ChargingProfile {
  if (offlineSinceMs === null || profile.maxOfflineS === undefined) return profile;
  const endMs = offlineSinceMs + profile.maxOfflineS * 1000;
  return { ...profile, validToMs: Math.min(profile.validToMs ?? Infinity, endMs) };
}

/** The limit without any profile. */
export const openLimit: Limit = { limitW: null, limitA: null, numberPhases: null };

function lower<N extends number>(a: N | null | undefined, b: N | null | undefined): N | null {
  if (a == null) return b ?? null;
  return b == null || a < b ? a : b;
}

/** Nearest to 0 of limits that are never positive. */
function higher(a: number | null | undefined, b: number | null | undefined): number | null {
  if (a == null) return b ?? null;
  return b == null ? a : Math.max(a, b);
}

/** Both limits in one: the stricter value of each member; the set-point of `a`, or else of `b`. */
export function combined(a: Limit, b: Limit): Limit {
  const hasSetpoint = a.setpointW != null || a.setpointA != null;
  const { setpointW, setpointA } = hasSetpoint ? a : b;
  const dischargeLimitW = higher(a.dischargeLimitW, b.dischargeLimitW);
  const dischargeLimitA = higher(a.dischargeLimitA, b.dischargeLimitA);
  const mode = a.mode ?? b.mode;
  return {
    limitW: lower(a.limitW, b.limitW),
    limitA: lower(a.limitA, b.limitA),
    numberPhases: lower(a.numberPhases, b.numberPhases),
    ...(setpointW != null && { setpointW }),
    ...(setpointA != null && { setpointA }),
    ...(dischargeLimitW !== null && { dischargeLimitW }),
    ...(dischargeLimitA !== null && { dischargeLimitA }),
    ...(mode != null && { mode }),
  };
}

/** Contactors switch one phase or all, so a limit to two phases counts as a limit to one. */
function usablePhases(numberPhases: SchedulePeriod['numberPhases']): 1 | 3 | null {
  return numberPhases === 2 ? 1 : numberPhases;
}

function limitOf(
  profile: ChargingProfile,
  atMs: number,
  transaction: RunningTransaction | null,
  conditions: Conditions | undefined,
): Limit {
  const period = periodAt(profile, atMs, transaction);
  if (period === null) return openLimit;
  const { limit, numberPhases, setpoint, dischargeLimit, mode } = underConditions(period, profile.schedule, conditions);
  const inUnit = (unit: RateUnit, value: number | null = null) => (profile.schedule.unit === unit ? value : null);
  return {
    limitW: inUnit('W', limit),
    limitA: inUnit('A', limit),
    numberPhases: usablePhases(numberPhases),
    setpointW: inUnit('W', setpoint),
    setpointA: inUnit('A', setpoint),
    dischargeLimitW: inUnit('W', dischargeLimit),
    dischargeLimitA: inUnit('A', dischargeLimit),
    mode: mode ?? null,
  };
}

export function transactionAt(state: ChargingState, connectorId: number): RunningTransaction | null {
  return state.transactions.find((each) => each.connectorId === connectorId) ?? null;
}

/** True if a profile is for a connector (0: the station), in force or not. */
function concerns(profile: ChargingProfile, connectorId: number, transaction: RunningTransaction | null): boolean {
  switch (profile.purpose) {
    case 'station_max':
    case 'local_generation':
      return connectorId === 0;
    case 'external':
      return profile.connectorId === connectorId;
    case 'tx_default':
      return connectorId !== 0 && (profile.connectorId === 0 || profile.connectorId === connectorId);
    case 'priority':
      return transaction?.priority === true && (profile.connectorId === 0 || profile.connectorId === connectorId);
    case 'tx':
      return (
        transaction !== null &&
        profile.connectorId === connectorId &&
        (profile.transactionId === null || profile.transactionId === transaction.transactionId)
      );
  }
}

/**
 * True if `a` prevails over `b` of the same purpose: with `connector_first` by its connector, then by the higher
 * stackLevel; with equal stackLevels a profile of the connector, then the later.
 */
function prevails(a: ChargingProfile, b: ChargingProfile, { precedence }: ChargingState): boolean {
  const isConnectorA = a.connectorId !== 0;
  const onlyOneOfConnector = isConnectorA !== (b.connectorId !== 0);
  if (onlyOneOfConnector && precedence === 'connector_first') return isConnectorA;
  if (a.stackLevel !== b.stackLevel) return a.stackLevel > b.stackLevel;
  return onlyOneOfConnector ? isConnectorA : a.receivedMs > b.receivedMs;
}

/** The profile that decides for a purpose; null: none is in force. @param connectorId 0: the station */
export function prevailing(
  state: ChargingState,
  connectorId: number,
  purpose: ProfilePurpose,
  atMs: number,
): ChargingProfile | null {
  const transaction = transactionAt(state, connectorId);
  let prevailingProfile: ChargingProfile | null = null;
  for (const profile of state.profiles) {
    if (profile.purpose !== purpose || !concerns(profile, connectorId, transaction)) continue;
    if (prevailingProfile !== null && !prevails(profile, prevailingProfile, state)) continue;
    if (periodAt(profile, atMs, transaction) !== null) prevailingProfile = profile;
  }
  return prevailingProfile;
}

/** The first of these purposes that has a profile in force at the connector replaces the others. */
const transactionPurposes: readonly ProfilePurpose[] = ['priority', 'tx', 'tx_default'];

/** The profiles that decide at a connector (0: the station), each for its purpose. */
export function deciding(state: ChargingState, connectorId: number, atMs: number): readonly ChargingProfile[] {
  const inForce = (purpose: ProfilePurpose) => prevailing(state, connectorId, purpose, atMs) ?? [];
  if (connectorId === 0) return [inForce('station_max'), inForce('external'), inForce('local_generation')].flat();
  const ofTransaction = transactionPurposes.map(inForce).find((each) => !Array.isArray(each)) ?? [];
  return [ofTransaction, inForce('external')].flat();
}

/** Adds local generation to the limit of the grid connection. */
function withGeneration(limit: Limit, generation: Limit, { station }: ChargingState): Limit {
  const perA = (station.type === 'dc' ? 1 : station.phases) * station.nominalVoltageV;
  const { limitW, limitA } = generation;
  const extraW = limitW ?? (limitA ?? 0) * perA;
  const extraA = limitA ?? (limitW ?? 0) / perA;
  return {
    ...limit,
    limitW: limit.limitW === null ? null : limit.limitW + extraW,
    limitA: limit.limitA === null ? null : limit.limitA + extraA,
  };
}

/**
 * The limit of the profiles of a connector, or (0) the limit of the whole station, which is for all connectors
 * together.
 */
export function limitAt(state: ChargingState, connectorId: number, atMs: number): Limit {
  const transaction = transactionAt(state, connectorId);
  let limit = openLimit;
  // `deciding` has local generation last
  for (const profile of deciding(state, connectorId, atMs)) {
    const profileLimit = limitOf(profile, atMs, transaction, state.conditions?.get(connectorId));
    limit =
      profile.purpose === 'local_generation'
        ? withGeneration(limit, profileLimit, state)
        : combined(limit, profileLimit);
  }
  return limit;
}

/** The first instant after `afterMs` at which `limitAt` of the connector may change; Infinity: never. */
export function nextChange(state: ChargingState, connectorId: number, afterMs: number): number {
  const transaction = transactionAt(state, connectorId);
  let next = Infinity;
  for (const profile of state.profiles)
    if (concerns(profile, connectorId, transaction)) next = Math.min(next, nextBoundary(profile, afterMs, transaction));
  return next;
}

/** True if the limit of a connector may change without a boundary of a schedule: it follows `Conditions`. */
export function followsConditions(state: ChargingState, connectorId: number, atMs: number): boolean {
  const transaction = transactionAt(state, connectorId);
  return deciding(state, connectorId, atMs).some(
    (profile) =>
      profile.schedule.limitAtSoc !== undefined || periodAt(profile, atMs, transaction)?.frequencyWatt !== undefined,
  );
}
