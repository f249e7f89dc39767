/** The profiles of a station of 1.6: how many there may be, which one a new one replaces, and those that wait. */
import type { ChargingControl, StoredProfile } from '../../charging/control.ts';
import type { ChargingProfile } from '../../charging/model.ts';
import { profileOf } from './convert.ts';
import type { BrokenRule, SentProfile } from './rules.ts';

export interface InstalledProfiles {
  /** those of remote starts, until their transactions begin */
  readonly waiting: readonly StoredProfile[];
  /**
   * Installs a profile in place of those with its id, or with its purpose and stackLevel at the same connector (5.16.3).
   * @param awaited it waits for the transaction that begins at the connector
   * @returns why there is no room for it; null: done
   */
  put(connectorId: number, sent: SentProfile, options?: { readonly awaited: boolean }): BrokenRule | null;
  /** @returns how many there were, with those that wait */
  remove(which: (profile: ChargingProfile) => boolean): number;
  /** A transaction has begun: the profile that waits for it acts. */
  begin(connectorId: number): void;
  /** A transaction has ended: its profiles are gone. */
  end(connectorId: number): void;
  /** The transaction of a profile that waits does not begin. */
  readonly forget: (connectorId: number) => void;
}

function takesPlaceOf(made: ChargingProfile, other: ChargingProfile): boolean {
  if (made.profileId === other.profileId) return true;
  const { connectorId, purpose, stackLevel } = made;
  return other.connectorId === connectorId && other.purpose === purpose && other.stackLevel === stackLevel;
}

export function createInstalled(control: ChargingControl, max: () => number): InstalledProfiles {
  /** by connector */
  const waiting = new Map<number, StoredProfile>();
  const install = (entry: StoredProfile): void => {
    control.install(entry, (other) => takesPlaceOf(entry.profile, other));
  };
  return {
    get waiting() {
      return [...waiting.values()];
    },
    put(connectorId, sent, { awaited } = { awaited: false }) {
      const entry = { profile: profileOf(connectorId, sent, control.nowMs), sent };
      const others = [...control.profiles, ...waiting.values()];
      if (others.filter(({ profile }) => !takesPlaceOf(entry.profile, profile)).length >= max()) {
        const text = `profile ${sent.chargingProfileId}: MaxChargingProfilesInstalled ${max()} is reached`;
        return { clause: 'OCPP 1.6 9.4', text };
      }
      for (const [at, { profile }] of waiting) if (takesPlaceOf(entry.profile, profile)) waiting.delete(at);
      if (awaited) waiting.set(connectorId, entry);
      else install(entry);
      return null;
    },
    remove(which) {
      const dropped = [...waiting].filter(([, { profile }]) => which(profile));
      for (const [connectorId] of dropped) waiting.delete(connectorId);
      return control.remove(which) + dropped.length;
    },
    begin(connectorId) {
      const entry = waiting.get(connectorId);
      waiting.delete(connectorId);
      if (entry === undefined) control.refresh();
      else install(entry);
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
