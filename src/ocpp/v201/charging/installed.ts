/** The profiles of a station of 2.x: how many there may be, which one a new one replaces, and those that wait. */
import type { JsonValue } from '../../../core/store.ts';
import type { ChargingControl, StoredProfile } from '../../charging/control.ts';
import type { ChargingProfile } from '../../charging/model.ts';
import type { Transaction } from '../parts.ts';
import type { Received } from './convert.ts';
import { isInLocalTime, profileOf } from './convert.ts';
import { duplicateIssue, unable } from './rules.ts';
import type { Issue, SentProfile } from './rules.ts';

export interface InstalledProfiles {
  /** with those of remote starts, which wait until their transactions begin */
  readonly all: readonly StoredProfile[];
  /**
   * Installs a profile in place of the one with its id (K01.FR.05).
   * @param awaited it waits for the transaction that begins at the EVSE
   * @returns why it cannot be; null: done
   */
  put(evseId: number, sent: SentProfile, options?: { readonly awaited: boolean }): Issue | null;
  /** @returns how many there were, with those that wait */
  remove(which: (profile: ChargingProfile) => boolean): number;
  /** A transaction has begun: the profile that waits for it acts. */
  begin(transaction: Pick<Transaction, 'evseId' | 'transactionId'>): void;
  /** A transaction has ended: its profiles are gone (K01). */
  end(evseId: number): void;
  /** The transaction of a profile that waits does not begin. */
  readonly forget: (evseId: number) => void;
  /** The local time of the station has another offset. */
  localTimeChanged(): void;
}

/** The profile as the central system has sent it: this version installs nothing else. */
export function sentOf({ sent }: StoredProfile): SentProfile {
  return sent as unknown as SentProfile;
}

interface InstalledOptions {
  readonly control: ChargingControl;
  readonly maxProfiles: number;
  readonly random: Received['random'];
  readonly localOffsetMs: () => number;
}

export function createInstalled({ control, maxProfiles, random, localOffsetMs }: InstalledOptions): InstalledProfiles {
  /** by EVSE */
  const waiting = new Map<number, StoredProfile>();
  const entryOf = (evseId: number, sent: SentProfile, receivedMs = control.nowMs): StoredProfile => ({
    profile: profileOf(sent, { evseId, receivedMs, random, localOffsetMs: localOffsetMs() }),
    sent: sent as unknown as JsonValue,
  });
  const install = (entry: StoredProfile): void => {
    control.install(entry, ({ profileId }) => profileId === entry.profile.profileId);
  };
  return {
    get all() {
      return [...control.profiles, ...waiting.values()];
    },
    put(evseId, sent, { awaited } = { awaited: false }) {
      const entry = entryOf(evseId, sent);
      const others = [...control.profiles, ...waiting.values()]
        .map(({ profile }) => profile)
        .filter(({ profileId }) => profileId !== sent.id);
      if (others.length >= maxProfiles)
        return unable('OutOfStorage', `there are ${maxProfiles} profiles, the maximum of Entries[ChargingProfiles]`);
      const duplicate = duplicateIssue(entry.profile, others);
      if (duplicate !== null) return duplicate;
      for (const [at, { profile }] of waiting) if (profile.profileId === sent.id) waiting.delete(at);
      if (awaited) waiting.set(evseId, entry);
      else install(entry);
      return null;
    },
    remove(which) {
      const dropped = [...waiting].filter(([, { profile }]) => which(profile));
      for (const [evseId] of dropped) waiting.delete(evseId);
      return control.remove(which) + dropped.length;
    },
    begin({ evseId, transactionId }) {
      const entry = waiting.get(evseId);
      waiting.delete(evseId);
      if (entry === undefined) control.refresh();
      else install(entryOf(evseId, { ...sentOf(entry), transactionId }));
    },
    end(evseId) {
      const removed = control.remove((each) => each.purpose === 'tx' && each.connectorId === evseId);
      if (removed === 0) control.refresh();
    },
    forget: (evseId) => {
      waiting.delete(evseId);
    },
    localTimeChanged() {
      for (const entry of control.profiles.filter((each) => isInLocalTime(sentOf(each))))
        install(entryOf(entry.profile.connectorId, sentOf(entry), entry.profile.receivedMs));
    },
  };
}
