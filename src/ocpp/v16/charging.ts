/**
 * Smart charging of 1.6: SetChargingProfile, ClearChargingProfile, GetCompositeSchedule, the TxProfile of a remote
 * start, and the rules for profiles, each with its clause. The profiles act through `charging/control.ts`.
 */
import type { OcppFunctions } from '../../contract/ocpp.ts';
import type { OcppRule } from '../../finding-rules/ocpp.ts';
import { createChargingControl } from '../charging/control.ts';
import type { ChargingControl } from '../charging/control.ts';
import { createInstalledProfiles } from '../charging/installed.ts';
import type { InstalledProfiles } from '../charging/installed.ts';
import { deciding } from '../charging/limits.ts';
import { createProfileView } from '../charging/profile-view.ts';
import type { ChargingProfile, RateUnit, RunningTransaction, ProfileKind, ProfilePurpose } from '../charging/model.ts';
import { stamp } from './parts.ts';
import type {
  Handler,
  Part,
  Registration,
  Requests,
  SmartCharging,
  StationParts,
  Transaction,
  Transactions,
  Replies,
  Keys,
} from './parts.ts';
import { compositeRows, tenths } from '../charging/composite.ts';
import type { CompositeSchedule } from '../charging/composite.ts';
import type { ConnectorRating } from '../station/port.ts';
import { instantOf } from '../station/stack.ts';

const purposes = {
  ChargePointMaxProfile: 'station_max',
  TxDefaultProfile: 'tx_default',
  TxProfile: 'tx',
} as const satisfies Record<SentProfile['chargingProfilePurpose'], ProfilePurpose>;

/**
 * An absolute schedule without a start is relative to the start of charging (7.13), except in a ChargePointMaxProfile,
 * which then begins when it is received.
 */
function kindOf(sent: SentProfile): ProfileKind {
  switch (sent.chargingProfileKind) {
    case 'Relative':
      return 'relative';
    case 'Recurring':
      return sent.recurrencyKind === 'Weekly' ? 'recurring_weekly' : 'recurring_daily';
    case 'Absolute': {
      const hasStart = sent.chargingSchedule.startSchedule !== undefined;
      return hasStart || sent.chargingProfilePurpose === 'ChargePointMaxProfile' ? 'absolute' : 'relative';
    }
  }
}

const instant = (text: string | undefined) => (text === undefined ? null : instantOf(text));

/** Converts a profile that has been checked. */
export function profileOf(connectorId: number, sent: SentProfile, receivedMs: number): ChargingProfile {
  const { chargingSchedule, transactionId, chargingProfilePurpose } = sent;
  const isOfTransaction = chargingProfilePurpose === 'TxProfile' && transactionId !== undefined;
  return {
    profileId: sent.chargingProfileId,
    connectorId,
    stackLevel: sent.stackLevel,
    purpose: purposes[chargingProfilePurpose],
    kind: kindOf(sent),
    validFromMs: instant(sent.validFrom),
    validToMs: instant(sent.validTo),
    transactionId: isOfTransaction ? String(transactionId) : null,
    schedule: {
      unit: chargingSchedule.chargingRateUnit,
      durationS: chargingSchedule.duration ?? null,
      startMs: instant(chargingSchedule.startSchedule),
      minChargingRate: chargingSchedule.minChargingRate ?? null,
      periods: chargingSchedule.chargingSchedulePeriod.map(({ startPeriod, limit, numberPhases }) => ({
        startS: startPeriod,
        limit,
        numberPhases: (numberPhases ?? null) as 1 | 2 | 3 | null,
      })),
    },
    receivedMs,
  };
}

/** A composite schedule in whole seconds; the rating is the limit of a period without one. */
export function replyOf(
  connectorId: number,
  { startMs, durationS, unit, periods }: CompositeSchedule,
  { maxPowerW, maxCurrentA }: Pick<ConnectorRating, 'maxPowerW' | 'maxCurrentA'>,
): Replies['GetCompositeSchedule'] {
  const { duration, rows } = compositeRows({ durationS, periods }, ({ limit, numberPhases }) => ({
    limit: tenths(limit ?? (unit === 'W' ? maxPowerW : maxCurrentA)),
    ...(numberPhases !== null && { numberPhases }),
  }));
  const scheduleStart = stamp(startMs);
  return {
    status: 'Accepted',
    connectorId,
    scheduleStart,
    chargingSchedule: {
      duration,
      startSchedule: scheduleStart,
      chargingRateUnit: unit,
      chargingSchedulePeriod: [...rows],
    },
  };
}

