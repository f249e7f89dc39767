/** The profiles of a station, with those of remote starts that wait for their transactions, and what REST sees of them. */
import type { OcppFunctions, OcppProfileEntry } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import type { ChargingControl, StoredProfile } from './control.ts';
import { deciding } from './limits.ts';
import type { ChargingProfile } from './model.ts';

/** @typeParam Sent a profile in the words of a version @typeParam Issue why one is refused */
export interface InstalledProfiles<Sent, Issue> {
  /** with those of remote starts, which wait until their transactions begin */
  readonly all: readonly StoredProfile[];
  /**
   * Installs a profile in place of those that it replaces.
   * @param awaited it waits for the transaction that begins at the connector
   * @returns why it cannot be; null: done
   */
  put(connectorId: number, sent: Sent, options?: { readonly awaited: boolean }): Issue | null;
  /** @returns how many there were, with those that wait */
  remove(which: (profile: ChargingProfile) => boolean): number;
  /** A transaction has begun: the profile that waits for it acts. @param named the same for this transaction */
  begin(connectorId: number, named?: (entry: StoredProfile) => StoredProfile): void;
  /** A transaction has ended: its profiles are gone. */
  end(connectorId: number): void;
  /** The transaction of a profile that waits does not begin. */
  readonly forget: (connectorId: number) => void;
}

interface InstalledRules<Sent, Issue> {
  readonly control: ChargingControl;
  readonly entryOf: (connectorId: number, sent: Sent) => StoredProfile;
  readonly replaces: (profile: ChargingProfile, other: ChargingProfile) => boolean;
  /** @param others that stay beside it @returns why it has no place beside them; null: it has */
  readonly refusal: (profile: ChargingProfile, others: readonly ChargingProfile[]) => Issue | null;
}

export function createInstalledProfiles<Sent, Issue>({
  control,
  entryOf,
  replaces,
  refusal,
}: InstalledRules<Sent, Issue>): InstalledProfiles<Sent, Issue> {
  /** by connector */
  const waiting = new Map<number, StoredProfile>();
  const all = () => [...control.profiles, ...waiting.values()];
  const install = (entry: StoredProfile): void => {
    control.install(entry, (other) => replaces(entry.profile, other));
  };
  return {
    get all() {
      return all();
    },
    put(connectorId, sent, { awaited } = { awaited: false }) {
      const entry = entryOf(connectorId, sent);
      const others = all().map(({ profile }) => profile);
      const issue = refusal(
        entry.profile,
        others.filter((other) => !replaces(entry.profile, other)),
      );
      if (issue !== null) return issue;
      for (const [at, { profile }] of waiting) if (replaces(entry.profile, profile)) waiting.delete(at);
      if (awaited) waiting.set(connectorId, entry);
      else install(entry);
      return null;
    },
    remove(which) {
      const dropped = [...waiting].filter(([, { profile }]) => which(profile));
      for (const [connectorId] of dropped) waiting.delete(connectorId);
      return control.remove(which) + dropped.length;
    },
    begin(connectorId, named = (entry) => entry) {
      const entry = waiting.get(connectorId);
      waiting.delete(connectorId);
      if (entry === undefined) control.refresh();
      else install(named(entry));
    },
    end(connectorId) {
      const removed = control.remove((each) => each.purpose === 'tx' && each.connectorId === connectorId);
      if (removed === 0) control.refresh();
    },
    forget: (connectorId) => {
      waiting.delete(connectorId);
    },
  };
}

/** Members that REST shows of a profile as it was sent; they have the same names in all versions. */
interface SentWords {
  readonly chargingProfilePurpose: string;
  readonly chargingProfileKind: string;
}

interface ProfileViewOptions {
  readonly control: ChargingControl;
  readonly installed: Pick<InstalledProfiles<never, unknown>, 'all'>;
  readonly connectorIds: readonly number[];
  /** name of a place in messages */
  readonly place: 'connector' | 'EVSE';
  readonly transactionIdOf: (profile: ChargingProfile) => string | null;
  /** profiles of limits from outside of the central system, which the device follows by itself */
  readonly external?: { readonly profiles: () => readonly ChargingProfile[] };
  readonly externalEntries?: () => readonly OcppProfileEntry[];
}

/** More than a person reads. */
const maxPeriods = 1000;

export function createProfileView(
  options: ProfileViewOptions,
): Pick<OcppFunctions, 'chargingProfiles' | 'compositeSchedule'> {
  const { control, installed, connectorIds, place, transactionIdOf, external, externalEntries } = options;
  return {
    chargingProfiles(connectorId) {
      const { state, nowMs } = control;
      const effective = new Set(
        [0, ...connectorIds].flatMap((id) => deciding(state, id, nowMs)).map(({ profileId }) => profileId),
      );
      const entries = installed.all.map(({ profile, sent }): OcppProfileEntry => {
        const { chargingProfilePurpose: purpose, chargingProfileKind: kind } = sent as unknown as SentWords;
        const { profileId, stackLevel } = profile;
        return {
          connectorId: profile.connectorId,
          profileId,
          stackLevel,
          purpose,
          kind,
          transactionId: transactionIdOf(profile),
          effective: effective.has(profileId),
          profile: sent,
        };
      });
      return [...entries, ...(externalEntries?.() ?? [])].filter(
        (each) => connectorId === undefined || each.connectorId === connectorId,
      );
    },
    compositeSchedule(connectorId, durationS, unit) {
      const schedule = control.composite({ connectorId, durationS, unit, maxPeriods }, external?.profiles());
      if (schedule !== null) return { connectorId, ...schedule };
      const places = [0, ...connectorIds].join(', ');
      throw new SimError('UNKNOWN_RESOURCE', `there is no ${place} ${connectorId}; the station has ${places}`);
    },
  };
}
