/**
 * Answers to SetChargingProfile, ClearChargingProfile, GetChargingProfiles and GetCompositeSchedule, and the profiles
 * of 2.1: priority (K21), dynamic (K28, K29).
 */
import type { ChargingControl, StoredProfile } from '../../charging/control.ts';
import type { InstalledProfiles } from '../../charging/installed.ts';
import { deciding, prevailing } from '../../charging/limits.ts';
import type { ChargingProfile, RateUnit } from '../../charging/model.ts';
import { stamp } from '../parts.ts';
import type {
  Handler,
  Replies,
  Requests,
  StationParts,
  Transaction,
  Transactions,
  Handlers,
  Registration,
} from '../parts.ts';
import { clauseOf } from '../provisioning/registration.ts';
import { compositeOf, purposes, sentOf, profileOf } from './convert.ts';
import type { Received } from './convert.ts';
import type { ExternalLimits } from './external.ts';
import { broken, placeIssue, profileIssue } from './rules.ts';
import type { Issue, RuleFacts, SentProfile } from './rules.ts';
import type { JsonValue } from '../../../core/store.ts';
import type { OcppRule } from '../../../finding-rules/ocpp.ts';

export type Installed = InstalledProfiles<SentProfile, Issue>;

// GetChargingProfiles and the ReportChargingProfiles that follow (K09): a message by EVSE and source, in parts.

/** Maximum number of profiles in a message: each may have thousands of periods. */
const profilesPerReport = 5;

type Query = Requests['GetChargingProfiles'];
type Report = Requests['ReportChargingProfiles'];

interface ReportedProfile {
  readonly evseId: number;
  readonly source: string;
  readonly profile: SentProfile;
}

/** The EVSE must match, and either one of the ids or, without ids, all other criteria (K09.FR.03). */
function matchesQuery(
  { evseId, profile, source }: ReportedProfile,
  { evseId: requestedEvse, chargingProfile: criteria }: Query,
): boolean {
  const { chargingProfileId, chargingProfilePurpose, stackLevel, chargingLimitSource } = criteria;
  if (requestedEvse !== undefined && requestedEvse !== evseId) return false;
  if (chargingProfileId !== undefined) return chargingProfileId.includes(profile.id);
  return (
    (chargingProfilePurpose === undefined || chargingProfilePurpose === profile.chargingProfilePurpose) &&
    (stackLevel === undefined || stackLevel === profile.stackLevel) &&
    (chargingLimitSource === undefined || chargingLimitSource.includes(source))
  );
}

