/** The profiles that a central system has installed, also those that wait for the transaction of a remote start. */
import type { ChargingControl, StoredProfile } from './control.ts';
import type { ChargingProfile } from './model.ts';

/** @typeParam Sent a profile as the version sends it @typeParam Issue reason of a refusal */
export interface InstalledProfiles<Sent, Issue> {
  /** all profiles, also those of remote starts that wait for their transactions */
  readonly all: readonly StoredProfile[];
  /**
   * Installs a profile and removes those that it replaces.
   * @param options awaited: the profile waits for the transaction that begins at the connector
   * @returns reason of a refusal; null: done
   */
  put(connectorId: number, sent: Sent, options?: { readonly awaited: boolean }): Issue | null;
  /** @returns number of removed profiles, with waiting ones */
  remove(which: (profile: ChargingProfile) => boolean): number;
  /**
   * Puts a profile in force that waits for the begun transaction.
   * @param named adds the transaction id to the profile
   */
  begin(connectorId: number, named?: (entry: StoredProfile) => StoredProfile): void;
  /** Removes the profiles of a transaction that has ended. */
  end(connectorId: number): void;
  /** Drops a waiting profile whose transaction does not begin. */
  readonly forget: (connectorId: number) => void;
}

interface InstalledRules<Sent, Issue> {
  readonly control: ChargingControl;
  readonly entryOf: (connectorId: number, sent: Sent) => StoredProfile;
  readonly replaces: (profile: ChargingProfile, other: ChargingProfile) => boolean;
  /** @param others installed profiles that it does not replace @returns null: it may be installed */
  readonly refusal: (profile: ChargingProfile, others: readonly ChargingProfile[]) => Issue | null;
}

export function createInstalledProfiles<Sent, Issue>({
  control,
  entryOf,
  replaces,
  refusal,
}: InstalledRules<Sent, Issue>): InstalledProfiles<Sent, Issue> {
  /** profiles that wait for a transaction, by connector */
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
