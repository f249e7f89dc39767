/** Answers to SetChargingProfile, ClearChargingProfile and GetCompositeSchedule. */
import type { ChargingControl } from '../../charging/control.ts';
import { deciding } from '../../charging/limits.ts';
import type { ChargingProfile, RateUnit } from '../../charging/model.ts';
import type { Handler, Requests, StationParts, Transaction, Transactions } from '../parts.ts';
import { compositeOf, purposes } from './convert.ts';
import type { ExternalLimits } from './external.ts';
import type { InstalledProfiles } from './installed.ts';
import type { RefusalParts } from './refusal.ts';
import { refusal } from './refusal.ts';
import { broken } from './rules/issue.ts';
import type { Issue, RuleFacts, SentProfile } from './rules/issue.ts';
import { placeIssue } from './rules/place.ts';
import { profileIssue } from './rules/profile.ts';

export interface HandlerDeps {
  readonly parts: Pick<StationParts, 'device' | 'variables' | 'version'> & RefusalParts;
  readonly control: ChargingControl;
  readonly installed: InstalledProfiles;
  readonly external: Pick<ExternalLimits, 'profiles'>;
  readonly transactions: Pick<Transactions, 'at' | 'byId'>;
  readonly facts: (evseId: number, profile: Pick<SentProfile, 'chargingProfilePurpose'>) => RuleFacts;
  /** whether a vehicle has yet to tell the needs of the transaction, which a TxProfile answers (K15.FR.17) */
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