type SentProfile = Requests['SetChargingProfile']['csChargingProfiles'];

/** A rule that a profile breaks. */
interface BrokenRule {
  readonly clause: string;
  readonly text: string;
  /** of the catalogue of findings; null: none, a place that the station lacks is a probe */
  readonly rule: OcppRule | null;
}

const clauses = {
  purposes: 'OCPP 1.6 3.13.1',
  outside: 'OCPP 1.6 5.16.4',
  profile: 'OCPP 1.6 7.8',
  schedule: 'OCPP 1.6 7.13',
  period: 'OCPP 1.6 7.14',
  keys: 'OCPP 1.6 9.4',
} as const;

/** Units that the station accepts. */
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

const checks: readonly (readonly [clause: string, rule: OcppRule, check: Check])[] = [
  [
    clauses.keys,
    'profile_limits',
    ({ stackLevel }, keys) => {
      const max = keys.integer('ChargeProfileMaxStackLevel');
      return stackLevel >= 0 && stackLevel <= max ? null : `stackLevel ${stackLevel} must be 0 to ${max}`;
    },
  ],
  [
    clauses.keys,
    'profile_limits',
    ({ chargingSchedule }, keys) => {
      const max = keys.integer('ChargingScheduleMaxPeriods');
      const count = chargingSchedule.chargingSchedulePeriod.length;
      return count <= max ? null : `${count} periods are more than ChargingScheduleMaxPeriods ${max}`;
    },
  ],
  [
    clauses.keys,
    'profile_limits',
    ({ chargingSchedule: { chargingRateUnit } }, keys) =>
      allowedUnits(keys).includes(chargingRateUnit)
        ? null
        : `ChargingScheduleAllowedChargingRateUnit has no ${chargingRateUnit}`,
  ],
  [
    clauses.profile,
    'request_rule',
    ({ chargingProfileKind, recurrencyKind }) =>
      chargingProfileKind === 'Recurring' && recurrencyKind === undefined
        ? 'a recurring profile needs its recurrencyKind'
        : null,
  ],
  [
    clauses.schedule,
    'request_rule',
    ({ chargingProfileKind, chargingSchedule: { startSchedule } }) =>
      chargingProfileKind === 'Recurring' && startSchedule === undefined
        ? 'a recurring profile needs a startSchedule'
        : null,
  ],
  [
    clauses.profile,
    'profile_rule',
    ({ validFrom, validTo, chargingSchedule: { startSchedule } }) =>
      isDate(validFrom) && isDate(validTo) && isDate(startSchedule) ? null : 'an instant is not a date',
  ],
  [
    clauses.profile,
    'profile_rule',
    ({ validFrom, validTo }) =>
      validFrom !== undefined && validTo !== undefined && instantOf(validFrom) >= instantOf(validTo)
        ? 'validTo must be later than validFrom'
        : null,
  ],
  [
    clauses.schedule,
    'request_rule',
    ({ chargingSchedule: { duration = Infinity } }) =>
      duration > 0 ? null : `the duration ${duration} must be greater than 0`,
  ],
  [
    clauses.outside,
    'request_rule',
    ({ chargingSchedule: { chargingSchedulePeriod } }) => {
      const firstStart = chargingSchedulePeriod[0]?.startPeriod;
      if (firstStart === undefined) return 'a schedule needs a period';
      return firstStart === 0 ? null : `the first startPeriod must be 0, not ${firstStart}`;
    },
  ],
  [clauses.period, 'profile_rule', checkPeriods],
];

