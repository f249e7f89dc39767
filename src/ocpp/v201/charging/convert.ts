/** Converts charging profiles between the messages of 2.x and the form that all versions share. */
import type { RandomStream } from '../../../core/random.ts';
import { compositeRows, inUnit, tenths } from '../../charging/composite.ts';
import type { CompositePeriod, CompositeSchedule } from '../../charging/composite.ts';
import type { ChargingControl, StoredProfile } from '../../charging/control.ts';
import { limitAt } from '../../charging/limits.ts';
import type {
  ChargingProfile,
  ChargingSchedule,
  FrequencyWatt,
  ProfileKind,
  ProfilePurpose,
  SchedulePeriod,
} from '../../charging/model.ts';
import type { ConnectorRating, StationPort } from '../../station/port.ts';
import { instantOf } from '../../station/stack.ts';
import { stamp } from '../parts.ts';
import type { Replies } from '../parts.ts';
import type { Version2 } from '../../station/stack.ts';
import { isCarriedOut } from './rules.ts';
import type { SentPeriod, SentProfile, SentSchedule } from './rules.ts';

// The set-point of the charging profiles in force at an EVSE, for its meter values.

/** + into the vehicle, W at nominal voltage; null: the profiles have none */
export function setpointWAt(
  { ratings }: Pick<StationPort, 'ratings'>,
  { state, nowMs }: Pick<ChargingControl, 'state' | 'nowMs'>,
  evseId: number,
): number | null {
  const rating = ratings.find(({ connectorId }) => connectorId === evseId);
  if (rating === undefined) return null;
  const { setpointW = null, setpointA = null, numberPhases } = limitAt(state, evseId, nowMs);
  return inUnit({ limitW: setpointW, limitA: setpointA, numberPhases }, 'W', rating);
}

export const purposes = {
  ChargingStationMaxProfile: 'station_max',
  ChargingStationExternalConstraints: 'external',
  TxDefaultProfile: 'tx_default',
  TxProfile: 'tx',
  PriorityCharging: 'priority',
  LocalGeneration: 'local_generation',
} as const satisfies Record<SentProfile['chargingProfilePurpose'], ProfilePurpose>;

export interface Received {
  readonly evseId: number;
  /** ms on the clock of the central system */
  readonly receivedMs: number;
  /** local time minus UTC, ms: for schedules in local time */
  readonly localOffsetMs: number;
  /** draws random delays */
  readonly random: Pick<RandomStream, 'next'>;
}

function kindOf({ chargingProfileKind, recurrencyKind }: SentProfile): ProfileKind {
  switch (chargingProfileKind) {
    case 'Absolute':
      return 'absolute';
    case 'Relative':
      return 'relative';
    case 'Dynamic':
      return 'dynamic';
    case 'Recurring':
      return recurrencyKind === 'Weekly' ? 'recurring_weekly' : 'recurring_daily';
  }
}

function frequencyWattOf({ v2xBaseline = 0, v2xFreqWattCurve = [], v2xSignalWattCurve }: SentPeriod): FrequencyWatt {
  return {
    baselineW: v2xBaseline,
    curve: v2xFreqWattCurve.map(({ frequency, power }) => [frequency, power] as const),
    signalCurve: v2xSignalWattCurve?.map(({ signal, power }) => [signal, power] as const) ?? null,
  };
}

function periodOf(sent: SentPeriod, startS: number): SchedulePeriod {
  const { limit = null, numberPhases, setpoint, dischargeLimit, operationMode } = sent;
  const mode = operationMode !== undefined && isCarriedOut(operationMode) ? operationMode : undefined;
  const isIdle = mode === 'Idle';
  return {
    startS,
    limit: isIdle ? 0 : limit,
    numberPhases: (numberPhases ?? null) as 1 | 2 | 3 | null,
    ...(setpoint !== undefined && { setpoint }),
    ...(isIdle ? { dischargeLimit: 0 } : dischargeLimit !== undefined && { dischargeLimit }),
    ...(mode !== undefined && { mode }),
    ...(mode === 'LocalFrequency' && { frequencyWatt: frequencyWattOf(sent) }),
  };
}

