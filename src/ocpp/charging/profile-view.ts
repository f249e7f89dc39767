/** Charging profiles and composite schedules of a station as REST shows them. */
import type { OcppFunctions, OcppProfileEntry } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import type { ChargingControl } from './control.ts';
import type { InstalledProfiles } from './installed.ts';
import { deciding } from './limits.ts';
import type { ChargingProfile } from './model.ts';

/** Members that REST shows of a profile as it was sent; they have the same names in all versions. */
interface SentMembers {
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

/** Maximum of periods shown by REST, more than a person reads. */
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
        const { chargingProfilePurpose: purpose, chargingProfileKind: kind } = sent as unknown as SentMembers;
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
