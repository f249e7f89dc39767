/** Rules of K01 for the place of a charging profile: its EVSE, its transaction, and the profiles beside it. */
import type { ChargingProfile, ProfilePurpose } from '../../../charging/model.ts';
import { broken } from './issue.ts';
import type { Issue, SentProfile } from './issue.ts';

export interface Place {
  readonly evseId: number;
  readonly evseIds: readonly number[];
  /** the transaction that runs at the EVSE; null: none */
  readonly transaction: { readonly transactionId: string } | null;
  /** whether a transaction with this id runs anywhere */
  readonly runs: (transactionId: string) => boolean;
}

/** K01.FR.28 */
function evseIssue({ evseId, evseIds }: Place): Issue | null {
  return evseId === 0 || evseIds.includes(evseId)
    ? null
    : broken('K01.FR.28', 'UnknownEvse', `the station has no EVSE ${evseId}`);
}

/** K01.FR.03, K01.FR.09, K01.FR.16, K01.FR.33 */
function transactionIssue({ transactionId }: SentProfile, { evseId, transaction, runs }: Place): Issue | null {
  if (evseId === 0) return broken('K01.FR.16', 'InvalidValue', 'a TxProfile is for one EVSE');
  if (transactionId === undefined) return broken('K01.FR.03', 'MissingParam', 'a TxProfile needs its transactionId');
  if (transaction?.transactionId === transactionId) return null;
  if (transaction === null && !runs(transactionId))
    return broken('K01.FR.09', 'TxNotFound', `no transaction runs at EVSE ${evseId}`);
  return broken('K01.FR.33', 'TxNotFound', `transaction ${transactionId} does not run at EVSE ${evseId}`);
}

/** The rule that a profile of SetChargingProfile breaks at its place; null: none. */
export function placeIssue(profile: SentProfile, place: Place): Issue | null {
  const issue = evseIssue(place);
  if (issue !== null) return issue;
  const { chargingProfilePurpose: purpose } = profile;
  if (purpose === 'TxProfile') return transactionIssue(profile, place);
  const ofStation = purpose === 'ChargingStationMaxProfile' || purpose === 'LocalGeneration';
  return ofStation && place.evseId !== 0
    ? broken('K01', 'InvalidValue', `a ${purpose} is for the station: EVSE 0`)
    : null;
}

/** The rule that the TxProfile of RequestStartTransaction breaks. */
export function startIssue({ chargingProfilePurpose, transactionId }: SentProfile): Issue | null {
  if (chargingProfilePurpose !== 'TxProfile')
    return broken('F01', 'InvalidProfile', `a transaction starts with a TxProfile, not a ${chargingProfilePurpose}`);
  return transactionId === undefined
    ? null
    : broken('F01', 'InvalidProfile', 'the transactionId of a transaction that has yet to start is not known');
}

function overlaps(a: ChargingProfile, b: ChargingProfile): boolean {
  const from = (profile: ChargingProfile) => profile.validFromMs ?? -Infinity;
  const to = (profile: ChargingProfile) => profile.validToMs ?? Infinity;
  return from(a) < to(b) && from(b) < to(a);
}

const duplicateRules: Partial<Record<ProfilePurpose, string>> = { tx: 'K01.FR.39', tx_default: 'K01.FR.53' };

/**
 * K01.FR.06, K01.FR.39, K01.FR.53: beside a profile there is no other with its purpose and stackLevel whose validity
 * overlaps. TxDefaultProfiles of the station and of an EVSE meet as well.
 */
export function duplicateIssue(made: ChargingProfile, others: readonly ChargingProfile[]): Issue | null {
  const { purpose, connectorId, stackLevel, profileId } = made;
  const meets = (other: ChargingProfile) =>
    other.connectorId === connectorId ||
    ((purpose === 'tx_default' || purpose === 'priority') && (connectorId === 0 || other.connectorId === 0));
  const twin = others.find(
    (other) =>
      other.profileId !== profileId &&
      other.purpose === purpose &&
      other.stackLevel === stackLevel &&
      meets(other) &&
      overlaps(made, other),
  );
  if (twin === undefined) return null;
  const text = `profile ${twin.profileId} has the same purpose and stackLevel ${stackLevel}`;
  return broken(duplicateRules[purpose] ?? 'K01.FR.06', 'DuplicateProfile', text);
}