function reportsOf(requestId: number, profiles: readonly ReportedProfile[]): readonly Report[] {
  const groups = new Map<string, ReportedProfile[]>();
  for (const each of profiles) {
    const key = `${each.evseId} ${each.source}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const parts: Omit<Report, 'tbc'>[] = [];
  for (const group of groups.values())
    for (let i = 0; i < group.length; i += profilesPerReport) {
      const [first] = group;
      if (first === undefined) continue;
      parts.push({
        requestId,
        evseId: first.evseId,
        chargingLimitSource: first.source,
        chargingProfile: group.slice(i, i + profilesPerReport).map(({ profile }) => profile),
      });
    }
  return parts.map((part, i) => ({ ...part, tbc: i < parts.length - 1 }));
}

interface ReportDeps {
  readonly parts: Pick<StationParts, 'calls' | 'finding' | 'version'>;
  readonly installed: Pick<Installed, 'all'>;
  readonly external: Pick<ExternalLimits, 'reported'>;
}

function allOf({ installed, external }: ReportDeps): readonly ReportedProfile[] {
  const ofCentral = installed.all.map((entry: StoredProfile) => ({
    evseId: entry.profile.connectorId,
    source: 'CSO',
    profile: sentOf(entry),
  }));
  return [...ofCentral, ...external.reported()];
}

export function getChargingProfiles(deps: ReportDeps): Handler<'GetChargingProfiles'> {
  const { calls, finding, version } = deps.parts;
  return (request, after) => {
    if (request.evseId === undefined && Object.keys(request.chargingProfile).length === 0) {
      const text = 'chargingProfile has no criteria; all profiles are reported';
      finding(clauseOf(version, 'K09.FR.03'), text, 'GetChargingProfiles', 'request_rule');
    }
    const reported = allOf(deps).filter((each) => matchesQuery(each, request));
    if (reported.length === 0) return { status: 'NoProfiles', statusInfo: { reasonCode: 'NotFound' } };
    after(() => {
      for (const report of reportsOf(request.requestId, reported))
        void calls.send('ReportChargingProfiles', report, { triggered: true });
    });
    return { status: 'Accepted' };
  };
}

// A refused profile is reported to the central system by its reason code, and to the user as a broken rule.

type StatusInfo = NonNullable<Replies['SetChargingProfile']['statusInfo']>;

type RefusalParts = Pick<StationParts, 'finding' | 'version'>;

/** Maximum length of `additionalInfo` in 2.0.1; 2.1 permits more. */
const maxInfo = 512;

/** Rules of the catalogue of findings by the reason code of a refusal, where it is not `profile_rule`. */
const rulesByReason: Readonly<Record<string, OcppRule | null>> = {
  TxNotFound: 'tx_profile_without_tx',
  DuplicateProfile: 'profile_clash',
  InvalidStackLevel: 'profile_limits',
  TooManyElements: 'profile_limits',
  UnsupportedRateUnit: 'profile_limits',
  // a probe
  UnknownEvse: null,
  // the needs of the vehicle may be on their way to the central system
  InvalidMessageSeq: null,
};

/** Calls that bring a profile. One that runs or is changed may have ended with its transaction just before. */
const profileActions: readonly string[] = ['SetChargingProfile', 'RequestStartTransaction'];

/** Requirements about the phases of an EVSE, of which a central system need not know. */
const unjudged: readonly string[] = ['K01.FR.44', 'K01.FR.45'];

/** Requirements about variables that name what the station supports. */
const ofVariables: readonly string[] = ['K01.FR.20', 'K01.FR.126'];

function findingRuleOf(reason: string, rule: string): OcppRule | null {
  if (unjudged.includes(rule)) return null;
  if (ofVariables.includes(rule)) return 'profile_limits';
  const byReason = rulesByReason[reason];
  return byReason === undefined ? 'profile_rule' : byReason;
}

/**
 * Members of the answer that refuses; a broken rule is also a finding.
 * @param subject of the finding, before its text; absent: the text has the subject
 */
export function refusal(
  { finding, version }: RefusalParts,
  action: string,
  { reason, text, rule }: Issue,
  subject?: string,
): { readonly statusInfo: StatusInfo } {
  if (rule !== null) {
    const whole = subject === undefined ? text : `${subject}: ${text}`;
    finding(
      clauseOf(version, rule),
      whole,
      action,
      profileActions.includes(action) ? findingRuleOf(reason, rule) : null,
    );
  }
  return { statusInfo: { reasonCode: reason, additionalInfo: text.slice(0, maxInfo) } };
}

export interface HandlerDeps {
  readonly parts: Pick<StationParts, 'device' | 'variables' | 'version'> & RefusalParts;
  readonly control: ChargingControl;
  readonly installed: Installed;
  readonly external: Pick<ExternalLimits, 'profiles'>;
  readonly transactions: Pick<Transactions, 'at' | 'byId'>;
  readonly facts: (evseId: number, profile: Pick<SentProfile, 'chargingProfilePurpose'>) => RuleFacts;
  /** true: the vehicle has not sent its needs yet, which a TxProfile answers (K15.FR.17) */
  readonly awaitsNeeds: (transaction: Transaction) => boolean;
  /** Called with a TxProfile of SetChargingProfile, after the answer. */
  readonly txProfileSet: (evseId: number, profile: SentProfile) => void;
}

/** K15.FR.17 */
function orderIssue({ transactions, awaitsNeeds }: HandlerDeps, evseId: number, profile: SentProfile): Issue | null {
  const transaction = profile.chargingProfilePurpose === 'TxProfile' ? transactions.at(evseId) : null;
  return transaction !== null && awaitsNeeds(transaction)
    ? broken(
        'K15.FR.17',
        'InvalidMessageSeq',
        'the needs of the vehicle are not known yet: NotifyEVChargingNeeds follows',
      )
    : null;
}

export function setChargingProfile(deps: HandlerDeps): Handler<'SetChargingProfile'> {
  const { parts, installed, transactions, facts } = deps;
  return ({ evseId, chargingProfile: profile }, after) => {
    const place = {
      evseId,
      evseIds: parts.device.connectorIds,
      transaction: transactions.at(evseId),
      runs: (id: string) => transactions.byId(id) !== null,
    };
    const issue =
      placeIssue(profile, place) ??
      profileIssue(profile, facts(evseId, profile)) ??
      orderIssue(deps, evseId, profile) ??
      installed.put(evseId, profile);
    if (issue !== null)
      return { status: 'Rejected', ...refusal(parts, 'SetChargingProfile', issue, `profile ${profile.id}`) };
    if (profile.chargingProfilePurpose === 'TxProfile')
      after(() => {
        deps.txProfileSet(evseId, profile);
      });
    return { status: 'Accepted' };
  };
}

/** An id selects its profile; without an id all criteria must match (K10.FR.04). */
function matches({ chargingProfileId, chargingProfileCriteria = {} }: Requests['ClearChargingProfile']) {
  if (chargingProfileId !== undefined) return ({ profileId }: ChargingProfile) => profileId === chargingProfileId;
  const { evseId, stackLevel, chargingProfilePurpose } = chargingProfileCriteria;
  const purpose = chargingProfilePurpose && purposes[chargingProfilePurpose];
  return (profile: ChargingProfile) =>
    (evseId === undefined || profile.connectorId === evseId) &&
    (stackLevel === undefined || profile.stackLevel === stackLevel) &&
    (purpose === undefined || profile.purpose === purpose);
}

/** Clears installed profiles only: external constraints stay. */
export function clearChargingProfile({ installed }: HandlerDeps): Handler<'ClearChargingProfile'> {
  return (request) =>
    installed.remove(matches(request)) > 0
      ? { status: 'Accepted' }
      : { status: 'Unknown', statusInfo: { reasonCode: 'NotFound' } };
}

/** The unit of a composite schedule if none is requested: that of a profile in force, for unchanged limits. */
function defaultUnit(evseId: number, allowed: readonly string[], { state, nowMs }: ChargingControl): RateUnit {
  const units = [evseId, 0].flatMap((id) => deciding(state, id, nowMs)).map(({ schedule }) => schedule.unit);
  return units.find((unit) => allowed.includes(unit)) ?? (allowed.includes('W') ? 'W' : 'A');
}

export function getCompositeSchedule({ parts, control, external }: HandlerDeps): Handler<'GetCompositeSchedule'> {
  const { device, variables, version } = parts;
  return ({ evseId, duration, chargingRateUnit }) => {
    const allowed = variables.list('SmartChargingCtrlr', 'RateUnit');
    const unit = chargingRateUnit ?? defaultUnit(evseId, allowed, control);
    const reject = (rule: string, reason: string, text: string) => ({
      status: 'Rejected' as const,
      ...refusal(parts, 'GetCompositeSchedule', broken(rule, reason, text)),
    });
    if (duration <= 0) return reject('K08', 'ValuePositiveOnly', `the duration ${duration} must be greater than 0`);
    if (!allowed.includes(unit)) return reject('K08.FR.07', 'UnsupportedRateUnit', `RateUnit does not list ${unit}`);
    const maxPeriods = variables.integer('SmartChargingCtrlr', 'PeriodsPerSchedule');
    const query = { connectorId: evseId, durationS: duration, unit, maxPeriods };
    const schedule = control.composite(query, external.profiles());
    if (schedule === null) return reject('K08.FR.05', 'UnknownEvse', `the station has no EVSE ${evseId}`);
    const rating = device.ratings.find((each) => each.connectorId === evseId) ?? device.stationRating;
    return { status: 'Accepted', schedule: compositeOf(evseId, schedule, rating, version) };
  };
}

// Priority charging of 2.1 (K21): a PriorityCharging profile replaces the others while a transaction has priority.

interface PriorityDeps {
  readonly parts: Pick<StationParts, 'calls'>;
  readonly control: Pick<ChargingControl, 'state' | 'nowMs' | 'refresh'>;
  readonly transactions: Pick<Transactions, 'byId'>;
}

interface PriorityCharging {
  readonly handlers: Pick<Handlers, 'UsePriorityCharging'>;
  has(transactionId: string): boolean;
  /** Call it when a transaction has ended. */
  forget(transactionId: string): void;
  /** Ends the priority of transactions that have ended or have no PriorityCharging profile in force. */
  readonly check: () => void;
}

export function createPriorityCharging({ parts, control, transactions }: PriorityDeps): PriorityCharging {
  const active = new Set<string>();
  const notify = (transactionId: string, activated: boolean): void => {
    void parts.calls.send('NotifyPriorityCharging', { transactionId, activated });
  };
  /** true: an EVSE would have a profile in force for a transaction with priority */
  const hasProfile = (evseId: number): boolean => {
    const { state, nowMs } = control;
    const preferred = state.transactions.map((each) => ({ ...each, priority: true }));
    return prevailing({ ...state, transactions: preferred }, evseId, 'priority', nowMs) !== null;
  };
  return {
    has: (transactionId) => active.has(transactionId),
    forget(transactionId) {
      active.delete(transactionId);
    },
    check() {
      for (const transactionId of active) {
        const transaction = transactions.byId(transactionId);
        if (transaction !== null && hasProfile(transaction.evseId)) continue;
        active.delete(transactionId);
        if (transaction !== null) notify(transactionId, false);
      }
    },
    handlers: {
      UsePriorityCharging: ({ transactionId, activate }, after) => {
        const transaction = transactions.byId(transactionId);
        if (transaction === null) return { status: 'Rejected', statusInfo: { reasonCode: 'TxNotFound' } };
        if (activate && !hasProfile(transaction.evseId)) return { status: 'NoProfile' };
        if (activate) active.add(transactionId);
        else active.delete(transactionId);
        control.refresh();
        after(() => {
          notify(transactionId, activate);
        });
        return { status: 'Accepted' };
      },
    },
  };
}

type Update = Requests['UpdateDynamicSchedule']['scheduleUpdate'];

export interface DynamicDeps {
  readonly parts: Pick<StationParts, 'calls' | 'clock' | 'finding' | 'version'> & {
    readonly registration: Pick<Registration, 'isReady'>;
  };
  readonly control: ChargingControl;
  readonly facts: (evseId: number, profile: SentProfile) => RuleFacts;
  readonly received: () => Omit<Received, 'evseId' | 'receivedMs'>;
}

interface DynamicSchedules {
  readonly handlers: Pick<Handlers, 'UpdateDynamicSchedule'>;
  /** Plans the pulls of the present profiles. */
  readonly plan: () => void;
  stop(): void;
}

/** The profile with the values of an update, from which its duration begins again (K28.FR.13); other members stay. */
function updated(entry: StoredProfile, update: Update, nowMs: number, received: ReturnType<DynamicDeps['received']>) {
  const before = sentOf(entry);
  const sent: SentProfile = {
    ...before,
    dynUpdateTime: stamp(nowMs),
    chargingSchedule: before.chargingSchedule.map((schedule) => ({
      ...schedule,
      chargingSchedulePeriod: schedule.chargingSchedulePeriod.map((period) => ({ ...period, ...update })),
    })),
  };
  const { connectorId: evseId, receivedMs } = entry.profile;
  const changed = profileOf(sent, { ...received, evseId, receivedMs });
  return { sent, profile: { ...changed, schedule: { ...changed.schedule, startMs: nowMs } } };
}

/** Applies an update to a dynamic profile. @returns why it is refused; null: applied */
function apply(
  { control, facts, received }: DynamicDeps,
  profileId: number,
  update: Update,
  nowMs = control.nowMs,
): Issue | null {
  const entry = control.profiles.find(({ profile }) => profile.profileId === profileId);
  if (entry === undefined) return broken('K28', 'InvalidProfile', `there is no profile ${profileId}`);
  if (entry.profile.kind !== 'dynamic') return broken('K28', 'InvalidProfile', `profile ${profileId} is not Dynamic`);
  const { sent, profile } = updated(entry, update, nowMs, received());
  const issue = profileIssue(sent, facts(profile.connectorId, sent));
  if (issue !== null) return issue;
  control.install({ profile, sent: sent as unknown as JsonValue }, (other) => other.profileId === profileId);
  return null;
}

function intervalMs(entry: StoredProfile): number {
  const { chargingProfileKind, dynUpdateInterval = 0 } = sentOf(entry);
  return chargingProfileKind === 'Dynamic' ? dynUpdateInterval * 1000 : 0;
}

interface Pull {
  /** the profile as it was when the pull was planned */
  readonly entry: StoredProfile;
  readonly cancel: () => void;
}

export function createDynamicSchedules(deps: DynamicDeps): DynamicSchedules {
  const { parts, control } = deps;
  /** planned or running pulls, at most one for each profile, by profile id */
  const pulls = new Map<number, Pull>();
  let stopped = false;

  const cancelPull = (profileId: number): void => {
    pulls.get(profileId)?.cancel();
    pulls.delete(profileId);
  };

  /** @param fromMs default: now, or the start of the schedule (set by an update) if that is later */
  const planPull = (
    profileId: number,
    entry: StoredProfile,
    fromMs = Math.max(control.nowMs, entry.profile.schedule.startMs ?? 0),
  ): void => {
    pulls.set(profileId, {
      entry,
      cancel: parts.clock.at(fromMs + intervalMs(entry), () => void pull(profileId, entry)),
    });
  };

  async function pull(profileId: number, entry: StoredProfile): Promise<void> {
    // within a tick the simulated time of an answer may be before that of its call
    const sentMs = control.nowMs;
    if (parts.registration.isReady) {
      const outcome = await parts.calls.send('PullDynamicScheduleUpdate', { chargingProfileId: profileId });
      // the answer is obsolete after an update or removal of the profile, or a stop of the station
      if (stopped || pulls.get(profileId)?.entry !== entry) return;
      const update =
        outcome.kind === 'result' && outcome.payload.status === 'Accepted' ? outcome.payload.scheduleUpdate : undefined;
      const issue = update === undefined ? null : apply(deps, profileId, update, Math.max(sentMs, control.nowMs));
      if (issue !== null) refusal(parts, 'PullDynamicScheduleUpdate', issue, `profile ${profileId}`);
    }
    // an applied update has already planned the next pull
    if (pulls.get(profileId)?.entry === entry) planPull(profileId, entry, sentMs);
  }

  return {
    handlers: {
      UpdateDynamicSchedule: ({ chargingProfileId, scheduleUpdate }) => {
        const issue = apply(deps, chargingProfileId, scheduleUpdate);
        return issue === null
          ? { status: 'Accepted' }
          : { status: 'Rejected', ...refusal(parts, 'UpdateDynamicSchedule', issue, `profile ${chargingProfileId}`) };
      },
    },
    plan() {
      if (stopped) return;
      const due = new Map(
        control.profiles.filter((entry) => intervalMs(entry) > 0).map((entry) => [entry.profile.profileId, entry]),
      );
      for (const [profileId, { entry }] of pulls) if (due.get(profileId) !== entry) cancelPull(profileId);
      for (const [profileId, entry] of due) if (!pulls.has(profileId)) planPull(profileId, entry);
    },
    stop() {
      stopped = true;
      for (const profileId of [...pulls.keys()]) cancelPull(profileId);
    },
  };
}