/** Delays each period by a random part of `randomizedDelay`; no period starts before the previous one. */
function periodsOf(sent: SentSchedule, random: Pick<RandomStream, 'next'>): readonly SchedulePeriod[] {
  const { randomizedDelay = 0 } = sent;
  let lastS = 0;
  return sent.chargingSchedulePeriod.map((period) => {
    const delayS = randomizedDelay > 0 ? Math.round(random.next() * randomizedDelay) : 0;
    lastS = Math.max(lastS, period.startPeriod + delayS);
    return periodOf(period, lastS);
  });
}

/** An instant in ms since the epoch; in local time the zone of the text is ignored. */
function instantIn(text: string | undefined, local: boolean, { localOffsetMs }: Received): number | null {
  if (text === undefined) return null;
  if (!local) return instantOf(text);
  return instantOf(text.replace(/(?:z|[+-]\d\d:?\d\d)$/i, 'Z')) - localOffsetMs;
}

function scheduleOf(sent: SentSchedule, local: boolean, received: Received): ChargingSchedule {
  const { limitAtSoC } = sent;
  return {
    unit: sent.chargingRateUnit,
    durationS: sent.duration ?? null,
    startMs: instantIn(sent.startSchedule, local, received),
    minChargingRate: sent.minChargingRate ?? null,
    ...(limitAtSoC !== undefined && { limitAtSoc: { socPct: limitAtSoC.soc, limit: limitAtSoC.limit } }),
    periods: periodsOf(sent, received.random),
  };
}

/** The profile as the central system has sent it: 2.x stores no other `sent`. */
export function sentOf({ sent }: StoredProfile): SentProfile {
  return sent as unknown as SentProfile;
}

export function isInLocalTime(sent: SentProfile): boolean {
  return sent.chargingSchedule[0]?.useLocalTime === true;
}

/** A profile that fulfils the rules. Of several schedules the first applies: no vehicle chooses another one. */
export function profileOf(sent: SentProfile, received: Received): ChargingProfile {
  const [schedule] = sent.chargingSchedule;
  // the schema requires one
  if (schedule === undefined) throw new RangeError('a profile has a schedule');
  const local = isInLocalTime(sent);
  return {
    profileId: sent.id,
    connectorId: received.evseId,
    stackLevel: sent.stackLevel,
    purpose: purposes[sent.chargingProfilePurpose],
    kind: kindOf(sent),
    validFromMs: instantIn(sent.validFrom, local, received),
    validToMs: instantIn(sent.validTo, local, received),
    transactionId: sent.chargingProfilePurpose === 'TxProfile' ? (sent.transactionId ?? null) : null,
    schedule: scheduleOf(schedule, local, received),
    receivedMs: received.receivedMs,
    ...(sent.maxOfflineDuration !== undefined && { maxOfflineS: sent.maxOfflineDuration }),
  };
}

type Row = Omit<SentPeriod, 'startPeriod'>;

/** In 2.0.1 and for ChargingOnly the rating is the limit where no profile has one. */
function rowOf(period: CompositePeriod, unit: 'W' | 'A', rating: Rating, version: Version2): Row {
  const { limit, numberPhases, setpoint, dischargeLimit, mode = 'ChargingOnly' } = period;
  const rated = unit === 'W' ? rating.maxPowerW : rating.maxCurrentA;
  if (version === 'ocpp2.0.1') return { limit: tenths(limit ?? rated), ...(numberPhases !== null && { numberPhases }) };
  return {
    ...((limit !== null || mode === 'ChargingOnly') && mode !== 'Idle' && { limit: tenths(limit ?? rated) }),
    ...(numberPhases !== null && { numberPhases }),
    ...(setpoint !== undefined && { setpoint: tenths(setpoint) }),
    ...(dischargeLimit !== undefined && mode !== 'Idle' && { dischargeLimit: tenths(dischargeLimit) }),
    ...(mode !== 'ChargingOnly' && { operationMode: mode }),
  };
}

type Rating = Pick<ConnectorRating, 'maxPowerW' | 'maxCurrentA'>;

/** A composite schedule in whole seconds. */
export function compositeOf(
  evseId: number,
  { startMs, durationS, unit, periods }: CompositeSchedule,
  rating: Rating,
  version: Version2,
): NonNullable<Replies['GetCompositeSchedule']['schedule']> {
  const { duration, rows } = compositeRows({ durationS, periods }, (period) => rowOf(period, unit, rating, version));
  return { evseId, duration, scheduleStart: stamp(startMs), chargingRateUnit: unit, chargingSchedulePeriod: rows };
}
