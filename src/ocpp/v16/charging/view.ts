/** Charging profiles and composite schedules of a station of 1.6 for REST. */
import type { OcppProfileEntry, OcppSchedule } from '../../../contract/ocpp.ts';
import { SimError } from '../../../core/errors.ts';
import type { ChargingControl, StoredProfile } from '../../charging/control.ts';
import { deciding } from '../../charging/limits.ts';
import type { OcppFunctions } from '../../../contract/ocpp.ts';
import type { SentProfile } from './rules.ts';

/** More than a person reads. */
const maxPeriods = 1000;

export function createView(
  control: ChargingControl,
  waiting: () => readonly StoredProfile[],
  connectorIds: readonly number[],
): Pick<OcppFunctions, 'chargingProfiles' | 'compositeSchedule'> {
  return {
    chargingProfiles(connectorId): readonly OcppProfileEntry[] {
      const { state, nowMs } = control;
      const effective = new Set([0, ...connectorIds].flatMap((id) => deciding(state, id, nowMs)));
      return [...control.profiles, ...waiting()]
        .filter(({ profile }) => connectorId === undefined || profile.connectorId === connectorId)
        .map(({ profile, sent }) => {
          // this version installs nothing else
          const { chargingProfilePurpose, chargingProfileKind } = sent as unknown as SentProfile;
          const transaction = state.transactions.find((each) => each.connectorId === profile.connectorId);
          return {
            connectorId: profile.connectorId,
            profileId: profile.profileId,
            stackLevel: profile.stackLevel,
            purpose: chargingProfilePurpose,
            kind: chargingProfileKind,
            transactionId: profile.purpose === 'tx' ? (transaction?.transactionId ?? null) : null,
            effective: effective.has(profile),
            profile: sent,
          };
        });
    },
    compositeSchedule(connectorId, durationS, unit): OcppSchedule {
      const schedule = control.composite({ connectorId, durationS, unit, maxPeriods });
      if (schedule !== null) return { connectorId, ...schedule };
      const known = [0, ...connectorIds].join(', ');
      throw new SimError('UNKNOWN_RESOURCE', `there is no connector ${connectorId}; the station has ${known}`);
    },
  };
}
