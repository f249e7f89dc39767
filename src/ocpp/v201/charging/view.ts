/** Charging profiles and composite schedules of a station of 2.x for REST. */
import type { OcppProfileEntry, OcppSchedule } from '../../../contract/ocpp.ts';
import { SimError } from '../../../core/errors.ts';
import type { ChargingControl } from '../../charging/control.ts';
import { deciding } from '../../charging/limits.ts';
import type { OcppFunctions } from '../../../contract/ocpp.ts';
import type { ExternalLimits } from './external.ts';
import { sentOf } from './installed.ts';
import type { InstalledProfiles } from './installed.ts';
import type { SentProfile } from './rules/issue.ts';

/** More than a person reads. */
const maxPeriods = 1000;

function entryOf(connectorId: number, profile: SentProfile, transactionId: string | null, effective: boolean) {
  return {
    connectorId,
    profileId: profile.id,
    stackLevel: profile.stackLevel,
    purpose: profile.chargingProfilePurpose,
    kind: profile.chargingProfileKind,
    transactionId,
    effective,
    profile,
  };
}

interface ViewDeps {
  readonly control: ChargingControl;
  readonly installed: Pick<InstalledProfiles, 'all'>;
  readonly external: Pick<ExternalLimits, 'profiles' | 'reported'>;
  readonly evseIds: readonly number[];
}

export function createView(deps: ViewDeps): Pick<OcppFunctions, 'chargingProfiles' | 'compositeSchedule'> {
  const { control, installed, external, evseIds } = deps;
  return {
    chargingProfiles(evseId): readonly OcppProfileEntry[] {
      const { state, nowMs } = control;
      const effective = new Set(
        [0, ...evseIds].flatMap((id) => deciding(state, id, nowMs)).map((each) => each.profileId),
      );
      const rows = installed.all.map((entry) => {
        const { connectorId, profileId, transactionId } = entry.profile;
        return entryOf(connectorId, sentOf(entry), transactionId, effective.has(profileId));
      });
      const outside = external.reported().map(({ evseId: at, profile }) => entryOf(at, profile, null, true));
      return [...rows, ...outside].filter(({ connectorId }) => evseId === undefined || connectorId === evseId);
    },
    compositeSchedule(evseId, durationS, unit): OcppSchedule {
      const schedule = control.composite({ connectorId: evseId, durationS, unit, maxPeriods }, external.profiles());
      if (schedule !== null) return { connectorId: evseId, ...schedule };
      const known = [0, ...evseIds].join(', ');
      throw new SimError('UNKNOWN_RESOURCE', `there is no EVSE ${evseId}; the station has ${known}`);
    },
  };
}
