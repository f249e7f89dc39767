/** Answers to SetChargingProfile, ClearChargingProfile and GetCompositeSchedule. */
import type { ChargingControl, StoredProfile } from '../../charging/control.ts';
import type { InstalledProfiles } from '../../charging/installed.ts';
import { deciding } from '../../charging/limits.ts';
import type { ChargingProfile, RateUnit } from '../../charging/model.ts';
import type { Handler, Replies, Requests, StationParts, Transaction, Transactions } from '../parts.ts';
import { clauseOf } from '../provisioning/registration.ts';
import { compositeOf, purposes, sentOf } from './convert.ts';
import type { ExternalLimits } from './external.ts';
import { broken, placeIssue, profileIssue } from './rules.ts';
import type { Issue, RuleFacts, SentProfile } from './rules.ts';

export type Installed = InstalledProfiles<SentProfile, Issue>;

// GetChargingProfiles and the ReportChargingProfiles that follow (K09): a message by EVSE and source, in parts.

/** Profiles of one message: each may have thousands of periods. */
const profilesPerReport = 5;

type Query = Requests['GetChargingProfiles'];
type Report = Requests['ReportChargingProfiles'];

interface Found {
  readonly evseId: number;
  readonly source: string;
  readonly profile: SentProfile;
}

/** An id names its profile alone; without ids all given criteria must match (K09.FR.03). */
function isAsked({ evseId, profile, source }: Found, { evseId: askedEvse, chargingProfile: criteria }: Query): boolean {
  const { chargingProfileId, chargingProfilePurpose, stackLevel, chargingLimitSource } = criteria;
  if (askedEvse !== undefined && askedEvse !== evseId) return false;
  if (chargingProfileId !== undefined) return chargingProfileId.includes(profile.id);
  return (
    (chargingProfilePurpose === undefined || chargingProfilePurpose === profile.chargingProfilePurpose) &&
    (stackLevel === undefined || stackLevel === profile.stackLevel) &&
    (chargingLimitSource === undefined || chargingLimitSource.includes(source))
  );
}

function reportsOf(requestId: number, profiles: readonly Found[]): readonly Report[] {
  const groups = new Map<string, Found[]>();
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

function allOf({ installed, external }: ReportDeps): readonly Found[] {
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
      const text = 'chargingProfile names nothing to look for; all profiles are reported';
      finding(clauseOf(version, 'K09.FR.03'), text, 'GetChargingProfiles');
    }
    const reported = allOf(deps).filter((each) => isAsked(each, request));
    if (reported.length === 0) return { status: 'NoProfiles', statusInfo: { reasonCode: 'NotFound' } };
    after(() => {
      for (const report of reportsOf(request.requestId, reported))
        void calls.send('ReportChargingProfiles', report, { triggered: true });
    });
    return { status: 'Accepted' };
  };
}

// How a refused profile is told: to the central system by its reason code, to the user as a broken rule.

type StatusInfo = NonNullable<Replies['SetChargingProfile']['statusInfo']>;

type RefusalParts = Pick<StationParts, 'finding' | 'version'>;

/** Characters that `additionalInfo` of 2.0.1 may have; 2.1 permits more. */
const maxInfo = 512;

/** @param subject of the text; absent: the text says it */
export function refusal(
  { finding, version }: RefusalParts,
  action: string,
  { reason, text, rule }: Issue,
  subject?: string,
): { readonly statusInfo: StatusInfo } {
  if (rule !== null) {
    const whole = subject === undefined ? text : `${subject}: ${text}`;
    finding(clauseOf(version, rule), whole, action);
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
  /** true: a vehicle has yet to tell the needs of the transaction, which a TxProfile answers (K15.FR.17) */
  readonly awaitsNeeds: (transaction: Transaction) => boolean;
  /** A TxProfile of SetChargingProfile acts. */
  readonly txProfileSet: (evseId: number, profile: SentProfile) => void;
}

/** K15.FR.17 */
function orderIssue({ transactions, awaitsNeeds }: HandlerDeps, evseId: number, profile: SentProfile): Issue | null {
  const transaction = profile.chargingProfilePurpose === 'TxProfile' ? transactions.at(evseId) : null;
  return transaction !== null && awaitsNeeds(transaction)
    ? broken('K15.FR.17', 'InvalidMessageSeq', 'the vehicle has not told its needs yet: NotifyEVChargingNeeds follows')
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

/** An id names its profile alone; without one all given criteria must match (K10.FR.04). */
function matches({ chargingProfileId, chargingProfileCriteria = {} }: Requests['ClearChargingProfile']) {
  if (chargingProfileId !== undefined) return ({ profileId }: ChargingProfile) => profileId === chargingProfileId;
  const { evseId, stackLevel, chargingProfilePurpose } = chargingProfileCriteria;
  const purpose = chargingProfilePurpose && purposes[chargingProfilePurpose];
  return (profile: ChargingProfile) =>
    (evseId === undefined || profile.connectorId === evseId) &&
    (stackLevel === undefined || profile.stackLevel === stackLevel) &&
    (purpose === undefined || profile.purpose === purpose);
}

/** External constraints are no profiles of the central system: they are never cleared by it. */
export function clearChargingProfile({ installed }: HandlerDeps): Handler<'ClearChargingProfile'> {
  return (request) =>
    installed.remove(matches(request)) > 0
      ? { status: 'Accepted' }
      : { status: 'Unknown', statusInfo: { reasonCode: 'NotFound' } };
}

/** The unit of an answer when none is asked for: that of a profile in force, so that it reads back as it was set. */
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
    if (!allowed.includes(unit)) return reject('K08.FR.07', 'UnsupportedRateUnit', `RateUnit has no ${unit}`);
    const maxPeriods = variables.integer('SmartChargingCtrlr', 'PeriodsPerSchedule');
    const query = { connectorId: evseId, durationS: duration, unit, maxPeriods };
    const schedule = control.composite(query, external.profiles());
    if (schedule === null) return reject('K08.FR.05', 'UnknownEvse', `the station has no EVSE ${evseId}`);
    const rating = device.ratings.find((each) => each.connectorId === evseId) ?? device.stationRating;
    return { status: 'Accepted', schedule: compositeOf(evseId, schedule, rating, version) };
  };
}