/** The first rule that a profile breaks by itself; null: none. */
export function brokenRule(profile: SentProfile, keys: Pick<Keys, 'integer' | 'list'>): BrokenRule | null {
  for (const [clause, rule, check] of checks) {
    const text = check(profile, keys);
    if (text !== null) return { clause, text: `profile ${profile.chargingProfileId}: ${text}`, rule };
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
  const broken = (clause: string, text: string, rule: OcppRule | null = 'profile_rule') => ({
    clause,
    text: `profile ${chargingProfileId}: ${text}`,
    rule,
  });
  if (connectorId !== 0 && !place.connectorIds.includes(connectorId))
    return broken('OCPP 1.6 6.43', `the station has no connector ${connectorId}`, null);
  if (purpose === 'ChargePointMaxProfile' && connectorId !== 0)
    return broken(clauses.purposes, 'a ChargePointMaxProfile can only be set at connector 0');
  if (purpose !== 'TxProfile') return null;
  if (connectorId === 0) return broken(clauses.purposes, 'a TxProfile can only be set at a connector above 0');
  if (place.transaction === null)
    return broken(
      clauses.outside,
      `a TxProfile needs a transaction, and none runs at connector ${connectorId}`,
      'tx_profile_without_tx',
    );
  if (transactionId !== undefined && transactionId !== place.transaction.transactionId)
    return broken(
      'OCPP 1.6 5.16',
      `transaction ${transactionId} does not run at connector ${connectorId}`,
      'tx_profile_without_tx',
    );
  return null;
}

type Installed = InstalledProfiles<SentProfile, BrokenRule>;

/**
 * True if a profile replaces another: with the same id, or with its purpose and stackLevel at the same connector
 * (5.16.3).
 */
function replaces(profile: ChargingProfile, other: ChargingProfile): boolean {
  if (profile.profileId === other.profileId) return true;
  const { connectorId, purpose, stackLevel } = profile;
  return other.connectorId === connectorId && other.purpose === purpose && other.stackLevel === stackLevel;
}

export function createInstalled(control: ChargingControl, max: () => number): Installed {
  return createInstalledProfiles({
    control,
    replaces,
    entryOf: (connectorId, sent) => ({ profile: profileOf(connectorId, sent, control.nowMs), sent }),
    refusal: ({ profileId }, others) => {
      if (others.length < max()) return null;
      const text = `profile ${profileId}: MaxChargingProfilesInstalled ${max()} is reached`;
      return { clause: 'OCPP 1.6 9.4', text, rule: 'profile_limits' };
    },
  });
}

// Answers to the calls of smart charging.

interface Deps {
  readonly parts: Pick<StationParts, 'device' | 'keys' | 'finding'>;
  readonly control: ChargingControl;
  readonly installed: Installed;
  readonly transactions: Pick<Transactions, 'at'>;
}

function setChargingProfile({ parts, installed, transactions }: Deps): Handler<'SetChargingProfile'> {
  const { device, keys, finding } = parts;
  return ({ connectorId, csChargingProfiles: sent }) => {
    const place = { connectorIds: device.connectorIds, transaction: transactions.at(connectorId) };
    const rule = brokenPlace(connectorId, sent, place) ?? brokenRule(sent, keys) ?? installed.put(connectorId, sent);
    if (rule !== null) {
      finding(rule.clause, rule.text, 'SetChargingProfile', rule.rule);
      return { status: 'Rejected' };
    }
    if (sent.transactionId !== undefined && sent.chargingProfilePurpose !== 'TxProfile') {
      const text = `profile ${sent.chargingProfileId}: transactionId is only valid in a TxProfile, and is ignored`;
      finding('OCPP 1.6 7.8', text, 'SetChargingProfile', 'request_rule');
    }
    return { status: 'Accepted' };
  };
}

/** A request with an id matches only its profile; without an id all members of the request must match (5.5). */
function matches(filter: Requests['ClearChargingProfile']): (profile: ChargingProfile) => boolean {
  const { id, connectorId, stackLevel, chargingProfilePurpose } = filter;
  if (id !== undefined) return ({ profileId }) => profileId === id;
  const purpose = chargingProfilePurpose && purposes[chargingProfilePurpose];
  return (profile) =>
    (connectorId === undefined || profile.connectorId === connectorId) &&
    (stackLevel === undefined || profile.stackLevel === stackLevel) &&
    (purpose === undefined || profile.purpose === purpose);
}

function clearChargingProfile({ installed }: Deps): Handler<'ClearChargingProfile'> {
  return (request) => ({ status: installed.remove(matches(request)) > 0 ? 'Accepted' : 'Unknown' });
}

/** Default unit of an answer: the unit of a profile in force, so that it reads back as it was set. */
function defaultUnit(connectorId: number, allowed: readonly RateUnit[], { state, nowMs }: ChargingControl): RateUnit {
  const units = [connectorId, 0].flatMap((id) => deciding(state, id, nowMs)).map(({ schedule }) => schedule.unit);
  return units.find((unit) => allowed.includes(unit)) ?? allowed[0] ?? 'W';
}

function getCompositeSchedule({ parts, control }: Deps): Handler<'GetCompositeSchedule'> {
  const { device, keys, finding } = parts;
  return ({ connectorId, duration, chargingRateUnit }) => {
    if (duration <= 0) {
      finding('OCPP 1.6 5.7', `the duration ${duration} must be greater than 0`, 'GetCompositeSchedule', null);
      return { status: 'Rejected' };
    }
    const allowed = allowedUnits(keys);
    const unit = chargingRateUnit ?? defaultUnit(connectorId, allowed, control);
    if (!allowed.includes(unit)) return { status: 'Rejected' };
    const maxPeriods = keys.integer('ChargingScheduleMaxPeriods');
    const schedule = control.composite({ connectorId, durationS: duration, unit, maxPeriods });
    if (schedule === null) return { status: 'Rejected' };
    const rating = device.ratings.find((each) => each.connectorId === connectorId) ?? device.stationRating;
    return replyOf(connectorId, schedule, rating);
  };
}

type SmartChargingParts = Pick<StationParts, 'device' | 'clock' | 'keys' | 'store' | 'log' | 'finding' | 'limits'> & {
  readonly registration: Pick<Registration, 'onAccepted'>;
};

interface SmartChargingDeps {
  readonly transactions: Pick<Transactions, 'running' | 'at' | 'onStarted' | 'onIdentified' | 'onEnded'>;
}

type SmartChargingPart = Part &
  Required<Pick<Part, 'handlers' | 'load' | 'stop'>> &
  SmartCharging &
  Pick<OcppFunctions, 'chargingProfiles' | 'compositeSchedule'> & {
    /** Evaluates again after the clock was set. */
    readonly refresh: () => void;
  };

const runningTransaction = ({ connectorId, transactionId, startedMs }: Transaction): RunningTransaction => ({
  connectorId,
  transactionId: transactionId === null ? null : String(transactionId),
  startedMs: Math.floor(startedMs),
});

export function createSmartCharging(parts: SmartChargingParts, { transactions }: SmartChargingDeps): SmartChargingPart {
  const { device, keys } = parts;
  const control = createChargingControl({
    device,
    clock: parts.clock,
    store: parts.store('profiles'),
    log: parts.log,
    limits: parts.limits,
    precedence: 'connector_first',
    transactions: () => transactions.running.map(runningTransaction),
  });
  const installed = createInstalled(control, () => keys.integer('MaxChargingProfilesInstalled'));
  const handlerDeps = { parts, control, installed, transactions };

  const listeners = [
    transactions.onStarted(({ connectorId }) => {
      installed.begin(connectorId);
    }),
    transactions.onIdentified(control.refresh),
    transactions.onEnded(({ connectorId }) => {
      installed.end(connectorId);
    }),
    parts.registration.onAccepted(control.refresh),
  ];

  return {
    handlers: {
      SetChargingProfile: setChargingProfile(handlerDeps),
      ClearChargingProfile: clearChargingProfile(handlerDeps),
      GetCompositeSchedule: getCompositeSchedule(handlerDeps),
    },
    ...createProfileView({
      control,
      installed,
      connectorIds: device.connectorIds,
      place: 'connector',
      transactionIdOf: ({ purpose, connectorId }) => {
        const transaction = control.state.transactions.find((each) => each.connectorId === connectorId);
        return purpose === 'tx' ? (transaction?.transactionId ?? null) : null;
      },
    }),
    install(connectorId, sent) {
      const rule =
        brokenRule(sent, keys) ?? installed.put(connectorId, sent, { awaited: transactions.at(connectorId) === null });
      if (rule !== null) parts.finding(rule.clause, rule.text, 'RemoteStartTransaction', rule.rule);
      return rule === null;
    },
    forget: installed.forget,
    refresh: control.refresh,
    load: control.load,
    stop() {
      for (const end of listeners) end();
      control.stop();
    },
  };
}
